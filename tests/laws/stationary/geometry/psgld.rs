//! The recursion of pSGLD for its matrix.

use super::*;

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
    assert!(farthest(&frozen, &path(PreconditionedSgld::diagonal(m), FullGradient, 1.0, 30)) < 1e-10);
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
