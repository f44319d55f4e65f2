//! The dense BFGS matrix.

use serde::{Deserialize, Serialize};

use crate::curvature;
use crate::vector::dot;

/// The dense BFGS matrix H, an approximation of an inverse Hessian, and hence of a covariance.
///
/// From pairs (s, y) with y ≈ A s it approximates the inverse of A:
///
/// ```text
/// H ← (I − s yᵀ/sᵀy) H (I − y sᵀ/sᵀy) + s sᵀ/sᵀy
/// ```
///
/// Source: Nocedal & Wright (2006), eq. (6.17). The cost is 2 d² per update. H stays exactly symmetric.
///
/// # Examples
///
/// ```
/// use sgmcmc::numerics::Bfgs;
///
/// // A = diag(2, 4): after an update with each axis, H = diag(1/2, 1/4).
/// let mut bfgs = Bfgs::new(2, 1.0);
/// assert!(bfgs.update(&[1.0, 0.0], &[2.0, 0.0]));
/// assert!(bfgs.update(&[0.0, 1.0], &[0.0, 4.0]));
/// assert_eq!(bfgs.matrix(), [0.5, 0.0, 0.0, 0.25]);
/// ```
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Bfgs {
    dim: usize,
    matrix: Vec<f64>,
    hy: Vec<f64>,
}

impl Clone for Bfgs {
    fn clone(&self) -> Self {
        Self { dim: self.dim, matrix: self.matrix.clone(), hy: self.hy.clone() }
    }

    /// Copies `source`, without an allocation if the sizes agree.
    fn clone_from(&mut self, source: &Self) {
        self.dim = source.dim;
        self.matrix.clone_from(&source.matrix);
        self.hy.clone_from(&source.hy);
    }
}

impl Bfgs {
    /// Creates `gamma` times the identity of size `dim`.
    pub fn new(dim: usize, gamma: f64) -> Self {
        let mut matrix = vec![0.0; dim * dim];
        matrix.iter_mut().step_by(dim + 1).for_each(|entry| *entry = gamma);
        Self { dim, matrix, hy: vec![0.0; dim] }
    }

    /// Returns the number of rows.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns H in row-major order.
    pub fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// Updates H such that H y = s. Returns whether the pair was used.
    ///
    /// A pair with sᵀy ≤ [`LEAST_CURVATURE`](crate::LEAST_CURVATURE) |s| |y| is skipped, because H would not stay
    /// positive definite.
    pub fn update(&mut self, s: &[f64], y: &[f64]) -> bool {
        let Some(sy) = curvature(s, y) else { return false };
        let Self { dim, matrix, hy } = self;
        hy.iter_mut().zip(matrix.chunks_exact(*dim)).for_each(|(hy, row)| *hy = dot(row, y));
        let rho = 1.0 / sy;
        let weight = rho * (1.0 + rho * dot(y, hy));
        for (i, row) in matrix.chunks_exact_mut(*dim).enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                // The products are ordered so that the entries (i, j) and (j, i) round in the same way.
                *entry += weight * (s[i] * s[j]) - rho * (s[i] * hy[j] + hy[i] * s[j]);
            }
        }
        true
    }

    /// Writes H v to `out`.
    pub fn product(&self, v: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(self.matrix.chunks_exact(self.dim)).for_each(|(out, row)| *out = dot(row, v));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{distance, normals, pairs, positive_definite, product};

    #[test]
    fn the_newest_pair_satisfies_the_secant_equation_and_the_matrix_stays_symmetric() {
        let dim = 9;
        let mut bfgs = Bfgs::new(dim, 0.7);
        for (s, y) in pairs(dim, 20, 1) {
            assert!(bfgs.update(&s, &y));
            assert!(distance(&product(bfgs.matrix(), &y), &s) < 1e-12);
            assert!(
                (0..dim * dim)
                    .all(|k| { bfgs.matrix()[k].to_bits() == bfgs.matrix()[k % dim * dim + k / dim].to_bits() })
            );
        }
        assert!(crate::Cholesky::new(bfgs.matrix(), dim).is_ok());
    }

    /// With d conjugate pairs, H is the exact inverse.
    #[test]
    fn conjugate_pairs_give_the_inverse() {
        let dim = 6;
        let a = positive_definite(dim, 3);
        let mut directions: Vec<Vec<f64>> = Vec::new();
        for k in 0..dim {
            let mut s = normals(dim, 40 + k as u64);
            for d in &directions {
                let ad = product(&a, d);
                let along = dot(&s, &ad) / dot(d, &ad);
                s.iter_mut().zip(d).for_each(|(s, d)| *s -= along * d);
            }
            directions.push(s);
        }
        let mut bfgs = Bfgs::new(dim, 1.0);
        directions.iter().for_each(|s| assert!(bfgs.update(s, &product(&a, s))));
        let v = normals(dim, 99);
        let mut back = vec![0.0; dim];
        bfgs.product(&product(&a, &v), &mut back);
        assert!(distance(&back, &v) < 1e-11);
    }

    #[test]
    fn pairs_without_curvature_are_skipped() {
        let mut bfgs = Bfgs::new(2, 1.0);
        let before = bfgs.clone();
        for y in [[-1.0, 0.0], [0.0, 1.0], [f64::NAN, 0.0], [f64::INFINITY, 0.0], [1e-11, 1.0]] {
            assert!(!bfgs.update(&[1.0, 0.0], &y));
        }
        assert!(!bfgs.update(&[0.0, 0.0], &[0.0, 0.0]));
        assert_eq!(bfgs, before);
        assert!(bfgs.update(&[1.0, 0.0], &[2.0, 0.0]));
        assert_ne!(bfgs, before);
        bfgs.clone_from(&before);
        assert_eq!(bfgs, before);
    }
}
