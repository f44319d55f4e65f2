//! Exact laws: on a Gaussian the discretized chains are linear, and mean and covariance of their stationary law are known,
//! minibatch noise included. Each law below says what the algorithm should do, in the words of the papers.

mod consistency;
mod geometry;
mod schedules;

use sgmcmc::gradient::Target;
use std::sync::Arc;

use sgmcmc::AnalyticTree;
use sgmcmc::StepSize;
use sgmcmc::algorithms::{
    Badodab, Baoab, Chain, ChainSpec, Dynamics, NoiseEstimate, Sghmc, Sgld, Sgnht, Thermostats, TypedChain,
};
use sgmcmc::gradient::{ControlVariate, FullGradient, GradientEstimator, MinibatchGradient};
use sgmcmc::minibatch::{WithReplacement, WithoutReplacement};
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;
use sgmcmc::schedule::PerParameter;
use sgmcmc_testkit::laws::{LinearChain, diagonal, distance_in_standard_errors, independent, isotropic};
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::gaussian::Gaussian;
use sgmcmc_testkit::models::logistic::Logistic;

const N: usize = 40;
const BATCH: usize = 8;

/// A problem, and the covariance of the noise of the gradient estimator under test.
struct Problem {
    model: Gaussian,
    d: usize,
    a: Vec<f64>,
    noise: Vec<f64>,
}

impl Problem {
    fn new(d: usize, noise_factor: f64) -> Self {
        let model = Gaussian::simulate(N, d, 7);
        let noise = model.score_covariance().iter().map(|v| noise_factor * v).collect();
        Self { a: model.posterior_precision(), noise, d, model }
    }

    /// ĝ = −A(θ − μ) + ξ, with θ measured from μ.
    fn g(&self, theta: &[f64], xi: &[f64]) -> Vec<f64> {
        let d = self.d;
        (0..d).map(|i| xi[i] - (0..d).map(|j| self.a[i * d + j] * theta[j]).sum::<f64>()).collect()
    }

    fn chain<D, G>(&self, recipe: &ChainSpec<D, G>, theta: &[f64], seed: u64) -> TypedChain<D, G>
    where
        G: GradientEstimator,
        D: Dynamics<G>,
    {
        let evaluator = AnalyticTree::<Named>::new(self.model.clone()).evaluator(&params(self.d)).unwrap();
        recipe.start(evaluator, theta, ChainRng::new(seed, 0)).unwrap()
    }
}

/// The first coordinate, the next two and the rest, as far as there are so many.
fn params(d: usize) -> Named {
    let sizes = [("first", d.min(1)), ("second", d.saturating_sub(1).min(2)), ("third", d.saturating_sub(3))];
    let present = sizes.into_iter().filter(|(_, size)| *size > 0);
    present.fold(Named::new(), |params, (name, size)| params.with(name, zeros([size])))
}

fn recipe<D, G>(dynamics: D, gradient: G, step_size: impl Into<StepSize>, temperature: f64) -> ChainSpec<D, G> {
    let (dynamics, gradient) = (Arc::new(dynamics), Arc::new(gradient));
    ChainSpec { dynamics, gradient, step_size: step_size.into(), temperature: temperature.into() }
}

/// Draws from the chain, rows of length d.
fn draws(chain: &mut dyn Chain, count: usize) -> Vec<f64> {
    for _ in 0..200 {
        chain.step().unwrap();
    }
    let mut rows = Vec::with_capacity(count * chain.position().len());
    for _ in 0..count {
        chain.step().unwrap();
        rows.extend_from_slice(chain.position());
    }
    rows
}

/// The first `d` × `d` block of a covariance.
fn positions(sigma: &[f64], d: usize) -> Vec<f64> {
    let s = sigma.len().isqrt();
    (0..d * d).map(|k| sigma[k / d * s + k % d]).collect()
}

fn add(a: &[f64], b: &[f64], factor: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + factor * b).collect()
}

const SIZE: f64 = 0.01;
const TEMPERATURE: f64 = 1.3;

/// θ += h/2 ĝ + √(hT) z.
fn stationary_sgld(p: &Problem, h: f64, temperature: f64) -> Vec<f64> {
    let update = |s: &[f64], e: &[f64]| {
        let (z, xi) = e.split_at(p.d);
        add(&add(s, &p.g(s, xi), 0.5 * h), z, 1.0)
    };
    let noise = independent(&[isotropic(h * temperature, p.d), p.noise.clone()]);
    LinearChain { state: p.d, noise, update: &update }.stationary_covariance()
}

