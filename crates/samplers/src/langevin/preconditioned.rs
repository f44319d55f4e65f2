//! SGLD with a constant matrix: see [`PreconditionedSgld`].

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{Error, Evaluator, GradientEstimator, Oracle, Result, curvature};
use sgmcmc_numerics::Cholesky;

use super::{Scratch, not_positive_definite};
use crate::dynamics::{Dynamics, impl_has_position};
use crate::laplace::predicted_gain;
use crate::law::Direction;
use crate::step_size::StepContext;

/// SGLD with a constant symmetric positive definite matrix M.
///
/// # Rule
///
/// θ += h/2 M ĝ(θ) + √(hT) M^{1/2} z, z ~ N(0, I). If the step sizes differ by parameter, h M stands for H^{1/2} M
/// H^{1/2}, where H is the diagonal matrix of the step sizes.
///
/// # Source
///
/// Welling & Teh (2011), §4.1 and §6.
///
/// # Cost
///
/// One gradient estimate per step, and d multiplications if M is diagonal or 2d² if it is dense.
///
/// # Settings
///
/// The matrix M, in coordinates: [`diagonal`](Self::diagonal), [`dense`](Self::dense), the inverse of a given matrix
/// ([`from_precision`](Self::from_precision)), or the covariance of the Laplace approximation ([`laplace`](Self::laplace)). If
/// M is the covariance of the posterior, all directions are explored at the same speed and h has no unit; 0.1 is a good
/// first value.
///
/// # Bias
///
/// O(h), as [`Sgld`](super::Sgld).
///
/// # When to use it
///
/// If an approximation of the posterior covariance is known, for instance from a mode search or a pilot run.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::PreconditionedSgld;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| {
///     let (narrow, wide) = (x.clone().slice([0..1]), x.slice([1..2]) / 100.0);
///     (narrow.square() + wide.square()) * -0.5
/// });
/// let dynamics = PreconditionedSgld::diagonal(vec![1.0, 1e4]);
/// let fit = ula(&model, &Dataset::none(), 0.5).dynamics(dynamics).seed(1).sample(&zeros([2]), 2000)?;
/// assert!(fit.summary().rows().iter().all(|row| row.ess_bulk > 50.0));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct PreconditionedSgld {
    matrix: Matrix,
}

/// The difference in log posterior between the mode and a point at a distance of one posterior standard deviation.
const ONE_DEVIATION: f64 = 0.5;

/// The representation of M.
#[derive(Clone, PartialEq)]
enum Matrix {
    Diagonal(Arc<[f64]>),
    /// The Cholesky factor of M.
    Factor(Arc<Cholesky>),
    /// The Cholesky factor of M⁻¹.
    InverseFactor(Arc<Cholesky>),
}

impl PreconditionedSgld {
    /// Creates the algorithm with the diagonal matrix of entries `m`, one per coordinate.
    pub fn diagonal(m: Vec<f64>) -> Self {
        Self { matrix: Matrix::Diagonal(m.into()) }
    }

    /// Creates the algorithm with a dense matrix of `dim` rows, in row-major order.
    ///
    /// # Errors
    ///
    /// Returns an error if `m` is not a positive definite matrix of `dim` rows.
    pub fn dense(m: &[f64], dim: usize) -> Result<Self> {
        let factor = Cholesky::new(m, dim).map_err(|error| not_positive_definite("the matrix M", &error))?;
        Ok(Self { matrix: Matrix::Factor(factor.into()) })
    }

    /// Creates the algorithm with the inverse of the matrix `m`, such as a Hessian, in row-major order.
    ///
    /// # Errors
    ///
    /// Returns an error if `m` is not a positive definite matrix of `dim` rows.
    pub fn from_precision(m: &[f64], dim: usize) -> Result<Self> {
        let factor = Cholesky::new(m, dim).map_err(|error| not_positive_definite("the inverse of M", &error))?;
        Ok(Self { matrix: Matrix::InverseFactor(factor.into()) })
    }

