//! The Rosenblatt transform of a Dirichlet distribution.

use statrs::function::beta::checked_beta_reg;

use super::kolmogorov::ks_one_sample;
use crate::error::{self, Error};

/// Returns the Rosenblatt transform of `draws`, which turns draws of Dirichlet(a) into independent uniform numbers.
///
/// u_j = F(x_j | x_1, …, x_{j−1}), j < K, is the distribution function of Beta(a_j, Σ_{l>j} a_l) at x_j/Σ_{l≥j} x_l
/// (Rosenblatt 1952). `draws` has K columns and the result K − 1, in row-major order. The last entry of a draw is
/// determined by the others. The sums of a draw over its last entries are not differences from one, so that tiny entries
/// are accurate.
///
/// # Errors
///
/// Returns an error if there are fewer than two columns, if a row is incomplete, if a draw is not finite or has a
/// negative entry, if the last entries of a draw have the sum zero, or if an element of `a` is not positive.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::distance::dirichlet_rosenblatt;
///
/// // x₁ ~ Beta(1, 2) has the distribution function 1 − (1 − x)², and x₂/(x₂ + x₃) is uniform.
/// let uniform = dirichlet_rosenblatt(&[0.5, 0.1, 0.4], &[1.0; 3]).unwrap();
/// assert!((uniform[0] - 0.75).abs() < 1e-12 && (uniform[1] - 0.2).abs() < 1e-12);
/// ```
pub fn dirichlet_rosenblatt(draws: &[f64], a: &[f64]) -> Result<Vec<f64>, Error> {
    let width = a.len();
    if width < 2 {
        let (found, expected) = (width, 2);
        return Err(Error::Length { what: "the parameter of the distribution", found, expected, per: "column" });
    }
    if let Some(found) = a.iter().copied().find(|a| !(a.is_finite() && *a > 0.0)) {
        return Err(Error::Setting { what: "a parameter of the distribution", found, expected: "a positive number" });
    }
    let rows = error::rows("draws", draws, width)?;
    let mut rests = a.to_vec();
    (0..width - 1).rev().for_each(|j| rests[j] += rests[j + 1]);
    let mut uniform = vec![0.0; rows * (width - 1)];
    for (row, (x, u)) in draws.chunks_exact(width).zip(uniform.chunks_exact_mut(width - 1)).enumerate() {
        let mut rest = x[width - 1];
        for j in (0..width - 1).rev() {
            let sum = rest + x[j];
            // The smaller share of the two is accurate. The other one can be rounded to one.
            let probability = if x[j] <= rest {
                checked_beta_reg(a[j], rests[j + 1], x[j] / sum)
            } else {
                checked_beta_reg(rests[j + 1], a[j], rest / sum).map(|above| 1.0 - above)
            };
            rest = sum;
            u[j] = match probability {
                Ok(probability) if x[j] >= 0.0 => probability,
                // Zero over zero, or a negative entry.
                _ => return Err(Error::NotFinite { what: "the shares of the draws", row, column: j }),
            };
        }
    }
    Ok(uniform)
}