fn sgld_law(p: &Problem) -> Vec<f64> {
    stationary_sgld(p, SIZE, TEMPERATURE)
}

const SGHMC: Sghmc = Sghmc { alpha: PerParameter::all(0.3), steps: 3, noise: NoiseEstimate::Fixed(0.1) };

/// The settings of SGHMC, coordinate by coordinate.
struct SghmcSettings<'a> {
    alpha: &'a [f64],
    h: &'a [f64],
    steps: usize,
    beta: f64,
    temperature: f64,
}

/// ν ~ N(0, h(T − β̂/2)); ν += h/2 ĝ(θ); θ += ν; then L − 1 times ν += h/2 ĝ(θ); ν ← (1−α)ν + noise; ν += h/2 ĝ(θ) on the same minibatch; θ += ν. The
/// variance of the noise is that of exact friction, (1 − (1−α)²)hT, less the part (1 − α/2)²h²V, V = 2β̂/h, which the gradient contributes.
fn sghmc_chain(p: &Problem, settings: &SghmcSettings<'_>, use_it: &dyn Fn(&LinearChain<'_>)) {
    let SghmcSettings { alpha, h, steps, beta, temperature } = *settings;
    let d = p.d;
    let half_kick = |v: &[f64], g: &[f64]| -> Vec<f64> { (0..d).map(|i| v[i] + 0.5 * h[i] * g[i]).collect() };
    let update = |s: &[f64], e: &[f64]| {
        let mut v = half_kick(&e[..d], &p.g(s, &e[d..2 * d]));
        let mut theta = add(s, &v, 1.0);
        for inner in e[2 * d..].chunks_exact(2 * d) {
            let g = p.g(&theta, &inner[..d]);
            v = half_kick(&v, &g);
            v = (0..d).map(|i| (1.0 - alpha[i]) * v[i] + inner[d + i]).collect();
            v = half_kick(&v, &g);
            theta = add(&theta, &v, 1.0);
        }
        theta
    };
    let variances = |of: &dyn Fn(usize) -> f64| diagonal(&(0..d).map(of).collect::<Vec<_>>());
    let friction = |i: usize| (1.0 - (1.0 - alpha[i]).powi(2)) * temperature;
    let heat = variances(&|i| h[i] * (friction(i) - (1.0 - 0.5 * alpha[i]).powi(2) * 2.0 * beta));
    let mut blocks = vec![variances(&|i| h[i] * (temperature - 0.5 * beta)), p.noise.clone()];
    for _ in 1..steps {
        blocks.extend([p.noise.clone(), heat.clone()]);
    }
    use_it(&LinearChain { state: d, noise: independent(&blocks), update: &update });
}

fn stationary_sghmc(p: &Problem, settings: &SghmcSettings<'_>) -> Vec<f64> {
    let covariance = std::cell::RefCell::new(Vec::new());
    sghmc_chain(p, settings, &|chain| *covariance.borrow_mut() = chain.stationary_covariance());
    covariance.into_inner()
}

/// The settings of the law tests.
fn tested<'a>(alpha: &'a [f64], h: &'a [f64]) -> SghmcSettings<'a> {
    SghmcSettings { alpha, h, steps: 3, beta: 0.1, temperature: TEMPERATURE }
}

fn sghmc_law(p: &Problem) -> Vec<f64> {
    stationary_sghmc(p, &tested(&vec![0.3; p.d], &vec![SIZE; p.d]))
}

/// B ½, A ½, O, A ½, B ½ with the new gradient; the state is (θ, ν, ξ).
fn stationary_baoab(p: &Problem, alpha: f64, h: f64, temperature: f64) -> Vec<f64> {
    let d = p.d;
    let update = |s: &[f64], e: &[f64]| {
        let (theta, v, xi) = (&s[..d], &s[d..2 * d], &s[2 * d..]);
        let v = add(v, &p.g(theta, xi), 0.5 * h);
        let theta = add(theta, &v, 0.5);
        let kept: Vec<f64> = v.iter().map(|v| (-alpha).exp() * v).collect();
        let v = add(&kept, &e[..d], 1.0);
        let theta = add(&theta, &v, 0.5);
        let v = add(&v, &p.g(&theta, &e[d..]), 0.5 * h);
        [theta, v, e[d..].to_vec()].concat()
    };
    let heat = isotropic((1.0 - (-2.0 * alpha).exp()) * h * temperature, d);
    let noise = independent(&[heat, p.noise.clone()]);
    positions(&LinearChain { state: 3 * d, noise, update: &update }.stationary_covariance(), d)
}

