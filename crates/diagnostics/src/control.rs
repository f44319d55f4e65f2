//! Zero-variance control variates: better estimates of E g(θ) from the draws and their gradients, after the run.
//!
//! For a polynomial Q and z = −½∇ log p(θ), the function h = −½ΔQ + ∇Q·z has mean zero under p. This also holds if
//! the gradient is replaced by an unbiased estimate (Mira, Solgi & Imparato 2013; Friel, Mira & Oates 2016; Baker
//! 2018, section 3.4). The corrected values g̃ = g + Σ c_k h_k have the same mean. With the least-squares
//! coefficients c = −Var(h)⁻¹ Cov(h, g) they have less variance, and no variance if p is normal and g is a polynomial
//! of the degree of Q. (The thesis prints the coefficients without the minus sign, and h with ΔQ instead of −½ΔQ.)
//!
//! Q is a polynomial in θ − θ̄, which spans the same space. Gradients of a control-variate estimator reduce the
//! variance far more than plain minibatch gradients, whose noise grows with the number of observations (theorem 3.4.2
//! of the thesis).

use crate::error::{self, Error};
use crate::linear::least_squares;
use crate::{mean, standard_deviation};

/// The degree of the polynomials Q.
///
/// # Examples
///
/// See [`zero_variance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polynomial {
    /// Q = aᵀθ: d coefficients.
    Linear,
    /// Linear terms and all products of two parameters: d + d(d + 1)/2 coefficients.
    Quadratic,
}

/// The draws of a run and their gradients.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::control::Run;
///
/// // The gradient of the standard normal log density is −θ.
/// let (draws, gradients) = ([-1.0, 0.5, 2.0, 1.0], [1.0, -0.5, -2.0, -1.0]);
/// let run = Run { draws: &draws, gradients: &gradients, dimension: 1, weights: None };
/// assert_eq!(run.draws.len(), run.gradients.len());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// The draws θ, in row-major order with one row per draw.
    pub draws: &'a [f64],
    /// The gradients ∇ log p(θ) or their estimates, in the layout of the draws.
    pub gradients: &'a [f64],
    /// The number of parameters.
    pub dimension: usize,
    /// The weight of each draw, or `None` for equal weights.
    pub weights: Option<&'a [f64]>,
}

/// A corrected estimate.
///
/// # Examples
///
/// See [`zero_variance`].
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectedEstimate {
    /// The uncorrected estimate: the mean of g.
    pub plain: f64,
    /// The corrected estimate: the mean of g̃.
    pub estimate: f64,
    /// The variance reduction Var g / Var g̃.
    pub variance_reduction: f64,
    /// The coefficients of Q: those of θ_i − θ̄_i for i = 1..d, and for a quadratic polynomial then those of
    /// (θ_i − θ̄_i)(θ_j − θ̄_j) for i = 1..d, j = i..d.
    pub coefficients: Vec<f64>,
    /// The corrected value g̃ of each draw, for effective sample sizes and standard errors.
    pub values: Vec<f64>,
}

