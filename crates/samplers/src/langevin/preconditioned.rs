//! SGLD with a constant matrix M: θ += h/2 M ĝ(θ) + √(hT) M^{1/2} z.
//!
//! Source: Welling & Teh (2011), §4.1 and §6. Cost per step: one gradient estimate, and d (diagonal M) or 2d² (dense M) multiplications.
//! With step sizes that differ by parameter, h M stands for H^{1/2} M H^{1/2}, H the diagonal matrix of the step sizes. With M the
//! covariance of the posterior all directions are explored at the same pace, and h is a number without unit: 0.1 or so.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, Evaluator, GradientEstimator, Oracle, Result, curvature};
use sgmcmc_linalg::Cholesky;

use super::{Scratch, not_positive_definite};
use crate::dynamics::{Dynamics, positioned};
use crate::laplace::promised_gain;
use crate::law::Direction;
use crate::step_size::Tick;

/// SGLD with a constant symmetric positive definite matrix M.
///
/// ```
/// use sgmcmc_samplers::Preconditioned;
///
/// let scales = Preconditioned::diagonal(vec![1.0, 0.01]);
/// let correlated = Preconditioned::dense(&[1.0, 0.9, 0.9, 1.0], 2)?;
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Preconditioned {
    matrix: Matrix,
}

/// The gain in log posterior from one posterior standard deviation off the mode.
const ONE_DEVIATION: f64 = 0.5;

/// M in the form its products are made with.
#[derive(Clone, PartialEq)]
enum Matrix {
    Diagonal(Arc<[f64]>),
    /// The factor of M.
    Factor(Arc<Cholesky>),
    /// The factor of M⁻¹.
    InverseFactor(Arc<Cholesky>),
}

impl Preconditioned {
    /// M with these numbers on its diagonal, one per coordinate.
    pub fn diagonal(m: Vec<f64>) -> Self {
        Self { matrix: Matrix::Diagonal(m.into()) }
    }

    /// M given row by row.
    ///
    /// # Errors
    ///
    /// If it is not a positive definite matrix of `dim` rows.
    pub fn dense(m: &[f64], dim: usize) -> Result<Self> {
        let factor = Cholesky::new(m, dim).map_err(|error| not_positive_definite("the matrix M", &error))?;
        Ok(Self { matrix: Matrix::Factor(factor.into()) })
    }

    /// M the inverse of the matrix given row by row, such as a Hessian.
    ///
    /// # Errors
    ///
    /// If it is not a positive definite matrix of `dim` rows.
    pub fn inverse_of(m: &[f64], dim: usize) -> Result<Self> {
        let factor = Cholesky::new(m, dim).map_err(|error| not_positive_definite("the inverse of M", &error))?;
        Ok(Self { matrix: Matrix::InverseFactor(factor.into()) })
    }

    /// M the covariance of the Laplace approximation at `mode`, in coordinates: the inverse Hessian of −log p(θ|x) there.
    /// Costs 2d + 1 full gradients.
    ///
    /// # Errors
    ///
    /// Returns an error if `mode` is not the posterior mode: the Hessian is not positive definite, or a Newton step promises a gain of more
    /// than 0.5 in log posterior, which is one posterior standard deviation in one direction. Returns the model's errors.
    pub fn laplace(evaluator: &mut dyn Evaluator, mode: &[f64]) -> Result<Self> {
        let hessian = curvature::hessian(evaluator, mode)?;
        let factor = Cholesky::new(&hessian, mode.len())
            .map_err(|error| not_positive_definite("the Hessian of the negative log posterior", &error))?;
        let mut gradient = vec![0.0; mode.len()];
        evaluator.posterior(mode, evaluator.all_rows(), &mut gradient)?;
        let gain = promised_gain(&factor, gradient);
        if gain.is_nan() || gain > ONE_DEVIATION {
            return Err(Error::Setting {
                name: "the gain in log posterior that a Newton step from `mode` promises",
                value: format!("{gain:.3e}"),
                expected: "give the posterior mode, in coordinates, as `LbfgsSearch` finds it",
            });
        }
        Ok(Self { matrix: Matrix::InverseFactor(factor.into()) })
    }

