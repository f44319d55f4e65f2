//! The effective sample size of the papers' tables: autocorrelations up to a lag chosen by hand.
//!
//! ESS = n/(1 + 2 Σ_{k=1}^{m} ρ_k) with m = 500 lags (Fu, Luo & Zhang, "Quasi-Newton Hamiltonian Monte Carlo", 2016, section 5.1). Their tables also give Σ ρ_k, here
//! of the absolute values as in the tables' heads. Unlike Geyer's rule the sum does not stop where noise takes over, so it may even be below −1/2 and
//! the size negative: use it to reproduce tables, and [`ess_bulk`](crate::ess_bulk) to judge a chain.

use crate::autocorrelation::autocorrelation;

/// n/(1 + 2 Σ_{k=1}^{lags} ρ_k); NaN for draws that do not vary.
pub fn ess_to_lag(draws: &[f64], lags: usize) -> f64 {
    draws.len() as f64 / (1.0 + 2.0 * autocorrelation(draws).iter().skip(1).take(lags).sum::<f64>())
}

/// Σ_{k=1}^{lags} |ρ_k|.
pub fn autocorrelation_to_lag(draws: &[f64], lags: usize) -> f64 {
    autocorrelation(draws).iter().skip(1).take(lags).map(|rho| rho.abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::autoregression;

    #[test]
    fn the_sum_goes_to_the_lag_and_no_further() {
        let draws = autoregression(0.8, 500, 5);
        let rho = autocorrelation(&draws);
        assert!((ess_to_lag(&draws, 2) - 500.0 / (1.0 + 2.0 * (rho[1] + rho[2]))).abs() < 1e-9);
        assert!((autocorrelation_to_lag(&draws, 2) - rho[1].abs() - rho[2].abs()).abs() < 1e-12);
        assert!((ess_to_lag(&draws, 0) - 500.0).abs() < 1e-9);
    }
}
