//! Draws from the Wishart and the Gaussian–Wishart distribution.

use rand::{Rng, RngExt};
use rand_distr::{ChiSquared, StandardNormal};
use sgmcmc_gradient::{Error, Result};
use sgmcmc_numerics::Cholesky;

/// Returns the Cholesky factor of `matrix`.
pub(super) fn cholesky(matrix: &[f64], dim: usize) -> Result<Cholesky> {
    Cholesky::new(matrix, dim).map_err(|error| Error::Draws { reason: format!("a precision matrix: {error}") })
}

/// Draws Λ ~ W(W, ν) with mean νW, where `inverse_scale` is the Cholesky factor of W⁻¹. Returns Λ in row-major order.
///
/// With W⁻¹ = L Lᵀ and the lower triangular A of Bartlett, A_ii² ~ χ²(ν − i) for i = 0, 1, …, A_ij ~ N(0, 1), the draw
/// is Λ = B Bᵀ with B = L⁻ᵀ A.
///
/// # Errors
///
/// Returns an error if ν is not greater than the dimension minus 1.
pub(super) fn wishart<R: Rng + ?Sized>(inverse_scale: &Cholesky, nu: f64, rng: &mut R) -> Result<Vec<f64>> {
    let dim = inverse_scale.dim();
    // Row k of `columns` is column k of A, and then of B.
    let mut columns = vec![0.0; dim * dim];
    for (k, column) in columns.chunks_exact_mut(dim).enumerate() {
        let chi = ChiSquared::new(nu - k as f64).map_err(|_| Error::Setting {
            name: "the degrees of freedom of a Wishart distribution",
            value: nu.to_string(),
            expected: "it must exceed the rank minus 1",
        })?;
        column[k] = rng.sample(chi).sqrt();
        column[k + 1..].iter_mut().for_each(|a| *a = rng.sample(StandardNormal));
        inverse_scale.solve_upper(column);
    }
    let mut draw = vec![0.0; dim * dim];
    for column in columns.chunks_exact(dim) {
        for (row, scale) in draw.chunks_exact_mut(dim).zip(column) {
            row.iter_mut().zip(column).for_each(|(entry, other)| *entry += scale * other);
        }
    }
    Ok(draw)
}

/// A Gaussian–Wishart distribution: Λ ~ W(W, ν), μ | Λ ~ N(m, (βΛ)⁻¹).
#[derive(Clone, Debug)]
pub(super) struct GaussianWishart {
    /// The location m.
    pub(super) location: Vec<f64>,
    /// The number β of prior observations of the mean.
    pub(super) beta: f64,
    /// The degrees of freedom ν.
    pub(super) nu: f64,
    /// The inverse scale W⁻¹ in row-major order.
    pub(super) inverse_scale: Vec<f64>,
}

/// A mean and a precision matrix.
#[derive(Clone, Debug)]
pub(super) struct MeanPrecision {
    pub(super) mean: Vec<f64>,
    pub(super) precision: Vec<f64>,
}