fn baoab_law(p: &Problem) -> Vec<f64> {
    stationary_baoab(p, 0.4, SIZE, TEMPERATURE)
}

/// Minibatches of n out of N without replacement: the variance of ĝ is N(N−n)/n · V.
fn minibatch_factor() -> f64 {
    (N * (N - BATCH)) as f64 / BATCH as f64
}

fn with_replacement_factor() -> f64 {
    (N * (N - 1)) as f64 / BATCH as f64
}

fn assert_law<D, G>(dynamics: D, gradient: G, factor: f64, d: usize, law: fn(&Problem) -> Vec<f64>)
where
    G: GradientEstimator + std::fmt::Debug,
    D: Dynamics<G> + std::fmt::Debug,
{
    let problem = Problem::new(d, factor);
    let expected = law(&problem);
    assert_stationary(&problem, &recipe(dynamics, gradient, SIZE, TEMPERATURE), &expected);
}

fn assert_stationary<D, G>(problem: &Problem, recipe: &ChainSpec<D, G>, expected: &[f64])
where
    G: GradientEstimator + std::fmt::Debug,
    D: Dynamics<G> + std::fmt::Debug,
{
    let mean = problem.model.posterior_mean();
    let rows = draws(&mut problem.chain(recipe, &mean, 5), 60_000);
    let (mean, covariance) = distance_in_standard_errors(&rows, &mean, expected, 60);
    assert!(mean < 5.0, "the mean is {mean} standard errors off");
    assert!(covariance < 5.0, "the covariance is {covariance} standard errors off");
}

macro_rules! laws {
    ($($name:ident: $dynamics:expr, $law:ident);+ $(;)?) => {
        $(mod $name {
            use super::*;

            #[test]
            fn with_minibatches() {
                for d in [1, 5] {
                    let gradient = MinibatchGradient::new(WithoutReplacement::new(BATCH));
                    assert_law($dynamics, gradient, minibatch_factor(), d, $law);
                }
            }

            #[test]
            fn with_replacement() {
                let gradient = MinibatchGradient::new(WithReplacement::new(BATCH));
                assert_law($dynamics, gradient, with_replacement_factor(), 1, $law);
            }

            #[test]
            fn with_control_variates() {
                for d in [1, 5] {
                    assert_law($dynamics, ControlVariate::new(WithoutReplacement::new(BATCH)), 0.0, d, $law);
                }
            }

            #[test]
            fn with_the_full_gradient() {
                for d in [1, 5] {
                    assert_law($dynamics, FullGradient, 0.0, d, $law);
                }
            }
        })+
    };
}

laws! {
    sgld: Sgld, sgld_law;
    sghmc: SGHMC, sghmc_law;
    baoab: Baoab { alpha: 0.4 }, baoab_law;
}

/// Frictions of the first, second and third parameter.
fn by_name(first: f64, second: f64, third: f64) -> PerParameter<f64> {
    PerParameter::from(second).parameter("first", first).parameter("third", third)
}

/// Frictions and step sizes by parameter, which do not change at the same places.
#[test]
fn sghmc_with_a_friction_for_each_parameter() {
    let problem = Problem::new(5, minibatch_factor());
    let (alpha, h) = ([0.9, 0.2, 0.2, 0.5, 0.5], [SIZE, SIZE, SIZE, 0.4 * SIZE, 0.4 * SIZE]);
    let dynamics = Sghmc { alpha: by_name(0.9, 0.2, 0.5), ..SGHMC };
    let gradient = MinibatchGradient::new(WithoutReplacement::new(BATCH));
    let step_size = StepSize::from(SIZE).parameter("third", 0.4 * SIZE);
    let recipe = recipe(dynamics, gradient, step_size, TEMPERATURE);
    assert_stationary(&problem, &recipe, &stationary_sghmc(&problem, &tested(&alpha, &h)));
}

