//! Uniform random integers, with several integers per 64-bit word of the generator.
//!
//! The product of a word x, uniform on 0 … 2⁶⁴−1, and boundᵏ has k digits to the base `bound` above its lowest 64 bits.
//! Each digit is the upper half of a product with `bound`, and the lower half is the next factor. The digits are
//! independent and uniform if words are rejected whose last lower half is less than 2⁶⁴ mod boundᵏ (Brackett-Rozinsky &
//! Lemire 2024; for k = 1, Lemire 2019).

use rand::{Rng, RngExt};

use crate::rng::StreamRng;

/// The maximum number of bits of boundᵏ. The probability of a rejection is then at most 2⁻⁸.
const BITS: u32 = 56;
/// The maximum number of integers per word.
const MAX_PER_WORD: u32 = 6;

/// Fills `out` with independent integers, each uniform on 0 … bound − 1.
pub(super) fn below(bound: usize, rng: &mut StreamRng, out: &mut [usize]) {
    // The state of a local copy of the generator stays in registers.
    let mut local = rng.clone();
    match (1..=MAX_PER_WORD).rev().find(|k| (bound as u64).checked_pow(*k).is_some_and(|power| power >> BITS == 0)) {
        Some(6) => fill::<6>(bound as u64, &mut local, out),
        Some(5) => fill::<5>(bound as u64, &mut local, out),
        Some(4) => fill::<4>(bound as u64, &mut local, out),
        Some(3) => fill::<3>(bound as u64, &mut local, out),
        Some(2) => fill::<2>(bound as u64, &mut local, out),
        Some(_) => fill::<1>(bound as u64, &mut local, out),
        None => out.fill_with(|| local.random_range(0..bound)),
    }
    *rng = local;
}

/// Fills `out` with K integers per word.
#[inline(always)]
fn fill<const K: usize>(bound: u64, rng: &mut StreamRng, out: &mut [usize]) {
    let reject = rejection_threshold(bound, K as u32);
    let (groups, rest) = out.as_chunks_mut::<K>();
    for group in groups {
        *group = digits(bound, reject, || rng.next_u64());
    }
    if !rest.is_empty() {
        rest.copy_from_slice(&digits::<K>(bound, reject, || rng.next_u64())[..rest.len()]);
    }
}

/// Returns 2⁶⁴ mod boundᵏ, the number of words that are rejected.
fn rejection_threshold(bound: u64, k: u32) -> u64 {
    let power = bound.pow(k);
    power.wrapping_neg().checked_rem(power).unwrap_or(0)
}

/// Returns the digits of the first word that is not rejected.
#[inline(always)]
fn digits<const K: usize>(bound: u64, reject: u64, mut word: impl FnMut() -> u64) -> [usize; K] {
    loop {
        let mut lower = word();
        let digits = std::array::from_fn(|_| {
            let product = u128::from(lower) * u128::from(bound);
            lower = product as u64;
            (product >> 64) as usize
        });
        if lower >= reject {
            return digits;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn integers_are_uniform() {
        // The bounds cover one to six integers per word.
        for bound in [1, 2, 3, 7, 10, 1000, 5000, 50_000, 1_000_000] {
            let mut rng = StreamRng::seed_from_u64(bound as u64);
            let count = 20_000 * bound.min(50);
            let mut drawn = vec![0; count];
            below(bound, &mut rng, &mut drawn);
            // Large ranges are divided into a thousand bins.
            let bins = bound.min(1000);
            let mut counts = vec![0_u32; bins];
            drawn.iter().for_each(|index| counts[index * bins / bound] += 1);
            let expected = count as f64 / bins as f64;
            let chi_square: f64 = counts.iter().map(|seen| (f64::from(*seen) - expected).powi(2) / expected).sum();
            let freedom = bins as f64 - 1.0;
            assert!((chi_square - freedom).abs() <= 5.0 * (2.0 * freedom).sqrt(), "{bound}: {chi_square}");
        }
    }

    #[test]
    fn integers_of_one_word_are_independent() {
        // All pairs of positions within the six integers of a word.
        let (bound, words) = (4_usize, 20_000);
        let (mut rng, mut drawn) = (StreamRng::seed_from_u64(9), vec![0; 6 * words]);
        below(bound, &mut rng, &mut drawn);
        for (first, second) in (0..6).flat_map(|first| (0..first).map(move |second| (first, second))) {
            let mut counts = [0_u32; 16];
            drawn.as_chunks::<6>().0.iter().for_each(|word| counts[4 * word[first] + word[second]] += 1);
            let expected = words as f64 / 16.0;
            let chi_square: f64 = counts.iter().map(|seen| (f64::from(*seen) - expected).powi(2) / expected).sum();
            assert!((chi_square - 15.0).abs() <= 5.0 * 30_f64.sqrt(), "{first}, {second}: {chi_square}");
        }
    }

    #[test]
    fn surplus_words_are_rejected() {
        // Of the 2⁶⁴ words, 2⁶⁴ mod 5³ are rejected.
        let (power, reject) = (125_u64, rejection_threshold(5, 3));
        assert_eq!(u128::from(reject), (1 << 64) % u128::from(power));
        // The inverse of 125 mod 2⁶⁴ gives the word with a chosen last lower half.
        let inverse = (0..6).fold(power, |x, _| x.wrapping_mul(2_u64.wrapping_sub(power.wrapping_mul(x))));
        for (lower, rejected) in [(0, true), (115, true), (116, false), (u64::MAX, false)] {
            let mut words = [inverse.wrapping_mul(lower), 1 << 63].into_iter();
            let found: [usize; 3] = digits(5, reject, || words.next().unwrap());
            assert_eq!(words.next().is_none(), rejected, "{lower}");
            // The second word is half of the range, and half of 125 is 222 to the base of five.
            assert!(!rejected || found == [2, 2, 2], "{lower}: {found:?}");
        }
    }

    #[test]
    fn integers_are_below_all_bounds() {
        let mut rng = StreamRng::seed_from_u64(5);
        for bound in [1, 1 << 20, (1 << 28) + 1, (1 << 56) - 1, 1 << 56, usize::MAX] {
            let mut drawn = [usize::MAX; 7];
            below(bound, &mut rng, &mut drawn);
            assert!(drawn.iter().all(|index| *index < bound), "{bound}: {drawn:?}");
        }
        below(0, &mut rng, &mut []);
    }
}
