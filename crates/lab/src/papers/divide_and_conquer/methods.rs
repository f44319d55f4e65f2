//! The five methods, each with the setting that it is tuned over.

use sgmcmc::algorithms::{Hmc, Sghmc, Sgld, WarmUp};
use sgmcmc::distributed::combine::{
    Bandwidth, Combination, CombineOptions, ComponentSampling, Consensus, Kdemc, Weierstrass, combine_fits,
};
use sgmcmc::distributed::shards::Shards;
use sgmcmc::gradient::{FullGradient, MinibatchGradient};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::prelude::*;

use super::problems::Problem;
use crate::Result;

/// The lengths of the runs.
#[derive(Clone, Copy)]
pub(super) struct Lengths {
    /// The number of shards.
    pub(super) shards: usize,
    /// The number of draws of each shard, and of each method.
    pub(super) draws: usize,
    /// The number of iterations of SGLD and SGHMC, without burn-in.
    pub(super) iterations: u64,
    /// The number of observations of a minibatch.
    pub(super) minibatch: usize,
}

/// A method with its setting.
#[derive(Clone, Copy, Debug)]
pub(super) enum Method {
    Consensus,
    Kdemc(Bandwidth),
    Weierstrass(f64),
    Sgld(f64),
    Sghmc(f64),
}

/// The names of the methods in the order of tables and figures.
pub(super) const NAMES: [&str; 5] = ["consensus", "KDEMC", "Weierstrass", "SGLD", "SGHMC"];

impl Method {
    /// Returns the settings that the method with this index of [`NAMES`] is tuned over.
    pub(super) fn candidates(index: usize, problem: &Problem) -> Vec<Self> {
        let fixed = [0.1, 0.2, 0.4].map(Bandwidth::Fixed);
        match index {
            0 => vec![Self::Consensus],
            1 => [Bandwidth::Annealed].into_iter().chain(fixed).map(Self::Kdemc).collect(),
            2 => [0.01, 0.03, 0.1, 0.3].into_iter().map(Self::Weierstrass).collect(),
            3 => problem.step_sizes.iter().copied().map(Self::Sgld).collect(),
            _ => problem.step_sizes.iter().copied().map(Self::Sghmc).collect(),
        }
    }

    /// Returns the divergence of the draws of a run from the truth. `shards` are the fits of the shards.
    pub(super) fn divergence(self, problem: &Problem, shards: &[Fit], lengths: Lengths, seed: u64) -> Result<f64> {
        let sampling = |bandwidth| ComponentSampling { bandwidth, ..ComponentSampling::default() };
        let fit = match self {
            Self::Consensus => combined(shards, &Consensus::default(), seed)?,
            Self::Kdemc(bandwidth) => combined(shards, &Kdemc { sampling: sampling(bandwidth) }, seed)?,
            Self::Weierstrass(acceptance) => {
                combined(shards, &Weierstrass { acceptance, ..Weierstrass::default() }, seed)?
            }
            Self::Sgld(h) => {
                let run = minibatched(problem, lengths, Sgld, h).seed(seed);
                run.sample(&problem.start, lengths.draws)?
            }
            Self::Sghmc(h) => {
                let kernel = Sghmc { steps: 3, alpha: 0.1.into(), ..Sghmc::default() };
                let run = minibatched(problem, lengths, kernel, h).seed(seed);
                run.sample(&problem.start, lengths.draws)?
            }
        };
        let chain = &fit.chains()[0];
        // A diverged chain has no density.
        if chain.len() < lengths.draws || chain.values().iter().any(|value| !value.is_finite()) {
            return Ok(f64::INFINITY);
        }
        problem.truth.divergence(chain.values(), problem.dim)
    }
}

fn combined(shards: &[Fit], method: &dyn Combination, seed: u64) -> Result<Fit> {
    Ok(combine_fits(shards, method, CombineOptions { seed, tempering: None })?)
}

/// Returns a run with minibatches, a fifth of whose iterations are burn-in.
fn minibatched<D>(
    problem: &Problem,
    lengths: Lengths,
    dynamics: D,
    h: f64,
) -> Builder<sgmcmc::gradient::Analytic, D, MinibatchGradient> {
    let gradient = MinibatchGradient::new(WithoutReplacement::new(lengths.minibatch));
    Builder::new(problem.target.clone(), dynamics, gradient, h)
        .burn_in(lengths.iterations / 5)
        .thin((lengths.iterations / lengths.draws as u64).max(1))
}

/// Samples from the subposterior of every shard by Hamiltonian Monte Carlo, which has no bias. The division does not
/// depend on the seed.
pub(super) fn shards(problem: &Problem, lengths: Lengths, seed: u64) -> Result<Vec<Fit>> {
    let shards = Shards::random(problem.observations, lengths.shards, 1)?;
    let fits = shards.run(|shard| {
        let kernel = Hmc { steps: 10, jitter: 0.5, warm_up: Some(WarmUp::dense(500)), ..Hmc::default() };
        Builder::new(shard.target(problem.target.clone()), kernel, FullGradient, 1e-3)
            .seed(shard.seed(seed))
            .thin(2)
            .sample(&problem.start, lengths.draws)
    });
    Ok(fits.into_fits()?)
}
