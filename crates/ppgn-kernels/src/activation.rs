//! The functions between linear layers: ReLU, sine and GELU, with their derivatives.
//!
//! ReLU is fused into the matrix products, because its derivative can be read off its output. Those of sine and GELU
//! cannot, so a layer that will need it stores the derivative beside the output, while its input is in registers.
//!
//! Both are computed in f64 for either precision, without branches, so that the compiler vectorises them: the sine by
//! Cody and Waite's reduction to -pi/4..pi/4 in three steps and the polynomials of fdlibm, GELU by a polynomial for the
//! scaled complementary error function and one exponential that also serves the derivative. No step is fused or
//! reordered, so every instruction set and every number of threads gives the same bits. Against 60 digits
//! (`tests/golden/activations.txt`), results in f32 are off by at most 0.51 ulp. In f64 sine and cosine are off by at most
//! 1 ulp; GELU and its derivative by less than 5e-16 of the larger of their value and 1.

use crate::real::Real;
use crate::simd::{Kernel, Simd, dispatch};
use rayon::prelude::*;

/// The function after every layer of an MLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activation {
    /// `max(0, x)`, with derivative 0 at 0.
    #[default]
    Relu,
    /// `sin(x)`.
    Sin,
    /// `x P(Z < x)` for a standard normal Z: `x (1 + erf(x / sqrt(2))) / 2`.
    Gelu,
}

impl Activation {
    /// Whether its derivative can be read off its output, so that nothing else is stored for the backward pass.
    pub(crate) fn is_relu(self) -> bool {
        self == Activation::Relu
    }
}

/// Numbers per task.
const CHUNK: usize = 1 << 12;

/// Applies the activation to every number.
///
/// ```
/// use ppgn_kernels::{Activation, activate};
/// let mut x = [-2.0f64, 0.0, 2.0];
/// activate(Activation::Sin, &mut x);
/// assert!((x[2] - 2f64.sin()).abs() < 1e-15);
/// activate(Activation::Relu, &mut x);
/// assert_eq!(x[0], 0.0);
/// ```
pub fn activate<T: Real>(activation: Activation, x: &mut [T]) {
    T::activate(activation, x)
}

pub(crate) fn activate_generic<T: Real>(activation: Activation, x: &mut [T]) {
    x.par_chunks_mut(CHUNK).for_each(|x| apply(activation, x, None));
}

/// `d <- d * f'(x)`: from the gradient of `f(x)` to that of x.
///
/// # Panics
/// If the lengths differ.
pub fn activate_backward<T: Real>(activation: Activation, x: &[T], d: &mut [T]) {
    T::activate_backward(activation, x, d)
}

pub(crate) fn activate_backward_generic<T: Real>(activation: Activation, x: &[T], d: &mut [T]) {
    assert_eq!(x.len(), d.len());
    d.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).for_each(|(d, x)| {
        let mut slopes = x.to_vec();
        slope(activation, &mut slopes);
        times(d, &slopes);
    });
}

/// Applies the activation to a chunk of numbers and stores its derivatives, if they are wanted.
pub(crate) fn apply<T: Real>(activation: Activation, x: &mut [T], slopes: Option<&mut [T]>) {
    assert!(slopes.as_ref().is_none_or(|slopes| slopes.len() == x.len()));
    dispatch(Apply { activation, x, slopes });
}

/// Replaces a chunk of numbers by the derivatives at them.
pub(crate) fn slope<T: Real>(activation: Activation, x: &mut [T]) {
    dispatch(Slope { activation, x });
}

/// `d <- d * s`, number by number.
pub(crate) fn times<T: Real>(d: &mut [T], s: &[T]) {
    dispatch(Times { d, s });
}

struct Apply<'a, T> {
    activation: Activation,
    x: &'a mut [T],
    slopes: Option<&'a mut [T]>,
}

