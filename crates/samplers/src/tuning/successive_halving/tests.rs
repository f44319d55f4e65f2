//! Searches on normal posteriors, whose best step size is known.

use std::sync::Arc;

use sgmcmc_gradient::{Analytic, AnalyticModel, ChainRng, FullGradient, MinibatchGradient, Target, WithoutReplacement};

use super::*;
use crate::chain::ChainSpec;
use crate::langevin::Sgld;

/// A normal density with independent coordinates of precision 1 and 4, and `observations` observations that share it.
#[derive(Clone, Copy, Debug)]
struct Normal {
    observations: usize,
}

const PRECISIONS: [f64; 2] = [1.0, 4.0];

impl AnalyticModel for Normal {
    fn observations(&self) -> usize {
        self.observations
    }

    fn dim(&self) -> usize {
        2
    }

    /// The terms differ, and their sum is the density at mean zero.
    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let (share, shift) = (weight / self.observations as f64, if row.is_multiple_of(2) { 1.0 } else { -1.0 });
        for ((g, theta), a) in grad.iter_mut().zip(theta).zip(PRECISIONS) {
            *g -= share * a * (theta - shift);
        }
        0.0
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        if self.observations == 0 {
            grad.iter_mut().zip(theta).zip(PRECISIONS).for_each(|((g, theta), a)| *g -= a * theta);
        }
        -0.5 * theta.iter().zip(PRECISIONS).map(|(theta, a)| a * theta * theta).sum::<f64>()
    }
}

/// Starts Langevin steps of size `h` on all observations, or on minibatches.
fn start(model: Normal, h: f64, minibatch: Option<usize>, seed: u64) -> Result<Box<dyn GradientChain>> {
    let evaluator = Analytic::new(model).evaluator(&vec![0.0; 2])?;
    let (theta, rng) = ([0.5, -0.5], ChainRng::new(seed, 0));
    let (step_size, temperature) = (h.into(), 1.0.into());
    Ok(match minibatch {
        None => {
            let (dynamics, gradient) = (Arc::new(Sgld), Arc::new(FullGradient));
            Box::new(ChainSpec { dynamics, gradient, step_size, temperature }.start(evaluator, &theta, rng)?)
        }
        Some(n) => {
            let (dynamics, gradient) = (Arc::new(Sgld), Arc::new(MinibatchGradient::new(WithoutReplacement::new(n))));
            Box::new(ChainSpec { dynamics, gradient, step_size, temperature }.start(evaluator, &theta, rng)?)
        }
    })
}

const STEP_SIZES: [f64; 9] = [1e-5, 1e-4, 1e-3, 4e-3, 0.016, 0.063, 0.25, 0.75, 3.0];

fn search(seed: u64) -> SearchResult {
    let search = SuccessiveHalving { budget: 60_000, ..SuccessiveHalving::default() };
    let make = |arm: usize| start(Normal { observations: 0 }, STEP_SIZES[arm], None, seed);
    search.run(STEP_SIZES.len(), make, &SteinScorer::default()).unwrap()
}

/// The mean square error of the variances after `steps` stationary steps, relative to the variances, by the exact law of
/// the autoregressive process: the bias hA/4/(1 − hA/4), and the variance of a variance 2 (1 + ρ²)/((1 − ρ²) steps). It
/// is infinite beyond the stability limit hA = 4.
fn exact_error(h: f64, steps: f64) -> f64 {
    let of = |a: f64| {
        if h * a >= 4.0 {
            return f64::INFINITY;
        }
        let rho = 1.0 - 0.5 * h * a;
        let ratio = 1.0 / (1.0 - 0.25 * h * a);
        (ratio - 1.0).powi(2) + 2.0 * ratio * ratio * (1.0 + rho * rho) / ((1.0 - rho * rho) * steps)
    };
    PRECISIONS.into_iter().map(of).sum()
}

#[test]
fn the_winner_is_near_the_best_step_size_by_the_exact_law() {
    for seed in 1..=3 {
        let result = search(seed);
        let winner = &result.ranking[0];
        let steps = winner.cost as f64 / 2.0;
        let best = (0..400)
            .map(|k| 1e-4 * 1.025_f64.powi(k))
            .min_by(|a, b| exact_error(*a, steps).total_cmp(&exact_error(*b, steps)));
        let (best, found) = (best.unwrap(), STEP_SIZES[result.winner().unwrap()]);
        assert!((best / 4.0..best * 4.0).contains(&found), "seed {seed}: {found} against {best}: {result:#?}");
        assert!(winner.elimination.is_none() && winner.score.is_finite() && winner.draws == 200);
        assert_eq!((result.rounds, result.ranking.len()), (2, 9));
    }
}

/// At hA = 12 the chain diverges.
#[test]
fn a_diverging_arm_is_last_and_keeps_its_error() {
    let result = search(1);
    let last = result.ranking.last().unwrap();
    assert_eq!((last.arm, last.score, last.round), (8, f64::INFINITY, 1));
    let error = last.error.as_ref().unwrap().to_string();
    assert!(error.contains("use a smaller step size"), "{error}");
    assert!(last.elimination.as_ref().unwrap().starts_with("arm 8 failed in round 1: the value of `theta"));
    let middle = &result.ranking[4];
    let reason = middle.elimination.as_ref().unwrap();
    assert!(reason.contains("number 5 of 9, and 3 went on") && middle.round == 1, "{reason}");
    assert!(result.ranking[1].elimination.as_ref().unwrap().contains("in round 2, number 2 of 3, and 1 went on"));
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| search(5));
    assert_eq!(on(1), on(2));
}

