//! The integration tests of ppgn-train, one module a theme.

mod protocols;
mod resume;
