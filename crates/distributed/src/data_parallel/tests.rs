//! Tests of densities whose observations are divided among ranks.

use std::sync::Arc;

use sgmcmc_gradient::{
    ControlVariate, Evaluator, FullGradient, LbfgsSearch, MinibatchGradient, Rows, Target, WithoutReplacement,
};
use sgmcmc_samplers::Builder;
use sgmcmc_samplers::langevin::Sgld;
use sgmcmc_samplers::metropolis::{Hmc, Mala};
use sgmcmc_samplers::run::{CheckpointInterval, InMemoryCheckpoints};

use super::{DataParallel, with_communication};
use crate::chains::in_order;
use crate::checkpoint::RootCheckpoints;
use crate::collective::{Collective, Error, on_threads};
use crate::testing::{all_shards, check_moments, posterior, shard, target};

const SHARDS: usize = 4;

/// Runs `body` on 1, 2 and 4 ranks with the same observations, and once on one evaluator.
fn on_ranks<R: Send + std::fmt::Debug>(
    ranks: usize,
    body: impl Fn(DataParallel<sgmcmc_gradient::Analytic>, Arc<dyn Collective>) -> Result<R, Error> + Sync,
) -> Vec<R> {
    try_on_ranks(ranks, body).unwrap()
}

fn try_on_ranks<R: Send>(
    ranks: usize,
    body: impl Fn(DataParallel<sgmcmc_gradient::Analytic>, Arc<dyn Collective>) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    on_threads(ranks, |collective| {
        let own = crate::chains::part(SHARDS, collective.rank(), collective.size());
        let data = own.flat_map(shard).collect();
        body(DataParallel::new(target(data), collective.clone()), collective)
    })
}

/// All results of an evaluator.
fn results(evaluator: &mut dyn Evaluator) -> Vec<f64> {
    let theta = [0.3, -0.7];
    let n = evaluator.observations();
    let list: Vec<usize> = (0..n).step_by(7).rev().collect();
    let weights: Vec<f64> = (0..list.len()).map(|k| 0.5 + k as f64).collect();
    let ranged: Vec<f64> = (0..n / 2).map(|k| (k as f64).cos()).collect();
    let selections = [
        Rows::range(0..n),
        Rows::range(n / 3..n / 2).scaled(3.0),
        Rows::range(n / 4..n / 4 + n / 2).weighted(&ranged).unwrap(),
        Rows::list(&list).weighted(&weights).unwrap(),
        Rows::list(&list[..1]),
    ];
    let mut all = vec![n as f64];
    for rows in selections {
        let mut gradient = [1.0, 2.0];
        all.push(evaluator.posterior(&theta, rows, &mut gradient).unwrap());
        all.extend(gradient);
        all.push(evaluator.log_density(&theta, rows).unwrap());
        let mut terms = vec![f64::NAN; rows.len()];
        evaluator.log_likelihood_per_observation(&theta, rows, &mut terms).unwrap();
        all.extend(terms);
        let mut gradients = vec![f64::NAN; 2 * rows.len()];
        evaluator.gradient_per_observation(&theta, rows, &mut gradients).unwrap();
        all.extend(gradients);
    }
    all
}