/// Arms with minibatches of different sizes on 400 observations.
fn mixed(budget: u64, scorer: &SteinScorer) -> Result<SearchResult> {
    let sizes = [Some(10), Some(40), None, Some(40)];
    let make = |arm: usize| match arm {
        3 => Err(Error::EmptyModel),
        arm => start(Normal { observations: 400 }, 0.1, sizes[arm], 7),
    };
    SuccessiveHalving { budget, draws: 40, ..SuccessiveHalving::default() }.run(4, make, scorer)
}

#[test]
fn the_budget_is_kept_and_counts_the_scores() {
    let scorer = SteinScorer { observations: 50, ..SteinScorer::default() };
    for budget in [50_000, 50_001, 123_457, 1_000_000] {
        let result = mixed(budget, &scorer).unwrap();
        assert_eq!(result.cost, result.ranking.iter().map(|arm| arm.cost).sum::<u64>());
        assert!(result.cost <= budget, "{} of {budget}", result.cost);
        // One round of four arms: each has a quarter of what the center leaves. A score of fewer draws than 40 leaves up
        // to 40 · 100, and the remainder is less than one step.
        let share = (budget - 400) / 4;
        for arm in result.ranking.iter().filter(|arm| arm.arm < 3) {
            let center = 400;
            assert!(arm.cost <= share + center && arm.cost + 4000 + 400 > share, "{arm:?} of {share}");
        }
        // The arm that did not start has no cost.
        let missing = result.ranking.iter().find(|arm| arm.arm == 3).unwrap();
        assert_eq!((missing.cost, missing.error.clone()), (0, Some(Error::EmptyModel)));
    }
}

/// The full gradient has few steps in a small share.
#[test]
fn arms_with_too_few_draws_are_eliminated() {
    let result = mixed(28_000, &SteinScorer { observations: 50, ..SteinScorer::default() }).unwrap();
    let expensive = result.ranking.iter().find(|arm| arm.arm == 2).unwrap();
    assert!(expensive.score.is_infinite() && expensive.error.is_none());
    let reason = expensive.elimination.as_ref().unwrap();
    assert!(reason.contains("draws to score in round 1, and 10 are needed"), "{reason}");
    assert!(result.winner().unwrap() < 2);
}

#[test]
fn mistakes_are_errors() {
    let scorer = SteinScorer::default();
    let message = |search: SuccessiveHalving, arms| {
        let make = |_| start(Normal { observations: 0 }, 0.1, None, 1);
        search.run(arms, make, &scorer).unwrap_err().to_string()
    };
    let default = SuccessiveHalving::default();
    assert!(message(default, 0).contains("number of arms is 0"));
    assert!(message(SuccessiveHalving { keep: 1.0, ..default }, 2).contains("share of arms that are kept is 1"));
    let small = message(SuccessiveHalving { budget: 300, ..default }, 2);
    assert!(small.contains("the scores of an arm cost more"), "{small}");
    let small = message(SuccessiveHalving { budget: 450, ..default }, 2);
    assert!(small.contains("no arm could make enough draws"), "{small}");
    let all = default.run(3, |_| Err(Error::EmptyModel), &scorer).unwrap();
    assert_eq!((all.winner(), all.rounds, all.cost), (None, 1, 0));
}

/// Control variates are exact on a normal posterior, so that the scores are those of the full gradient.
#[test]
fn gradients_of_control_variates_are_those_of_all_observations() {
    let model = Normal { observations: 400 };
    let mut chain = start(model, 0.1, None, 1).unwrap();
    let draws = [0.3, -0.2, 1.5, 0.7, -0.4, 0.1];
    let scorer = SteinScorer { observations: 20, ..SteinScorer::default() };
    let center = score::Center::new(&[draws.to_vec()], chain.evaluator()).unwrap();
    let exact = scorer.gradients(chain.as_mut(), &draws, None).unwrap();
    let estimated = scorer.gradients(chain.as_mut(), &draws, Some(&center)).unwrap();
    for (exact, estimated) in exact.iter().zip(&estimated) {
        assert!((exact - estimated).abs() < 1e-12, "{exact} {estimated}");
    }
    assert!((exact[0] + 0.3).abs() < 1e-12 && (exact[1] - 0.8).abs() < 1e-12, "{exact:?}");
}

/// The score does not depend on the units of the coordinates.
#[test]
fn scores_are_invariant_to_linear_maps() {
    let sample = |transform: fn([f64; 2]) -> [f64; 2], inverse: fn([f64; 2]) -> [f64; 2]| {
        let mut rng = ChainRng::new(4, 0);
        let mut sample = score::Sample { dim: 2, draws: vec![], weights: vec![1.0; 30], gradients: vec![] };
        for _ in 0..30 {
            let x = [0, 1].map(|_| rand::RngExt::sample::<f64, _>(rng.noise(), rand_distr::StandardNormal));
            sample.draws.extend(transform(x));
            sample.gradients.extend(inverse([-x[0], -x[1]]));
        }
        SteinScorer::default().scores(&[&sample], 1)[0]
    };
    let plain = sample(|x| x, |g| g);
    let sheared = sample(|[x, y]| [1000.0 * x, 0.01 * (y + x)], |[g, k]| [(g - k) / 1000.0, 100.0 * k]);
    assert!((plain - sheared).abs() < 1e-9, "{plain} {sheared}");
}
