//! The position of a chain with its log density and gradient.

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{ExactGradient, Oracle, Result};

/// The position θ with the gradient and the value of the log density log p(θ|x) + T log |J|, as the [`Oracle`] returns
/// them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) theta: Vec<f64>,
    pub(super) g: Vec<f64>,
    pub(super) log_posterior: f64,
}

impl Point {
    /// Evaluates density and gradient at `theta`.
    pub(super) fn evaluate<G: ExactGradient>(theta: &[f64], oracle: &mut Oracle<G>) -> Result<Self> {
        let mut point = Self { theta: theta.to_vec(), g: vec![0.0; theta.len()], log_posterior: f64::NAN };
        point.update(oracle)?;
        Ok(point)
    }

    /// Evaluates density and gradient at the current θ.
    pub(super) fn update<G: ExactGradient>(&mut self, oracle: &mut Oracle<G>) -> Result<()> {
        self.log_posterior = oracle.gradient(&self.theta, &mut self.g)?;
        Ok(())
    }

    /// Moves the point to `theta`.
    pub(super) fn relocate<G: ExactGradient>(&mut self, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        self.theta.copy_from_slice(theta);
        self.update(oracle)
    }

    /// Converts density and gradient from temperature `from` to the temperature of the oracle.
    pub(super) fn retemper<G: ExactGradient>(&mut self, from: f64, oracle: &Oracle<G>) -> Result<()> {
        self.log_posterior += oracle.retemper(from, &self.theta, &mut self.g)?;
        Ok(())
    }

    /// Returns whether density and gradient are finite, so that a trajectory can continue.
    pub(super) fn is_finite(&self) -> bool {
        self.log_posterior.is_finite() && self.g.iter().all(|g| g.is_finite())
    }
}

/// Implements [`HasPosition`](crate::dynamics::HasPosition) for a state with a field `point`.
macro_rules! impl_has_position_of_point {
    ($state:ty) => {
        impl $crate::dynamics::HasPosition for $state {
            fn position(&self) -> &[f64] {
                &self.point.theta
            }

            fn position_mut(&mut self) -> &mut [f64] {
                &mut self.point.theta
            }
        }
    };
}
pub(super) use impl_has_position_of_point;