#[test]
fn results_are_those_of_one_process_to_rounding() {
    let expected = results(target(all_shards(SHARDS)).evaluator(&vec![0.0; 2]).unwrap().as_mut());
    for ranks in [1, 2, 4] {
        let found = on_ranks(ranks, |density, _| Ok(results(density.evaluator(&vec![0.0; 2])?.as_mut())));
        for values in &found {
            assert_eq!(values.len(), expected.len());
            for (value, expected) in values.iter().zip(&expected) {
                assert!((value - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{value} {expected}");
            }
            assert_eq!(*values, found[0]);
        }
    }
}

#[test]
fn searches_and_samplers_work_unchanged() {
    let (mean, precision) = posterior(&all_shards(SHARDS));
    let sd = [precision.powf(-0.5); 2];
    for ranks in [1, 2, 4] {
        let fits = on_ranks(ranks, |density, _| {
            let run = Builder::new(density, Hmc::default(), FullGradient, 1e-3).find_mode(LbfgsSearch::default());
            Ok(run.seed(1).sample(&vec![0.0; 2], 2000)?)
        });
        let mode = &fits[0].mode().unwrap().theta;
        assert!((mode[0] - mean[0]).abs() + (mode[1] - mean[1]).abs() < 1e-8, "{mode:?}");
        check_moments(&fits[0], &mean, &sd);
        assert!(fits.iter().all(|fit| fit.chains() == fits[0].chains()));
    }
    // Other algorithms and estimators, with the draws of one process to rounding.
    let minibatch = WithoutReplacement::new(50);
    let run = |density: DataParallel<_>| -> Result<Vec<f64>, Error> {
        let start = vec![0.5; 2];
        let density = Arc::new(density);
        let mut values = Vec::new();
        let run = Builder::new(density.clone(), Sgld, MinibatchGradient::new(minibatch), 1e-3);
        values.extend_from_slice(run.sample(&start, 50)?.chains()[0].values());
        let run = Builder::new(density.clone(), Sgld, ControlVariate::new(minibatch), 1e-3).chains(3);
        let fit = in_order(|| run.sample(&start, 50))??;
        values.extend(fit.chains().iter().flat_map(|chain| chain.values()));
        let run = Builder::new(density, Mala::default(), FullGradient, 5e-3);
        values.extend_from_slice(run.sample(&start, 50)?.chains()[0].values());
        Ok(values)
    };
    let one = on_ranks(1, |density, _| run(density));
    let four = on_ranks(4, |density, _| run(density));
    assert!(four.iter().all(|values| *values == four[0]));
    let differ = one[0].iter().zip(&four[0]).any(|(a, b)| (a - b).abs() > 1e-9);
    assert!(!differ && one[0].len() == 2 * 250);
}

/// A run that is resumed has the draws of one without interruption. Another number of ranks is refused.
#[test]
fn runs_resume_with_the_same_draws() {
    for ranks in [1, 2, 4] {
        let store = InMemoryCheckpoints::default();
        let sample = |ranks: usize, draws: usize, saves: bool| {
            try_on_ranks(ranks, |density, collective| {
                let run =
                    Builder::new(density, Sgld, MinibatchGradient::new(WithoutReplacement::new(20)), 1e-3).seed(2);
                let start = vec![0.0; 2];
                if !saves {
                    return Ok(run.sample(&start, draws)?);
                }
                let run =
                    run.checkpoint(RootCheckpoints::new(store.clone(), collective), CheckpointInterval::Steps(10));
                Ok(run.sample(&start, draws)?)
            })
        };
        let whole = sample(ranks, 60, false).unwrap();
        assert_eq!(sample(ranks, 60, false).unwrap()[0].chains(), whole[0].chains());
        sample(ranks, 25, true).unwrap();
        let resumed = sample(ranks, 60, true).unwrap();
        assert!(resumed.iter().all(|fit| fit.chains() == whole[0].chains()), "{ranks} ranks");
        let error = sample(3, 60, true).unwrap_err().to_string();
        assert!(error.contains(&format!("made by {ranks} ranks, but this run has 3")), "{error}");
    }
}

#[test]
fn ranks_that_disagree_are_errors() {
    let error = on_threads(2, |ranks| {
        let density = DataParallel::new(target(shard(0)), ranks.clone());
        let mut evaluator = density.evaluator(&vec![0.0; 2])?;
        let theta = [ranks.rank() as f64, 0.0];
        Ok(evaluator.likelihood(&theta, Rows::range(0..3), &mut [0.0; 2])?)
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("do not agree on the point") && error.contains("in_order"), "{error}");
}

#[test]
fn the_fingerprint_covers_all_ranks() {
    // A hand-written model has no fingerprint, and all ranks know it.
    let found = on_ranks(2, |density, _| Ok(density.fingerprint()));
    assert_eq!(found, [None, None]);
}

#[test]
fn the_cost_of_communication_is_that_of_all_ranks() {
    let cost = |ranks: usize, draws: usize| {
        let found = on_ranks(ranks, |density, collective| {
            let fit = Builder::new(density, Mala::default(), FullGradient, 1e-3).sample(&vec![0.0; 2], draws)?;
            let fit = with_communication(fit, &*collective)?;
            Ok((fit.info().communication, collective.communication().bytes))
        });
        let own: u64 = found.iter().map(|(_, bytes)| bytes).sum();
        assert!(found.iter().all(|(cost, _)| *cost == found[0].0));
        (found[0].0, own)
    };
    assert_eq!(cost(1, 20).0, None);
    for ranks in [2, 4] {
        let ((short, own), (long, _)) = (cost(ranks, 20), cost(ranks, 40));
        let (short, long) = (short.unwrap(), long.unwrap());
        assert_eq!(short.ranks, ranks);
        // The ranks have exchanged their counters since.
        assert!(short.bytes > 0 && short.bytes <= own && short.messages > 0 && short.seconds > 0.0, "{short:?} {own}");
        // 20 draws more are at least 20 sums of five numbers more.
        assert!(long.bytes >= short.bytes + 20 * 5 * 8, "{short:?} {long:?}");
    }
}
