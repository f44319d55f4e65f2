//! The position of a chain of this family with log density and gradient there, from which the next proposal starts.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{ExactGradient, Oracle, Result};

/// θ, and the gradient and value of the log density as the [`Oracle`] gives them: those of log p(θ|x) + T log |J|.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) theta: Vec<f64>,
    pub(super) g: Vec<f64>,
    pub(super) log_posterior: f64,
}

impl Point {
    /// The point at `theta`.
    pub(super) fn at<G: ExactGradient>(theta: &[f64], oracle: &mut Oracle<G>) -> Result<Self> {
        let mut point = Self { theta: theta.to_vec(), g: vec![0.0; theta.len()], log_posterior: f64::NAN };
        point.evaluate(oracle)?;
        Ok(point)
    }

    /// Finds density and gradient where θ now is.
    pub(super) fn evaluate<G: ExactGradient>(&mut self, oracle: &mut Oracle<G>) -> Result<()> {
        self.log_posterior = oracle.fresh(&self.theta, &mut self.g)?;
        Ok(())
    }

    /// Puts it at `theta`.
    pub(super) fn relocate<G: ExactGradient>(&mut self, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        self.theta.copy_from_slice(theta);
        self.evaluate(oracle)
    }

    /// Adapts density and gradient to the oracle's temperature; they were found at temperature `from`.
    pub(super) fn retemper<G: ExactGradient>(&mut self, from: f64, oracle: &Oracle<G>) -> Result<()> {
        self.log_posterior += oracle.retemper(from, &self.theta, &mut self.g)?;
        Ok(())
    }

    /// Whether a trajectory can go on from here.
    pub(super) fn is_finite(&self) -> bool {
        self.log_posterior.is_finite() && self.g.iter().all(|g| g.is_finite())
    }
}

/// Implements [`Positioned`](crate::dynamics::Positioned) for a state with a field `point`.
macro_rules! at_point {
    ($state:ty) => {
        impl $crate::dynamics::Positioned for $state {
            fn position(&self) -> &[f64] {
                &self.point.theta
            }

            fn position_mut(&mut self) -> &mut [f64] {
                &mut self.point.theta
            }
        }
    };
}
pub(super) use at_point;
