//! Metropolis-Hastings steps: their law with every kind of proposal, and the rate that they report.

use rand::RngExt;
use sgmcmc::algorithms::{
    Hamcmc, Hmc, HmcBfgs, IndependenceProposal, InitialScale, Mala, MetropolisHastings, Proposal, RandomWalk,
    UpdateContext,
};
use sgmcmc::presets::updates_only;

use super::*;

#[derive(TensorTree)]
struct Rate {
    #[tree(positive)]
    x: Tensor<1>,
}

/// A gamma distribution.
fn gamma() -> Model<Rate> {
    Model::density(|p: Rate| Gamma::new(A, B).log_prob(p.x))
}

/// The mean and the variance of gamma draws of a step with this proposal, at this temperature, with their standard errors.
fn moments<P: Proposal + Clone + Sync + 'static>(proposal: P, temperature: f64) -> [(f64, f64); 2] {
    let run = updates_only(&gamma(), &Dataset::none())
        .temperature(temperature)
        .update(move |_| MetropolisHastings::new("x", proposal.clone()).repeats(5))
        .seed(5);
    let draws = run.sample(&Rate { x: ones([1]) }, 60_000).unwrap().element("x").unwrap().remove(0);
    let batch = draws.len() / 50;
    let of = |f: &dyn Fn(f64) -> f64| {
        let means: Vec<f64> =
            draws.chunks_exact(batch).map(|draws| draws.iter().map(|x| f(*x)).sum::<f64>() / batch as f64).collect();
        let mean = means.iter().sum::<f64>() / 50.0;
        let spread = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 49.0;
        (mean, (spread / 50.0).sqrt())
    };
    [of(&|x| x), of(&|x| x * x)]
}

/// Multiplies a positive number by eᵛ: q(x|x') / q(x'|x) = x'/x.
fn scale(current: &[f64], proposed: &mut [f64], rng: &mut StreamRng) -> f64 {
    let v = 2.0 * rng.random::<f64>() - 1.0;
    proposed[0] = current[0] * v.exp();
    v
}

/// A symmetric step on the value. Negative values are rejected.
fn shift(current: &[f64], proposed: &mut [f64], rng: &mut StreamRng) -> f64 {
    proposed[0] = current[0] + 6.0 * rng.random::<f64>() - 3.0;
    0.0
}

/// Draws of the exponential distribution of mean 2.
fn exponential() -> impl Proposal + Clone + Sync + 'static {
    IndependenceProposal::new(
        |x: &mut [f64], rng: &mut StreamRng| x[0] = -2.0 * (1.0 - rng.random::<f64>()).ln(),
        |x: &[f64]| -0.5 * x[0],
    )
}

/// At temperature T, the law of Gamma(a, b) is Gamma(1 + (a − 1)/T, b/T).
#[test]
fn every_proposal_leaves_the_density_invariant_at_every_temperature() {
    for temperature in [1.0, 2.0] {
        let (shape, rate) = (1.0 + (A - 1.0) / temperature, B / temperature);
        let exact = [shape / rate, shape * (shape + 1.0) / (rate * rate)];
        let check = |name: &str, found: [(f64, f64); 2]| {
            for ((mean, error), exact) in found.into_iter().zip(exact) {
                assert!((mean - exact).abs() < 4.0 * error, "{name}, T = {temperature}: {mean} ± {error}, {exact}");
                assert!(error < 0.01 * exact, "{name}: a standard error of {error} tells too little");
            }
        };
        check("random walk", moments(RandomWalk { scale: 1.0 }, temperature));
        check("factors", moments(scale, temperature));
        check("differences", moments(shift, temperature));
        check("independence", moments(exponential(), temperature));
    }
}

