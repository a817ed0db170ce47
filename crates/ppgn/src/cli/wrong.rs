//! Wrong calls of the command line that no library can detect: options that contradict each other, a file name with
//! the wrong extension.

/// A wrong call: the message, and exit code 2.
#[derive(Debug)]
pub(crate) struct WrongCall(String);

impl std::fmt::Display for WrongCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongCall {}

/// A wrong call with this message.
pub(crate) fn wrong(message: impl Into<String>) -> anyhow::Error {
    WrongCall(message.into()).into()
}
