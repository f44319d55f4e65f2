//! Every distributed algorithm, for tests on threads and, in the example `mpi_worker`, over MPI.

use std::sync::Arc;

use sgmcmc_fit::{Fit, Tempering};
use sgmcmc_gradient::{ControlVariate, FullGradient, MinibatchGradient, WithoutReplacement};
use sgmcmc_models::factorization::Entries;
use sgmcmc_numerics::InitialScale;
use sgmcmc_samplers::Builder;
use sgmcmc_samplers::hamiltonian::Sghmc;
use sgmcmc_samplers::langevin::{Hamcmc, Sgld};
use sgmcmc_samplers::metropolis::Hmc;

use super::normal_mean::{all_shards, shard, target};
use crate::chains::{chains_of_rank, gather_combined, gather_fit, in_order, part};
use crate::collective::{Collective, Result};
use crate::combine::{CombineOptions, Consensus, Kdemc};
use crate::data_parallel::DataParallel;
use crate::dsgld::{ApproximationShape, Dsgld};
use crate::factorization::{BlockAlgorithm, BlockRun, BlockedEntries, BlockedFactorization, Grid};
use crate::shards::Shard;

/// A run on one rank. Rank 0 has the fit.
pub(crate) type Run = fn(Arc<dyn Collective>, u64) -> Result<Option<Fit>>;

/// The name of each algorithm, and a short run of it.
pub(crate) const RUNS: [(&str, Run); 10] = [
    ("data-parallel HMC", |ranks, seed| {
        let run = Builder::new(observed(&ranks), Hmc::default(), FullGradient, 1e-3);
        Ok(Some(run.seed(seed).sample(&start(), 20)?))
    }),
    ("data-parallel SGLD with control variates", |ranks, seed| {
        let run = Builder::new(observed(&ranks), Sgld, ControlVariate::new(WithoutReplacement::new(10)), 1e-3);
        Ok(Some(in_order(|| run.chains(3).seed(seed).sample(&start(), 20))??))
    }),
    ("chains of SGHMC", |ranks, seed| {
        let chains = chains_of_rank(4, &*ranks)?;
        let run = Builder::new(target(all_shards(2)), Sghmc::default(), minibatch(), 1e-4);
        gather_fit(&*ranks, run.chains(4).chain_range(chains).seed(seed).sample(&start(), 20)?)
    }),
    ("DSGLD with SGLD", |ranks, seed| {
        Dsgld::new(ranks.clone(), of_rank(&ranks), Sgld, minibatch(), 1e-3).visit(3).seed(seed).sample(
            &start(),
            20,
            None,
        )
    }),
    ("FSGLD with SGHMC", |ranks, seed| {
        let run = Dsgld::new(ranks.clone(), of_rank(&ranks), Sghmc::default(), minibatch(), 1e-4).visit(3).seed(seed);
        run.conducive(vec![0.1, 0.2], ApproximationShape::Diagonal).sample(&start(), 20, None)
    }),
    ("DSGLD with HAMCMC", |ranks, seed| {
        let run = Dsgld::new(ranks.clone(), of_rank(&ranks), Hamcmc::default(), minibatch(), 1e-3);
        run.visit(4).seed(seed).sample(&start(), 20, None)
    }),
    ("subposteriors", |ranks, seed| {
        let observations = shard(ranks.rank());
        let part = Shard::of_rank(&*ranks, observations.len(), Tempering::default())?;
        let fit = part.run(|part| {
            let run = Builder::new(part.target(target(observations.clone())), Hmc::default(), FullGradient, 2e-3);
            run.seed(part.seed(seed)).sample(&start(), 20)
        })?;
        let new = gather_combined(&*ranks, fit.clone(), &Kdemc::default(), CombineOptions::default())?;
        let paired = gather_combined(&*ranks, fit, &Consensus::default(), CombineOptions::default())?;
        assert_eq!(new.is_some(), paired.is_some());
        Ok(paired)
    }),
    ("blocks of SGLD", |ranks, seed| blocks(ranks, BlockAlgorithm::Sgld, seed)),
    ("blocks of PSGLD", |ranks, seed| blocks(ranks, BlockAlgorithm::Psgld { alpha: 0.9, lambda: 1.0 }, seed)),
    ("blocks of HAMCMC", |ranks, seed| {
        let gamma = InitialScale::Fixed(0.2);
        blocks(ranks, BlockAlgorithm::Hamcmc { memory: 3, lambda: 1.0, gamma }, seed)
    }),
];

fn start() -> Vec<f64> {
    vec![0.3, -0.1]
}

fn minibatch() -> MinibatchGradient<WithoutReplacement> {
    MinibatchGradient::new(WithoutReplacement::new(5))
}

/// Returns the density of one of as many shards as there are ranks.
fn of_rank(ranks: &Arc<dyn Collective>) -> sgmcmc_gradient::Analytic {
    target(shard(ranks.rank()))
}

/// Returns the density of four shards, divided among the ranks.
fn observed(ranks: &Arc<dyn Collective>) -> DataParallel<sgmcmc_gradient::Analytic> {
    let own = part(4, ranks.rank(), ranks.size()).flat_map(shard).collect();
    DataParallel::new(target(own), ranks.clone())
}

fn blocks(ranks: Arc<dyn Collective>, algorithm: BlockAlgorithm, seed: u64) -> Result<Option<Fit>> {
    let entries = Entries::simulate_ratings(20, 24, 200, 2, 3)?;
    let own: Vec<_> = entries.iter().skip(ranks.rank()).step_by(ranks.size()).collect();
    let blocked = BlockedEntries::distribute(ranks, Arc::new(Grid::new(20, 24, 4, 1)?), own)?;
    let model = BlockedFactorization::new(2).algorithm(algorithm).step_size(1e-3).seed(seed);
    model.sampler(blocked)?.sample(&BlockRun { draws: 12, burn_in: 2, thin: 1 }, None)
}
