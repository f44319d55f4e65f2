//! Constant approximations of the posterior covariance: see [`Covariance`].

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sgmcmc_gradient::{Error, Result};
use sgmcmc_numerics::Cholesky;

use super::mass_root::MassRoot;

/// A constant approximation M of the posterior covariance: the inverse mass of HMC and the preconditioner of MALA.
///
/// M is a symmetric positive definite matrix in coordinates. It is combined with the step sizes: with D the diagonal
/// matrix of the √hᵢ, proposals use D M D.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{Covariance, Hmc};
///
/// let scaled = Hmc { covariance: Covariance::diagonal(&[1.0, 100.0])?, ..Hmc::default() };
/// let correlated = Hmc { covariance: Covariance::dense(&[1.0, 0.9, 0.9, 1.0])?, ..Hmc::default() };
/// assert_ne!(scaled, correlated);
/// assert!(Covariance::diagonal(&[-1.0]).is_err());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Covariance(Kind);

/// The representation of the root S of M = S Sᵀ.
#[derive(Clone, Default, PartialEq)]
enum Kind {
    #[default]
    Unit,
    Diagonal(Arc<[f64]>),
    Dense(Arc<Cholesky>),
}

impl Covariance {
    /// The identity matrix.
    pub const IDENTITY: Self = Self(Kind::Unit);

    /// Creates a diagonal matrix from the variance of every coordinate.
    ///
    /// # Errors
    ///
    /// Returns an error if a variance is not a positive number.
    pub fn diagonal(variances: &[f64]) -> Result<Self> {
        match variances.iter().find(|variance| !(variance.is_finite() && **variance > 0.0)) {
            None => Ok(Self(Kind::Diagonal(variances.iter().map(|variance| variance.sqrt()).collect()))),
            Some(bad) => {
                let expected = "variances are positive numbers";
                Err(Error::Setting { name: "a variance", value: bad.to_string(), expected })
            }
        }
    }

    /// Creates a dense matrix from its entries in row-major order.
    ///
    /// # Errors
    ///
    /// Returns an error if the matrix is not square or not positive definite.
    pub fn dense(covariance: &[f64]) -> Result<Self> {
        match Cholesky::new(covariance, covariance.len().isqrt()) {
            Ok(factor) => Ok(Self(Kind::Dense(Arc::new(factor)))),
            Err(error) => {
                let expected = "give a covariance matrix, all of its rows one after another";
                Err(Error::Setting { name: "the covariance", value: format!("not valid ({error})"), expected })
            }
        }
    }

    /// Returns an error if the matrix does not have `dim` rows.
    pub(crate) fn check_dim(&self, dim: usize) -> Result<()> {
        match self.dim() {
            Some(found) if found != dim => {
                Err(Error::Length { what: "a row of the covariance (one entry per coordinate)", expected: dim, found })
            }
            _ => Ok(()),
        }
    }

    /// Multiplies `v` by S, or by Sᵀ if `transpose` is true.
    pub(crate) fn apply_root(&self, v: &mut [f64], transpose: bool) {
        let (mut mass_root, from) = (self, v.to_vec());
        if transpose { mass_root.multiply_transposed(&from, v) } else { mass_root.multiply(&from, v) }
    }

    /// Replaces `v` by S⁻¹ v.
    pub(crate) fn solve_root(&self, v: &mut [f64]) {
        match &self.0 {
            Kind::Unit => {}
            Kind::Diagonal(roots) => v.iter_mut().zip(roots.iter()).for_each(|(v, root)| *v /= root),
            Kind::Dense(factor) => factor.solve_lower(v),
        }
    }

    /// Returns the number of rows; `None` for the identity, which has any number.
    fn dim(&self) -> Option<usize> {
        match &self.0 {
            Kind::Unit => None,
            Kind::Diagonal(roots) => Some(roots.len()),
            Kind::Dense(factor) => Some(factor.dim()),
        }
    }
}

/// Shows the size and a fingerprint of the matrix. The text identifies the matrix in checkpoints.
impl fmt::Debug for Covariance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, entries) = match &self.0 {
            Kind::Unit => return f.write_str("unit"),
            Kind::Diagonal(roots) => ("diagonal", &**roots),
            Kind::Dense(factor) => ("dense", factor.factor()),
        };
        // FNV-1a over words, which does not depend on the version of Rust.
        let fold = |hash: u64, entry: &f64| (hash ^ entry.to_bits()).wrapping_mul(0x0100_0000_01b3);
        let hash = entries.iter().fold(0xcbf2_9ce4_8422_2325, fold);
        write!(f, "{name}({} rows, {hash:016x})", self.dim().unwrap_or(0))
    }
}

