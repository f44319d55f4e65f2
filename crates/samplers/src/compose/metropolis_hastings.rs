//! Metropolis-Hastings steps on one parameter: see [`MetropolisHastings`].

use std::fmt;

use rand::RngExt;
use sgmcmc_gradient::{Error, Result, settings};

use super::context::BlockState;
use super::{Proposal, ProposalSpace, Update, UpdateContext};
use sgmcmc_fit::codec::{decode, encode};

/// A Metropolis-Hastings step on one parameter, with any [`Proposal`].
///
/// # Rule
///
/// A proposal x' of q is accepted with probability min(1, (p(x')/p(x))^{1/T} q(x|x') / q(x'|x)), where p is the density
/// of the model on all observations, and T the temperature of the run. Proposals on coordinates have the ratio of the
/// Jacobians as a further factor. The step is exact.
///
/// A step costs two evaluations of the density, and one more for each of [`repeats`](Self::repeats).
///
/// The fraction of accepted proposals since the start of the chain is recorded with every draw as the statistic
/// `acceptance.NAME`.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{MetropolisHastings, RandomWalk};
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|(a, b): (Tensor<1>, Tensor<1>)| (a.square() + b.square()) * -0.5);
/// let fit = ula(&model, &Dataset::none(), 0.1)
///     .hold("1")
///     .update(|_chain| MetropolisHastings::new("1", RandomWalk { scale: 2.0 }))
///     .sample(&(zeros([1]), zeros([1])), 500)?;
/// let rates = fit.chains()[0].stat("acceptance.1").unwrap();
/// assert!((0.2..0.9).contains(&rates[499]));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct MetropolisHastings<P> {
    name: String,
    proposal: P,
    repeats: usize,
    density: Option<Density>,
    proposed: u64,
    accepted: u64,
    candidate: Vec<f64>,
}

/// A log density of the values, given the rest of the context.
type Density = Box<dyn FnMut(&mut UpdateContext<'_>) -> Result<f64> + Send>;

impl<P: Proposal> MetropolisHastings<P> {
    /// Creates a step on the parameter `name`.
    pub fn new(name: impl Into<String>, proposal: P) -> Self {
        let name = name.into();
        Self { name, proposal, repeats: 1, density: None, proposed: 0, accepted: 0, candidate: Vec::new() }
    }

    /// Sets the number of proposals of each update. The default is 1.
    #[must_use]
    pub fn repeats(self, repeats: usize) -> Self {
        Self { repeats, ..self }
    }

    /// Sets the log density that the step uses in place of [`UpdateContext::log_density`], for instance its cheaper
    /// part that depends on this parameter. Terms that do not depend on the parameter may be left out.
    #[must_use]
    pub fn density(self, density: impl FnMut(&mut UpdateContext<'_>) -> Result<f64> + Send + 'static) -> Self {
        Self { density: Some(Box::new(density)), ..self }
    }

    /// Returns the log density of the numbers that the proposal changes, at temperature `temperature`.
    fn log_target(&mut self, temperature: f64, context: &mut UpdateContext<'_>) -> Result<f64> {
        let value = match &mut self.density {
            Some(density) => density(context)?,
            None => context.log_density()?,
        };
        let jacobian = match self.proposal.space() {
            ProposalSpace::Values => 0.0,
            ProposalSpace::Coordinates => context.log_jacobian()?,
        };
        Ok(value / temperature + jacobian)
    }

    /// Moves the parameter to the candidate. Returns `false` if it is outside the support.
    fn place(&self, context: &mut UpdateContext<'_>) -> Result<bool> {
        let placed = match self.proposal.space() {
            ProposalSpace::Values => context.set(&self.name, &self.candidate),
            ProposalSpace::Coordinates => context.set_coordinates(&self.name, &self.candidate),
        };
        match placed {
            Ok(()) => Ok(true),
            Err(Error::OutsideSupport { .. } | Error::StartNotFinite { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl<P: fmt::Debug> fmt::Debug for MetropolisHastings<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, proposal, repeats, .. } = self;
        let mut text = f.debug_struct("MetropolisHastings");
        text.field("name", name).field("proposal", proposal).field("repeats", repeats).finish_non_exhaustive()
    }
}

impl<P: Proposal> Update for MetropolisHastings<P> {
    fn update(&mut self, context: &mut UpdateContext<'_>) -> Result<()> {
        let temperature = settings::positive("the temperature of a Metropolis-Hastings step", context.temperature())?;
        let block = context.layout().block(&self.name)?;
        let mut here = self.log_target(temperature, context)?;
        for _ in 0..self.repeats {
            let before = context.read(block);
            let BlockState { theta, values } = &before;
            let current = match self.proposal.space() {
                ProposalSpace::Values => values,
                ProposalSpace::Coordinates => theta,
            };
            self.candidate.clone_from(current);
            let log_ratio = self.proposal.propose(current, &mut self.candidate, context.rng())?;
            let log_uniform = context.rng().random::<f64>().ln();
            self.proposed += 1;
            if !self.place(context)? {
                continue;
            }
            let there = self.log_target(temperature, context)?;
            // A density that is not defined gives NaN, which is not accepted.
            if log_uniform < there - here + log_ratio {
                here = there;
                self.accepted += 1;
            } else {
                context.write(block, &before);
            }
        }
        Ok(())
    }

    fn settings(&self) -> String {
        let Self { name, proposal, repeats, density, .. } = self;
        let density = if density.is_some() { "of the step" } else { "of the model" };
        format!("MetropolisHastings on {name}, proposal {}, repeats {repeats}, density {density}", proposal.settings())
    }

    fn stat_names(&self) -> Vec<String> {
        vec![format!("acceptance.{}", self.name)]
    }

    fn stats(&self, out: &mut [f64]) {
        out.fill(if self.proposed == 0 { 0.0 } else { self.accepted as f64 / self.proposed as f64 });
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&[self.proposed, self.accepted])
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        [self.proposed, self.accepted] = decode(saved)?;
        Ok(())
    }
}