impl<T: Real> Kernel<T> for Apply<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        let Apply { activation, x, slopes } = self;
        match slopes {
            None => {
                for x in x.chunks_mut(GROUP) {
                    put(x, &both(activation, x).0);
                }
            }
            Some(slopes) => {
                for (x, slopes) in x.chunks_mut(GROUP).zip(slopes.chunks_mut(GROUP)) {
                    let (values, all) = both(activation, x);
                    put(x, &values);
                    put(slopes, &all);
                }
            }
        }
    }
}

struct Slope<'a, T> {
    activation: Activation,
    x: &'a mut [T],
}

impl<T: Real> Kernel<T> for Slope<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        for x in self.x.chunks_mut(GROUP) {
            put(x, &both(self.activation, x).1);
        }
    }
}

struct Times<'a, T> {
    d: &'a mut [T],
    s: &'a [T],
}

impl<T: Real> Kernel<T> for Times<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd<T>>(self) {
        self.d.iter_mut().zip(self.s).for_each(|(d, &s)| *d *= s);
    }
}

/// Numbers that are computed together; the compiler makes vectors of them.
const GROUP: usize = 16;

type Group = [f64; GROUP];

#[inline(always)]
fn put<T: Real>(to: &mut [T], numbers: &Group) {
    to.iter_mut().zip(numbers).for_each(|(to, &x)| *to = T::rounded(x));
}

/// The activation and its derivative at up to [`GROUP`] numbers.
#[inline(always)]
fn both<T: Real>(activation: Activation, x: &[T]) -> (Group, Group) {
    let mut group = [0.0; GROUP];
    group.iter_mut().zip(x).for_each(|(to, x)| *to = x.wide());
    match activation {
        Activation::Relu => {
            (group.map(|x| if x < 0.0 { 0.0 } else { x }), group.map(|x| if x > 0.0 { 1.0 } else { 0.0 }))
        }
        Activation::Sin => sines(&group),
        Activation::Gelu => gelus(&group),
    }
}

/// 1.5 * 2^52: adding it rounds a number below 2^51 to an integer, which then is in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The reduction is exact up to this bound; beyond it the standard library's takes over.
const FAR: f64 = 1_647_099.0;

/// pi/2 in three parts, the first two of 33 bits.
const HALF_PI: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];

/// (sin x - x) / x^3 and (cos x - 1 + x^2/2) / x^4 as polynomials in x^2, on -pi/4..pi/4.
const SIN: [f64; 6] = [
    -0.166_666_666_666_666_32,
    0.008_333_333_333_322_49,
    -0.000_198_412_698_298_579_5,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_3e-8,
    1.589_690_995_211_55e-10,
];
const COS: [f64; 6] = [
    0.041_666_666_666_666_6,
    -0.001_388_888_888_887_411,
    2.480_158_728_947_673e-5,
    -2.755_731_435_139_066_3e-7,
    2.087_572_321_298_175e-9,
    -1.135_964_755_778_819_5e-11,
];

/// Sine and cosine.
#[inline(always)]
fn sines(x: &Group) -> (Group, Group) {
    let (mut sines, mut cosines) = ([0.0; GROUP], [0.0; GROUP]);
    let mut far = false;
    for i in 0..GROUP {
        (sines[i], cosines[i]) = sin_cos(x[i]);
        far |= is_far(x[i]);
    }
    if far {
        for i in (0..GROUP).filter(|&i| is_far(x[i])) {
            (sines[i], cosines[i]) = x[i].sin_cos();
        }
    }
    (sines, cosines)
}

/// Whether a number is beyond [`FAR`], or not a number.
#[inline(always)]
fn is_far(x: f64) -> bool {
    !x.abs().le(&FAR)
}

