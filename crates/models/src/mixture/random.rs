//! Random variates in log space.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1, Gamma};

/// Draws the logarithm of a Gamma(`shape`, 1) variate. The variate itself underflows for small shapes.
pub(super) fn log_gamma<R: Rng + ?Sized>(shape: f64, rng: &mut R) -> f64 {
    // A variate of shape s is one of shape s + 1 times U^(1/s), and −log U is an exponential variate.
    let (boosted, log_power) =
        if shape < 1.0 { (shape + 1.0, -rng.sample::<f64, _>(Exp1) / shape) } else { (shape, 0.0) };
    match Gamma::new(boosted, 1.0) {
        Ok(gamma) => (gamma.sample(rng).ln() + log_power).max(f64::MIN),
        // Only a shape that is not finite is refused; settings and counts are finite.
        Err(_) => f64::NAN,
    }
}

/// Draws a Gamma(`shape`) variate with the given rate.
pub(super) fn gamma<R: Rng + ?Sized>(shape: f64, rate: f64, rng: &mut R) -> f64 {
    log_gamma(shape, rng).exp() / rate
}

/// Returns log Σ exp x, or negative infinity without terms.
pub(super) fn log_sum_exp(x: &[f64]) -> f64 {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + x.iter().map(|x| (x - largest).exp()).sum::<f64>().ln()
}
