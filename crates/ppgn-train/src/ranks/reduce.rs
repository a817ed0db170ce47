//! The sum of the ranks' gradients, in the order of the ranks, while the backward pass goes on.
//!
//! An array is cut into as many parts as there are ranks. Every rank sends part j to rank j, which adds the parts up in the
//! order of the ranks and sends the sum to all. Each rank sends and receives `2 (N - 1) / N` of the array, whatever N is.
//! This happens on a thread of its own, array by array, in the order in which they are submitted.

use super::link::{Channel, Link};
use crate::error::{Error, Result};
use ppgn_nn::Values;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// An array to add up, with a number that goes along: the loss.
struct Array {
    values: Values,
    loss: f64,
}

/// Adds up arrays over all ranks.
pub(super) struct Reducer {
    arrays: Sender<Array>,
    sums: Mutex<Receiver<Result<Array>>>,
}

impl Reducer {
    /// Starts the thread; it ends with the reducer.
    pub(super) fn start(link: Arc<dyn Link>) -> Result<Self> {
        let (arrays, submitted) = channel::<Array>();
        let (done, sums) = channel();
        let work = move || {
            for array in submitted {
                let sum = reduce(&*link, array);
                let failed = sum.is_err();
                if done.send(sum).is_err() || failed {
                    return;
                }
            }
        };
        let started = std::thread::Builder::new().name("reduce".into()).spawn(work);
        started.map_err(|e| Error::Threads { threads: 1, message: e.to_string() })?;
        Ok(Reducer { arrays, sums: Mutex::new(sums) })
    }

    /// Hands over an array, all ranks in the same order.
    pub(super) fn submit(&self, values: Values, loss: f64) {
        // If the thread has ended, an error is waiting.
        let _ = self.arrays.send(Array { values, loss });
    }

    /// The sum of the array that was submitted first of those not taken yet, and of the numbers that went along.
    pub(super) fn next(&self) -> Result<(Values, f64)> {
        let gone = |_| Error::Rank { rank: 0, message: "the sum of an earlier step failed".into() };
        self.sums
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .recv()
            .map_err(gone)?
            .map(|sum| (sum.values, sum.loss))
    }
}

/// Part `part` of `of` of an array.
fn range(length: usize, part: usize, of: usize) -> Range<usize> {
    length * part / of..length * (part + 1) / of
}

fn reduce(link: &dyn Link, Array { values, loss }: Array) -> Result<Array> {
    match values {
        Values::F32(mut numbers) => {
            let loss = sum_over_ranks(link, &mut numbers, loss)?;
            Ok(Array { values: Values::F32(numbers), loss })
        }
        Values::F64(mut numbers) => {
            let loss = sum_over_ranks(link, &mut numbers, loss)?;
            Ok(Array { values: Values::F64(numbers), loss })
        }
    }
}

fn sum_over_ranks<T: Wire>(link: &dyn Link, numbers: &mut [T], loss: f64) -> Result<f64> {
    let (rank, size) = (link.rank(), link.size());
    let others = || (0..size).filter(|&other| other != rank);
    for to in others() {
        let mut message = loss.to_le_bytes().to_vec();
        T::write(&numbers[range(numbers.len(), to, size)], &mut message);
        link.send(to, Channel::PARTS, message);
    }
    let mine = range(numbers.len(), rank, size);
    let (mut sum, mut losses) = (vec![T::ZERO; mine.len()], 0.0);
    let mut part = vec![T::ZERO; mine.len()];
    for from in 0..size {
        if from == rank {
            losses += loss;
            part.copy_from_slice(&numbers[mine.clone()]);
        } else {
            let (_, message) = link.receive(Some(from), Channel::PARTS)?;
            let (head, body) = message.split_first_chunk().ok_or_else(|| cut(from))?;
            losses += f64::from_le_bytes(*head);
            T::read(body, &mut part).ok_or_else(|| cut(from))?;
        }
        match from {
            0 => sum.copy_from_slice(&part),
            _ => sum.iter_mut().zip(&part).for_each(|(sum, x)| *sum = *sum + *x),
        }
    }
    let mut message = Vec::new();
    T::write(&sum, &mut message);
    others().for_each(|to| link.send(to, Channel::SUMS, message.clone()));
    numbers[mine].copy_from_slice(&sum);
    for from in others() {
        let (_, message) = link.receive(Some(from), Channel::SUMS)?;
        let at = range(numbers.len(), from, size);
        T::read(&message, &mut numbers[at]).ok_or_else(|| cut(from))?;
    }
    Ok(losses)
}

