//! Composition of kernels: updates of blocks of parameters and of latent variables, after every step of the dynamics.
//!
//! An iteration of a composed chain is a step of the dynamics followed by the updates of the run, in the order in which
//! [`Builder::gibbs`](crate::Builder::gibbs) and [`Builder::update`](crate::Builder::update) add them. The chain leaves
//! the posterior invariant if the dynamics and every update do. When an update changes a parameter, the algorithm
//! evaluates everything that it keeps about its position anew.
//!
//! | part | role |
//! |---|---|
//! | [`Update`] | an update: sees the parameters, the minibatch, the log densities of the model and the generator |
//! | [`GibbsUpdate`] | an update that needs only parameters and generator, also a closure |
//! | [`MetropolisHastings`] | a Metropolis-Hastings step on one parameter with any [`Proposal`] |
//! | [`Builder::hold`](crate::Builder::hold) | exempts a parameter from the dynamics |
//! | [`UpdatesOnly`] | dynamics that do not move, for runs of updates alone |
//! | [`LatentStore`], [`WithLatents`] | latent variables of all observations, saved in checkpoints |
//! | [`LocalLatents`] | latent variables of the observations of the current minibatch, drawn anew for each |

mod composed;
mod context;
mod gibbs;
mod latent_store;
mod local_latents;
mod metropolis_hastings;
mod proposal;
mod update;
mod updates_only;

pub(crate) use composed::{Composed, Updates};
pub use context::UpdateContext;
pub(crate) use gibbs::GibbsStep;
pub use gibbs::{GibbsUpdate, Values};
pub use latent_store::{LatentStore, WithLatents};
pub use local_latents::{LocalBlock, LocalLatents};
pub use metropolis_hastings::MetropolisHastings;
pub use proposal::{IndependenceProposal, Proposal, ProposalSpace, RandomWalk};
pub use update::Update;
pub(crate) use update::UpdateFactory;
pub use updates_only::UpdatesOnly;