/// The root S of a matrix in checkpoints.
#[derive(Serialize, Deserialize)]
enum SavedRoot<'a> {
    Unit,
    Diagonal(Cow<'a, [f64]>),
    Dense(Cow<'a, Cholesky>),
}

/// Serializes the root of the matrix, so that a restored matrix has the same bits.
impl Serialize for Covariance {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let root = match &self.0 {
            Kind::Unit => SavedRoot::Unit,
            Kind::Diagonal(roots) => SavedRoot::Diagonal(Cow::Borrowed(roots)),
            Kind::Dense(factor) => SavedRoot::Dense(Cow::Borrowed(factor)),
        };
        root.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Covariance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let entries = |factor: &Cholesky| factor.dim().checked_mul(factor.dim());
        match SavedRoot::deserialize(deserializer)? {
            SavedRoot::Unit => Ok(Self::IDENTITY),
            SavedRoot::Diagonal(roots) => Ok(Self(Kind::Diagonal(roots.into()))),
            SavedRoot::Dense(factor) if entries(&factor) == Some(factor.factor().len()) => {
                Ok(Self(Kind::Dense(Arc::new(factor.into_owned()))))
            }
            SavedRoot::Dense(_) => Err(de::Error::custom("the factor of a covariance is not a square matrix")),
        }
    }
}

impl MassRoot for &Covariance {
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

    /// Returns S Sᵀ, column by column.
    fn matrix(covariance: &Covariance, dim: usize) -> Vec<f64> {
        let (mut mass_root, mut matrix, mut half) = (covariance, vec![0.0; dim * dim], vec![0.0; dim]);
        for (k, column) in matrix.chunks_exact_mut(dim).enumerate() {
            let unit: Vec<f64> = (0..dim).map(|i| f64::from(u8::from(i == k))).collect();
            mass_root.multiply_transposed(&unit, &mut half);
            mass_root.multiply(&half, column);
        }
        matrix
    }

    #[test]
    fn products_of_the_factors_are_the_matrix() {
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
        assert!(close(&matrix(&Covariance::IDENTITY, 2), &[1.0, 0.0, 0.0, 1.0]));
        assert!(close(&matrix(&Covariance::diagonal(&[4.0, 9.0]).unwrap(), 2), &[4.0, 0.0, 0.0, 9.0]));
        let dense = [2.0, 0.3, -0.5, 0.3, 1.0, 0.2, -0.5, 0.2, 3.0];
        assert!(close(&matrix(&Covariance::dense(&dense).unwrap(), 3), &dense));
    }

    #[test]
    fn invalid_covariances_are_errors() {
        let message = |covariance: Result<Covariance>| covariance.unwrap_err().to_string();
        assert!(message(Covariance::diagonal(&[1.0, 0.0])).contains("a variance is 0"));
        assert!(message(Covariance::dense(&[1.0, 2.0, 2.0, 1.0])).contains("not positive definite"));
        assert!(message(Covariance::dense(&[1.0, 0.0, 0.0])).contains("were given"));
        assert!(Covariance::diagonal(&[1.0, 2.0]).unwrap().check_dim(3).is_err());
        assert!(Covariance::IDENTITY.check_dim(3).is_ok());
    }

    #[test]
    fn saved_matrices_are_restored_bit_for_bit() {
        use sgmcmc_fit::codec::{decode, encode};
        let dense = Covariance::dense(&[2.0, 0.3, 0.3, 0.1]).unwrap();
        for covariance in [Covariance::IDENTITY, Covariance::diagonal(&[0.1, 1e9]).unwrap(), dense] {
            assert_eq!(decode::<Covariance>(&encode(&covariance).unwrap()).unwrap(), covariance);
        }
        let damaged = serde_json::json!({ "Dense": { "dim": 3, "factor": [1.0, 2.0] } });
        let error = serde_json::from_value::<Covariance>(damaged).unwrap_err();
        assert!(error.to_string().contains("not a square matrix"), "{error}");
    }

    #[test]
    fn different_matrices_have_different_debug_texts() {
        let names = [&[1.0, 2.0], &[2.0, 1.0]].map(|v| format!("{:?}", Covariance::diagonal(v).unwrap()));
        assert!(names[0] != names[1] && names[0].starts_with("diagonal(2 rows"), "{names:?}");
    }
}
