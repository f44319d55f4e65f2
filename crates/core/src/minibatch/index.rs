//! Uniform integers, many at a time.
//!
//! With x uniform on 0 … 2³²−1, ⌊x·bound/2³²⌋ is uniform once the x are left out for which x·bound mod 2³² is below
//! 2³² mod bound (Lemire 2019). One word of the generator gives two x.

use rand::{Rng, RngExt};

use crate::rng::StreamRng;

/// Fills `out` with independent integers, each uniform on 0 … bound − 1.
pub(super) fn below(bound: usize, rng: &mut StreamRng, out: &mut [usize]) {
    let Ok(narrow) = u32::try_from(bound) else {
        out.fill_with(|| rng.random_range(0..bound));
        return;
    };
    // A copy of the generator stays in registers.
    let mut local = rng.clone();
    let reject = narrow.wrapping_neg().checked_rem(narrow).unwrap_or(0);
    let mut places = out.chunks_exact_mut(2);
    for pair in &mut places {
        let word = local.next_u64();
        pair[0] = scaled(word as u32, narrow, reject, &mut local);
        pair[1] = scaled((word >> 32) as u32, narrow, reject, &mut local);
    }
    for place in places.into_remainder() {
        *place = scaled((local.next_u64() >> 32) as u32, narrow, reject, &mut local);
    }
    *rng = local;
}

#[inline(always)]
fn scaled(mut x: u32, bound: u32, reject: u32, rng: &mut StreamRng) -> usize {
    loop {
        let product = u64::from(x) * u64::from(bound);
        if product as u32 >= reject {
            return (product >> 32) as usize;
        }
        x = (rng.next_u64() >> 32) as u32;
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn every_integer_is_as_likely_as_another() {
        for bound in [1, 2, 3, 7, 10, 1000] {
            let mut rng = StreamRng::seed_from_u64(bound as u64);
            let count = 20_000 * bound.min(50);
            let mut drawn = vec![0; count];
            below(bound, &mut rng, &mut drawn);
            let mut counts = vec![0_u32; bound];
            drawn.iter().for_each(|index| counts[*index] += 1);
            let expected = count as f64 / bound as f64;
            let chi_square: f64 = counts.iter().map(|seen| (f64::from(*seen) - expected).powi(2) / expected).sum();
            let freedom = bound as f64 - 1.0;
            assert!((chi_square - freedom).abs() <= 5.0 * (2.0 * freedom).sqrt(), "{bound}: {chi_square}");
        }
    }

    #[test]
    fn numbers_that_would_be_too_likely_are_left_out() {
        // Of 2³² numbers, 2³² mod bound are: for this bound a quarter.
        let (bound, count) = (3 << 30, 100_000);
        let (mut rng, mut drawn) = (StreamRng::seed_from_u64(5), vec![0; count]);
        below(bound, &mut rng, &mut drawn);
        let third = drawn.iter().filter(|index| **index < bound / 3).count() as f64 / count as f64;
        assert!((third - 1.0 / 3.0).abs() < 5.0 * (2.0 / 9.0 / count as f64).sqrt(), "{third}");
    }
}