/// Estimates the mean of a test function from its `values` at the draws, with control variates.
///
/// # Errors
///
/// Returns an error if slices have inconsistent lengths, if a number is not finite, if a weight is invalid, or if
/// there are fewer draws than coefficients plus two.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::control::{Polynomial, Run, zero_variance};
///
/// // The gradient of the standard normal log density is −θ, so the mean of θ is found exactly.
/// let (draws, gradients) = ([-1.0, 0.5, 2.0, 1.0], [1.0, -0.5, -2.0, -1.0]);
/// let run = Run { draws: &draws, gradients: &gradients, dimension: 1, weights: None };
/// let corrected = zero_variance(run, &draws, Polynomial::Linear).unwrap();
/// assert_eq!(corrected.plain, 0.625);
/// assert!(corrected.estimate.abs() < 1e-12);
/// ```
pub fn zero_variance(run: Run<'_>, values: &[f64], polynomial: Polynomial) -> Result<CorrectedEstimate, Error> {
    let d = run.dimension;
    let n = error::rows("draws", run.draws, d)?;
    error::rows("gradients", run.gradients, d)?;
    if run.gradients.len() != run.draws.len() {
        let (found, expected) = (run.gradients.len(), run.draws.len());
        return Err(Error::Length { what: "gradients", found, expected, per: "column of every draw" });
    }
    if values.len() != n {
        return Err(Error::Length { what: "values", found: values.len(), expected: n, per: "draw" });
    }
    error::rows("values", values, 1)?;
    let equal = vec![1.0; n];
    let weights = run.weights.unwrap_or(&equal);
    error::weights(weights, n)?;
    let mut controls = controls(run, weights, polynomial);
    if n < controls.len() + 2 {
        return Err(Error::TooFew { what: "the run", found: n, least: controls.len() + 2 });
    }
    let coefficients = coefficients(&controls, values, weights);
    let mut corrected = values.to_vec();
    for (control, coefficient) in controls.iter_mut().zip(&coefficients) {
        corrected.iter_mut().zip(control).for_each(|(value, h)| *value += coefficient * *h);
    }
    let spread = |values: &[f64]| standard_deviation(values, weights).powi(2);
    Ok(CorrectedEstimate {
        plain: mean(values, weights),
        estimate: mean(&corrected, weights),
        variance_reduction: spread(values) / spread(&corrected),
        coefficients,
        values: corrected,
    })
}

/// Returns the control variates h_k, one column each.
fn controls(run: Run<'_>, weights: &[f64], polynomial: Polynomial) -> Vec<Vec<f64>> {
    let d = run.dimension;
    let column = |table: &[f64], index: usize| -> Vec<f64> { table.iter().skip(index).step_by(d).copied().collect() };
    let gradients: Vec<Vec<f64>> = (0..d).map(|index| column(run.gradients, index)).collect();
    let mut controls: Vec<Vec<f64>> = gradients.iter().map(|g| g.iter().map(|g| -0.5 * g).collect()).collect();
    if polynomial == Polynomial::Quadratic {
        let centered: Vec<Vec<f64>> = (0..d)
            .map(|index| {
                let draws = column(run.draws, index);
                let center = mean(&draws, weights);
                draws.into_iter().map(|x| x - center).collect()
            })
            .collect();
        for i in 0..d {
            for j in i..d {
                let laplacian = if i == j { 2.0 } else { 0.0 };
                let h = |draw: usize| {
                    let slope = centered[j][draw] * gradients[i][draw] + centered[i][draw] * gradients[j][draw];
                    -0.5 * (laplacian + slope)
                };
                controls.push((0..weights.len()).map(h).collect());
            }
        }
    }
    controls
}

