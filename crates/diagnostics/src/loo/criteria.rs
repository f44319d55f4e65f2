//! Leave-one-out cross-validation by Pareto smoothed importance sampling, and the widely applicable information
//! criterion.
//!
//! lppd_i = log 1/S Σ_s p(y_i|θ_s). Totals are sums over the observations, and se = √(N Var elpd_i). All variances have
//! divisor n − 1.

use std::fmt;

use rayon::prelude::*;

use super::{log_sum_exp, psis};
use crate::error::{self, Error};
use crate::geyer::variance;

/// The result of [`loo`].
#[derive(Clone, Debug, PartialEq)]
pub struct Loo {
    /// The expected log pointwise predictive density.
    pub elpd: f64,
    /// The standard error of `elpd`.
    pub se: f64,
    /// The effective number of parameters.
    pub p: f64,
    /// The number of observations with a shape above `good_k`, whose estimates are not reliable.
    pub above: usize,
    /// The largest reliable shape, min(1 − 1/log10 S, 0.7).
    pub good_k: f64,
    /// The shape of the tail of the importance weights of each observation.
    pub pareto_k: Vec<f64>,
    /// The contribution of each observation to `elpd`.
    pub elpd_i: Vec<f64>,
    /// The contribution of each observation to `p`.
    pub p_i: Vec<f64>,
}

/// The result of [`waic`].
#[derive(Clone, Debug, PartialEq)]
pub struct Waic {
    /// The expected log pointwise predictive density.
    pub elpd: f64,
    /// The standard error of `elpd`.
    pub se: f64,
    /// The effective number of parameters.
    pub p: f64,
    /// The number of observations with a variance above 0.4, for which LOO is more reliable.
    pub above: usize,
    /// The contribution of each observation to `elpd`.
    pub elpd_i: Vec<f64>,
    /// The contribution of each observation to `p`.
    pub p_i: Vec<f64>,
}

impl fmt::Display for Loo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { elpd, se, p, above, good_k, pareto_k, .. } = self;
        write!(f, "elpd_loo {elpd:.1}, standard error {se:.1}; effective number of parameters {p:.1}")?;
        let all = pareto_k.len();
        match above {
            0 => write!(f, "\nall {all} Pareto k are at most {good_k:.2}: the estimates are reliable"),
            _ => write!(f, "\n{above} of {all} Pareto k are above {good_k:.2}: their estimates are not reliable"),
        }
    }
}

impl fmt::Display for Waic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { elpd, se, p, above, p_i, .. } = self;
        write!(f, "elpd_waic {elpd:.1}, standard error {se:.1}; effective number of parameters {p:.1}")?;
        match above {
            0 => Ok(()),
            _ => write!(f, "\n{above} of {} observations have a variance above 0.4: use LOO", p_i.len()),
        }
    }
}

/// Computes PSIS-LOO from log-likelihoods `[draw][observation]`.
///
/// elpd_i = log Σ_s w_si p(y_i|θ_s) with the smoothed weights of the ratios 1/p(y_i|θ_s), and p_i = lppd_i − elpd_i
/// (Vehtari, Gelman & Gabry 2017; `loo` of ArviZ 1.x). `relative_size` is the effective sample size divided by the
/// number of draws: the mean of [`ess_mean`](crate::ess_mean) over the parameters for several chains, and 1 for one
/// chain, as in ArviZ.
///
/// # Errors
///
/// Returns an error if the table is not made of complete rows of finite numbers, if there are fewer than two draws,
/// or if `relative_size` is not positive and finite.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::loo::loo;
///
/// // Two draws of two observations whose log-likelihoods are −1 and −2 in both draws.
/// let found = loo(&[-1.0, -2.0, -1.0, -2.0], 2, 1.0).unwrap();
/// assert!((found.elpd + 3.0).abs() < 1e-12 && (found.se - 1.0).abs() < 1e-12 && found.p.abs() < 1e-12);
/// ```
pub fn loo(log_likelihood: &[f64], observations: usize, relative_size: f64) -> Result<Loo, Error> {
    let draws = check(log_likelihood, observations)?;
    if !(relative_size.is_finite() && relative_size > 0.0) {
        return Err(Error::Setting { what: "the relative size", found: relative_size, expected: "a number above 0" });
    }
    let observation = |index: usize| {
        let column = column(log_likelihood, observations, index);
        let ratios: Vec<f64> = column.iter().map(|x| -x).collect();
        let smoothed = psis(&ratios, relative_size);
        let elpd = log_sum_exp(column.iter().zip(&smoothed.log_weights).map(|(x, weight)| x + weight));
        (elpd, mean_density(&column) - elpd, smoothed.pareto_k)
    };
    let all: Vec<(f64, f64, f64)> = (0..observations).into_par_iter().map(observation).collect();
    let (elpd_i, p_i): (Vec<f64>, Vec<f64>) = all.iter().map(|(elpd, p, _)| (*elpd, *p)).unzip();
    let pareto_k: Vec<f64> = all.iter().map(|(_, _, k)| *k).collect();
    let good_k = (1.0 - 1.0 / (draws as f64).log10()).min(0.7);
    let above = pareto_k.iter().filter(|k| **k > good_k).count();
    let (elpd, se, p) = totals(&elpd_i, &p_i);
    Ok(Loo { elpd, se, p, above, good_k, pareto_k, elpd_i, p_i })
}

/// Computes WAIC from log-likelihoods `[draw][observation]`.
///
/// elpd_i = lppd_i − p_i, where p_i is the variance of log p(y_i|θ_s) over the draws (Watanabe 2010).
///
/// # Errors
///
/// Returns an error if the table is not made of complete rows of finite numbers, or if there are fewer than two draws.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::loo::waic;
///
/// let found = waic(&[-1.0, -2.0, -1.0, -2.0], 2).unwrap();
/// assert!((found.elpd + 3.0).abs() < 1e-12 && found.p == 0.0);
/// ```
pub fn waic(log_likelihood: &[f64], observations: usize) -> Result<Waic, Error> {
    check(log_likelihood, observations)?;
    let observation = |index: usize| {
        let column = column(log_likelihood, observations, index);
        let p = variance(&column);
        (mean_density(&column) - p, p)
    };
    let (elpd_i, p_i): (Vec<f64>, Vec<f64>) = (0..observations).into_par_iter().map(observation).unzip();
    let (elpd, se, p) = totals(&elpd_i, &p_i);
    let above = p_i.iter().filter(|p| **p > 0.4).count();
    Ok(Waic { elpd, se, p, above, elpd_i, p_i })
}

/// Checks the table. Returns the number of draws.
fn check(log_likelihood: &[f64], observations: usize) -> Result<usize, Error> {
    let draws = error::rows("the log-likelihood", log_likelihood, observations)?;
    if draws < 2 {
        return Err(Error::TooFew { what: "the log-likelihood", found: draws, least: 2 });
    }
    Ok(draws)
}

/// Returns a column of a row-major table.
fn column(table: &[f64], width: usize, index: usize) -> Vec<f64> {
    table.iter().skip(index).step_by(width).copied().collect()
}

/// Returns log 1/S Σ exp x.
fn mean_density(column: &[f64]) -> f64 {
    log_sum_exp(column.iter().copied()) - (column.len() as f64).ln()
}

/// Returns elpd, its standard error, and p.
fn totals(elpd_i: &[f64], p_i: &[f64]) -> (f64, f64, f64) {
    let n = elpd_i.len();
    let se = if n > 1 { (n as f64 * variance(elpd_i)).sqrt() } else { 0.0 };
    (elpd_i.iter().sum(), se, p_i.iter().sum())
}
