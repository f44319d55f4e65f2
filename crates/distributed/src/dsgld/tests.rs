//! Tests of chains that visit shards.

use sgmcmc_fit::Fit;
use sgmcmc_gradient::{Evaluator, FullGradient, MinibatchGradient, Rows, Target, WithoutReplacement};
use sgmcmc_samplers::hamiltonian::Sghmc;
use sgmcmc_samplers::langevin::{Hamcmc, Sgld};
use sgmcmc_samplers::run::InMemoryCheckpoints;

use super::schedule::Visits;
use super::*;
use crate::checkpoint::{EpochCheckpoints, RunCheckpoints};
use crate::collective::{Error, Result, on_threads};
use crate::testing::slow::{SAVE, Slow};
use crate::testing::{PRIOR_PRECISION, all_shards, check_moments, posterior, shard, target};

const H: f64 = 2e-3;

/// The settings of a run of SGLD.
#[derive(Clone, Copy)]
struct Case {
    visit: u64,
    minibatch: Option<usize>,
    conducive: Option<ApproximationShape>,
    speeds: bool,
    draws: usize,
}

fn sample(ranks: usize, case: Case) -> Result<Fit> {
    let fits = on_threads(ranks, |ranks| {
        let size = ranks.size();
        let local = target(shard(ranks.rank()));
        let minibatch = WithoutReplacement::new(case.minibatch.map_or(1.0.into(), sgmcmc_gradient::BatchSize::from));
        let mut run = Dsgld::new(ranks, local, Sgld, MinibatchGradient::new(minibatch), H);
        run = run.seed(3).visit(case.visit).burn_in(2000).thin(5);
        if let Some(shape) = case.conducive {
            run = run.conducive(vec![0.1, -0.2], shape);
        }
        if case.speeds {
            run = run.speeds((0..size).map(|rank| 1.0 + rank as f64).collect());
        }
        run.sample(&vec![0.0; 2], case.draws, None)
    });
    fits?.swap_remove(0).ok_or(Error::Launch { reason: "rank 0 has no fit".into() })
}

/// Returns the standard deviations of SGLD whose gradient has no bias: (h + h²/4 V)/(1 − ρ²), where V is the mean variance of the
/// gradients of the shards, each times 1/f².
fn law(ranks: usize, case: Case) -> [f64; 2] {
    let (_, precision) = posterior(&all_shards(ranks));
    let rho = 1.0 - 0.5 * H * precision;
    let speeds: Vec<f64> = (0..ranks).map(|rank| if case.speeds { 1.0 + rank as f64 } else { 1.0 }).collect();
    let visits = Visits::new(0, case.visit, &speeds);
    [0, 1].map(|axis| {
        let variance = |rank: usize| {
            let data = shard(rank);
            let (count, share) = (data.len() as f64, visits.share(rank));
            let batch = case.minibatch.map_or(count, |batch| batch as f64);
            let mean = data.iter().map(|x| x[axis]).sum::<f64>() / count;
            let spread = data.iter().map(|x| (x[axis] - mean).powi(2)).sum::<f64>() / (count - 1.0);
            share * count * (count - batch) / batch * spread / (share * share)
        };
        let noise: f64 = (0..ranks).map(variance).sum();
        ((H + 0.25 * H * H * noise) / (1.0 - rho * rho)).sqrt()
    })
}