fn cut(rank: usize) -> Error {
    Error::Rank {
        rank,
        message: "it sent an array of another length: do all ranks run the same version?".into(),
    }
}

/// Numbers as bytes, little-endian.
pub(super) trait Wire: Copy + std::ops::Add<Output = Self> {
    const ZERO: Self;
    fn write(numbers: &[Self], to: &mut Vec<u8>);
    fn read(from: &[u8], numbers: &mut [Self]) -> Option<()>;
}

macro_rules! wire {
    ($real:ty) => {
        impl Wire for $real {
            const ZERO: Self = 0.0;

            fn write(numbers: &[Self], to: &mut Vec<u8>) {
                let start = to.len();
                to.resize(start + size_of_val(numbers), 0);
                let places = to[start..].chunks_exact_mut(size_of::<Self>());
                places.zip(numbers).for_each(|(place, x)| place.copy_from_slice(&x.to_le_bytes()));
            }

            fn read(from: &[u8], numbers: &mut [Self]) -> Option<()> {
                let (chunks, rest) = from.as_chunks();
                if chunks.len() != numbers.len() || !rest.is_empty() {
                    return None;
                }
                numbers.iter_mut().zip(chunks).for_each(|(x, chunk)| *x = Self::from_le_bytes(*chunk));
                Some(())
            }
        }
    };
}
wire!(f32);
wire!(f64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::link::Threads;

    #[test]
    fn sums_have_the_order_of_the_ranks_and_are_the_same_everywhere() {
        for size in [1, 2, 3, 5] {
            // 1e16 + 1 is lost in f64, so that the order shows.
            let of = |rank: usize, i: usize| [1e16, 1.0, -1e16, 1.0, 3.0][rank] * (i + 1) as f64;
            let run = |link: Threads| {
                let rank = link.rank();
                let reducer = Reducer::start(Arc::new(link)).unwrap();
                for length in [7, 2, 0] {
                    reducer.submit(Values::F64((0..length).map(|i| of(rank, i)).collect()), rank as f64);
                }
                [0; 3].map(|_| reducer.next().unwrap())
            };
            let all: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> =
                    Threads::all(size).into_iter().map(|link| scope.spawn(|| run(link))).collect();
                threads.into_iter().map(|t| t.join().unwrap()).collect()
            });
            for sums in all {
                for ((values, losses), length) in sums.into_iter().zip([7, 2, 0]) {
                    let expected: Vec<f64> = (0..length)
                        .map(|i| (1..size).fold(of(0, i), |sum, rank| sum + of(rank, i)))
                        .collect();
                    assert_eq!(values, Values::F64(expected));
                    assert_eq!(losses, (0..size).sum::<usize>() as f64);
                }
            }
        }
    }

    #[test]
    fn a_rank_that_leaves_ends_the_sum() {
        let [first, second] = Threads::all(2).try_into().unwrap();
        second.leave(Some("out of memory"));
        let reducer = Reducer::start(Arc::new(first)).unwrap();
        reducer.submit(Values::F32(vec![1.0]), 0.0);
        assert_eq!(reducer.next().unwrap_err().to_string(), "rank 1: out of memory");
        assert!(reducer.next().is_err());
    }
}
