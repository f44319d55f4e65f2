//! Laws, estimators and conformance of the algorithms on the simplex.

mod conformance;
mod control_variates;
mod laws;
mod scir;
mod sgrld;
mod target;

use std::sync::Arc;

use sgmcmc_gradient::{ChainRng, GradientEstimator, Target};

use super::{Counts, SimplexTarget};
use crate::chain::{Chain, ChainSpec};
use crate::dynamics::Dynamics;

/// Starts a chain at the coordinates `log_theta`.
fn start<D, G>(
    target: &SimplexTarget,
    dynamics: D,
    gradient: G,
    h: f64,
    log_theta: &[f64],
    seed: u64,
) -> impl Chain + use<D, G>
where
    G: GradientEstimator + std::fmt::Debug,
    D: Dynamics<G> + std::fmt::Debug,
{
    let step_size = h.into();
    let spec =
        ChainSpec { dynamics: Arc::new(dynamics), gradient: Arc::new(gradient), step_size, temperature: 1.0.into() };
    let values = target.simplex_layout().values(log_theta).unwrap();
    spec.start(target.evaluator(&values).unwrap(), log_theta, ChainRng::new(seed, 0)).unwrap()
}

/// Returns the mean of `values` and its standard error.
fn mean(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values: Vec<f64> = values.collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Asserts that the mean of `values` is `expected`, within 4 standard errors.
fn assert_mean(values: impl Iterator<Item = f64>, expected: f64, what: &str) {
    let (found, error) = mean(values);
    assert!((found - expected).abs() < 4.0 * error, "{what}: {found} ± {error}, expected {expected}");
}

/// A categorical model with the totals `totals`.
fn categorical(alpha: f64, totals: &[usize]) -> SimplexTarget {
    let labels: Vec<usize> = totals.iter().enumerate().flat_map(|(j, n)| vec![j; *n]).collect();
    SimplexTarget::new(vec![alpha; totals.len()], Counts::from_labels(&labels, totals.len()).unwrap()).unwrap()
}
