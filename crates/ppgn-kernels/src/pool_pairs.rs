//! Maxima over the pairs of a graph, with the sums of a vector of channels in registers.
//!
//! [`crate::pool`] visits the rows of any space and order one by one, with its maxima in memory. Most time is spent on the
//! pairs of dense batches, whose rows follow each other: there, some channels go through all rows at once.

use crate::planes::Part;
use crate::pool::Tie;
use crate::product::Square;
use crate::real::Real;
use crate::simd::Simd;

/// The maxima of a graph's channels, over the diagonal and off it, and the rows that attain them if `ties`: what
/// [`crate::pool`] computes. Nothing if the graph has fewer than two nodes, if channels do not fill vectors, or if a number
/// is not finite.
///
/// # Complexity
/// O(n^2 * channels).
#[inline(always)]
pub(crate) fn maxima<T: Real, S: Simd<T>>(
    graph: Square,
    part: Part,
    x: &[T],
    ties: bool,
) -> Option<(Vec<T>, Vec<Tie<T>>)> {
    if graph.nodes < 2 || !part.width.is_multiple_of(S::LANES) {
        return None;
    }
    let mut maxima = vec![T::default(); 2 * part.width];
    let mut tied = Vec::new();
    for part_of in part.cut(2 * S::LANES) {
        let at = part_of.from - part.from;
        let found = match part_of.width == 2 * S::LANES {
            true => some_channels::<T, S, 2>(graph, part_of, x, ties, &mut tied),
            false => some_channels::<T, S, 1>(graph, part_of, x, ties, &mut tied),
        }?;
        for (maxima, found) in maxima.chunks_exact_mut(part.width).zip(found) {
            maxima[at..at + part_of.width].copy_from_slice(&found[..part_of.width]);
        }
    }
    Some((maxima, tied))
}

/// The most channels of [`some_channels`].
const MOST: usize = 32;

/// The maxima of V vectors of channels, the diagonal's first.
#[inline(always)]
fn some_channels<T: Real, S: Simd<T>, const V: usize>(
    graph: Square,
    part: Part,
    x: &[T],
    ties: bool,
    tied: &mut Vec<Tie<T>>,
) -> Option<[[T; MOST]; 2]> {
    let (n, width) = (graph.nodes, V * S::LANES);
    let x = &x[part.at(graph.start)..];
    assert!(width <= MOST && (n * n - 1) * part.channels + width <= x.len());
    let row = |place: usize| x[place * part.channels..].as_ptr();
    let zero = S::splat(T::default());
    let (mut diagonal, mut rest) = ([S::splat(T::LOWEST); V], [S::splat(T::LOWEST); V]);
    // 0 times a number that is not finite is NaN, and stays so.
    let mut zeros = [zero; V];
    for i in 0..n {
        // SAFETY: every place is below n * n, and there is a vector of channels at each.
        unsafe {
            raise::<T, S, V>(row(i * (n + 1)), &mut diagonal, &mut zeros);
            for place in i * (n + 1) + 1..((i + 1) * (n + 1)).min(n * n) {
                raise::<T, S, V>(row(place), &mut rest, &mut zeros);
            }
        }
    }
    let highest = [diagonal, rest];
    let numbers = |from: &[S::V; V]| {
        let mut to = [T::default(); MOST];
        // SAFETY: there is room for V vectors.
        from.iter().enumerate().for_each(|(v, &x)| unsafe { S::store(to.as_mut_ptr().add(v * S::LANES), x) });
        to
    };
    if numbers(&zeros).iter().any(|&x| x != T::default()) {
        return None;
    }
    let maxima = [numbers(&highest[0]), numbers(&highest[1])];
    if ties {
        let first = tied.len();
        let mut pairs = [[0u32; MOST]; 2];
        let mut next = 0;
        for place in 0..n * n {
            let pattern = usize::from(place != next);
            next += (1 - pattern) * (n + 1);
            let at = row(place);
            // SAFETY: as above.
            let row: [S::V; V] = std::array::from_fn(|v| unsafe { S::load(at.add(v * S::LANES)) });
            // Most rows attain no maximum.
            if !(0..V).fold(false, |any, v| any | S::any_equal(row[v], highest[pattern][v])) {
                continue;
            }
            let row = numbers(&row);
            for c in (0..width).filter(|&c| row[c] == maxima[pattern][c]) {
                pairs[pattern][c] += 1;
                let channel = pattern * part.channels + part.from + c;
                tied.push(((graph.start + place) as u32, channel as u32, T::rounded(1.0)));
            }
        }
        for (_, channel, share) in &mut tied[first..] {
            let (pattern, c) = (*channel as usize / part.channels, *channel as usize % part.channels);
            *share = *share / T::rounded(f64::from(pairs[pattern][c - part.from]));
        }
    }
    Some(maxima)
}

/// Raises the maxima to the numbers of a row.
///
/// # Safety
/// The row must have V vectors.
#[inline(always)]
unsafe fn raise<T: Real, S: Simd<T>, const V: usize>(
    row: *const T,
    highest: &mut [S::V; V],
    zeros: &mut [S::V; V],
) {
    for v in 0..V {
        // SAFETY: guaranteed by the caller.
        let x = unsafe { S::load(row.add(v * S::LANES)) };
        highest[v] = S::max(highest[v], x);
        zeros[v] = S::multiply_add(x, S::splat(T::default()), zeros[v]);
    }
}
