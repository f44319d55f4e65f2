//! Tests of chains on several ranks.

use sgmcmc_fit::Tempering;
use sgmcmc_gradient::{FullGradient, MinibatchGradient, WithoutReplacement};
use sgmcmc_samplers::Builder;
use sgmcmc_samplers::langevin::{Hamcmc, Sgld};
use sgmcmc_samplers::metropolis::Hmc;
use sgmcmc_samplers::run::CheckpointInterval;
use sgmcmc_storage::FileCheckpoints;

use super::*;
use crate::collective::on_threads;
use crate::combine::Consensus;
use crate::shards::Shard;
use crate::testing::{PRIOR_PRECISION, all_shards, check_moments, posterior, shard, target};

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

/// Each rank has a store of its own. On another number of ranks, chains whose checkpoint is in the store of another rank
/// begin anew, with the same draws.
#[test]
fn runs_resume_from_a_store_per_rank() {
    let start = vec![0.0; 2];
    let run = || Builder::new(target(all_shards(2)), Sgld, MinibatchGradient::new(WithoutReplacement::new(5)), 1e-3);
    let whole = run().chains(4).sample(&start, 60).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let sample = |size: usize, draws: usize| {
        let fits = on_threads(size, |ranks| {
            let store = FileCheckpoints::new(directory.path().join(format!("rank-{}", ranks.rank())))?;
            let run = run().chains(4).chain_range(chains_of_rank(4, &*ranks)?);
            gather_fit(&*ranks, run.checkpoint(store, CheckpointInterval::Steps(10)).sample(&start, draws)?)
        });
        fits.unwrap().swap_remove(0).unwrap()
    };
    // Chains 0 and 1 are in the first directory, 2 and 3 in the second.
    sample(2, 20);
    let resumed = sample(2, 40);
    assert!(resumed.chains().iter().zip(whole.chains()).all(|(a, b)| *a.values() == b.values()[..a.values().len()]));
    // A resumed chain counts the time since it was resumed, and the iterations since its start.
    assert_eq!(resumed.info().iterations, [40; 4]);
    for size in [4, 1] {
        assert_eq!(sample(size, 60).chains(), whole.chains(), "{size} ranks");
    }
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

/// Returns the standard errors of the means of a consensus of `size` ranks that come from its weights.
///
/// The weight of a shard is its estimated precision matrix p (I + E). With n draws, elements of E have the variance 1/n, and 2/n on the diagonal.
/// They move the mean by the share of the shard times E δ, where δ is the distance of the mean of the shard.
fn errors_of_weights(size: usize, mean: [f64; 2]) -> [f64; 2] {
    // HMC of this step size makes nearly independent draws: 3000 is less than the effective number.
    let draws = 3000.0;
    let total = PRIOR_PRECISION + all_shards(4).len() as f64;
    let mut squares = [0.0; 2];
    for rank in 0..size {
        let own: Vec<_> = part(4, rank, size).flat_map(shard).collect();
        let precision = PRIOR_PRECISION / size as f64 + own.len() as f64;
        let delta = [0, 1].map(|axis| own.iter().map(|x| x[axis]).sum::<f64>() / precision - mean[axis]);
        let norm = delta[0].powi(2) + delta[1].powi(2);
        for (square, delta) in squares.iter_mut().zip(delta) {
            *square += (precision / total).powi(2) * (norm + delta * delta) / draws;
        }
    }
    squares.map(f64::sqrt)
}

#[test]
fn subposteriors_of_ranks_combine_to_the_posterior() {
    let (mean, precision) = posterior(&all_shards(4));
    for size in [1, 2, 4] {
        let fits = of_subposteriors(size, &Consensus::default()).unwrap();
        assert!(fits[1..].iter().all(Option::is_none));
        let fit = fits[0].as_ref().unwrap();
        // Averages of paired draws show the Monte Carlo error of the shards, but not that of the weights, which is larger for
        // shards as different as these. The weights minimize the variance, so that their errors change it in the second order only.
        let weights = if size == 1 { [0.0; 2] } else { errors_of_weights(size, mean) };
        let summary = fit.summary();
        for (axis, row) in summary.rows().iter().enumerate() {
            let (error, allowed) = (row.mean - mean[axis], 4.0 * row.mcse_mean.hypot(weights[axis]));
            assert!(error.abs() < allowed, "{size} ranks, axis {axis}: {error} is not within {allowed}");
            let (error, allowed) = (row.sd - precision.powf(-0.5), 4.0 * row.mcse_sd);
            assert!(error.abs() < allowed, "{size} ranks, axis {axis}: sd {error} is not within {allowed}");
        }
        assert_eq!(fit.info().observations, all_shards(4).len());
        assert_eq!(fit.info().communication.map(|cost| cost.ranks), Some(size));
        let again = of_subposteriors(size, &Consensus::default()).unwrap();
        // Combined draws have no log posterior: it is NaN, which is not equal to itself.
        let values = |fit: &Fit| fit.chains().iter().map(|chain| chain.values().to_vec()).collect::<Vec<_>>();
        assert_eq!(values(fit), values(again[0].as_ref().unwrap()));
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
