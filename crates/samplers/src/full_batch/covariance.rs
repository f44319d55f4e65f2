//! Constant guesses M of the posterior covariance: the inverse of the mass of HMC, the preconditioner of MALA.

use std::fmt;
use std::sync::Arc;

use sgmcmc_core::{Error, Result};
use sgmcmc_linalg::Cholesky;

use super::scaling::Scaling;

/// A constant symmetric positive definite matrix M, the nearer to the posterior covariance of the coordinates the better.
///
/// It multiplies what the step sizes say: with D the diagonal matrix of the √hᵢ, proposals are made with D M D.
///
/// ```
/// use sgmcmc_samplers::{Hmc, Covariance};
///
/// let scaled = Hmc { covariance: Covariance::diagonal(&[1.0, 100.0])?, ..Hmc::default() };
/// let correlated = Hmc { covariance: Covariance::dense(&[1.0, 0.9, 0.9, 1.0])?, ..Hmc::default() };
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Covariance(Kind);

/// S of M = S Sᵀ.
#[derive(Clone, Default, PartialEq)]
enum Kind {
    #[default]
    Unit,
    Diagonal(Arc<[f64]>),
    Dense(Arc<Cholesky>),
}

impl Covariance {
    /// The identity.
    pub const UNIT: Self = Self(Kind::Unit);

    /// A diagonal matrix: a variance for every coordinate.
    ///
    /// # Errors
    ///
    /// If a variance is not a positive number.
    pub fn diagonal(variances: &[f64]) -> Result<Self> {
        match variances.iter().find(|variance| !(variance.is_finite() && **variance > 0.0)) {
            None => Ok(Self(Kind::Diagonal(variances.iter().map(|variance| variance.sqrt()).collect()))),
            Some(bad) => {
                let expected = "variances are positive numbers";
                Err(Error::Setting { name: "a variance", value: bad.to_string(), expected })
            }
        }
    }

    /// A dense matrix, row by row: a covariance for every two coordinates.
    ///
    /// # Errors
    ///
    /// If the matrix is not square or not positive definite.
    pub fn dense(covariance: &[f64]) -> Result<Self> {
        match Cholesky::new(covariance, covariance.len().isqrt()) {
            Ok(factor) => Ok(Self(Kind::Dense(Arc::new(factor)))),
            Err(error) => {
                let expected = "give a covariance matrix, all of its rows one after another";
                Err(Error::Setting { name: "the covariance", value: format!("of no use ({error})"), expected })
            }
        }
    }

    /// An error unless it is for `dim` coordinates.
    pub(super) fn check_dim(&self, dim: usize) -> Result<()> {
        match self.dim() {
            Some(found) if found != dim => {
                Err(Error::Length { what: "a row of the covariance (one entry per coordinate)", expected: dim, found })
            }
            _ => Ok(()),
        }
    }

    /// Multiplies `v` by S, or by Sᵀ, M = S Sᵀ.
    pub(super) fn apply_root(&self, v: &mut [f64], transpose: bool) {
        let (mut scaling, from) = (self, v.to_vec());
        if transpose { scaling.multiply_transposed(&from, v) } else { scaling.multiply(&from, v) }
    }

    /// How many coordinates it is for, if not for any number.
    fn dim(&self) -> Option<usize> {
        match &self.0 {
            Kind::Unit => None,
            Kind::Diagonal(roots) => Some(roots.len()),
            Kind::Dense(factor) => Some(factor.dim()),
        }
    }
}

/// Short, but another text for another matrix: it says which run a checkpoint is of.
impl fmt::Debug for Covariance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, entries) = match &self.0 {
            Kind::Unit => return f.write_str("unit"),
            Kind::Diagonal(roots) => ("diagonal", &**roots),
            Kind::Dense(factor) => ("dense", factor.factor()),
        };
        // FNV-1a, word by word: the same in every version of Rust.
        let fold = |hash: u64, entry: &f64| (hash ^ entry.to_bits()).wrapping_mul(0x0100_0000_01b3);
        let hash = entries.iter().fold(0xcbf2_9ce4_8422_2325, fold);
        write!(f, "{name}({} rows, {hash:016x})", self.dim().unwrap_or(0))
    }
}

impl Scaling for &Covariance {
    fn multiply(&mut self, v: &[f64], out: &mut [f64]) {
        match &self.0 {
            Kind::Unit => out.copy_from_slice(v),
            Kind::Diagonal(roots) => {
                out.iter_mut().zip(roots.iter().zip(v)).for_each(|(out, (root, v))| *out = root * v);
            }
            Kind::Dense(factor) => factor.product(v, out),
        }
    }

    fn multiply_transposed(&mut self, v: &[f64], out: &mut [f64]) {
        match &self.0 {
            Kind::Unit | Kind::Diagonal(_) => self.multiply(v, out),
            Kind::Dense(factor) => factor.transpose_product(v, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S Sᵀ, column by column.
    fn matrix(covariance: &Covariance, dim: usize) -> Vec<f64> {
        let (mut scaling, mut matrix, mut half) = (covariance, vec![0.0; dim * dim], vec![0.0; dim]);
        for (k, column) in matrix.chunks_exact_mut(dim).enumerate() {
            let unit: Vec<f64> = (0..dim).map(|i| f64::from(u8::from(i == k))).collect();
            scaling.multiply_transposed(&unit, &mut half);
            scaling.multiply(&half, column);
        }
        matrix
    }

    #[test]
    fn the_factors_make_the_matrix() {
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
        assert!(close(&matrix(&Covariance::UNIT, 2), &[1.0, 0.0, 0.0, 1.0]));
        assert!(close(&matrix(&Covariance::diagonal(&[4.0, 9.0]).unwrap(), 2), &[4.0, 0.0, 0.0, 9.0]));
        let dense = [2.0, 0.3, -0.5, 0.3, 1.0, 0.2, -0.5, 0.2, 3.0];
        assert!(close(&matrix(&Covariance::dense(&dense).unwrap(), 3), &dense));
    }

    #[test]
    fn what_is_no_covariance_is_refused() {
        let refused = |covariance: Result<Covariance>| covariance.unwrap_err().to_string();
        assert!(refused(Covariance::diagonal(&[1.0, 0.0])).contains("a variance is 0"));
        assert!(refused(Covariance::dense(&[1.0, 2.0, 2.0, 1.0])).contains("not positive definite"));
        assert!(refused(Covariance::dense(&[1.0, 0.0, 0.0])).contains("were given"));
        assert!(Covariance::diagonal(&[1.0, 2.0]).unwrap().check_dim(3).is_err());
        assert!(Covariance::UNIT.check_dim(3).is_ok());
    }

    #[test]
    fn different_matrices_have_different_names() {
        let names = [&[1.0, 2.0], &[2.0, 1.0]].map(|v| format!("{:?}", Covariance::diagonal(v).unwrap()));
        assert!(names[0] != names[1] && names[0].starts_with("diagonal(2 rows"), "{names:?}");
    }
}