/// The density of a shard with its conducive gradient, compared with its formula on a normal mean.
#[test]
fn densities_of_shards_follow_their_formula() {
    let (data, share, theta) = (shard(1), 0.2, [0.3, -0.6]);
    let (mean, precision) = ([0.7, 0.1], [2.0, 0.5, 0.5, 3.0]);
    let (all_mean, all_precision) = ([-0.2, 0.4], [7.0, 3.0]);
    let approximation = ShardApproximation::from_moments(&mean, &precision, ApproximationShape::Dense).unwrap();
    let all = ShardApproximation::from_moments(&all_mean, &all_precision, ApproximationShape::Diagonal).unwrap();
    let local = target(data.clone()).evaluator(&vec![0.0; 2]).unwrap();
    let mut evaluator = ShardEvaluator::new(local, share).with_conducive_gradient(approximation, all);
    let list = [3, 17, 4];
    let weights = [1.0, 0.25, 8.0];
    let same = [2.5; 3];
    let selections =
        [(Rows::list(&list).weighted(&weights).unwrap(), weights), (Rows::list(&list).scaled(same[0]), same)];
    for (rows, weights) in selections {
        let expected = |theta: [f64; 2]| {
            let delta = [mean[0] - theta[0], mean[1] - theta[1]];
            [0, 1].map(|k| {
                let residual = |(row, weight): (&usize, &f64)| weight * (data[*row][k] - theta[k]);
                let likelihood: f64 = list.iter().zip(&weights).map(residual).sum();
                let of_shard = precision[2 * k] * delta[0] + precision[2 * k + 1] * delta[1];
                let of_all = all_precision[k] * (all_mean[k] - theta[k]);
                -PRIOR_PRECISION * theta[k] + likelihood / share + of_all - of_shard / share
            })
        };
        let mut gradient = [0.0; 2];
        let value = evaluator.posterior(&theta, rows, &mut gradient).unwrap();
        for (found, expected) in gradient.iter().zip(expected(theta)) {
            assert!((found - expected).abs() < 1e-10, "{found} {expected}");
        }
        assert_eq!(evaluator.log_density(&theta, rows).unwrap().to_bits(), value.to_bits());
        // The value is quadratic, so that its difference is the mean of the gradients at both ends.
        let other = [theta[0] + 0.7, theta[1] - 0.4];
        let change = evaluator.log_density(&other, rows).unwrap() - value;
        let (a, b) = (expected(theta), expected(other));
        let along = 0.5 * (0.7 * (a[0] + b[0]) - 0.4 * (a[1] + b[1]));
        assert!((change - along).abs() < 1e-10, "{change} {along}");
    }
    let mut each = [0.0; 6];
    evaluator.gradient_per_observation(&theta, Rows::list(&list), &mut each).unwrap();
    for (row, gradient) in list.iter().zip(each.chunks_exact(2)) {
        let expected = [0, 1].map(|k| (data[*row][k] - theta[k]) / share);
        assert!((gradient[0] - expected[0]).abs() + (gradient[1] - expected[1]).abs() < 1e-10);
    }
}

/// The log-likelihood of a normal mean is quadratic, so that approximations of both shapes are equal to it.
#[test]
fn approximations_of_a_normal_likelihood_are_exact() {
    for shape in [ApproximationShape::Dense, ApproximationShape::Diagonal] {
        let mut local = target(shard(1)).evaluator(&vec![0.0; 2]).unwrap();
        let approximation = ShardApproximation::from_evaluator(local.as_mut(), &[0.4, -0.3], shape).unwrap();
        let rows = local.all_rows();
        for theta in [[0.0, 0.0], [1.5, -2.0], [-3.0, 0.7]] {
            let (mut found, mut expected) = ([1.0, 2.0], [1.0, 2.0]);
            approximation.add_gradient(&theta, 1.0, &mut found);
            local.likelihood(&theta, rows, &mut expected).unwrap();
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6 * expected.abs(), "{shape:?}: {found} {expected}");
            }
        }
    }
}

/// Conducive gradients, exact for a normal likelihood, leave the law of SGLD, also on shards of unequal sizes and speeds.
#[test]
fn conducive_gradients_remove_the_bias() {
    for ranks in [1, 2, 4] {
        let case = Case {
            visit: 60,
            minibatch: Some(10),
            conducive: Some(ApproximationShape::Dense),
            speeds: false,
            draws: 12_000 / ranks,
        };
        let diagonal = Case { conducive: Some(ApproximationShape::Diagonal), speeds: true, ..case };
        for case in [case, diagonal] {
            let fit = sample(ranks, case).unwrap();
            let (mean, _) = posterior(&all_shards(ranks));
            assert_eq!(fit.chains().len(), ranks);
            check_moments(&fit, &mean, &law(ranks, case));
            for row in fit.summary().rows() {
                // One chain has no R-hat.
                assert!(ranks == 1 || row.r_hat < 1.05, "{ranks} ranks: {}", row.r_hat);
            }
        }
    }
}

/// Plain DSGLD is unbiased in the limit of short visits, and spreads too far with long ones.
#[test]
fn plain_dsgld_is_biased_by_long_visits() {
    let plain = |visit| Case { visit, minibatch: None, conducive: None, speeds: false, draws: 2000 };
    let sds =
        |visit| -> Vec<f64> { sample(4, plain(visit)).unwrap().summary().rows().iter().map(|row| row.sd).collect() };
    let (short, long, exact) = (sds(1), sds(100), law(4, plain(1)));
    for axis in 0..2 {
        assert!(long[axis] > 5.0 * exact[axis], "{long:?} {exact:?}");
        assert!(short[axis] < 0.5 * long[axis], "{short:?} {long:?}");
    }
}

/// Without conducive gradients, visits of one step give the posterior in the limit of short steps: the choice of the shard
/// is a part of the noise of the gradient, which adds h/4 of its variance to that of the draws, less than 12 % here.
#[test]
fn plain_dsgld_with_short_visits_gives_the_posterior() {
    for (ranks, h) in [(1, 1e-3), (2, 1e-4), (4, 1e-5)] {
        let fits = on_threads(ranks, |ranks| {
            let run = Dsgld::new(ranks.clone(), target(shard(ranks.rank())), Sgld, FullGradient, h);
            run.seed(3).visit(1).burn_in(5000).thin(50).sample(&vec![0.0; 2], 3000, None)
        });
        let (mean, precision) = posterior(&all_shards(ranks));
        check_moments(fits.unwrap()[0].as_ref().unwrap(), &mean, &[precision.powf(-0.5); 2]);
    }
}