/// Returns −Var(h)⁻¹ Cov(h, g), the negative slopes of the regression of g on the controls with an intercept.
fn coefficients(controls: &[Vec<f64>], values: &[f64], weights: &[f64]) -> Vec<f64> {
    let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
    let centered = |column: &[f64]| -> Vec<f64> {
        let center = mean(column, weights);
        column.iter().zip(&roots).map(|(x, root)| (x - center) * root).collect()
    };
    // The columns are scaled to length one, so that the detection of dependent columns does not depend on units.
    let mut columns: Vec<Vec<f64>> = controls.iter().map(|control| centered(control)).collect();
    let sizes: Vec<f64> = columns.iter().map(|column| crate::lanes::dot(column, column).sqrt()).collect();
    for (column, size) in columns.iter_mut().zip(&sizes) {
        column.iter_mut().for_each(|x| *x /= if *size > 0.0 { *size } else { 1.0 });
    }
    let slopes = least_squares(columns, centered(values));
    slopes.iter().zip(&sizes).map(|(slope, size)| if *size > 0.0 { -slope / size } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::autoregression;
    use sgmcmc_numerics::Cholesky;

    const MEAN: [f64; 3] = [1.0, -2.0, 0.5];
    /// The precision matrix of the normal distribution.
    const PRECISION: [f64; 9] = [2.0, 0.5, 0.0, 0.5, 1.0, 0.3, 0.0, 0.3, 4.0];

    fn gaussian(n: usize) -> (Vec<f64>, Vec<f64>) {
        // The draws are correlated and do not have the target distribution. The identity holds for any draws.
        let noise: Vec<Vec<f64>> = (0..3).map(|k| autoregression(0.7, n, 40 + k)).collect();
        let draws: Vec<f64> = (0..3 * n).map(|i| MEAN[i % 3] + noise[i % 3][i / 3] + 0.3 * noise[0][i / 3]).collect();
        let gradient = |row: &[f64], i: usize| -(0..3).map(|j| PRECISION[i * 3 + j] * (row[j] - MEAN[j])).sum::<f64>();
        let gradients = draws.chunks_exact(3).flat_map(|row| (0..3).map(move |i| gradient(row, i))).collect();
        (draws, gradients)
    }

    fn covariance(i: usize, j: usize) -> f64 {
        let mut column = [0.0; 3];
        column[j] = 1.0;
        Cholesky::new(&PRECISION, 3).unwrap().solve(&mut column);
        column[i]
    }

    #[test]
    fn exact_gradients_of_a_normal_distribution_leave_no_variance() {
        let (draws, gradients) = gaussian(400);
        let weights: Vec<f64> = (0..400).map(|t| 1.0 / (1.0 + 0.1 * f64::from(t))).collect();
        for weights in [None, Some(&weights[..])] {
            let run = Run { draws: &draws, gradients: &gradients, dimension: 3, weights };
            for i in 0..3 {
                let values: Vec<f64> = draws.chunks_exact(3).map(|row| row[i]).collect();
                for polynomial in [Polynomial::Linear, Polynomial::Quadratic] {
                    let found = zero_variance(run, &values, polynomial).unwrap();
                    assert!((found.plain - MEAN[i]).abs() > 1e-4);
                    assert!((found.estimate - MEAN[i]).abs() < 1e-12, "{found:?}");
                    assert!(found.variance_reduction > 1e24, "{}", found.variance_reduction);
                    // a = −Var(z)⁻¹Cov(z, θ_i) = 2 Σ_i for z = ½ Σ⁻¹(θ − μ), up to the sign of z.
                    assert!((found.coefficients[0] + 2.0 * covariance(i, 0)).abs() < 1e-10);
                }
                for j in 0..3 {
                    let values: Vec<f64> = draws.chunks_exact(3).map(|row| row[i] * row[j]).collect();
                    let found = zero_variance(run, &values, Polynomial::Quadratic).unwrap();
                    let expected = MEAN[i] * MEAN[j] + covariance(i, j);
                    assert!((found.estimate - expected).abs() < 1e-11, "{} {expected}", found.estimate);
                }
            }
        }
    }

    #[test]
    fn inconsistent_lengths_are_errors_and_duplicate_columns_are_allowed() {
        let (draws, gradients) = gaussian(20);
        let run = Run { draws: &draws, gradients: &gradients, dimension: 3, weights: None };
        assert!(matches!(zero_variance(run, &[1.0; 19], Polynomial::Linear), Err(Error::Length { .. })));
        let short = Run { draws: &draws[..12], gradients: &gradients[..12], ..run };
        assert!(matches!(zero_variance(short, &[1.0; 4], Polynomial::Linear), Err(Error::TooFew { .. })));
        let twice =
            |table: &[f64]| -> Vec<f64> { table.chunks_exact(3).flat_map(|r| [r[0], r[0], r[1], r[2]]).collect() };
        let (draws, gradients) = (twice(&draws), twice(&gradients));
        let values: Vec<f64> = draws.chunks_exact(4).map(|row| row[0]).collect();
        let run = Run { draws: &draws, gradients: &gradients, dimension: 4, weights: None };
        let found = zero_variance(run, &values, Polynomial::Linear).unwrap();
        assert!((found.estimate - MEAN[0]).abs() < 1e-12, "{found:?}");
    }
}
