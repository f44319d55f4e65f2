//! Pareto smoothed importance sampling.

use super::log_sum_exp;
use crate::order::order;

/// SmoothedWeights importance weights.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothedWeights {
    /// The logarithms of the normalized weights.
    pub log_weights: Vec<f64>,
    /// The shape of the tail. It is infinite if the tail has fewer than five draws or is constant, and NaN if a Pareto
    /// distribution cannot be fitted.
    pub pareto_k: f64,
}

/// Smooths importance weights, given by the logarithms of the importance ratios.
///
/// The largest ratios are replaced by quantiles of a generalized Pareto distribution fitted to them (Vehtari,
/// Simpson, Gelman, Yao & Gabry 2024; `_psislw`, `_ps_tail` and `_gpdfit` of ArviZ 1.x). The fit is that of Zhang &
/// Stephens (2009) with a weak prior at k = 1/2. The weights are reliable if the shape k is below min(1 − 1/log10 S,
/// 0.7). `relative_size` is the effective sample size divided by the number of draws.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::loo::psis;
///
/// // Three draws are too few for a tail, so the weights are only normalized.
/// let smoothed = psis(&[0.0, 0.0, 2.0_f64.ln()], 1.0);
/// assert!(smoothed.pareto_k.is_infinite());
/// assert!((smoothed.log_weights[2] - 0.5_f64.ln()).abs() < 1e-12);
/// ```
pub fn psis(log_ratios: &[f64], relative_size: f64) -> SmoothedWeights {
    let n = log_ratios.len();
    let largest = log_ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut weights: Vec<f64> = log_ratios.iter().map(|ratio| ratio - largest).collect();
    let tail = if n as f64 * relative_size > 225.0 { 3.0 * (n as f64 / relative_size).sqrt() } else { n as f64 / 5.0 };
    let tail = (tail.floor() as usize).min(n.saturating_sub(1));
    let pareto_k = if tail < 5 { f64::INFINITY } else { smooth(&mut weights, tail) };
    let total = log_sum_exp(weights.iter().copied());
    weights.iter_mut().for_each(|weight| *weight -= total);
    SmoothedWeights { log_weights: weights, pareto_k }
}

/// Smooths the `tail` largest weights. The largest logarithm must be zero. Returns the shape.
fn smooth(weights: &mut [f64], tail: usize) -> f64 {
    let sorted = order(weights);
    let (rest, top) = sorted.split_at(weights.len() - tail);
    let (low, high) = (top[0].0, top[tail - 1].0);
    if high - low < f64::MIN_POSITIVE {
        return f64::INFINITY;
    }
    let cutoff = rest[rest.len() - 1].0.exp();
    let excess: Vec<f64> = top.iter().map(|(weight, _)| weight.exp() - cutoff).collect();
    let (k, sigma) = fit(&excess);
    if k.is_finite() {
        for (rank, (_, index)) in top.iter().enumerate() {
            let p = (rank as f64 + 0.5) / tail as f64;
            let smoothed = (cutoff + pareto_quantile(p, k, sigma)).ln();
            weights[*index as usize] = if smoothed > high { high } else { smoothed };
        }
    }
    k
}

/// Returns the quantile at `p` of the generalized Pareto distribution with shape `k` and scale `sigma`.
fn pareto_quantile(p: f64, k: f64, sigma: f64) -> f64 {
    if sigma.is_nan() || sigma <= 0.0 {
        f64::NAN
    } else if k.abs() < f64::MIN_POSITIVE {
        -sigma * (-p).ln_1p()
    } else {
        sigma * (-k * (-p).ln_1p()).exp_m1() / k
    }
}

/// Fits a generalized Pareto distribution to sorted positive values. Returns its shape and scale.
fn fit(excess: &[f64]) -> (f64, f64) {
    const SCALE_PRIOR: f64 = 3.0;
    const SHAPE_PRIOR: f64 = 10.0;
    let n = excess.len() as f64;
    let quartile = excess[(n / 4.0 + 0.5 - 1.0) as usize];
    if quartile <= excess[0] {
        return (f64::NAN, f64::NAN);
    }
    let points = 30 + n.sqrt() as usize;
    let shape = |b: f64| excess.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / n;
    let grid: Vec<(f64, f64)> = (1..=points)
        .map(|j| {
            let spread = 1.0 - (points as f64 / (j as f64 - 0.5)).sqrt();
            let b = spread / (SCALE_PRIOR * quartile) + 1.0 / excess[excess.len() - 1];
            let k = shape(b);
            (b, n * ((-b / k).ln() - k - 1.0))
        })
        .collect();
    let total = log_sum_exp(grid.iter().map(|(_, likelihood)| *likelihood));
    let posterior = grid.iter().map(|(b, likelihood)| (b, (likelihood - total).exp()));
    let kept: Vec<(f64, f64)> =
        posterior.filter(|(_, weight)| *weight >= 10.0 * f64::EPSILON).map(|(b, weight)| (*b, weight)).collect();
    let weight: f64 = kept.iter().map(|(_, weight)| weight).sum();
    let b = kept.iter().map(|(b, weight)| b * weight).sum::<f64>() / weight;
    let k = shape(b);
    let sigma = -k / b;
    let k = (n * k + SHAPE_PRIOR * 0.5) / (n + SHAPE_PRIOR);
    if k.is_nan() { (f64::INFINITY, f64::NAN) } else { (k, sigma) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one_and_short_or_constant_tails_are_not_smoothed() {
        let found = psis(&[0.0, 1.0, 2.0], 1.0);
        assert!(found.pareto_k.is_infinite());
        assert!((found.log_weights.iter().map(|w| w.exp()).sum::<f64>() - 1.0).abs() < 1e-14);
        assert!((found.log_weights[2] - found.log_weights[0] - 2.0).abs() < 1e-14);
        let flat = psis(&[3.0; 100], 1.0);
        assert!(flat.pareto_k.is_infinite() && (flat.log_weights[7] + 100.0_f64.ln()).abs() < 1e-12);
    }
}