/// Returns the mean over the first K − 1 entries of the Kolmogorov-Smirnov distances between the transformed draws and
/// the uniform distribution (Baker 2019, appendix B.5).
///
/// # Errors
///
/// Returns an error under the conditions of [`dirichlet_rosenblatt`].
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::distance::dirichlet_ks;
///
/// // One draw at the median: the distance is 1/2.
/// assert!((dirichlet_ks(&[0.5, 0.5], &[1.0, 1.0]).unwrap() - 0.5).abs() < 1e-12);
/// ```
pub fn dirichlet_ks(draws: &[f64], a: &[f64]) -> Result<f64, Error> {
    let uniform = dirichlet_rosenblatt(draws, a)?;
    let columns = a.len() - 1;
    let distance = |j: usize| {
        let column: Vec<f64> = uniform.iter().skip(j).step_by(columns).copied().collect();
        ks_one_sample(&column, |u| u.clamp(0.0, 1.0)).statistic
    };
    Ok((0..columns).map(distance).sum::<f64>() / columns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_distr::{Distribution, Gamma};
    use rand_xoshiro::Xoshiro256PlusPlus;

    const SPARSE: [f64; 6] = [800.1, 100.1, 100.1, 0.1, 0.1, 0.1];
    const SMALL_LAST: [f64; 3] = [3.1, 7.1, 0.1];
    const DENSE: [f64; 4] = [112.1, 119.1, 92.1, 98.1];

    /// Draws from Dirichlet(a) as normalized gamma variates.
    fn exact(a: &[f64], count: usize, seed: u64) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut draws = Vec::new();
        for _ in 0..count {
            let gamma: Vec<f64> = a
                .iter()
                .map(|a| {
                    // Of shape a + 1, times U^(1/a).
                    let one: f64 = Gamma::new(a + 1.0, 1.0).unwrap().sample(&mut rng);
                    one * rng.random::<f64>().powf(1.0 / a)
                })
                .collect();
            let total: f64 = gamma.iter().sum();
            draws.extend(gamma.iter().map(|x| x / total));
        }
        draws
    }

    #[test]
    fn exact_draws_become_independent_uniform_numbers() {
        for a in [&SPARSE[..], &SMALL_LAST[..], &DENSE[..]] {
            let (draws, columns) = (exact(a, 4000, 1), a.len() - 1);
            let uniform = dirichlet_rosenblatt(&draws, a).unwrap();
            let column = |j: usize| uniform.iter().skip(j).step_by(columns).copied().collect::<Vec<f64>>();
            for j in 0..columns {
                let test = ks_one_sample(&column(j), |u| u);
                assert!(test.p_value > 0.001, "{test:?} of entry {j}");
                for k in 0..j {
                    let products = column(j).iter().zip(column(k)).map(|(u, v)| (u - 0.5) * (v - 0.5)).sum::<f64>();
                    // The correlation has standard error 1/√4000.
                    assert!((12.0 * products / 4000.0).abs() < 4.5 / 4000_f64.sqrt(), "{j} {k}");
                }
            }
            assert!(dirichlet_ks(&draws, a).unwrap() < 1.63 / 4000_f64.sqrt());
        }
    }

    #[test]
    fn another_parameter_is_detected() {
        let wrong = |a: &[f64], j: usize, factor: f64| {
            let mut other = a.to_vec();
            other[j] *= factor;
            let uniform = dirichlet_rosenblatt(&exact(&other, 4000, 2), a).unwrap();
            let smallest = (0..a.len() - 1).map(|j| {
                let column: Vec<f64> = uniform.iter().skip(j).step_by(a.len() - 1).copied().collect();
                ks_one_sample(&column, |u| u).p_value
            });
            smallest.fold(1.0, f64::min)
        };
        assert!(wrong(&DENSE, 0, 1.0) > 1e-3);
        assert!(wrong(&DENSE, 0, 1.05) < 1e-6 && wrong(&DENSE, 3, 0.95) < 1e-6);
        assert!(wrong(&SPARSE, 4, 1.3) < 1e-6 && wrong(&SPARSE, 5, 0.7) < 1e-6);
    }

    #[test]
    fn invalid_arguments_are_errors() {
        assert!(dirichlet_rosenblatt(&[1.0], &[1.0]).is_err());
        assert!(dirichlet_rosenblatt(&[0.5, 0.5], &[1.0, 0.0]).is_err());
        assert!(dirichlet_rosenblatt(&[0.5, 0.5, 0.5], &[1.0, 1.0]).is_err());
        assert!(dirichlet_rosenblatt(&[-0.5, 1.5], &[1.0, 1.0]).is_err());
        assert!(dirichlet_rosenblatt(&[1.0, 0.0, 0.0], &[1.0; 3]).is_err());
    }
}
