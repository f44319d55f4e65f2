//! Stochastic gradient Fisher scoring.

use sgmcmc::data::Rows;
use sgmcmc::minibatch::Weighted;

use super::*;

/// θ += 2 (N Î + V/T + 4B/h)⁻¹ (ĝ + η), η ~ N(0, 4BT/h), Î the covariance of the scores and V that of the gradient estimate, or their
/// diagonals.
#[test]
fn fisher_scoring_has_its_stationary_law() {
    let (h, b) = (0.05, 0.8);
    for (d, dynamics) in
        [(1, Sgfs { b, ..Sgfs::default() }), (5, Sgfs { b, ..Sgfs::default() }), (5, Sgfs { b, ..Sgfs::diagonal() })]
    {
        let full = dynamics.shape == sgmcmc::algorithms::MetricShape::Dense;
        let p = Problem::new(d, minibatch_factor());
        let law = fisher_law(&p, h, b, full);
        assert_stationary(&p, &recipe(dynamics, batches(), h, TEMPERATURE), &law);
        let p = Problem::new(d, with_replacement_factor());
        let replaced = MinibatchGradient::new(WithReplacement::new(BATCH));
        assert_stationary(&p, &recipe(dynamics, replaced, h, TEMPERATURE), &fisher_law(&p, h, b, full));
        let p = Problem::new(d, 0.0);
        let controlled = ControlVariate::new(WithoutReplacement::new(BATCH));
        assert_stationary(&p, &recipe(dynamics, controlled, h, TEMPERATURE), &fisher_law(&p, h, b, full));
    }
}

fn fisher_law(p: &Problem, h: f64, b: f64, full: bool) -> Vec<f64> {
    let (d, scores) = (p.d, p.model.score_covariance());
    let balanced = |k: usize| N as f64 * scores[k] + p.noise[k] / TEMPERATURE;
    let entry = |k: usize| match (k / d == k % d, full) {
        (true, _) => balanced(k) + 4.0 * b / h,
        (false, true) => balanced(k),
        (false, false) => 0.0,
    };
    let metric = inverse(&(0..d * d).map(entry).collect::<Vec<_>>(), d);
    let update = |s: &[f64], e: &[f64]| {
        let (eta, xi) = e.split_at(d);
        add(s, &apply(&metric, &add(&p.g(s, xi), eta, 1.0)), 2.0)
    };
    let noise = independent(&[isotropic(4.0 * b * TEMPERATURE / h, d), p.noise.clone()]);
    LinearChain { state: d, noise, update: &update }.stationary_covariance()
}

/// If N Î is the precision of the posterior, the law of Fisher scoring is the posterior at any step size, for every scheme.
#[test]
fn fisher_scoring_with_long_steps_has_the_variance_of_its_information() {
    for factor in [minibatch_factor(), with_replacement_factor(), 0.0] {
        let mut p = Problem::new(3, factor);
        p.a = p.model.score_covariance().iter().map(|v| N as f64 * v).collect();
        let law = fisher_law(&p, 1e3, 0.8, true);
        let target = inverse(&p.a, 3);
        let off = law.iter().zip(&target).map(|(a, b)| (a / TEMPERATURE - b).abs() / b.abs()).fold(0.0, f64::max);
        assert!(off < 1e-9, "off by {off}");
    }
}

/// Observations drawn with unequal probabilities count by their weights: Î is the second moment of the gradients over all observations. With long steps and
/// a temperature at which the gradient's own noise does not matter, M is 4/(hNÎ). The chain is put back after each step, so that the gradients stay the same.
#[test]
fn fisher_scoring_respects_the_weights_of_minibatches() {
    let (p, h) = (Problem::new(1, 0.0), 1e6);
    let mut evaluator = AnalyticTree::<Named>::new(p.model.clone()).evaluator(&params(1)).unwrap();
    let mut scores = vec![0.0; N];
    evaluator.gradient_per_observation(&[0.0], Rows::range(0..N), &mut scores).unwrap();
    // Large scores are drawn up to ten times as often as small ones.
    let weights = scores.iter().map(|score| 0.2 + score.abs()).collect();
    let dynamics = Sgfs { b: 1e-20, ..Sgfs::default() };
    let gradient = MinibatchGradient::new(Weighted::new(BATCH, weights).unwrap());
    let mut oracle = sgmcmc::gradient::Oracle::new(gradient, evaluator, &[0.0], ChainRng::new(1, 0)).unwrap();
    let mut schedule = StepSize::from(h).resolve(oracle.layout(), &1e12.into()).unwrap();
    let mut state = dynamics.init(&[0.0], schedule.context(0).unwrap(), &mut oracle).unwrap();
    for t in 0..4000 {
        dynamics.step(&mut state, schedule.context(t).unwrap(), &mut oracle).unwrap();
        dynamics.relocate(&mut state, &[0.0], &mut oracle).unwrap();
    }
    let mut root = [1.0];
    Dynamics::<MinibatchGradient<Weighted>>::apply_root(&dynamics, &mut state, &mut root, false).unwrap();
    let expected = scores.iter().map(|score| score * score).sum::<f64>() / N as f64;
    let found = 4.0 / (h * N as f64 * root[0] * root[0]);
    assert!((found / expected - 1.0).abs() < 0.05, "{found} against {expected}");
}

/// 4B/h outweighs all else: M = I/b.
#[test]
fn with_short_steps_fisher_scoring_is_sgld() {
    let p = Problem::new(2, minibatch_factor());
    let update = |s: &[f64], e: &[f64]| add(&add(s, &p.g(s, &e[2..]), 0.5 * 1e-5 / 0.8), &e[..2], 1.0);
    let noise = independent(&[isotropic(1e-5 / 0.8 * TEMPERATURE, 2), p.noise.clone()]);
    let law = LinearChain { state: 2, noise, update: &update };
    assert_displacement(Sgfs { b: 0.8, ..Sgfs::default() }, 1e-5, 1, &law, &START);
}
