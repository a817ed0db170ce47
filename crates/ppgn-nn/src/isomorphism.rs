//! Isomorphism types of k-tuples as input rows: the first layer in the proof of Theorem 1.
//!
//! `L(X)[i,r,s,w] = X[i_r,i_s,w]` for the channels w of the encoding, and one more channel that is 1 where `i_r = i_s`:
//! k * k * (e + 2) channels for an encoding of e + 1. Two tuples have equal rows exactly if the subgraphs they induce
//! look alike to the encoding, node by node in order.

use ppgn_graph::Float;

/// Channels of the isomorphism types of k-tuples, given those of the encoding: `k * k * (channels + 1)`.
pub(crate) fn channels(k: usize, channels: usize) -> usize {
    k.saturating_mul(k).saturating_mul(channels.saturating_add(1))
}

/// Writes the isomorphism types of all k-tuples of a graph. O(n^k * k * k * channels).
///
/// # Shapes
/// - `pairs`: `[n * n, channels]`, the encoding
/// - `to`: `[n^k, k * k * (channels + 1)]`
pub(crate) fn fill<T: Float>(k: usize, nodes: usize, channels: usize, pairs: &[T], to: &mut [T]) {
    let mut tuple = vec![0; k];
    for row in to.chunks_exact_mut(self::channels(k, channels)) {
        let mut cells = row.chunks_exact_mut(channels + 1);
        for &u in &tuple {
            for (&v, cell) in tuple.iter().zip(&mut cells) {
                cell[..channels].copy_from_slice(&pairs[(u * nodes + v) * channels..][..channels]);
                cell[channels] = T::from_f64(f64::from(u8::from(u == v)));
            }
        }
        for node in tuple.iter_mut().rev() {
            *node += 1;
            if *node < nodes {
                break;
            }
            *node = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_encodes_the_induced_subgraph() {
        let pairs = [10.0f32, 11.0, 12.0, 13.0];
        let mut rows = vec![0.0; 8 * channels(3, 1)];
        fill(3, 2, 1, &pairs, &mut rows);
        // (1, 0, 1)
        let cells = [13.0, 1., 12., 0., 13., 1., 11., 0., 10., 1., 11., 0., 13., 1., 12., 0., 13., 1.];
        assert_eq!(rows[5 * 18..6 * 18], cells);
    }
}
