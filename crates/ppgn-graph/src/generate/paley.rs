//! Paley graphs: the elements of a finite field, joined where they differ by a square.
//!
//! The field of q = p^k elements is that of polynomials over the integers modulo p, modulo an irreducible one of
//! degree k. An element is numbered by its coefficients as digits in base p, lowest power first.

use super::rows::{self, MAX_NODES, check_size};
use super::{Generator, Parameter};
use crate::error::{Error, Result};
use crate::graph::Graph;

pub(super) const PALEY: Generator = Generator {
    name: "paley",
    about: "Paley graphs, srg(q, (q-1)/2, (q-5)/4, (q-1)/4), isomorphic to their complements; q = 3 mod 4: tournaments",
    parameters: &[Parameter::new(
        "q",
        "13",
        "nodes, a power of an odd prime; q = 1 mod 4 gives an undirected graph, q = 3 mod 4 a directed one",
    )],
    make: |a| Ok(paley(a.number("q", 3..=MAX_NODES)?)?.into()),
};

/// An arc a -> b for every b - a that is a square other than 0. For q = 1 mod 4 the square -1 makes that symmetric;
/// for q = 3 mod 4 exactly one of a -> b and b -> a exists. O(q^2), and O(k) per arc.
fn paley(q: u32) -> Result<Graph> {
    let Some((p, k)) = odd_prime_power(q) else {
        let power = |x: &u32| odd_prime_power(*x).is_some();
        let below = (3..q).rev().find(power).map(|x| format!("{x} or ")).unwrap_or_default();
        let above = (q..).find(power).unwrap_or(3);
        return Err(Error::call(format!("q = {q} is not a power of an odd prime, take {below}{above}")));
    };
    let arcs = u64::from(q) * u64::from((q - 1) / 2);
    check_size(1, q.into(), arcs)?;
    let squares = squares(q, p, k);
    let row = |u: u32, row: &mut Vec<u32>| row.extend(squares.iter().map(|&s| add(u, s, p)));
    match q % 4 {
        1 => rows::undirected(q.into(), arcs, row),
        _ => rows::directed(q.into(), arcs, row),
    }
}

/// (p, k) with q = p^k, p an odd prime.
fn odd_prime_power(q: u32) -> Option<(u32, u32)> {
    if q < 3 || q.is_multiple_of(2) {
        return None;
    }
    let p = (3..).step_by(2).take_while(|d| d * d <= q).find(|&d| q.is_multiple_of(d)).unwrap_or(q);
    let (mut rest, mut k) = (q, 0);
    while rest.is_multiple_of(p) {
        rest /= p;
        k += 1;
    }
    (rest == 1).then_some((p, k))
}

/// The sum of two elements: digit by digit.
fn add(mut a: u32, mut b: u32, p: u32) -> u32 {
    let (mut sum, mut place) = (0, 1);
    while a > 0 || b > 0 {
        sum += (a % p + b % p) % p * place;
        // The last place may leave 32 bits, but is not used then.
        place = place.wrapping_mul(p);
        (a, b) = (a / p, b / p);
    }
    sum
}

/// The squares other than 0 of the field with q = p^k elements, ascending.
fn squares(q: u32, p: u32, k: u32) -> Vec<u32> {
    let modulus = irreducible(p, k);
    let mut is_square = vec![false; q as usize];
    for x in 1..q {
        let digits = digits(x, p, k);
        let mut product = vec![0u64; 2 * k as usize - 1];
        for (i, a) in digits.iter().enumerate() {
            for (j, b) in digits.iter().enumerate() {
                product[i + j] = (product[i + j] + a * b) % u64::from(p);
            }
        }
        reduce(&mut product, &modulus, p);
        let number = product.iter().take(k as usize).rev().fold(0, |n, &d| n * u64::from(p) + d);
        is_square[number as usize] = true;
    }
    (1..q).filter(|&x| is_square[x as usize]).collect()
}

fn digits(mut x: u32, p: u32, k: u32) -> Vec<u64> {
    (0..k)
        .map(|_| {
            let digit = x % p;
            x /= p;
            u64::from(digit)
        })
        .collect()
}

