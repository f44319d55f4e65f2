//! Tests of chains on several ranks.

use sgmcmc_fit::Tempering;
use sgmcmc_gradient::{FullGradient, MinibatchGradient, WithoutReplacement};
use sgmcmc_samplers::Builder;
use sgmcmc_samplers::langevin::{Hamcmc, Sgld};
use sgmcmc_samplers::metropolis::Hmc;

use super::*;
use crate::collective::on_threads;
use crate::combine::Consensus;
use crate::shards::Shard;
use crate::testing::{all_shards, check_moments, posterior, shard, target};

#[test]
fn parts_cover_everything_once() {
    for (count, size) in [(10, 3), (3, 3), (1000, 7), (2, 5)] {
        let all: Vec<usize> = (0..size).flat_map(|rank| part(count, rank, size)).collect();
        assert_eq!(all, (0..count).collect::<Vec<_>>());
    }
}

#[test]
fn chains_of_all_ranks_are_those_of_one_process() {
    let data = all_shards(4);
    let run = || Builder::new(target(all_shards(4)), Sgld, MinibatchGradient::new(WithoutReplacement::new(20)), 5e-4);
    let start = vec![0.0; 2];
    let one = run().chains(4).burn_in(500).sample(&start, 3000).unwrap();
    for size in [1, 2, 4] {
        let fits = on_threads(size, |ranks| {
            let run = run().chains(4).burn_in(500).chain_range(chains_of_rank(4, &*ranks)?);
            gather_fit(&*ranks, run.sample(&start, 3000)?)
        });
        let fit = fits.unwrap().swap_remove(0).unwrap();
        assert_eq!(fit.chains(), one.chains(), "{size} ranks");
        assert_eq!(fit.info().gradients, one.info().gradients);
        assert!(fit.summary().rows().iter().all(|row| row.r_hat < 1.05));
    }
    // The law of SGLD on a normal mean: see the module of exact laws of the integration tests.
    let (mean, precision) = posterior(&data);
    let (n, h) = (data.len() as f64, 5e-4);
    let spread = |axis: usize| {
        let mean = data.iter().map(|x| x[axis]).sum::<f64>() / n;
        data.iter().map(|x| (x[axis] - mean).powi(2)).sum::<f64>() / (n - 1.0)
    };
    let sd = [0, 1].map(|axis| {
        let noise = n * (n - 20.0) / 20.0 * spread(axis);
        let rho = 1.0 - 0.5 * h * precision;
        ((h + 0.25 * h * h * noise) / (1.0 - rho * rho)).sqrt()
    });
    check_moments(&one, &mean, &sd);
}

#[test]
fn interleaved_chains_are_gathered_run_by_run() {
    let run = || {
        Builder::new(target(all_shards(2)), Hamcmc::default(), MinibatchGradient::<WithoutReplacement>::default(), 1e-3)
    };
    let start = vec![0.0; 2];
    let one = run().chains(2).sample(&start, 30).unwrap();
    let fits = on_threads(2, |ranks| {
        gather_fit(&*ranks, run().chains(2).chain_range(chains_of_rank(2, &*ranks)?).sample(&start, 30)?)
    });
    assert_eq!(fits.unwrap().swap_remove(0).unwrap().chains(), one.chains());
    assert!(run().chains(2).chain_range(1..3).sample(&start, 30).is_err());
}

/// The rank r of S samples from the subposterior of its own observations.
fn of_subposteriors(size: usize, method: &dyn Combination) -> Result<Vec<Option<Fit>>> {
    on_threads(size, |ranks| {
        let own: Vec<_> = part(4, ranks.rank(), size).flat_map(shard).collect();
        let shard = Shard::of_rank(&*ranks, own.len(), Tempering::default())?;
        let fit = shard.run(|shard| {
            let (target, step_size) = (shard.target(target(own.clone())), 0.2 / own.len() as f64);
            Builder::new(target, Hmc::default(), FullGradient, step_size)
                .seed(shard.seed(5))
                .sample(&vec![0.0; 2], 4000)
        })?;
        gather_combined(&*ranks, fit, method, CombineOptions::default())
    })
}

#[test]
fn subposteriors_of_ranks_combine_to_the_posterior() {
    let (mean, precision) = posterior(&all_shards(4));
    for size in [1, 2, 4] {
        // Averages of paired draws show the Monte Carlo error of the shards; other methods do not.
        let fits = of_subposteriors(size, &Consensus::default()).unwrap();
        assert!(fits[1..].iter().all(Option::is_none));
        let fit = fits[0].as_ref().unwrap();
        check_moments(fit, &mean, &[precision.powf(-0.5); 2]);
        assert_eq!(fit.info().observations, all_shards(4).len());
        assert_eq!(fit.info().communication.map(|cost| cost.ranks), Some(size));
        let again = of_subposteriors(size, &Consensus::default()).unwrap();
        assert_eq!(fit.chains(), again[0].as_ref().unwrap().chains());
    }
}

#[test]
fn shards_of_ranks_that_cannot_be_combined_are_errors() {
    let error = on_threads(2, |ranks| Shard::of_rank(&*ranks, ranks.rank(), Tempering::default()).map(|_| ()));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("rank 0 of 2") && error.contains("give every rank at least one"), "{error}");
    // The same seed on both ranks.
    let observations = shard(0);
    let error = on_threads(2, |ranks| {
        let shard = Shard::of_rank(&*ranks, 20, Tempering::default())?;
        let run = |shard: &Shard| {
            let target = shard.target(target(observations.clone()));
            Builder::new(target, Hmc::default(), FullGradient, 1e-3).sample(&vec![0.0; 2], 20)
        };
        gather_combined(&*ranks, shard.run(run)?, &Consensus::default(), CombineOptions::default())
    });
    assert!(error.unwrap_err().to_string().contains("have the seed 0"));
}