    /// Creates the algorithm with the covariance of the Laplace approximation at `mode`: the inverse Hessian of −log
    /// p(θ|x), in coordinates.
    ///
    /// Evaluates 2d + 1 full gradients.
    ///
    /// # Errors
    ///
    /// Returns an error if `mode` is not the posterior mode: the Hessian is not positive definite, or the expected gain
    /// of a Newton step in log posterior is more than 0.5, which is one posterior standard deviation in one direction.
    /// Returns the model's errors.
    pub fn laplace(evaluator: &mut dyn Evaluator, mode: &[f64]) -> Result<Self> {
        let hessian = curvature::hessian(evaluator, mode)?;
        let factor = Cholesky::new(&hessian, mode.len())
            .map_err(|error| not_positive_definite("the Hessian of the negative log posterior", &error))?;
        let mut gradient = vec![0.0; mode.len()];
        evaluator.posterior(mode, evaluator.all_rows(), &mut gradient)?;
        let gain = predicted_gain(&factor, gradient);
        if gain.is_nan() || gain > ONE_DEVIATION {
            return Err(Error::Setting {
                name: "the predicted gain in log posterior of a Newton step from `mode`",
                value: format!("{gain:.3e}"),
                expected: "give the posterior mode, in coordinates, as `LbfgsSearch` finds it",
            });
        }
        Ok(Self { matrix: Matrix::InverseFactor(factor.into()) })
    }

    /// Returns the number of coordinates.
    pub fn dim(&self) -> usize {
        match &self.matrix {
            Matrix::Diagonal(m) => m.len(),
            Matrix::Factor(factor) | Matrix::InverseFactor(factor) => factor.dim(),
        }
    }
}

/// Shows the size and a fingerprint of the matrix. Its entries would make the record of a run too long.
impl fmt::Debug for PreconditionedSgld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, numbers) = match &self.matrix {
            Matrix::Diagonal(m) => ("diagonal", &m[..]),
            Matrix::Factor(factor) => ("dense", factor.factor()),
            Matrix::InverseFactor(factor) => ("inverse", factor.factor()),
        };
        // FNV-1a over the bits.
        let fingerprint = numbers.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, number| {
            (hash ^ number.to_bits()).wrapping_mul(0x0100_0000_01b3).rotate_left(29)
        });
        write!(f, "PreconditionedSgld {{ {kind} matrix of {} rows, fingerprint {fingerprint:016x} }}", self.dim())
    }
}

/// The position θ and the buffers of a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    #[serde(skip)]
    scratch: Scratch,
}

impl_has_position!(State);

impl<G: GradientEstimator> Dynamics<G> for PreconditionedSgld {
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

    fn init(&self, theta: &[f64], _context: StepContext<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
        if self.dim() != theta.len() {
            return Err(Error::Length { what: "the matrix M (rows)", expected: theta.len(), found: self.dim() });
        }
        Ok(State { theta: theta.to_vec(), scratch: Scratch::default() })
    }

    fn step(
        &self,
        State { theta, scratch }: &mut State,
        context: StepContext<'_>,
        oracle: &mut Oracle<G>,
    ) -> Result<f64> {
        let log_posterior = oracle.gradient(theta, scratch.gradient(theta.len()))?;
        match &self.matrix {
            Matrix::Diagonal(m) => scratch.diagonal_step(theta, m, context, oracle.noise()),
            Matrix::Factor(factor) => scratch.factored_step(theta, context, oracle.noise(), |from, to, transpose| {
                if transpose { factor.transpose_product(from, to) } else { factor.product(from, to) }
            }),
            Matrix::InverseFactor(factor) => {
                // M⁻¹ = L Lᵀ, so that M^{1/2} = L⁻ᵀ.
                scratch.factored_step(theta, context, oracle.noise(), |from, to, transpose| {
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
