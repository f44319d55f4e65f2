//! Tests of chains on several ranks.

use sgmcmc_gradient::{MinibatchGradient, WithoutReplacement};
use sgmcmc_samplers::Builder;
use sgmcmc_samplers::langevin::{Hamcmc, Sgld};

use super::*;
use crate::collective::on_threads;
use crate::testing::{all_shards, check_moments, posterior, target};

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
