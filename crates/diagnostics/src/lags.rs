//! The effective sample size with autocorrelations up to a fixed lag.

use crate::autocorrelation::autocorrelation;

/// Returns the effective sample size n/(1 + 2 Σ_{k=1}^{lags} ρ_k), or NaN if the draws are constant.
///
/// Some papers tabulate this size, for instance Fu, Luo & Zhang, "Quasi-Newton Hamiltonian Monte Carlo" (2016),
/// section 5.1, with 500 lags. Unlike Geyer's rule the sum does not stop where noise dominates, so the size may be
/// negative. Use it to reproduce such tables, and [`ess_bulk`](crate::ess_bulk) to assess a chain.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ess_to_lag;
///
/// // The autocorrelations at the lags 1 and 2 are −0.75 and 0.5: 4/(1 + 2 (−0.25)) = 8.
/// assert!((ess_to_lag(&[1.0, -1.0, 1.0, -1.0], 2) - 8.0).abs() < 1e-12);
/// ```
pub fn ess_to_lag(draws: &[f64], lags: usize) -> f64 {
    draws.len() as f64 / (1.0 + 2.0 * autocorrelation(draws).iter().skip(1).take(lags).sum::<f64>())
}

/// Returns the sum Σ_{k=1}^{lags} |ρ_k| of the absolute autocorrelations.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::autocorrelation_to_lag;
///
/// // The autocorrelations at the lags 1 and 2 are −0.75 and 0.5.
/// assert!((autocorrelation_to_lag(&[1.0, -1.0, 1.0, -1.0], 2) - 1.25).abs() < 1e-12);
/// ```
pub fn autocorrelation_to_lag(draws: &[f64], lags: usize) -> f64 {
    autocorrelation(draws).iter().skip(1).take(lags).map(|rho| rho.abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::autoregression;

    #[test]
    fn sums_end_at_the_given_lag() {
        let draws = autoregression(0.8, 500, 5);
        let rho = autocorrelation(&draws);
        assert!((ess_to_lag(&draws, 2) - 500.0 / (1.0 + 2.0 * (rho[1] + rho[2]))).abs() < 1e-9);
        assert!((autocorrelation_to_lag(&draws, 2) - rho[1].abs() - rho[2].abs()).abs() < 1e-12);
        assert!((ess_to_lag(&draws, 0) - 500.0).abs() < 1e-9);
    }
}