impl GaussianWishart {
    /// Returns the distribution conditional on the vectors `rows`, a row-major matrix, each of which is N(μ, Λ⁻¹).
    ///
    /// Source: Salakhutdinov & Mnih (2008), eq. (14).
    pub(super) fn given(&self, rows: &[f64]) -> Self {
        let dim = self.location.len();
        let n = (rows.len() / dim) as f64;
        let mut mean = vec![0.0; dim];
        rows.chunks_exact(dim).for_each(|row| mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / n));
        let mut inverse_scale = self.inverse_scale.clone();
        let mut add = |row: &[f64], center: &[f64], weight: f64| {
            for (k, out) in inverse_scale.chunks_exact_mut(dim).enumerate() {
                let scaled = weight * (row[k] - center[k]);
                out.iter_mut().zip(row.iter().zip(center)).for_each(|(out, (x, c))| *out += scaled * (x - c));
            }
        };
        rows.chunks_exact(dim).for_each(|row| add(row, &mean, 1.0));
        add(&self.location, &mean, self.beta * n / (self.beta + n));
        let location =
            self.location.iter().zip(&mean).map(|(m, mean)| (self.beta * m + n * mean) / (self.beta + n)).collect();
        Self { location, beta: self.beta + n, nu: self.nu + n, inverse_scale }
    }

    /// Draws μ and Λ.
    ///
    /// # Errors
    ///
    /// Returns an error if the inverse scale is not positive definite.
    pub(super) fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> Result<MeanPrecision> {
        let dim = self.location.len();
        let precision = wishart(&cholesky(&self.inverse_scale, dim)?, self.nu, rng)?;
        let root = cholesky(&precision, dim)?;
        let mut mean: Vec<f64> = (0..dim).map(|_| rng.sample(StandardNormal)).collect();
        root.solve_upper(&mut mean);
        let scale = 1.0 / self.beta.sqrt();
        mean.iter_mut().zip(&self.location).for_each(|(mean, location)| *mean = location + scale * *mean);
        Ok(MeanPrecision { mean, precision })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factorization::testing::assert_mean;
    use rand::SeedableRng;
    use sgmcmc_gradient::rng::StreamRng;

    /// E Λ_ij = ν W_ij, Var Λ_ij = ν (W_ij² + W_ii W_jj), E det Λ = ν (ν − 1) det W in two dimensions.
    #[test]
    fn wishart_draws_have_the_moments_of_the_law() {
        let scale = [2.0, 0.5, 0.5, 1.0];
        let inverse = {
            let mut inverse = [0.0; 4];
            Cholesky::new(&scale, 2).unwrap().inverse(&mut inverse);
            inverse
        };
        let (root, nu) = (Cholesky::new(&inverse, 2).unwrap(), 3.5);
        let mut rng = StreamRng::seed_from_u64(3);
        let draws: Vec<Vec<f64>> = (0..50_000).map(|_| wishart(&root, nu, &mut rng).unwrap()).collect();
        for (index, [i, j]) in [(0, [0, 0]), (1, [0, 1]), (3, [1, 1])] {
            let element: Vec<f64> = draws.iter().map(|draw| draw[index]).collect();
            let mean = nu * scale[2 * i + j];
            assert_mean(&element, mean, "mean");
            let squares: Vec<f64> = element.iter().map(|x| (x - mean).powi(2)).collect();
            let variance = nu * (scale[2 * i + j].powi(2) + scale[3 * i] * scale[3 * j]);
            assert_mean(&squares, variance, "variance");
        }
        assert!(draws.iter().all(|draw| draw[1].to_bits() == draw[2].to_bits()));
        // The determinant of the draw is det W times independent χ² variates.
        let determinants: Vec<f64> = draws.iter().map(|draw| draw[0] * draw[3] - draw[1] * draw[2]).collect();
        assert_mean(&determinants, 1.75 * nu * (nu - 1.0), "determinant");
    }

    /// With many vectors, the conditional distribution concentrates on their mean and inverse covariance. With none
    /// that matter, E μ = m and E Λ = νW.
    #[test]
    fn gaussian_wishart_is_the_conjugate_update() {
        let prior =
            GaussianWishart { location: vec![0.5, -1.0], beta: 2.0, nu: 12.0, inverse_scale: vec![1.0, 0.2, 0.2, 2.0] };
        let mut rng = StreamRng::seed_from_u64(5);
        let draws: Vec<MeanPrecision> = (0..50_000).map(|_| prior.draw(&mut rng).unwrap()).collect();
        assert_mean(&draws.iter().map(|draw| draw.mean[1]).collect::<Vec<_>>(), -1.0, "mean");
        // E (μ−m)(μ−m)ᵀ = W⁻¹ / (β (ν − d − 1)).
        let cross = draws.iter().map(|draw| (draw.mean[0] - 0.5) * (draw.mean[1] + 1.0));
        assert_mean(&cross.collect::<Vec<_>>(), 0.2 / 18.0, "covariance");
        let one = prior.given(&[1.5, 0.0]);
        assert_eq!((one.beta, one.nu), (3.0, 13.0));
        assert!((one.location[0] - (2.0 * 0.5 + 1.5) / 3.0).abs() < 1e-15);
        // W*⁻¹ = W⁻¹ + β/(β+1) d dᵀ with d = (1, 1).
        let expected = [1.0 + 2.0 / 3.0, 0.2 + 2.0 / 3.0, 0.2 + 2.0 / 3.0, 2.0 + 2.0 / 3.0];
        assert!(one.inverse_scale.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14));
        // Two updates with one vector each are one update with both.
        let both = prior.given(&[1.5, 0.0, -0.3, 2.0]);
        let twice = one.given(&[-0.3, 2.0]);
        assert!(both.inverse_scale.iter().zip(&twice.inverse_scale).all(|(a, b)| (a - b).abs() < 1e-13));
        assert!(both.location.iter().zip(&twice.location).all(|(a, b)| (a - b).abs() < 1e-14));
    }
}
