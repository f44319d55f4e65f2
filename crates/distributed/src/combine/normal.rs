//! Normal approximations of subposteriors and their product.

use sgmcmc_numerics::{Cholesky, vector::dot};

use super::{Draws, Error, Result};

/// A normal distribution.
#[derive(Clone, Debug)]
pub(super) struct Normal {
    pub(super) mean: Vec<f64>,
    /// The covariance in row-major order.
    pub(super) covariance: Vec<f64>,
    pub(super) cholesky: Cholesky,
}

impl Normal {
    /// Estimates mean and covariance from the draws of the shard with this index, with divisor n − 1.
    ///
    /// # Errors
    ///
    /// Returns an error if there are not more draws than coordinates, or if the covariance is singular.
    pub(super) fn estimate(draws: &Draws, shard: usize, method: &'static str) -> Result<Self> {
        let (n, d) = (draws.len(), draws.dim());
        let least = d + 2;
        if n < least {
            let remedy = ", or use diagonal weights where the method has them";
            return Err(Error::TooFewDraws { shard, found: n, least, method, remedy });
        }
        let mean = mean(draws);
        let mut covariance = vec![0.0; d * d];
        let mut centered = vec![0.0; d];
        for row in draws.rows() {
            centered.iter_mut().zip(row.iter().zip(&mean)).for_each(|(c, (x, m))| *c = x - m);
            for i in 0..d {
                let scale = centered[i] / (n as f64 - 1.0);
                covariance[i * d..=i * d + i].iter_mut().zip(&centered).for_each(|(entry, c)| *entry += scale * c);
            }
        }
        for i in 0..d {
            for j in 0..i {
                covariance[j * d + i] = covariance[i * d + j];
            }
        }
        let cholesky = factor(&covariance, d, shard)?;
        Ok(Self { mean, covariance, cholesky })
    }

    /// Estimates the normal approximation of every shard.
    pub(super) fn estimate_all<'a>(
        shards: impl IntoIterator<Item = &'a Draws>,
        method: &'static str,
    ) -> Result<Vec<Self>> {
        shards.into_iter().enumerate().map(|(shard, draws)| Self::estimate(draws, shard, method)).collect()
    }

    /// Returns the number of coordinates.
    pub(super) fn dim(&self) -> usize {
        self.mean.len()
    }

    /// Returns log N(x), with the constant −½ log det and without −½ d log 2π.
    pub(super) fn log_density(&self, x: &[f64]) -> f64 {
        let mut z: Vec<f64> = x.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        self.cholesky.solve_lower(&mut z);
        -0.5 * (dot(&z, &z) + self.cholesky.log_determinant())
    }
}

/// Returns the normalized product of normal densities: precisions add, and means are averaged with the precisions.
///
/// # Errors
///
/// Returns an error if the sum of the precisions is singular to rounding.
pub(super) fn product(normals: &[Normal]) -> Result<Normal> {
    let Some(first) = normals.first() else { return Err(Error::NoShards) };
    let d = first.dim();
    let mut precision = vec![0.0; d * d];
    let mut inverse = vec![0.0; d * d];
    let mut linear = vec![0.0; d];
    for normal in normals {
        normal.cholesky.inverse(&mut inverse);
        precision.iter_mut().zip(&inverse).for_each(|(sum, entry)| *sum += entry);
        let mut weighted = normal.mean.clone();
        normal.cholesky.solve(&mut weighted);
        linear.iter_mut().zip(&weighted).for_each(|(sum, entry)| *sum += entry);
    }
    let precision = factor(&precision, d, 0)?;
    precision.solve(&mut linear);
    let mut covariance = vec![0.0; d * d];
    precision.inverse(&mut covariance);
    let cholesky = factor(&covariance, d, 0)?;
    Ok(Normal { mean: linear, covariance, cholesky })
}

/// Returns the Cholesky factor of a matrix that belongs to the shard with this index.
pub(super) fn factor(matrix: &[f64], dim: usize, shard: usize) -> Result<Cholesky> {
    Cholesky::new(matrix, dim).map_err(|error| match error {
        sgmcmc_numerics::Error::NotPositiveDefinite { row, .. } => Error::Singular { shard, row },
        _ => Error::Singular { shard, row: 0 },
    })
}

/// Returns the mean of the draws.
pub(super) fn mean(draws: &Draws) -> Vec<f64> {
    let mut mean = vec![0.0; draws.dim()];
    for row in draws.rows() {
        mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    mean.iter_mut().for_each(|sum| *sum /= draws.len().max(1) as f64);
    mean
}

/// Returns the variance of each coordinate, with divisor n − 1.
///
/// # Errors
///
/// Returns an error if there are fewer than two draws, or if a variance is zero.
pub(super) fn variances(draws: &Draws, shard: usize, method: &'static str) -> Result<Vec<f64>> {
    let n = draws.len();
    if n < 2 {
        return Err(Error::TooFewDraws { shard, found: n, least: 2, method, remedy: "" });
    }
    let mean = mean(draws);
    let mut variances = vec![0.0; draws.dim()];
    for row in draws.rows() {
        let terms = row.iter().zip(&mean).map(|(x, m)| (x - m) * (x - m) / (n as f64 - 1.0));
        variances.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
    }
    match variances.iter().position(|variance| *variance <= 0.0) {
        Some(row) => Err(Error::Singular { shard, row }),
        None => Ok(variances),
    }
}
