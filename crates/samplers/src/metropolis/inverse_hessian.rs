//! The estimate C of the inverse Hessian in quasi-Newton HMC, and the root S of the inverse mass S Sᵀ derived from it.

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{Error, Result, settings};
use sgmcmc_numerics::{Bfgs, Cholesky, InitialScale, Lbfgs};

use super::covariance::Covariance;
use super::mass_root::MassRoot;

/// The representation of the inverse Hessian C of [`Qnhmc`](super::Qnhmc).
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{InitialScale, InverseHessian, Qnhmc};
///
/// let limited = InverseHessian::Lbfgs { memory: 10, gamma: InitialScale::Newest(1.0) };
/// let dynamics = Qnhmc { inverse_hessian: limited, ..Qnhmc::default() };
/// assert_ne!(dynamics, Qnhmc::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InverseHessian {
    /// Dense BFGS: a matrix of d² numbers with the information of all pairs.
    Bfgs,
    /// L-BFGS: the most recent pairs.
    Lbfgs {
        /// The number of pairs, at least 1.
        memory: usize,
        /// The scale γ of the initial matrix γI. [`InitialScale::Newest`] fits the curvature of many parameters better
        /// than a fixed γ = 1.
        gamma: InitialScale,
    },
}

impl InverseHessian {
    /// Checks the settings.
    pub(super) fn check(self) -> Result<()> {
        let Self::Lbfgs { memory, gamma: InitialScale::Fixed(gamma) | InitialScale::Newest(gamma) } = self else {
            return Ok(());
        };
        settings::at_least("the memory of L-BFGS", memory, 1, "keep at least 1 pair")?;
        settings::positive("gamma", gamma)?;
        Ok(())
    }
}

/// The mass matrix that [`Qnhmc`](super::Qnhmc) derives from its estimate C of the inverse Hessian.
///
/// With C = I both forms are [`Hmc`](super::Hmc), draw for draw.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{Qnhmc, QuasiNewtonMass};
///
/// assert_eq!(Qnhmc::default().mass, QuasiNewtonMass::Whitening);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum QuasiNewtonMass {
    /// The inverse mass C, that is S = C^{1/2}. If C is the posterior covariance, the trajectories are those of a
    /// standard normal density.
    #[default]
    Whitening,
    /// The inverse mass C M⁻¹ C of Fu, Luo & Zhang (2016), that is S = C M^{−1/2}. With M = I, as in the paper, the
    /// conditioning of the posterior is mirrored, not removed: see [`Qnhmc`](super::Qnhmc).
    Published {
        /// The matrix M⁻¹.
        covariance: Covariance,
    },
}

/// The estimate of C.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Estimate {
    Dense(Box<Dense>),
    Limited(Box<Lbfgs>),
}

/// A dense C and its Cholesky factor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Dense {
    matrix: Bfgs,
    /// The Cholesky factor of `matrix`, computed on first use. It is a function of the matrix, so a restored chain
    /// computes the same.
    #[serde(skip)]
    factor: Option<Cholesky>,
    /// The matrix before the last update.
    #[serde(skip)]
    previous: Option<Bfgs>,
}

impl Dense {
    /// Updates C with `pairs`, and its factor if it has been computed.
    ///
    /// An update keeps C positive definite in exact arithmetic, but possibly not after rounding. Such an update is
    /// undone.
    fn update<'a>(&mut self, pairs: impl Iterator<Item = (&'a [f64], &'a [f64])>) -> Result<()> {
        let Self { matrix, factor, previous } = self;
        let Some(factor) = factor else {
            pairs.for_each(|(s, y)| _ = matrix.update(s, y));
            return Ok(());
        };
        match previous {
            Some(previous) => previous.clone_from(matrix),
            None => *previous = Some(matrix.clone()),
        }
        let mut changed = false;
        pairs.for_each(|(s, y)| changed |= matrix.update(s, y));
        if !changed || factor.refactor(matrix.matrix()).is_ok() {
            return Ok(());
        }
        if let Some(previous) = previous {
            matrix.clone_from(previous);
        }
        factor.refactor(matrix.matrix()).map_err(|error| no_factor(&error))
    }

    /// Returns the Cholesky factor of C, and computes it on first use.
    fn factor(&mut self) -> Result<&Cholesky> {
        let Self { matrix, factor, .. } = self;
        let found = match factor.take() {
            Some(found) => found,
            None => Cholesky::new(matrix.matrix(), matrix.dim()).map_err(|error| no_factor(&error))?,
        };
        Ok(factor.insert(found))
    }
}

