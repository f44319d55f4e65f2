//! Laws of the Langevin algorithms with a matrix: preconditioned SGLD, pSGLD, SGRLD, SGFS, HAMCMC.

use rand::SeedableRng;
use sgmcmc::AnalyticTree;
use sgmcmc::algorithms::{Hamcmc, InitialScale, Metric, Preconditioned, Psgld, Sgfs, Sgrld};
use sgmcmc::data::Rows;
use sgmcmc::gradient::Target;
use sgmcmc::minibatch::Weighted;
use sgmcmc::rng::StreamRng;
use sgmcmc_testkit::linear::{multiply, solve};
use sgmcmc_testkit::models::banana::{BEND, Banana};

use super::*;

/// A correlated matrix with scales that differ.
fn matrix(d: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| match i.abs_diff(j) {
        0 => 0.6 + 0.3 * i as f64,
        1 => 0.25,
        _ => 0.0,
    };
    (0..d * d).map(|k| entry(k / d, k % d)).collect()
}

fn inverse(a: &[f64], d: usize) -> Vec<f64> {
    let unit = |j: usize| (0..d).map(|i| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
    (0..d).flat_map(|j| solve(a, &unit(j))).collect()
}

fn apply(a: &[f64], v: &[f64]) -> Vec<f64> {
    a.chunks_exact(v.len()).map(|row| row.iter().zip(v).map(|(a, v)| a * v).sum()).collect()
}

fn batches() -> MinibatchGradient {
    MinibatchGradient::new(WithoutReplacement::new(BATCH))
}

/// θ += h/2 M ĝ + √(hT) M^{1/2} z with `hm` = h M.
fn preconditioned_law<R>(p: &Problem, hm: &[f64], use_it: impl Fn(&LinearChain<'_>) -> R) -> R {
    let update = |s: &[f64], e: &[f64]| {
        let (z, xi) = e.split_at(p.d);
        add(&add(s, &apply(hm, &p.g(s, xi)), 0.5), z, 1.0)
    };
    let heat = hm.iter().map(|m| TEMPERATURE * m).collect();
    use_it(&LinearChain { state: p.d, noise: independent(&[heat, p.noise.clone()]), update: &update })
}

fn scaled(m: &[f64], h: f64) -> Vec<f64> {
    m.iter().map(|m| h * m).collect()
}

#[test]
fn preconditioned_sgld_has_its_stationary_law() {
    for d in [1, 5] {
        let m = matrix(d);
        let parts: Vec<f64> = m.iter().step_by(d + 1).copied().collect();
        let cases = [
            (Preconditioned::dense(&m, d).unwrap(), m.clone()),
            (Preconditioned::inverse_of(&inverse(&m, d), d).unwrap(), m),
            (Preconditioned::diagonal(parts.clone()), diagonal(&parts)),
        ];
        for (dynamics, m) in cases {
            let p = Problem::new(d, minibatch_factor());
            let law = preconditioned_law(&p, &scaled(&m, SIZE), |chain| chain.stationary_covariance());
            assert_stationary(&p, &recipe(dynamics.clone(), batches(), SIZE, TEMPERATURE), &law);
            let p = Problem::new(d, 0.0);
            let law = preconditioned_law(&p, &scaled(&m, SIZE), |chain| chain.stationary_covariance());
            let controlled = ControlVariate::new(WithoutReplacement::new(BATCH));
            assert_stationary(&p, &recipe(dynamics, controlled, SIZE, TEMPERATURE), &law);
        }
    }
}

#[test]
fn one_step_of_preconditioned_sgld_has_the_right_drift_and_diffusion() {
    let p = Problem::new(2, minibatch_factor());
    let m = matrix(2);
    let dense = Preconditioned::dense(&m, 2).unwrap();
    preconditioned_law(&p, &scaled(&m, SIZE), |law| assert_displacement(dense.clone(), SIZE, 1, law, &START));
}

/// Step sizes by parameter: H^{1/2} M H^{1/2}.
#[test]
fn step_sizes_by_parameter_scale_both_sides_of_the_matrix() {
    let (d, h) = (5, [SIZE, SIZE, SIZE, 0.4 * SIZE, 0.4 * SIZE]);
    let p = Problem::new(d, minibatch_factor());
    let m = matrix(d);
    let hm: Vec<f64> = (0..d * d).map(|k| m[k] * (h[k / d] * h[k % d]).sqrt()).collect();
    let law = preconditioned_law(&p, &hm, |chain| chain.stationary_covariance());
    let step_size = StepSize::from(SIZE).parameter("third", 0.4 * SIZE);
    let dynamics = Preconditioned::dense(&m, d).unwrap();
    assert_stationary(&p, &recipe(dynamics, batches(), step_size, TEMPERATURE), &law);
}

/// The positions of a chain over some steps.
fn path<D, G>(dynamics: D, gradient: G, temperature: f64, steps: usize) -> Vec<Vec<f64>>
where
    G: GradientEstimator + std::fmt::Debug,
    D: Dynamics<G> + std::fmt::Debug,
{
    let step_size = StepSize::from(SIZE).parameter("first", 0.5 * SIZE);
    let recipe = recipe(dynamics, gradient, step_size, temperature);
    follow(&mut Problem::new(5, 0.0).chain(&recipe, &[0.3; 5], 3), steps)
}

fn follow(chain: &mut dyn Chain, steps: usize) -> Vec<Vec<f64>> {
    (0..steps)
        .map(|_| {
            chain.step().unwrap();
            chain.position().to_vec()
        })
        .collect()
}

fn farthest(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    a.concat().iter().zip(b.concat()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn with_the_identity_all_are_sgld() {
    let sgld = path(Sgld, batches(), 1.0, 50);
    assert_eq!(path(Preconditioned::diagonal(vec![1.0; 5]), batches(), 1.0, 50), sgld);
    assert!(farthest(&path(Preconditioned::dense(&isotropic(1.0, 5), 5).unwrap(), batches(), 1.0, 50), &sgld) < 1e-13);
    let flat = Metric::diagonal(|_, m| m.fill(1.0));
    assert_eq!(path(Sgrld::new(flat), batches(), 1.0, 50), sgld);
    // Until there are pairs H is γI.
    let first = path(Hamcmc { gamma: InitialScale::Fixed(1.0), ..Hamcmc::default() }, batches(), 1.0, 1);
    assert!(farthest(&first, &sgld[..1]) < 1e-15);
}

/// A matrix that does not depend on θ: SGRLD is preconditioned SGLD.
#[test]
fn with_a_constant_metric_sgrld_is_preconditioned_sgld() {
    let m = matrix(5);
    let dense = m.clone();
    let metric = Metric::dense(move |_, out| out.copy_from_slice(&dense));
    let p = Problem::new(5, 0.0);
    let riemannian = recipe(Sgrld::new(metric), batches(), SIZE, TEMPERATURE);
    let constant = recipe(Preconditioned::dense(&m, 5).unwrap(), batches(), SIZE, TEMPERATURE);
    let riemannian = follow(&mut p.chain(&riemannian, &[0.3; 5], 3), 50);
    assert!(farthest(&riemannian, &follow(&mut p.chain(&constant, &[0.3; 5], 3), 50)) < 1e-12);
}

/// The first V of pSGLD with the full gradient: ḡ∘ḡ + s²/N, s² the variance of the gradients of single observations.
fn first_v(p: &Problem, bar: &[f64]) -> Vec<f64> {
    let scores = p.model.score_covariance();
    (0..p.d).map(|i| bar[i] * bar[i] + scores[i * (p.d + 1)] / N as f64).collect()
}

/// g and ḡ = (g + λ_prior θ)/N, with prior precision 0.5.
fn mean_gradient(p: &Problem, theta: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let g = p.g(&add(theta, &p.model.posterior_mean(), -1.0), &vec![0.0; p.d]);
    let bar = g.iter().zip(theta).map(|(g, theta)| (g + 0.5 * theta) / N as f64).collect();
    (g, bar)
}

/// V of a chain that has not moved, from its matrix 1/(λ + √V): one step without noise moves θ by h/2 g/(λ + √V).
fn v_of_first_step(
    p: &Problem,
    dynamics: Psgld,
    theta: &[f64],
    gradient: impl GradientEstimator + std::fmt::Debug,
) -> Vec<f64> {
    let recipe = recipe(dynamics, gradient, SIZE, 0.0);
    let mut chain = p.chain(&recipe, theta, 3);
    chain.step().unwrap();
    let (g, _) = mean_gradient(p, theta);
    let moved = add(chain.position(), theta, -1.0);
    moved.iter().zip(&g).map(|(moved, g)| (0.5 * SIZE * g / moved - dynamics.lambda).powi(2)).collect()
}

#[test]
fn the_first_v_of_psgld_is_the_expected_square_of_the_gradient() {
    let p = Problem::new(5, 0.0);
    let dynamics = Psgld { alpha: 1.0, lambda: 0.3, gamma: false };
    let theta = [0.3; 5];
    let found = v_of_first_step(&p, dynamics, &theta, FullGradient);
    let expected = first_v(&p, &mean_gradient(&p, &theta).1);
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} against {expected}");
    }
}

/// Started at the mode, under control variates centered there: the gradient has neither size nor noise, and V must not be zero.
#[test]
fn psgld_started_at_the_mode_does_not_take_a_wild_first_step() {
    let p = Problem::new(5, 0.0);
    let mode = p.model.posterior_mean();
    let recipe = recipe(Psgld::default(), ControlVariate::new(WithoutReplacement::new(BATCH)), 1e-3, 1.0);
    let mut chain = p.chain(&recipe, &mode, 3);
    chain.step().unwrap();
    // √(hM) with M = 1/√(s²/N) is about 0.08; with M = 1/λ it is 10.
    let moved = add(chain.position(), &mode, -1.0);
    assert!(moved.iter().all(|moved| moved.abs() < 1.0), "{moved:?}");
}

/// With α = 1 the matrix stays that of the start.
#[test]
fn frozen_psgld_is_preconditioned_sgld() {
    let p = Problem::new(5, 0.0);
    let lambda = 0.3;
    let dynamics = Psgld { alpha: 1.0, lambda, gamma: false };
    let v = v_of_first_step(&p, dynamics, &[0.3; 5], FullGradient);
    let m = v.iter().map(|v| 1.0 / (lambda + v.sqrt())).collect();
    let frozen = path(dynamics, FullGradient, 1.0, 30);
    assert!(farthest(&frozen, &path(Preconditioned::diagonal(m), FullGradient, 1.0, 30)) < 1e-10);
}

/// Without noise the path is a recursion: V of the gradients before the step.
#[test]
fn psgld_follows_its_recursion() {
    let p = Problem::new(5, 0.0);
    let (alpha, lambda) = (0.7, 0.2);
    let dynamics = Psgld { alpha, lambda, gamma: false };
    let mut theta = vec![0.3; 5];
    let mut v = v_of_first_step(&p, dynamics, &theta, FullGradient);
    let mut expected = Vec::new();
    for _ in 0..10 {
        let (g, bar) = mean_gradient(&p, &theta);
        for i in 0..5 {
            let h = if i == 0 { 0.5 * SIZE } else { SIZE };
            theta[i] += 0.5 * h * g[i] / (lambda + v[i].sqrt());
            v[i] = alpha * v[i] + (1.0 - alpha) * bar[i] * bar[i];
        }
        expected.push(theta.clone());
    }
    let found = path(dynamics, FullGradient, 0.0, 10);
    assert!(farthest(&found, &expected) < 1e-10);
}

/// E v, E v² − 1 and E u² − 1 over a long run on the banana: all zero under the target.
fn banana_bias<D>(dynamics: D, h: f64, steps: usize) -> [f64; 3]
where
    D: Dynamics<FullGradient> + std::fmt::Debug,
{
    let evaluator = Banana.target().evaluator(&zeros([2])).unwrap();
    let recipe = recipe(dynamics, FullGradient, h, 1.0);
    let mut chain = recipe.start(evaluator, &[0.1, 0.1], ChainRng::new(1, 0)).unwrap();
    let mut sums = [0.0; 3];
    for _ in 0..steps {
        chain.step().unwrap();
        let [u, v] = Banana::straightened(chain.position());
        sums[0] += v;
        sums[1] += v * v - 1.0;
        sums[2] += u * u - 1.0;
    }
    sums.map(|sum| sum / steps as f64)
}

/// M = J Jᵀ with J the derivative of (x, y) by (u, v): Γ = (0, 2b), and without it v is centered at −2b.
fn bent_metric() -> Metric {
    Metric::dense(|theta, m| {
        let slope = 2.0 * BEND * theta[0];
        m.copy_from_slice(&[1.0, slope, slope, 1.0 + slope * slope]);
    })
}

#[test]
fn sgrld_needs_gamma_on_a_banana() {
    let given = bent_metric().with_gamma(|_, gamma| gamma.copy_from_slice(&[0.0, 2.0 * BEND]));
    for metric in [bent_metric(), given] {
        let [mean, spread, other] = banana_bias(Sgrld::new(metric), 0.05, 400_000);
        assert!(mean.abs() < 0.05 && spread.abs() < 0.1 && other.abs() < 0.1, "{mean} {spread} {other}");
    }
    let [mean, ..] = banana_bias(Sgrld { metric: bent_metric(), gamma: false }, 0.05, 400_000);
    assert!((mean + 2.0 * BEND).abs() < 0.1, "{mean} without the correction");
}

/// The same for pSGLD, whose Γ is estimated.
#[test]
fn psgld_needs_gamma_on_a_banana() {
    let psgld = |gamma| Psgld { alpha: 0.5, lambda: 0.5, gamma };
    let size = |bias: [f64; 3]| bias.iter().fold(0.0_f64, |largest, bias| largest.max(bias.abs()));
    let with = size(banana_bias(psgld(true), 0.02, 1_500_000));
    let without = size(banana_bias(psgld(false), 0.02, 1_500_000));
    assert!(with < 0.06, "off by {with} with the correction");
    assert!(without > 1.0, "off by {without} without it");
}

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

/// Where N Î is the precision of the posterior, the law of Fisher scoring is the posterior at any step size, for every scheme.
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
    let mut pace = StepSize::from(h).resolve(oracle.layout(), &1e12.into()).unwrap();
    let mut state = dynamics.init(&[0.0], pace.context(0).unwrap(), &mut oracle).unwrap();
    for t in 0..4000 {
        dynamics.step(&mut state, pace.context(t).unwrap(), &mut oracle).unwrap();
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

/// One step from a known history: mean θₜ₋ₘ + h/2 H g, covariance hTH, with H the dense BFGS matrix of the right pairs.
#[test]
fn one_step_of_hamcmc_has_the_right_drift_and_diffusion() {
    let (d, h, gamma) = (3, 0.2, 0.03);
    let p = Problem::new(d, 0.0);
    // Of the size of the curvature, or it would not be seen.
    let lambda = 0.5 * p.a[0];
    let center = p.model.posterior_mean();
    for memory in 2..=4 {
        let dynamics = Hamcmc { memory, lambda, gamma: InitialScale::Fixed(gamma) };
        let recipe = recipe(dynamics, FullGradient, h, TEMPERATURE);
        let mut chain = p.chain(&recipe, &add(&center, &[0.3, -0.2, 0.1], 1.0), 3);
        let mut path = Vec::new();
        for _ in 0..9 {
            chain.step().unwrap();
            path.push(add(chain.position(), &center, -1.0));
        }
        let mut big_h = isotropic(gamma, d);
        for tau in 10 - memory..9 {
            let s = add(&path[tau], &path[tau - memory], -1.0);
            let y = add(&apply(&p.a, &s), &s, lambda);
            let sy: f64 = s.iter().zip(&y).map(|(s, y)| s * y).sum();
            let left: Vec<f64> =
                (0..d * d).map(|k| f64::from(u8::from(k / d == k % d)) - s[k / d] * y[k % d] / sy).collect();
            let right = sgmcmc_testkit::linear::transpose(&left, d);
            let kept = multiply(&multiply(&left, &big_h, d), &right, d);
            big_h = (0..d * d).map(|k| kept[k] + s[k / d] * s[k % d] / sy).collect();
        }
        let from = &path[9 - memory];
        let mean = add(from, &apply(&big_h, &p.g(from, &[0.0; 3])), 0.5 * h);
        let saved = chain.save().unwrap();
        let mut rows = Vec::new();
        for seed in 0..6000 {
            chain.restore(&saved).unwrap();
            *chain.noise() = StreamRng::seed_from_u64(seed);
            chain.step().unwrap();
            rows.extend(add(chain.position(), &center, -1.0));
        }
        let covariance = scaled(&big_h, h * TEMPERATURE);
        let (mean, covariance) = distance_in_standard_errors(&rows, &mean, &covariance, 60);
        assert!(mean < 5.0 && covariance < 5.0, "M = {memory}: off by {mean} and {covariance} standard errors");
    }
}

/// Means and second moments about `center`, with their standard errors by batch means.
fn moments(rows: &[f64], center: &[f64], batches: usize) -> Vec<(f64, f64)> {
    let d = center.len();
    let features = |row: &[f64]| {
        let off: Vec<f64> = row.iter().zip(center).map(|(x, c)| x - c).collect();
        let squares = (0..d * d).map(|k| off[k / d] * off[k % d]);
        off.iter().copied().chain(squares).collect::<Vec<f64>>()
    };
    let length = rows.len() / d / batches;
    let means: Vec<Vec<f64>> = rows
        .chunks_exact(length * d)
        .map(|batch| {
            let mut sum = vec![0.0; d + d * d];
            batch.chunks_exact(d).for_each(|row| sum.iter_mut().zip(features(row)).for_each(|(s, f)| *s += f));
            sum.iter().map(|sum| sum / length as f64).collect()
        })
        .collect();
    let count = means.len() as f64;
    (0..d + d * d)
        .map(|k| {
            let mean = means.iter().map(|means| means[k]).sum::<f64>() / count;
            let spread = means.iter().map(|means| (means[k] - mean).powi(2)).sum::<f64>() / (count - 1.0);
            (mean, (spread / count).sqrt())
        })
        .collect()
}

/// Extrapolated from h, h/2 and h/4, mean and covariance are those of the posterior within 3 standard errors.
#[test]
fn hamcmc_samples_the_posterior_as_the_step_goes_to_zero() {
    let d = 3;
    let p = Problem::new(d, minibatch_factor());
    let mean = p.model.posterior_mean();
    let dynamics = Hamcmc { memory: 3, lambda: 1.0, gamma: InitialScale::Fixed(0.02) };
    let at = |h: f64, draws: usize, seed| {
        let recipe = recipe(dynamics, batches(), h, 1.0);
        let mut chain = p.chain(&recipe, &mean, seed);
        moments(&self::draws(&mut chain, draws), &mean, 50)
    };
    let (first, second, third) = (at(0.2, 200_000, 1), at(0.1, 400_000, 2), at(0.05, 800_000, 3));
    let exact: Vec<f64> = vec![0.0; d].into_iter().chain(inverse(&p.a, d)).collect();
    let mut farthest = 0.0_f64;
    let mut coarse = 0.0_f64;
    for (k, exact) in exact.iter().enumerate() {
        let limit = (first[k].0 - 6.0 * second[k].0 + 8.0 * third[k].0) / 3.0;
        let error = (first[k].1.powi(2) + 36.0 * second[k].1.powi(2) + 64.0 * third[k].1.powi(2)).sqrt() / 3.0;
        farthest = farthest.max((limit - exact).abs() / error);
        coarse = coarse.max((first[k].0 - exact).abs() / first[k].1);
    }
    assert!(farthest < 3.0, "{farthest} standard errors off in the limit");
    assert!(coarse > 5.0, "no bias to extrapolate from at the largest step: {coarse} standard errors");
}
