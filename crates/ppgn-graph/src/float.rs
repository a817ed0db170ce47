//! [`Float`]: `f32` or `f64`, for everything that is generic over the precision of numbers.

/// A floating-point number: `f32` or `f64`. Sealed, because encoders and colourings rely on these two.
///
/// ```
/// use ppgn_graph::Float;
/// assert_eq!(f32::from_f64(0.5), 0.5);
/// assert!(f64::holds(1e39) && !f32::holds(1e39));
/// assert_ne!(0.0f64.bits(), (-0.0f64).bits());
/// ```
pub trait Float:
    Copy + Default + PartialEq + std::ops::AddAssign + Send + Sync + sealed::Sealed + 'static
{
    /// The nearest value of this type.
    fn from_f64(x: f64) -> Self;

    /// Its name: `f32` or `f64`.
    const NAME: &'static str;

    /// Whether the nearest value of this type is finite: `f32` ends at about 3.4e38.
    fn holds(x: f64) -> bool;

    /// The bit pattern, which decides whether two numbers are the same input: 0.0 and -0.0 differ, equal NaNs do not.
    fn bits(self) -> u64;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Float for f32 {
    const NAME: &'static str = "f32";

    fn holds(x: f64) -> bool {
        f32::from_f64(x).is_finite()
    }

    fn from_f64(x: f64) -> Self {
        x as f32
    }

    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Float for f64 {
    const NAME: &'static str = "f64";

    fn holds(x: f64) -> bool {
        f64::from_f64(x).is_finite()
    }

    fn from_f64(x: f64) -> Self {
        x
    }

    fn bits(self) -> u64 {
        self.to_bits()
    }
}
