//! The effective sample size of a chain.

/// How many independent draws would estimate the mean as well as this chain does.
///
/// n/τ with τ the integrated autocorrelation time by Geyer's initial positive and monotone sequence, times the loss by unequal
/// weights, (Σw)²/(n Σw²). Autocorrelations are of the draws as they follow each other, so weights should change slowly against
/// the chain's memory. Fewer than four draws, or draws that do not vary, give NaN.
pub fn effective_sample_size(draws: &[f64], weights: &[f64]) -> f64 {
    let n = draws.len();
    let centre = draws.iter().sum::<f64>() / n as f64;
    let autocovariance = |lag: usize| {
        draws[..n - lag].iter().zip(&draws[lag..]).map(|(a, b)| (a - centre) * (b - centre)).sum::<f64>() / n as f64
    };
    if n < 4 {
        return f64::NAN;
    }
    let variance = autocovariance(0);
    if variance.is_nan() || variance <= 0.0 {
        return f64::NAN;
    }
    // Γ_k = ρ_{2k} + ρ_{2k+1} is positive and falling for a reversible chain; stop where noise takes over.
    let (mut sum, mut smallest) = (0.0, f64::INFINITY);
    for lag in (0..n - 1).step_by(2) {
        let pair = (autocovariance(lag) + autocovariance(lag + 1)) / variance;
        if pair <= 0.0 {
            break;
        }
        smallest = pair.min(smallest);
        sum += smallest;
    }
    let tau = (2.0 * sum - 1.0).max(1.0 / (n as f64).log10());
    let (total, squares) = weights.iter().fold((0.0, 0.0), |(total, squares), w| (total + w, squares + w * w));
    n as f64 / tau * total * total / (n as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x ← ρx + e with e a scrambled sequence of known spread.
    fn autoregression(rho: f64, n: usize) -> Vec<f64> {
        let mut state = 1_u64;
        let mut x = 0.0;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        (0..n)
            .map(|_| {
                x = rho * x + next();
                x
            })
            .collect()
    }

    #[test]
    fn an_autoregression_has_the_known_size() {
        let n = 20_000;
        for rho in [0.0, 0.5, 0.9] {
            let found = effective_sample_size(&autoregression(rho, n), &vec![1.0; n]);
            let expected = n as f64 * (1.0 - rho) / (1.0 + rho);
            assert!((found / expected - 1.0).abs() < 0.1, "rho {rho}: {found}, expected {expected}");
        }
    }

    #[test]
    fn unequal_weights_cost_draws() {
        let draws = autoregression(0.0, 10_000);
        let weights: Vec<f64> = (0..10_000).map(|t| if t % 2 == 0 { 1.0 } else { 3.0 }).collect();
        let ratio = effective_sample_size(&draws, &weights) / effective_sample_size(&draws, &vec![1.0; 10_000]);
        assert!((ratio - 0.8).abs() < 1e-12, "{ratio}");
    }

    #[test]
    fn what_does_not_vary_has_no_size() {
        assert!(effective_sample_size(&[2.0; 10], &[1.0; 10]).is_nan());
        assert!(effective_sample_size(&[1.0, 2.0], &[1.0; 2]).is_nan());
    }
}