/// SGHMC with conducive gradients and long visits.
#[test]
fn sghmc_on_shards_gives_the_posterior() {
    for ranks in [1, 2, 4] {
        let fits = on_threads(ranks, |ranks| {
            let local = target(shard(ranks.rank()));
            let run = Dsgld::new(ranks, local, Sghmc::default(), FullGradient, 1e-4).seed(3).visit(20).burn_in(500);
            run.conducive(vec![0.1, -0.2], ApproximationShape::Dense).thin(10).sample(&vec![0.0; 2], 2000, None)
        });
        let (mean, precision) = posterior(&all_shards(ranks));
        check_moments(fits.unwrap()[0].as_ref().unwrap(), &mean, &[precision.powf(-0.5); 2]);
    }
}

/// The same seed gives the same draws; a run that is stopped and resumed has the draws of one without interruption.
#[test]
fn runs_repeat_and_resume() {
    let start = vec![0.0; 2];
    for ranks in [1, 2, 4] {
        let stores: Vec<InMemoryCheckpoints> = (0..ranks).map(|_| InMemoryCheckpoints::default()).collect();
        let run = |draws: usize, saves: bool, hamcmc: bool| -> Vec<Vec<f64>> {
            let fits = on_threads(ranks, |ranks| {
                let (local, store) = (target(shard(ranks.rank())), stores[ranks.rank()].clone());
                let minibatch = MinibatchGradient::new(WithoutReplacement::new(5));
                if hamcmc {
                    let dynamics = Hamcmc { memory: 2, ..Hamcmc::default() };
                    return Dsgld::new(ranks, local, dynamics, minibatch, 1e-2).visit(7).sample(&start, draws, None);
                }
                let run = Dsgld::new(ranks.clone(), local, Sghmc::default(), minibatch, 1e-4).visit(9).seed(5);
                if !saves {
                    return run.sample(&start, draws, None);
                }
                let mut store = EpochCheckpoints::new(store, ranks, &run.identity(&start)?);
                run.sample(&start, draws, Some(RunCheckpoints { store: &mut store, every: 2 }))
            });
            let fit = fits.unwrap().swap_remove(0).unwrap();
            fit.chains().iter().map(|chain| chain.values().to_vec()).collect()
        };
        let whole = run(100, false, false);
        assert_eq!(whole.len(), ranks);
        assert!(whole.iter().all(|values| values.len() == 200));
        assert_eq!(run(100, false, false), whole);
        let half = run(40, true, false);
        assert!(half.iter().zip(&whole).all(|(half, whole)| *half == whole[..half.len()]));
        assert_eq!(run(100, true, false), whole);
        // Interleaved chains are recorded apart.
        let interleaved = run(20, false, true);
        assert_eq!((interleaved.len(), interleaved[0].len()), (2 * ranks, 20));
    }
}

#[test]
fn the_time_of_a_resumed_run_includes_the_time_before() {
    let (start, slow) = (vec![0.0; 2], Slow::default());
    let run = || {
        let fits = on_threads(1, |ranks| {
            let run = Dsgld::new(ranks.clone(), target(shard(0)), Sgld, FullGradient, 1e-4).visit(1);
            let mut store = EpochCheckpoints::new(slow.clone(), ranks, &run.identity(&start)?);
            run.sample(&start, 11, Some(RunCheckpoints { store: &mut store, every: 1 }))
        });
        fits.unwrap().swap_remove(0).unwrap().info().seconds[0]
    };
    run();
    // Nothing is left to do; ten checkpoints were written before the last.
    assert!(run() >= 10.0 * SAVE.as_secs_f64());
}

#[test]
fn chains_that_diverge_are_named() {
    let error = on_threads(2, |ranks| {
        let local = target(shard(ranks.rank()));
        Dsgld::new(ranks, local, Sgld, FullGradient, 10.0).visit(50).sample(&vec![0.0; 2], 1000, None)
    });
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("rank ") && error.contains("of chain") && error.contains("smaller step size"), "{error}");
    let error = on_threads(2, |ranks| {
        let local = target(shard(ranks.rank()));
        let visit = 10 + ranks.rank() as u64;
        Dsgld::new(ranks, local, Sgld, FullGradient, 1e-3).visit(visit).sample(&vec![0.0; 2], 10, None)
    });
    assert!(error.unwrap_err().to_string().contains("do not agree on the settings of DSGLD"));
}