/// Returns the error for a C without a factor. It occurs only with a damaged checkpoint.
fn no_factor(error: &sgmcmc_numerics::Error) -> Error {
    let expected = "the state of the chain is damaged; start it again or from an earlier checkpoint";
    Error::Setting { name: "the inverse Hessian", value: format!("not valid ({error})"), expected }
}

impl Estimate {
    /// Creates the estimate without pairs.
    pub(super) fn new(kind: InverseHessian, dim: usize) -> Self {
        match kind {
            InverseHessian::Bfgs => {
                Self::Dense(Box::new(Dense { matrix: Bfgs::new(dim, 1.0), factor: None, previous: None }))
            }
            InverseHessian::Lbfgs { memory, gamma } => Self::Limited(Box::new(Lbfgs::new(dim, memory, gamma))),
        }
    }

    /// Updates C with pairs (s, y), the oldest first.
    pub(super) fn update<'a>(&mut self, pairs: impl Iterator<Item = (&'a [f64], &'a [f64])>) -> Result<()> {
        match self {
            Self::Dense(dense) => dense.update(pairs),
            Self::Limited(lbfgs) => {
                pairs.for_each(|(s, y)| _ = lbfgs.push(s, y));
                Ok(())
            }
        }
    }

    /// Returns the root S of the inverse mass. `work` is a buffer of the published form.
    pub(super) fn root<'a>(&'a mut self, mass: &'a QuasiNewtonMass, work: &'a mut Vec<f64>) -> Result<Root<'a>> {
        Ok(match (mass, self) {
            (QuasiNewtonMass::Whitening, Self::Dense(dense)) => Root::Factor(dense.factor()?),
            (QuasiNewtonMass::Whitening, Self::Limited(lbfgs)) => Root::Lbfgs(lbfgs),
            (QuasiNewtonMass::Published { covariance }, estimate) => Root::Published { estimate, covariance, work },
        })
    }

    /// Writes C v into `out`.
    fn product(&mut self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Dense(dense) => dense.matrix.product(v, out),
            Self::Limited(lbfgs) => {
                out.copy_from_slice(v);
                lbfgs.inverse_product(out);
            }
        }
    }
}

/// A matrix S with S Sᵀ the inverse mass.
pub(super) enum Root<'a> {
    /// The Cholesky factor of C.
    Factor(&'a Cholesky),
    /// The product form of the L-BFGS root.
    Lbfgs(&'a mut Lbfgs),
    /// C M^{−1/2}.
    Published { estimate: &'a mut Estimate, covariance: &'a Covariance, work: &'a mut Vec<f64> },
}

impl MassRoot for Root<'_> {
    fn multiply(&mut self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Factor(factor) => factor.product(v, out),
            Self::Lbfgs(lbfgs) => {
                out.copy_from_slice(v);
                lbfgs.root_product(out);
            }
            Self::Published { estimate, covariance, work } => {
                work.resize(v.len(), 0.0);
                covariance.multiply(v, work);
                estimate.product(work, out);
            }
        }
    }

    fn multiply_transposed(&mut self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Factor(factor) => factor.transpose_product(v, out),
            Self::Lbfgs(lbfgs) => {
                out.copy_from_slice(v);
                lbfgs.root_transpose_product(out);
            }
            Self::Published { estimate, covariance, work } => {
                work.resize(v.len(), 0.0);
                estimate.product(v, work);
                covariance.multiply_transposed(work, out);
            }
        }
    }
}

#[cfg(test)]
mod tests;