    /// The number of coordinates.
    pub fn dim(&self) -> usize {
        match &self.matrix {
            Matrix::Diagonal(m) => m.len(),
            Matrix::Factor(factor) | Matrix::InverseFactor(factor) => factor.dim(),
        }
    }
}

/// A matrix is shown by its size and a number that tells it apart: all of it would fill the record of a run.
impl fmt::Debug for Preconditioned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, numbers) = match &self.matrix {
            Matrix::Diagonal(m) => ("diagonal", &m[..]),
            Matrix::Factor(factor) => ("dense", factor.factor()),
            Matrix::InverseFactor(factor) => ("inverse", factor.factor()),
        };
        // FNV-1a over the bits.
        let mixed = numbers.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, number| {
            (hash ^ number.to_bits()).wrapping_mul(0x0100_0000_01b3).rotate_left(29)
        });
        write!(f, "Preconditioned {{ {kind} matrix of {} rows, fingerprint {mixed:016x} }}", self.dim())
    }
}

/// θ, and room to work in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    #[serde(skip)]
    scratch: Scratch,
}

positioned!(State);

impl<G: GradientEstimator> Dynamics<G> for Preconditioned {
    type State = State;

    fn check(&self) -> Result<()> {
        match &self.matrix {
            Matrix::Diagonal(m) => match m.iter().find(|m| !(m.is_finite() && **m > 0.0)) {
                Some(m) => {
                    let expected = "the diagonal of M must be positive numbers";
                    Err(Error::Setting { name: "an entry of M", value: m.to_string(), expected })
                }
                None => Ok(()),
            },
            Matrix::Factor(_) | Matrix::InverseFactor(_) => Ok(()),
        }
    }

    fn init(&self, theta: &[f64], _tick: Tick<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
        if self.dim() != theta.len() {
            return Err(Error::Length { what: "the matrix M (rows)", expected: theta.len(), found: self.dim() });
        }
        Ok(State { theta: theta.to_vec(), scratch: Scratch::default() })
    }

    fn step(&self, State { theta, scratch }: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let log_posterior = oracle.fresh(theta, scratch.gradient(theta.len()))?;
        match &self.matrix {
            Matrix::Diagonal(m) => scratch.diagonal_step(theta, m, tick, oracle.noise()),
            Matrix::Factor(factor) => scratch.factored_step(theta, tick, oracle.noise(), |from, to, transpose| {
                if transpose { factor.transpose_product(from, to) } else { factor.product(from, to) }
            }),
            Matrix::InverseFactor(factor) => {
                // M⁻¹ = L Lᵀ, so that M^{1/2} = L⁻ᵀ.
                scratch.factored_step(theta, tick, oracle.noise(), |from, to, transpose| {
                    to.copy_from_slice(from);
                    if transpose { factor.solve_lower(to) } else { factor.solve_upper(to) }
                });
            }
        }
        Ok(log_posterior)
    }

    fn is_preconditioned(&self) -> bool {
        true
    }

    fn apply_root(&self, _state: &mut State, v: &mut [f64], transpose: bool) -> Result<()> {
        match &self.matrix {
            Matrix::Diagonal(m) => v.iter_mut().zip(&**m).for_each(|(v, m)| *v *= m.sqrt()),
            Matrix::Factor(factor) => {
                let from = v.to_vec();
                if transpose { factor.transpose_product(&from, v) } else { factor.product(&from, v) }
            }
            Matrix::InverseFactor(factor) => {
                if transpose {
                    factor.solve_lower(v)
                } else {
                    factor.solve_upper(v)
                }
            }
        }
        Ok(())
    }

    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(direction.langevin_ratio(1.0))
    }
}
