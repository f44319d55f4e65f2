//! Affine transformations of the draws of each shard: see [`Swiss`].

use sgmcmc_fit::Tempering;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_numerics::{SymmetricEigen, vector::dot};

use super::normal::{Normal, product};
use super::{Combination, DrawOrder, Draws, Result};

/// SwISS, sub-posteriors with inflation, scaling and shifting (Vyner, Nemeth & Sherlock 2022): the draws of each shard
/// are mapped so that they have the mean and the covariance of the product of the normal approximations.
///
/// ```text
/// θ = μ + A_s (θ_s − μ_s),   A_s Σ_s A_sᵀ = Σ
/// A_s = Σ_s^{−1/2} (Σ_s^{1/2} Σ Σ_s^{1/2})^{1/2} Σ_s^{−1/2}
/// ```
///
/// μ and Σ are those of [`GaussianProduct`](super::GaussianProduct), where inflated subposteriors have S Σ in place of
/// Σ. Of all matrices with A Σ_s Aᵀ = Σ, A_s is the one that moves the draws least on average. The combined draws are
/// those of all shards, one chain after another. They have the shape of the subposteriors, not only their moments, and
/// the result is exact for normal subposteriors.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::{Combination, Draws, Swiss};
///
/// let shard = |shift: f64| Draws::new((0..100).map(|k| shift + f64::from(k % 10)).collect(), 1);
/// let draws = Swiss.combine(&[shard(0.0)?, shard(1.0)?], 0)?;
/// let mean = draws.values().iter().sum::<f64>() / 200.0;
/// assert!((mean - 5.0).abs() < 1e-12);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swiss;

impl Combination for Swiss {
    fn name(&self) -> &'static str {
        "swiss"
    }

    fn temperings(&self) -> &'static [Tempering] {
        &[Tempering::FractionalPrior, Tempering::Inflated]
    }

    fn order(&self) -> DrawOrder {
        DrawOrder::ByShard
    }

    fn apply(&self, shards: &[Draws], tempering: Tempering, _rng: &mut StreamRng) -> Result<Draws> {
        let normals = Normal::estimate_all(shards, self.name())?;
        let target = product(&normals)?;
        let d = target.dim();
        let inflation = match tempering {
            Tempering::FractionalPrior => 1.0,
            Tempering::Inflated => shards.len() as f64,
        };
        let covariance: Vec<f64> = target.covariance.iter().map(|entry| inflation * entry).collect();
        let mut values = Vec::with_capacity(shards.iter().map(|draws| draws.values().len()).sum());
        let mut centered = vec![0.0; d];
        for (draws, normal) in shards.iter().zip(&normals) {
            let matrix = optimal_map(&normal.covariance, &covariance, d);
            for row in draws.rows() {
                centered.iter_mut().zip(row.iter().zip(&normal.mean)).for_each(|(c, (x, m))| *c = x - m);
                values.extend(target.mean.iter().zip(matrix.chunks_exact(d)).map(|(m, a)| m + dot(a, &centered)));
            }
        }
        Ok(Draws::from_parts(values, d))
    }
}

/// Returns the symmetric matrix A with A `from` A = `to`, both symmetric positive definite.
fn optimal_map(from: &[f64], to: &[f64], d: usize) -> Vec<f64> {
    let eigen = SymmetricEigen::new(from, d);
    let (root, inverse_root) =
        (eigen.map(|value| value.max(0.0).sqrt()), eigen.map(|value| value.max(0.0).sqrt().recip()));
    let inner = congruence(&root, to, d);
    let inner_root = SymmetricEigen::new(&inner, d).map(|value| value.max(0.0).sqrt());
    congruence(&inverse_root, &inner_root, d)
}

/// Returns `outer` `inner` `outer` for symmetric matrices.
fn congruence(outer: &[f64], inner: &[f64], d: usize) -> Vec<f64> {
    let multiply = |a: &[f64], b: &[f64]| {
        let mut product = vec![0.0; d * d];
        for (row, out) in a.chunks_exact(d).zip(product.chunks_exact_mut(d)) {
            for (a, b) in row.iter().zip(b.chunks_exact(d)) {
                out.iter_mut().zip(b).for_each(|(out, b)| *out += a * b);
            }
        }
        product
    };
    multiply(&multiply(outer, inner), outer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_is_symmetric_and_carries_one_covariance_to_the_other() {
        let from = [4.0, 1.0, -2.0, 1.0, 3.0, 0.5, -2.0, 0.5, 7.0];
        let to = [1.0, 0.3, 0.0, 0.3, 2.0, -0.4, 0.0, -0.4, 0.5];
        let a = optimal_map(&from, &to, 3);
        for (found, expected) in congruence(&a, &from, 3).iter().zip(to) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            assert!((a[3 * i + j] - a[3 * j + i]).abs() < 1e-12);
        }
    }
}
