//! Leave-one-out cross-validation by smoothed importance sampling, and the widely applicable information criterion.
//!
//! - LOO: elpd_i = log Σ_s w_si p(y_i|θ_s) with smoothed weights of the ratios 1/p(y_i|θ_s); p_i = lppd_i − elpd_i (Vehtari, Gelman & Gabry 2017; ArviZ 1.x `loo`)
//! - WAIC: elpd_i = lppd_i − p_i with p_i the variance of log p(y_i|θ_s) over the draws (Watanabe 2010; not in ArviZ 1.x any more)
//!
//! lppd_i = log 1/S Σ_s p(y_i|θ_s). Totals are sums, and se = √(N Var elpd_i), both variances with divisor n − 1.

use rayon::prelude::*;

use super::{log_sum_exp, psis};
use crate::error::{self, Error};
use crate::geyer::variance;

/// The result of [`loo`].
#[derive(Clone, Debug, PartialEq)]
pub struct Loo {
    /// The expected log pointwise predictive density.
    pub elpd: f64,
    /// Its standard error.
    pub se: f64,
    /// The effective number of parameters.
    pub p: f64,
    /// How many observations have a shape above `good_k`: for these the estimate is not to be trusted.
    pub above: usize,
    /// min(1 − 1/log10 S, 0.7).
    pub good_k: f64,
    /// The shape of the weights' tail for each observation.
    pub pareto_k: Vec<f64>,
    /// elpd for each observation.
    pub elpd_i: Vec<f64>,
    /// p for each observation.
    pub p_i: Vec<f64>,
}

/// The result of [`waic`].
#[derive(Clone, Debug, PartialEq)]
pub struct Waic {
    /// The expected log pointwise predictive density.
    pub elpd: f64,
    /// Its standard error.
    pub se: f64,
    /// The effective number of parameters.
    pub p: f64,
    /// How many observations have a variance above 0.4: use LOO for these.
    pub above: usize,
    /// elpd for each observation.
    pub elpd_i: Vec<f64>,
    /// p for each observation.
    pub p_i: Vec<f64>,
}

/// PSIS-LOO of log-likelihoods `[draw][observation]`; `relative_size` is the effective sample size over the number of draws (for several chains the mean of
/// [`ess_mean`](crate::ess_mean) over the parameters; 1 for one chain, as in ArviZ).
pub fn loo(log_likelihood: &[f64], observations: usize, relative_size: f64) -> Result<Loo, Error> {
    let draws = check(log_likelihood, observations)?;
    if !(relative_size.is_finite() && relative_size > 0.0) {
        return Err(Error::Setting { what: "the relative size", found: relative_size, expected: "a number above 0" });
    }
    let one = |index: usize| {
        let column = column(log_likelihood, observations, index);
        let ratios: Vec<f64> = column.iter().map(|x| -x).collect();
        let smoothed = psis(&ratios, relative_size);
        let elpd = log_sum_exp(column.iter().zip(&smoothed.log_weights).map(|(x, weight)| x + weight));
        (elpd, mean_density(&column) - elpd, smoothed.pareto_k)
    };
    let all: Vec<(f64, f64, f64)> = (0..observations).into_par_iter().map(one).collect();
    let (elpd_i, p_i): (Vec<f64>, Vec<f64>) = all.iter().map(|(elpd, p, _)| (*elpd, *p)).unzip();
    let pareto_k: Vec<f64> = all.iter().map(|(_, _, k)| *k).collect();
    let good_k = (1.0 - 1.0 / (draws as f64).log10()).min(0.7);
    let above = pareto_k.iter().filter(|k| **k > good_k).count();
    let (elpd, se, p) = totals(&elpd_i, &p_i);
    Ok(Loo { elpd, se, p, above, good_k, pareto_k, elpd_i, p_i })
}

/// WAIC of log-likelihoods `[draw][observation]`.
pub fn waic(log_likelihood: &[f64], observations: usize) -> Result<Waic, Error> {
    check(log_likelihood, observations)?;
    let one = |index: usize| {
        let column = column(log_likelihood, observations, index);
        let p = variance(&column);
        (mean_density(&column) - p, p)
    };
    let (elpd_i, p_i): (Vec<f64>, Vec<f64>) = (0..observations).into_par_iter().map(one).unzip();
    let (elpd, se, p) = totals(&elpd_i, &p_i);
    let above = p_i.iter().filter(|p| **p > 0.4).count();
    Ok(Waic { elpd, se, p, above, elpd_i, p_i })
}

fn check(log_likelihood: &[f64], observations: usize) -> Result<usize, Error> {
    let draws = error::rows("the log-likelihood", log_likelihood, observations)?;
    if draws < 2 {
        return Err(Error::TooFew { what: "the log-likelihood", found: draws, least: 2 });
    }
    Ok(draws)
}

fn column(table: &[f64], width: usize, index: usize) -> Vec<f64> {
    table.iter().skip(index).step_by(width).copied().collect()
}

/// log 1/S Σ exp x.
fn mean_density(column: &[f64]) -> f64 {
    log_sum_exp(column.iter().copied()) - (column.len() as f64).ln()
}

/// elpd, its standard error, and p.
fn totals(elpd_i: &[f64], p_i: &[f64]) -> (f64, f64, f64) {
    let n = elpd_i.len();
    let se = if n > 1 { (n as f64 * variance(elpd_i)).sqrt() } else { 0.0 };
    (elpd_i.iter().sum(), se, p_i.iter().sum())
}
