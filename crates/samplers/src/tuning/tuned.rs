//! The result of tuning: see [`Tuned`].

use std::fmt;

use sgmcmc_fit::TuningRecord;
use sgmcmc_gradient::{Layout, Mode};

use super::plan::Plan;
use super::{Choice, NormalApproximation};

/// The settings that [`Auto::tune`](super::Auto::tune) chose, with the reasons.
///
/// `Display` shows the decisions, one per line.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let tuned = auto(&model, &data).tune(&zeros([1]))?;
/// let approximation = tuned.approximation().unwrap();
/// assert!((approximation.center()[0] - 1.25).abs() < 0.1);
/// assert!((approximation.variances()[0] - 0.25).abs() < 0.01);
/// // Four observations are few enough for the full gradient.
/// assert!(tuned.choice().is_none());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tuned {
    pub(super) layout: Layout,
    pub(super) mode: Option<Mode>,
    pub(super) plan: Plan,
    pub(super) record: TuningRecord,
}

impl Tuned {
    /// Returns the algorithm, the step size and the minibatch size, with their predicted properties. `None` if the
    /// choice is Hamiltonian Monte Carlo with the full gradient, or the settings were found by a search.
    pub fn choice(&self) -> Option<&Choice> {
        match &self.plan {
            Plan::StochasticGradient(plan) => Some(&plan.choice),
            Plan::Hamiltonian(_) | Plan::Search(_) => None,
        }
    }

    /// Returns the sampling weight of every observation, if minibatches were chosen.
    pub fn weights(&self) -> Option<&[f64]> {
        match &self.plan {
            Plan::StochasticGradient(plan) => Some(&plan.noise.weights),
            Plan::Hamiltonian(_) | Plan::Search(_) => None,
        }
    }

    /// Returns the normal approximation of the posterior, in coordinates. `None` if there is no usable one.
    pub fn approximation(&self) -> Option<&NormalApproximation> {
        match &self.plan {
            Plan::StochasticGradient(plan) => Some(&plan.approximation),
            Plan::Hamiltonian(plan) => plan.approximation.as_ref(),
            Plan::Search(_) => None,
        }
    }

    /// Returns the posterior mode, if the search found one.
    pub fn mode(&self) -> Option<&Mode> {
        self.mode.as_ref()
    }

    /// Returns the decisions and findings.
    pub fn record(&self) -> &TuningRecord {
        &self.record
    }
}

impl fmt::Display for Tuned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, decision) in self.record.decisions.iter().enumerate() {
            let end = if number == 0 { "" } else { "\n" };
            write!(f, "{end}{decision}")?;
        }
        Ok(())
    }
}
