//! The weighted mean and the weighted standard deviation.

/// Returns the weighted mean Σ wx / Σ w.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::mean;
///
/// assert_eq!(mean(&[1.0, 5.0], &[3.0, 1.0]), 2.0);
/// ```
pub fn mean(draws: &[f64], weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    draws.iter().zip(weights).map(|(x, w)| w * x).sum::<f64>() / total
}

/// Returns the weighted standard deviation √(Σ w(x − x̄)² / (Σw − Σw²/Σw)).
///
/// For equal weights this is the sample standard deviation with divisor n − 1.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::standard_deviation;
///
/// // The mean is 4 and the squared deviations are 9, 4, 0 and 25.
/// let sd = standard_deviation(&[1.0, 2.0, 4.0, 9.0], &[1.0; 4]);
/// assert!((sd - (38.0_f64 / 3.0).sqrt()).abs() < 1e-14);
/// ```
pub fn standard_deviation(draws: &[f64], weights: &[f64]) -> f64 {
    let center = mean(draws, weights);
    let total: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    let spread: f64 = draws.iter().zip(weights).map(|(x, w)| w * (x - center).powi(2)).sum();
    (spread / (total - squares / total)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_give_the_usual_moments() {
        let draws = [1.0, 2.0, 4.0, 9.0];
        assert!((mean(&draws, &[0.3; 4]) - 4.0).abs() < 1e-14);
        assert!((standard_deviation(&draws, &[0.3; 4]) - (38.0_f64 / 3.0).sqrt()).abs() < 1e-14);
    }

    #[test]
    fn weights_act_as_multiplicities_of_the_mean() {
        assert!((mean(&[1.0, 5.0], &[3.0, 1.0]) - 2.0).abs() < 1e-14);
    }
}
