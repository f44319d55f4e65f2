//! The standard normal distribution function, its inverse, and the normal scores of ranks.

use std::sync::{Arc, Mutex, PoisonError};

use statrs::function::erf::{erfc, erfc_inv};

/// Returns Φ(x).
pub(crate) fn distribution(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

/// Returns the quantile Φ⁻¹(p) of the standard normal distribution.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::normal_quantile;
///
/// assert!((normal_quantile(0.975) - 1.959964).abs() < 1e-6);
/// ```
pub fn quantile(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p)
}

/// Returns the normal score Φ⁻¹((r − 3/8) / (size + 1/4)) of the rank r (Blom 1958). Ranks count from 1, and ties may
/// have half ranks.
pub(crate) fn score(rank: f64, size: usize) -> f64 {
    quantile((rank - 0.375) / (size as f64 + 0.25))
}

/// Returns the scores of the ranks 1..=size.
///
/// The last result is cached, because all values of a fit have the same number of draws.
pub(crate) fn scores(size: usize) -> Arc<[f64]> {
    static LAST: Mutex<Option<Arc<[f64]>>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match last.as_ref().filter(|scores| scores.len() == size) {
        Some(scores) => scores.clone(),
        None => {
            let scores: Arc<[f64]> = (1..=size).map(|rank| score(rank as f64, size)).collect();
            *last = Some(scores.clone());
            scores
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_the_distribution() {
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
        assert!((quantile(1e-6) + 4.753_424_308_822_899).abs() < 1e-12);
        for p in [1e-6, 0.01, 0.3, 0.5, 0.8, 0.9999] {
            assert!((distribution(quantile(p)) / p - 1.0).abs() < 1e-9, "{p}");
        }
    }

    #[test]
    fn cached_scores_equal_single_scores() {
        for size in [5, 8, 5] {
            let scores = scores(size);
            assert_eq!(scores.len(), size);
            assert!((scores[3] - score(4.0, size)).abs() < 1e-15);
        }
    }
}