/// Sine and cosine of a number up to [`FAR`].
#[inline(always)]
fn sin_cos(x: f64) -> (f64, f64) {
    let turned = x * std::f64::consts::FRAC_2_PI + ROUND;
    let quarter = turned.to_bits();
    let k = turned - ROUND;
    // x - k pi/2 as r + tail.
    let first = x - k * HALF_PI[0];
    let second = k * HALF_PI[1];
    let rest = first - second;
    let low = k * HALF_PI[2] - ((first - rest) - second);
    let r = rest - low;
    let tail = (rest - r) - low;
    let z = r * r;
    let sin = r + (z * r * polynomial(&SIN, z) + tail * (1.0 - 0.5 * z));
    let half = 0.5 * z;
    let top = 1.0 - half;
    let cos = top + (((1.0 - top) - half) + (z * z * polynomial(&COS, z) - r * tail));
    // An odd quarter exchanges sine and cosine; two quarters change the sign.
    let odd = 0u64.wrapping_sub(quarter & 1);
    let (s, c) = (sin.to_bits(), cos.to_bits());
    let sin = ((s & !odd) | (c & odd)) ^ ((quarter & 2) << 62);
    let cos = ((c & !odd) | (s & odd)) ^ ((quarter.wrapping_add(1) & 2) << 62);
    (f64::from_bits(sin), f64::from_bits(cos))
}

/// `a[0] + a[1] x + a[2] x^2 + ...`
#[inline(always)]
fn polynomial<const N: usize>(a: &[f64; N], x: f64) -> f64 {
    let mut sum = a[N - 1];
    for i in (0..N - 1).rev() {
        sum = sum * x + a[i];
    }
    sum
}

/// `erfc(t) = exp(-t^2) s Q(w)` with `s = 1 / (1 + t/4)`, for t up to 28; w maps 1/8..1, the range of s, to -1..1.
/// `tests/golden/make_activations.py` computes Q.
const Q: [f64; 22] = [
    0.307_822_095_566_532_8,
    0.262_065_854_569_596,
    0.193_462_364_662_291_41,
    0.123_380_905_964_567_74,
    0.067_325_617_361_578_45,
    0.030_854_432_600_683_48,
    0.011_461_066_791_681_26,
    0.003_192_548_277_709_616_5,
    0.000_519_841_213_240_475_6,
    -3.290_850_261_239_946e-5,
    -4.540_632_975_005_558e-5,
    -9.007_555_376_656_095e-6,
    1.614_971_848_208_717_8e-6,
    1.052_531_624_293_927_7e-6,
    2.398_168_663_427_336_7e-8,
    -9.324_593_708_086_374e-8,
    -1.176_689_766_976_515_5e-8,
    8.179_269_904_054_939e-9,
    1.516_017_295_191_732_8e-9,
    -7.238_885_191_459_832e-10,
    -1.113_717_006_964_088_5e-10,
    4.750_649_395_500_508e-11,
];

/// Beyond this, a normal distribution has nothing left that f64 can represent.
const TAIL: f64 = 39.0;

/// GELU and its derivative.
#[inline(always)]
fn gelus(x: &Group) -> (Group, Group) {
    let (mut values, mut slopes) = ([0.0; GROUP], [0.0; GROUP]);
    for i in 0..GROUP {
        (values[i], slopes[i]) = gelu(x[i]);
    }
    (values, slopes)
}

#[inline(always)]
fn gelu(x: f64) -> (f64, f64) {
    let near = if x.abs() > TAIL { TAIL } else { x.abs() };
    let density = exp(-0.5 * near * near);
    let s = 1.0 / (1.0 + near * (0.25 * std::f64::consts::FRAC_1_SQRT_2));
    let w = (s - 0.5625) * (1.0 / 0.4375);
    let half = 0.5 * s * polynomial(&Q, w) * density;
    let below = if x < 0.0 { half } else { 1.0 - half };
    let slope = below + x * density * 0.398_942_280_401_432_7;
    (x * below, slope)
}