/// The remainder of a polynomial by a monic one, in place: coefficients from the modulus's degree on become 0.
fn reduce(polynomial: &mut [u64], monic: &[u64], p: u32) {
    let (p, degree) = (u64::from(p), monic.len() - 1);
    for top in (degree..polynomial.len()).rev() {
        let factor = polynomial[top];
        for (i, m) in monic.iter().enumerate() {
            let c = &mut polynomial[top - degree + i];
            *c = (*c + (p - factor) * m) % p;
        }
    }
}

/// The first monic polynomial of degree k, by the number of its lower coefficients, that no monic polynomial of
/// degree 1 to k/2 divides. One in about k is irreducible, and there are about sqrt(q) divisors to try.
fn irreducible(p: u32, k: u32) -> Vec<u64> {
    let monic = |number: u32, degree: u32| {
        let mut polynomial = digits(number, p, degree);
        polynomial.push(1);
        polynomial
    };
    let divides = |divisor: &[u64], mut polynomial: Vec<u64>| {
        reduce(&mut polynomial, divisor, p);
        polynomial.iter().all(|&c| c == 0)
    };
    (0..p.pow(k))
        .map(|number| monic(number, k))
        .find(|f| {
            let mut divisors = (1..=k / 2).flat_map(|d| (0..p.pow(d)).map(move |number| monic(number, d)));
            !divisors.any(|g| divides(&g, f.clone()))
        })
        .expect("there are irreducible polynomials of every degree")
}

#[cfg(test)]
mod tests {
    use super::super::strongly_regular::tests::strong_regularity;
    use super::*;

    #[test]
    fn paley_graphs_are_strongly_regular() {
        for q in [5usize, 9, 13, 17, 25, 29, 37, 49, 81, 121, 125, 169] {
            let g = paley(q as u32).unwrap();
            assert!(!g.is_directed());
            let wanted = (q, (q - 1) / 2, (q - 5) / 4, (q - 1) / 4);
            assert_eq!(strong_regularity(&g), Some(wanted), "{q}");
        }
    }

    #[test]
    fn paley_tournaments_are_doubly_regular() {
        for q in [3usize, 7, 11, 19, 27, 343] {
            let g = paley(q as u32).unwrap();
            assert!(g.is_directed());
            for u in 0..q {
                assert_eq!(g.neighbours(u).len(), (q - 1) / 2);
                for v in (0..q).filter(|&v| v != u) {
                    assert_ne!(g.arc(u, v).is_some(), g.arc(v, u).is_some());
                    let shared = g.neighbours(u).iter().filter(|w| g.neighbours(v).contains(w)).count();
                    assert_eq!(shared, (q - 3) / 4);
                }
            }
        }
    }

    #[test]
    fn prime_powers_by_definition() {
        for q in 0..1000u32 {
            let prime = |x: u32| x > 1 && (2..x).all(|d| !x.is_multiple_of(d));
            let wanted = (3..=q)
                .filter(|&p| prime(p))
                .find_map(|p| (1..7).find(|&k| p.checked_pow(k) == Some(q)).map(|k| (p, k)));
            assert_eq!(odd_prime_power(q), wanted, "{q}");
        }
        let message = |q| paley(q).unwrap_err().to_string();
        assert_eq!(message(15), "q = 15 is not a power of an odd prime, take 13 or 17");
        assert_eq!(message(4), "q = 4 is not a power of an odd prime, take 3 or 5");
        assert!(message(1 << 27).starts_with("q = 134217728 is not a power of an odd prime, take "));
    }

    #[test]
    fn known_fields() {
        assert_eq!(irreducible(3, 2), [1, 0, 1]); // x^2 + 1
        assert_eq!(irreducible(5, 2), [2, 0, 1]); // x^2 + 2
        assert_eq!(irreducible(7, 1), [0, 1]); // x
        assert_eq!(squares(13, 13, 1), [1, 3, 4, 9, 10, 12]);
        assert_eq!(squares(9, 3, 2), [1, 2, 3, 6]); // 1, 2, x, 2x: (1 + x)^2 = 1 + 2x + x^2 = 2x
    }
}
