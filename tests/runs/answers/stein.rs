//! Gradients at draws, and Stein discrepancies from them.

use std::sync::Arc;

use sgmcmc::diagnostics::ksd::{Imq, Kernel};
use sgmcmc::fit::FssdOptions;
use sgmcmc::gradient::{ControlVariate, FullGradient, MinibatchGradient};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::prelude::*;
use sgmcmc::sink::Memory;
use sgmcmc::sink::Scores;
use sgmcmc_testkit::models::logistic::{self, Logistic};
use sgmcmc_testkit::models::normal_mean::NormalMean;
use sgmcmc_testkit::models::{Case, normals};

use super::{fit_of, layout};

#[test]
fn scores_are_gradients_at_the_draws_whether_taken_in_the_run_or_after() {
    let simulated = Logistic::simulate(200, 1);
    let (target, start) = (&simulated.posterior, &simulated.start);
    let run = sgldcv(&logistic::model(), target.data(), 1e-3).minibatch(20).chains(2).seed(3);
    let fit = run.sample(start, 15).unwrap();
    let after = fit.scores(target, start, &FullGradient, 0).unwrap();
    let mut evaluator = target.evaluator(start).unwrap();
    for (chain, scores) in fit.chains().iter().zip(&after) {
        for (row, score) in chain.rows().zip(scores.rows()) {
            let mut exact = [0.0; 6];
            evaluator.posterior(row, evaluator.all_rows(), &mut exact).unwrap();
            assert_eq!(score, exact);
        }
    }
    let sinks = |chain: usize| {
        let scores = Scores::new(Arc::new(FullGradient), target.evaluator(start).unwrap(), chain as u64);
        (Memory::default(), scores)
    };
    for (((draws, scores), _), chain) in run.sample_into(start, 15, sinks).unwrap().iter().zip(0..) {
        assert_eq!((draws, scores), (&fit.chains()[chain], &after[chain]));
    }
    // Minibatches are a function of the seed, and of nothing else.
    let controlled = ControlVariate::new(WithoutReplacement::new(20)).with_center(fit.mode().unwrap().theta.clone());
    let noisy = |seed| fit.scores(target, start, &controlled, seed).unwrap();
    assert_eq!(noisy(1), noisy(1));
    assert_ne!(noisy(1), noisy(2));
}

/// The posterior of a normal mean is normal: exact draws have no discrepancy but by chance, shifted ones have.
#[test]
fn the_discrepancy_tells_exact_draws_from_others() {
    let n = 100;
    let simulated = NormalMean::simulate(n, 1);
    let precision = n as f64 + 0.01;
    let mean = normals(n, 1).iter().sum::<f64>() / precision;
    let draws = |shift: f64| {
        let rows = normals(600, 9).iter().map(|z| vec![mean + (z + shift) / precision.sqrt()]).collect::<Vec<_>>();
        fit_of(layout(&[("theta", &[1])]), &[rows[..300].to_vec(), rows[300..].to_vec()])
    };
    let kernel = Imq { c: 0.1, beta: -0.5 };
    let discrepancy = |shift: f64| {
        let fit = draws(shift);
        let scores = fit.scores(&simulated.posterior, &simulated.start, &FullGradient, 0).unwrap();
        let found = fit.ksd(&scores, kernel).unwrap();
        assert_eq!(found.blocks[0].name, "theta");
        assert_eq!(found.blocks[0].discrepancy, found.whole);
        let linear = fit.fssd(&scores, Kernel::Gauss { width: 0.1 }, FssdOptions { locations: 5, seed: 1 }).unwrap();
        (found.whole.u, linear.whole.u)
    };
    let (exact, shifted) = (discrepancy(0.0), discrepancy(1.0));
    assert!(shifted.0 > 20.0 * exact.0.abs(), "{exact:?} against {shifted:?}");
    assert!(shifted.1 > 5.0 * exact.1.abs(), "{exact:?} against {shifted:?}");
    // Gradients from minibatches move the U-statistic by chance alone.
    let fit = draws(1.0);
    let noisy = MinibatchGradient::new(WithoutReplacement::new(20));
    let scores = fit.scores(&simulated.posterior, &simulated.start, &noisy, 0).unwrap();
    let found = fit.ksd(&scores, kernel).unwrap().whole.u;
    assert!((found / shifted.0 - 1.0).abs() < 0.3, "{found} against {}", shifted.0);
}

#[test]
fn gradients_of_other_draws_are_refused() {
    let simulated = NormalMean::simulate(20, 1);
    let fit = fit_of(layout(&[("theta", &[1])]), &[vec![vec![0.1]; 5], vec![vec![0.2]; 5]]);
    let scores = fit.first(4).scores(&simulated.posterior, &simulated.start, &FullGradient, 0).unwrap();
    let error = fit.ksd(&scores, Imq::default()).unwrap_err().to_string();
    assert!(error.contains("one per draw") && error.contains("length 4, expected 5"), "{error}");
    assert!(fit.ksd(&scores[..1], Imq::default()).unwrap_err().to_string().contains("one per chain"));
}