/// 1/i! for i up to 13.
const EXP: [f64; 14] = [
    1.0,
    1.0,
    0.5,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// ln 2 in two parts, the first of 33 bits.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// e^x for x up to 0; nothing below -745 is exact.
#[inline(always)]
fn exp(x: f64) -> f64 {
    // Two to the power of less than -1022 is not a normal number.
    let x = if x < -708.0 { -708.0 } else { x };
    let turned = x * std::f64::consts::LOG2_E + ROUND;
    let k = turned - ROUND;
    let r = (x - k * LN_2[0]) - k * LN_2[1];
    let power = turned.to_bits().wrapping_add(1023) << 52;
    polynomial(&EXP, r) * f64::from_bits(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of x, sin x, cos x, GELU(x), GELU'(x).
    fn golden() -> Vec<[f64; 5]> {
        let lines = include_str!("tests/golden/activations.txt").lines();
        let numbers = |line: &str| -> Vec<f64> { line.split(' ').map(|x| x.parse().unwrap()).collect() };
        lines.map(|line| numbers(line).try_into().unwrap()).collect()
    }

    /// The distance from x to the next f64.
    fn ulp(x: f64) -> f64 {
        f64::from_bits(x.abs().to_bits() + 1) - x.abs()
    }

    fn of<T: Real>(activation: Activation, xs: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut values: Vec<T> = xs.iter().map(|&x| T::rounded(x)).collect();
        let mut slopes = vec![T::default(); xs.len()];
        apply(activation, &mut values, Some(&mut slopes));
        let mut alone: Vec<T> = xs.iter().map(|&x| T::rounded(x)).collect();
        slope(activation, &mut alone);
        assert!(alone == slopes);
        let mut again: Vec<T> = xs.iter().map(|&x| T::rounded(x)).collect();
        activate(activation, &mut again);
        assert!(again == values);
        let wide = |x: Vec<T>| x.into_iter().map(T::wide).collect();
        (wide(values), wide(slopes))
    }

    #[test]
    fn double_precision_is_as_stated() {
        let golden = golden();
        let xs: Vec<f64> = golden.iter().map(|line| line[0]).collect();
        let ((sin, cos), (gelu, slope)) = (of::<f64>(Activation::Sin, &xs), of::<f64>(Activation::Gelu, &xs));
        let mut worst = [0.0f64; 4];
        for (i, &[x, s, c, g, d]) in golden.iter().enumerate() {
            // GELU is compared where f64 can represent the tail.
            let off = [
                (sin[i] - s).abs() / ulp(s),
                (cos[i] - c).abs() / ulp(c),
                (gelu[i] - g).abs() / g.abs().max(1.0),
                (slope[i] - d).abs() / d.abs().max(1.0),
            ];
            let bounds = [1.0, 1.0, 5e-16, 5e-16];
            for n in 0..4 {
                worst[n] = worst[n].max(off[n]);
                assert!(off[n] <= bounds[n], "number {n} at {x}: off by {}", off[n]);
            }
        }
        println!("{worst:?}");
    }

    #[test]
    fn single_precision_is_rounded_from_double() {
        let golden = golden();
        let exact: Vec<&[f64; 5]> =
            golden.iter().filter(|line| line[0] == f64::from(line[0] as f32)).collect();
        assert!(exact.len() > 400);
        let xs: Vec<f64> = exact.iter().map(|line| line[0]).collect();
        let ((sin, cos), (gelu, slope)) = (of::<f32>(Activation::Sin, &xs), of::<f32>(Activation::Gelu, &xs));
        for (i, &&[x, s, c, g, d]) in exact.iter().enumerate() {
            for (got, want) in [(sin[i], s), (cos[i], c), (gelu[i], g), (slope[i], d)] {
                let ulp = f64::from(f32::from_bits((want.abs() as f32).to_bits() + 1))
                    - f64::from(want.abs() as f32);
                assert!((got - want).abs() <= 0.51 * ulp, "{x}: {got} {want}");
            }
        }
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        for activation in [Activation::Relu, Activation::Sin, Activation::Gelu] {
            let mut x = [f64::NAN, f64::INFINITY];
            activate(activation, &mut x);
            assert!(x[0].is_nan() && !x[1].is_finite(), "{activation:?} {x:?}");
        }
        let mut x = [f32::NEG_INFINITY, -1e30, 1e30];
        activate(Activation::Relu, &mut x);
        assert_eq!(x, [0.0, 0.0, 1e30]);
        activate(Activation::Gelu, &mut x);
        assert_eq!(x, [0.0, 0.0, 1e30]);
    }
}