/// A few steps from a fixed θ, with what the algorithm draws at its start: mean and covariance of the displacement.
fn assert_displacement<D>(dynamics: D, h: f64, steps: usize, law: &LinearChain<'_>, start: &[f64])
where
    D: Dynamics<MinibatchGradient> + std::fmt::Debug,
{
    let problem = Problem::new(start.len(), minibatch_factor());
    let mean = problem.model.posterior_mean();
    let theta = add(&mean, start, 1.0);
    let gradient = MinibatchGradient::new(WithoutReplacement::new(BATCH));
    let recipe = recipe(dynamics, gradient, h, TEMPERATURE);
    let mut rows = Vec::new();
    for seed in 0..6000 {
        let mut chain = problem.chain(&recipe, &theta, seed);
        assert_eq!(chain.position(), theta, "starting moved the chain");
        for _ in 0..steps {
            chain.step().unwrap();
        }
        rows.extend(add(chain.position(), &mean, -1.0));
    }
    let expected = (law.update)(start, &vec![0.0; law.noise.len().isqrt()]);
    let (mean, covariance) = distance_in_standard_errors(&rows, &expected, &law.one_step_covariance(), 60);
    assert!(mean < 5.0 && covariance < 5.0, "off by {mean} and {covariance} standard errors");
}

const START: [f64; 2] = [0.3, -0.2];

#[test]
fn one_step_of_sgld_has_the_right_drift_and_diffusion() {
    let p = Problem::new(2, minibatch_factor());
    let update = |s: &[f64], e: &[f64]| add(&add(s, &p.g(s, &e[2..]), 0.5 * SIZE), &e[..2], 1.0);
    let noise = independent(&[isotropic(SIZE * TEMPERATURE, 2), p.noise.clone()]);
    assert_displacement(Sgld, SIZE, 1, &LinearChain { state: 2, noise, update: &update }, &START);
}

/// One iteration from a fixed θ, by the rule of the stationary law.
#[test]
fn one_iteration_of_sghmc_has_the_right_drift_and_diffusion() {
    let p = Problem::new(2, minibatch_factor());
    sghmc_chain(&p, &tested(&[0.3; 2], &[SIZE; 2]), &|law| assert_displacement(SGHMC, SIZE, 1, law, &START));
    let by_name = Sghmc { alpha: by_name(0.9, 0.2, 0.5), ..SGHMC };
    let p = Problem::new(4, minibatch_factor());
    let start = [0.3, -0.2, 0.1, 0.2];
    sghmc_chain(&p, &tested(&[0.9, 0.2, 0.2, 0.5], &[SIZE; 4]), &|law| {
        assert_displacement(by_name.clone(), SIZE, 1, law, &start)
    });
}

/// ν ~ N(0, hT) and ĝ at the start: ν += h/2 ĝ, θ += ν/2, O, θ += ν/2.
#[test]
fn one_step_of_baoab_has_the_right_drift_and_diffusion() {
    let p = Problem::new(2, minibatch_factor());
    let alpha = 0.4_f64;
    let update = |s: &[f64], e: &[f64]| {
        let v = add(&e[..2], &p.g(s, &e[2..4]), 0.5 * SIZE);
        let theta = add(s, &v, 0.5);
        let kept: Vec<f64> = v.iter().map(|v| (-alpha).exp() * v).collect();
        add(&theta, &add(&kept, &e[4..], 1.0), 0.5)
    };
    let heat = isotropic((1.0 - (-2.0 * alpha).exp()) * SIZE * TEMPERATURE, 2);
    let noise = independent(&[isotropic(SIZE * TEMPERATURE, 2), p.noise.clone(), heat]);
    assert_displacement(Baoab { alpha }, SIZE, 1, &LinearChain { state: 2, noise, update: &update }, &START);
}

/// The noise a of two parameters.
fn uneven() -> PerParameter<f64> {
    PerParameter::from(0.1).parameter("first", 0.9)
}

/// As BAOAB with friction ξ, which is a but for half a step of the thermostat: a change of the order of h, below the error here.
fn badodab_displacement(dynamics: &Badodab, a: [f64; 2]) {
    let p = Problem::new(2, minibatch_factor());
    let update = |s: &[f64], e: &[f64]| {
        let v = add(&e[..2], &p.g(s, &e[2..4]), 0.5 * SIZE);
        let theta = add(s, &v, 0.5);
        let kept: Vec<f64> = v.iter().zip(a).map(|(v, a)| (-a).exp() * v).collect();
        add(&theta, &add(&kept, &e[4..], 1.0), 0.5)
    };
    let heat = diagonal(&a.map(|a| (1.0 - (-2.0 * a).exp()) * SIZE * TEMPERATURE));
    let noise = independent(&[isotropic(SIZE * TEMPERATURE, 2), p.noise.clone(), heat]);
    assert_displacement(dynamics.clone(), SIZE, 1, &LinearChain { state: 2, noise, update: &update }, &START);
}

#[test]
fn one_step_of_badodab_has_the_right_drift_and_diffusion() {
    badodab_displacement(&Badodab { a: 0.4.into(), thermostats: Thermostats::Global }, [0.4, 0.4]);
    badodab_displacement(&Badodab { a: uneven(), thermostats: Thermostats::PerParameter }, [0.9, 0.1]);
}

/// ν ~ N(0, hT), ξ = a: θ₁ = θ + ν, ν₁ = (1−a)ν + hĝ(θ₁) + N(0, 2ahT), θ₂ = θ₁ + ν₁. The thermostat moves after the first step and
/// acts in the second only on ν, which θ₂ does not see.
fn sgnht_displacement(dynamics: &Sgnht, a: [f64; 2]) {
    // So short that the variance of θ₂ depends on a.
    let h = 0.1 * SIZE;
    let p = Problem::new(2, minibatch_factor());
    let update = |s: &[f64], e: &[f64]| {
        let (v, xi, z) = (&e[..2], &e[2..4], &e[4..]);
        let theta = add(s, v, 1.0);
        let kept: Vec<f64> = v.iter().zip(a).map(|(v, a)| (1.0 - a) * v).collect();
        add(&theta, &add(&add(&kept, &p.g(&theta, xi), h), z, 1.0), 1.0)
    };
    let heat = diagonal(&a.map(|a| 2.0 * a * h * TEMPERATURE));
    let noise = independent(&[isotropic(h * TEMPERATURE, 2), p.noise.clone(), heat]);
    assert_displacement(dynamics.clone(), h, 2, &LinearChain { state: 2, noise, update: &update }, &START);
}

#[test]
fn two_steps_of_sgnht_have_the_right_drift_and_diffusion() {
    sgnht_displacement(&Sgnht { a: 0.3.into(), thermostats: Thermostats::Global }, [0.3, 0.3]);
    sgnht_displacement(&Sgnht { a: uneven(), thermostats: Thermostats::PerParameter }, [0.9, 0.1]);
}

/// The means of ξ and of A(θ − μ)² over a long run in one dimension.
fn long_run<D, G>(dynamics: D, gradient: G, h: f64, steps: u32) -> (f64, f64)
where
    G: GradientEstimator + std::fmt::Debug,
    D: Dynamics<G> + std::fmt::Debug,
{
    let problem = Problem::new(1, 0.0);
    let mean = problem.model.posterior_mean()[0];
    let mut chain = problem.chain(&recipe(dynamics, gradient, h, 1.0), &[mean], 3);
    let (mut xi, mut square, mut thermostat) = (0.0, 0.0, [0.0]);
    for _ in 0..10_000 {
        chain.step().unwrap();
    }
    for _ in 0..steps {
        chain.step().unwrap();
        chain.stats(&mut thermostat);
        xi += thermostat[0];
        square += (chain.position()[0] - mean).powi(2);
    }
    (xi / f64::from(steps), square / f64::from(steps) * problem.a[0])
}

/// The mean of the thermostat is a + hV/2, V the variance of the gradient.
#[test]
fn the_thermostat_learns_the_noise_of_the_gradient() {
    let gradient = MinibatchGradient::new(WithoutReplacement::new(BATCH));
    let (h, a) = (1e-4, 0.01);
    let expected = a + 0.5 * h * Problem::new(1, minibatch_factor()).noise[0];
    let (euler, _) = long_run(Sgnht { a: a.into(), thermostats: Thermostats::Global }, gradient, h, 1_000_000);
    assert!((euler / expected - 1.0).abs() < 0.1, "thermostat {euler}, expected {expected}");
    let splitting = Badodab { a: a.into(), thermostats: Thermostats::PerParameter };
    let (splitting, _) = long_run(splitting, gradient, h, 1_000_000);
    assert!((splitting / expected - 1.0).abs() < 0.1, "thermostat {splitting}, expected {expected}");
}

/// The bias is of first order in the step ε of the continuous dynamics: h = ε² and a = ε · friction.
#[test]
fn halving_the_step_halves_the_bias_of_sgnht() {
    let bias = |h, a: f64| {
        let dynamics = Sgnht { a: a.into(), thermostats: Thermostats::Global };
        long_run(dynamics, FullGradient, h, 1_500_000).1 - 1.0
    };
    let (coarse, fine) = (bias(2e-3, 0.2), bias(5e-4, 0.1));
    let ratio = coarse / fine;
    assert!((1.7..2.8).contains(&ratio), "bias {coarse} and {fine}, ratio {ratio}");
}

/// With the exact gradient BADODAB is of second order: at a step where SGNHT is 5 % off, it is not 1 % off.
#[test]
fn badodab_has_no_bias_of_first_order() {
    let dynamics = Badodab { a: 0.1.into(), thermostats: Thermostats::Global };
    let bias = long_run(dynamics, FullGradient, 5e-4, 1_500_000).1 - 1.0;
    assert!(bias.abs() < 0.015, "bias {bias}");
}
