//! Autocovariances and autocorrelations by the fast Fourier transform.
//!
//! γ_t = 1/n Σ_{i<n−t} (x_i − x̄)(x_{i+t} − x̄) is the biased estimate. It is divided by n at every lag, so that the
//! sequence is positive definite. For a series padded with zeros to at least 2n, the inverse transform of the power
//! spectrum is n γ_t at all lags.

use std::cell::RefCell;

use realfft::RealFftPlanner;

thread_local! {
    /// The planner of the thread, which caches the plan of each length.
    static PLANNER: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
}

/// Returns the autocorrelations γ_t/γ_0 at the lags 0..n.
///
/// γ_t = 1/n Σ_{i<n−t} (x_i − x̄)(x_{i+t} − x̄). The result is NaN if the draws are constant or not finite.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::autocorrelation;
///
/// let rho = autocorrelation(&[1.0, -1.0, 1.0, -1.0]);
/// assert!(rho.iter().zip([1.0, -0.75, 0.5, -0.25]).all(|(found, expected)| (found - expected).abs() < 1e-12));
/// ```
pub fn autocorrelation(draws: &[f64]) -> Vec<f64> {
    let center = draws.iter().sum::<f64>() / draws.len() as f64;
    let centered: Vec<f64> = draws.iter().map(|x| x - center).collect();
    let products = lagged_products(&[&centered], draws.len());
    let variance = products.first().copied().unwrap_or(f64::NAN);
    products.into_iter().map(|product| product / variance).collect()
}

/// Returns Σ_{i<n−t} y_i y_{i+t}, summed over the centered `series` of one length n, at the lags 0..lags or more.
///
/// Power spectra are additive, so any number of series needs one inverse transform. For lags below l it suffices to
/// pad to n + l.
pub(crate) fn lagged_products(series: &[&[f64]], lags: usize) -> Vec<f64> {
    let n = series.first().map_or(0, |first| first.len());
    if n == 0 {
        return Vec::new();
    }
    let padded = fast_length(n + lags.min(n));
    let lags = (padded - n).min(n);
    let (forward, inverse) = PLANNER.with_borrow_mut(|planner| {
        let forward = planner.plan_fft_forward(padded);
        (forward, planner.plan_fft_inverse(padded))
    });
    let (mut input, mut spectrum) = (forward.make_input_vec(), forward.make_output_vec());
    let mut scratch = forward.make_scratch_vec();
    let mut power = inverse.make_input_vec();
    for values in series {
        input[..n].copy_from_slice(values);
        input[n..].fill(0.0);
        if forward.process_with_scratch(&mut input, &mut spectrum, &mut scratch).is_err() {
            return vec![f64::NAN; lags];
        }
        power.iter_mut().zip(&spectrum).for_each(|(sum, value)| sum.re += value.norm_sqr());
    }
    if inverse.process(&mut power, &mut input).is_err() {
        return vec![f64::NAN; lags];
    }
    input.truncate(lags);
    input.iter_mut().for_each(|sum| *sum /= padded as f64);
    input
}

/// Returns the smallest even length of the form 2^a 3^b or 5 · 2^a 3^b that is at least `least`.
///
/// More factors of five would make the transform slower than the padding they avoid.
fn fast_length(least: usize) -> usize {
    (least..)
        .find(|length| {
            let mut rest = *length;
            for prime in [2, 3] {
                while rest.is_multiple_of(prime) {
                    rest /= prime;
                }
            }
            matches!(rest, 1 | 5) && length.is_multiple_of(2)
        })
        .unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transform_equals_direct_sums_of_products() {
        let a: Vec<f64> = (0..37).map(|i| f64::from(i * i % 11) - 4.0).collect();
        let b: Vec<f64> = (0..37).map(|i| f64::from(i * 5 % 7) - 3.0).collect();
        for lags in [1, 7, 20, 37] {
            let products = lagged_products(&[&a, &b], lags);
            assert!((lags..=37).contains(&products.len()), "{} of {lags}", products.len());
            for (lag, product) in products.into_iter().enumerate() {
                let direct = |x: &[f64]| x.iter().zip(&x[lag..]).map(|(u, v)| u * v).sum::<f64>();
                assert!((product - direct(&a) - direct(&b)).abs() < 1e-10, "lag {lag}");
            }
        }
    }

    #[test]
    fn alternating_draws_are_correlated_and_constant_draws_undefined() {
        let wave: Vec<f64> = (0..1000).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let found = autocorrelation(&wave);
        assert!((found[0] - 1.0).abs() < 1e-12 && (found[1] + 0.999).abs() < 1e-12 && (found[2] - 0.998).abs() < 1e-12);
        assert!(autocorrelation(&[2.0; 8]).iter().all(|rho| rho.is_nan()));
        assert!(autocorrelation(&[]).is_empty());
    }
}
