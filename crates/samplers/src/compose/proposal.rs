//! Proposals of Metropolis-Hastings steps: see [`Proposal`].

use std::fmt;

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Result, settings};

/// The numbers that a [`Proposal`] changes.
///
/// # Examples
///
/// See [`Proposal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalSpace {
    /// The values of the parameter. Proposals that violate its constraint are rejected.
    Values,
    /// The unconstrained coordinates of the parameter. The Jacobian of the constraint is part of the acceptance ratio.
    Coordinates,
}

/// A proposal distribution q of a [`MetropolisHastings`](super::MetropolisHastings) step.
///
/// Closures `Fn(&[f64], &mut [f64], &mut StreamRng) -> f64` on the values of the parameter implement this trait.
///
/// # Examples
///
/// A positive parameter is multiplied by a random factor eᵛ, with v symmetric around zero. Then q(x|x') / q(x'|x) =
/// x'/x:
///
/// ```
/// use rand::RngExt;
/// use sgmcmc::algorithms::{MetropolisHastings, UpdatesOnly};
/// use sgmcmc::gradient::FullGradient;
/// use sgmcmc::prelude::*;
/// use sgmcmc::rng::StreamRng;
///
/// #[derive(TensorTree)]
/// struct Rate {
///     #[tree(positive)]
///     rate: Tensor<1>,
/// }
///
/// let scale = |current: &[f64], proposed: &mut [f64], rng: &mut StreamRng| {
///     let log_factor = 2.0 * rng.random::<f64>() - 1.0;
///     proposed[0] = current[0] * log_factor.exp();
///     log_factor
/// };
/// // An exponential distribution.
/// let model = Model::density(|p: Rate| p.rate.neg());
/// let fit = Builder::new(model.with(&Dataset::none()), UpdatesOnly, FullGradient, 1.0)
///     .update(move |_chain| MetropolisHastings::new("rate", scale))
///     .sample(&Rate { rate: ones([1]) }, 4000)?;
/// assert!((fit.summary().rows()[0].mean - 1.0).abs() < 0.3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Proposal: Send {
    /// Draws a proposal x' given the current x. Returns log q(x|x') − log q(x'|x), which is zero if q is symmetric.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range. The chain then ends.
    fn propose(&self, current: &[f64], proposed: &mut [f64], rng: &mut StreamRng) -> Result<f64>;

    /// Returns a description of the settings of the proposal: see [`Update::settings`](super::Update::settings). The
    /// default is empty.
    fn settings(&self) -> String {
        String::new()
    }

    /// Returns the numbers that the proposal changes. The default is the values.
    fn space(&self) -> ProposalSpace {
        ProposalSpace::Values
    }
}

impl<F: Fn(&[f64], &mut [f64], &mut StreamRng) -> f64 + Send> Proposal for F {
    fn propose(&self, current: &[f64], proposed: &mut [f64], rng: &mut StreamRng) -> Result<f64> {
        Ok(self(current, proposed, rng))
    }
}

/// A normal random walk on the unconstrained coordinates: y' = y + `scale` · z, z standard normal.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{MetropolisHastings, RandomWalk};
///
/// let update = MetropolisHastings::new("tau", RandomWalk { scale: 0.5 });
/// # let _ = update;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomWalk {
    /// The standard deviation of a move in each coordinate.
    pub scale: f64,
}

impl Proposal for RandomWalk {
    fn propose(&self, current: &[f64], proposed: &mut [f64], rng: &mut StreamRng) -> Result<f64> {
        let scale = settings::positive("the scale of a random walk", self.scale)?;
        for (new, old) in proposed.iter_mut().zip(current) {
            let z: f64 = rng.sample(StandardNormal);
            *new = old + scale * z;
        }
        Ok(0.0)
    }

    fn settings(&self) -> String {
        format!("{self:?}")
    }

    fn space(&self) -> ProposalSpace {
        ProposalSpace::Coordinates
    }
}

/// Proposals that do not depend on the current values: draws of a distribution with a known density.
///
/// # Examples
///
/// ```
/// use rand::RngExt;
/// use sgmcmc::algorithms::{IndependenceProposal, MetropolisHastings};
/// use sgmcmc::rng::StreamRng;
///
/// // The uniform distribution on (0, 1) as proposal.
/// let uniform = IndependenceProposal::new(|x: &mut [f64], rng: &mut StreamRng| x[0] = rng.random(), |_x: &[f64]| 0.0);
/// let update = MetropolisHastings::new("p", uniform);
/// # let _ = update;
/// ```
#[derive(Clone)]
pub struct IndependenceProposal<D, L> {
    draw: D,
    log_density: L,
}

impl<D, L> IndependenceProposal<D, L>
where
    D: Fn(&mut [f64], &mut StreamRng) + Send,
    L: Fn(&[f64]) -> f64 + Send,
{
    /// Creates a proposal whose values `draw` draws. `log_density` is their log density, up to a constant.
    pub fn new(draw: D, log_density: L) -> Self {
        Self { draw, log_density }
    }
}

impl<D, L> fmt::Debug for IndependenceProposal<D, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndependenceProposal")
    }
}

impl<D, L> Proposal for IndependenceProposal<D, L>
where
    D: Fn(&mut [f64], &mut StreamRng) + Send,
    L: Fn(&[f64]) -> f64 + Send,
{
    fn propose(&self, current: &[f64], proposed: &mut [f64], rng: &mut StreamRng) -> Result<f64> {
        (self.draw)(proposed, rng);
        Ok((self.log_density)(current) - (self.log_density)(proposed))
    }
}