#[test]
fn metropolis_steps_within_every_kind_of_kernel_keep_the_joint_law() {
    fn check<D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static>(
        name: &str,
        dynamics: D,
        h: f64,
        bias: f64,
    ) {
        let run = Builder::new(bivariate().with(&Dataset::none()), dynamics, FullGradient, h);
        let run = run.update(|_| MetropolisHastings::new("w", RandomWalk { scale: 1.0 }));
        assert_moments(name, moments_of(run, 300_000), bias);
    }
    check("SGLD", Sgld, 0.05, 0.03);
    check("MALA", Mala::default(), 0.2, 0.0);
    check("HMC", Hmc { steps: 3, ..Hmc::default() }, 0.1, 0.0);
    check("HMC-BFGS", HmcBfgs { steps: 3, ..HmcBfgs::default() }, 0.1, 0.0);
    check("HAMCMC", Hamcmc { memory: 3, lambda: 1.0, gamma: InitialScale::Fixed(0.2) }, 0.1, 0.05);
}

#[test]
fn the_acceptance_rate_is_that_of_the_moves() {
    let run = updates_only(&gamma(), &Dataset::none())
        .update(|_| MetropolisHastings::new("x", RandomWalk { scale: 2.0 }))
        .update(|_| |context: &mut UpdateContext<'_>| context.log_density().map(|_| ()))
        .seed(2);
    let fit = run.sample(&Rate { x: ones([1]) }, 1000).unwrap();
    let (draws, rates) = (&fit.element("x").unwrap()[0], fit.chains()[0].stat("acceptance.x").unwrap());
    let mut before = 1.0;
    let mut moves = 0.0;
    for (index, (x, rate)) in draws.iter().zip(rates).enumerate() {
        moves += f64::from(x.to_bits() != f64::to_bits(before));
        before = *x;
        assert!((rate - moves / (index + 1) as f64).abs() < 1e-12);
    }
    assert!(moves > 100.0 && moves < 900.0);
}

#[test]
fn proposals_outside_the_support_are_rejected_and_equal_names_are_numbered() {
    let outside = |_: &[f64], proposed: &mut [f64], _: &mut StreamRng| {
        proposed[0] = -1.0;
        0.0
    };
    let undefined = |_: &[f64], proposed: &mut [f64], _: &mut StreamRng| {
        proposed[0] = f64::NAN;
        0.0
    };
    let run = updates_only(&gamma(), &Dataset::none())
        .update(move |_| MetropolisHastings::new("x", outside))
        .update(move |_| MetropolisHastings::new("x", undefined));
    let fit = run.sample(&Rate { x: ones([1]) }, 20).unwrap();
    assert!(fit.element("x").unwrap()[0].iter().all(|x| (x - 1.0).abs() < 1e-15));
    assert_eq!(fit.chains()[0].stat_names(), ["acceptance.x", "acceptance.x#2"]);
    assert!(fit.chains()[0].stat("acceptance.x").unwrap()[19].abs() < 1e-15);
}

#[test]
fn a_wrong_name_or_scale_is_an_error() {
    let error = |update: fn() -> MetropolisHastings<RandomWalk>| {
        let mut sampler =
            updates_only(&gamma(), &Dataset::none()).update(move |_| update()).start(&Rate { x: ones([1]) }).unwrap();
        sampler.step().unwrap_err().to_string()
    };
    let name = error(|| MetropolisHastings::new("y", RandomWalk { scale: 1.0 }));
    assert!(name.contains("no parameter `y`"), "{name}");
    let scale = error(|| MetropolisHastings::new("x", RandomWalk { scale: -1.0 }));
    assert!(scale.contains("the scale of a random walk"), "{scale}");
}

/// The test above can fail: a ratio of the wrong sign or twice its size gives the law of p(x)/x² or of p(x) x, far from p.
#[test]
fn a_wrong_ratio_gives_another_law() {
    let wrong_by = |factor: f64| {
        move |current: &[f64], proposed: &mut [f64], rng: &mut StreamRng| factor * scale(current, proposed, rng)
    };
    for (factor, shape) in [(-1.0, A - 2.0), (2.0, A + 1.0)] {
        let [(mean, error), _] = moments(wrong_by(factor), 1.0);
        assert!((mean - shape / B).abs() < 4.0 * error, "{mean} ± {error} against {}", shape / B);
        assert!((mean - A / B).abs() > 20.0 * error, "{mean} ± {error} is not far from {}", A / B);
    }
}
