//! Held parameters: only updates move them, and the joint law stays exact.

use sgmcmc::algorithms::{Baoab, Hamcmc, Hmc, HmcBfgs, InitialScale, Mala, Psgld, Qnhmc, Sgfs, UpdateContext};
use sgmcmc::gradient::{ControlVariate, GradientEstimator, MinibatchGradient, Saga, Svrg};
use sgmcmc::minibatch::WithoutReplacement;

use super::*;

fn start() -> Pair {
    Pair { theta: full([1], 0.3), w: full([1], 1.7) }
}

#[test]
fn a_held_parameter_does_not_move_and_the_other_has_its_conditional_law() {
    fn check<D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static>(name: &str, dynamics: D, h: f64) {
        let run = Builder::new(bivariate().with(&Dataset::none()), dynamics, FullGradient, h).hold("w").seed(3);
        let fit = run.burn_in(500).sample(&start(), 30_000).unwrap();
        assert!(fit.element("w").unwrap().iter().flatten().all(|w| (w - 1.7).abs() < 1e-15), "{name}");
        let row = *fit.summary().row("theta").unwrap();
        let (mean, variance) = (RHO * 1.7_f64.ln(), 1.0 - RHO * RHO);
        let error = row.sd / row.ess_bulk.sqrt();
        assert!((row.mean - mean).abs() < 4.0 * error, "{name}: {} ± {error} against {mean}", row.mean);
        assert!((row.sd * row.sd / variance - 1.0).abs() < 0.15, "{name}: {} against {variance}", row.sd * row.sd);
    }
    check("SGLD", Sgld, 0.05);
    check("BAOAB", Baoab::default(), 0.02);
    check("MALA", Mala::default(), 0.2);
    check("HMC", Hmc { steps: 3, ..Hmc::default() }, 0.05);
    check("HMC-BFGS", HmcBfgs { steps: 3, ..HmcBfgs::default() }, 0.05);
    check("HAMCMC", Hamcmc { memory: 3, lambda: 1.0, gamma: InitialScale::Fixed(0.2) }, 0.1);
}

/// Dynamics on the free parameter alone are those of the conditional density, step by step.
#[test]
fn the_steps_are_those_of_the_conditional_density() {
    fn check<D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static>(dynamics: D) {
        let z = 1.7_f64.ln();
        let conditional =
            Model::density(move |theta: Tensor<1>| (theta - RHO * z).square() * (-0.5 / (1.0 - RHO * RHO)));
        let alone = Builder::new(conditional.with(&Dataset::none()), dynamics.clone(), FullGradient, 0.02).seed(8);
        let held = Builder::new(bivariate().with(&Dataset::none()), dynamics, FullGradient, 0.02).seed(8).hold("w");
        let mut alone = alone.start(&full([1], 0.3)).unwrap();
        let mut held = held.start(&start()).unwrap();
        for _ in 0..40 {
            alone.step().unwrap();
            held.step().unwrap();
            assert!((alone.position()[0] - held.position()[0]).abs() < 1e-9);
        }
    }
    check(Sgld);
    check(Hamcmc::default());
    check(Hmc::default());
    check(HmcBfgs::default());
    check(Qnhmc::default());
    check(Baoab::default());
}

#[test]
fn gibbs_on_a_held_parameter_keeps_the_joint_law() {
    fn check<D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static>(
        name: &str,
        dynamics: D,
        h: f64,
        bias: f64,
    ) {
        let run = Builder::new(bivariate().with(&Dataset::none()), dynamics, FullGradient, h);
        assert_moments(name, moments_of(run.hold("w").gibbs(|_| conditional), 300_000), bias);
    }
    check("SGLD", Sgld, 0.02, 0.03);
    check("BAOAB", Baoab { alpha: 0.2, ..Baoab::default() }, 0.02, 0.02);
    check("MALA", Mala::default(), 0.2, 0.0);
    check("HMC", Hmc { steps: 3, ..Hmc::default() }, 0.05, 0.0);
    check("HMC-BFGS", HmcBfgs { steps: 3, ..HmcBfgs::default() }, 0.05, 0.0);
    check("HAMCMC", Hamcmc { memory: 3, lambda: 1.0, gamma: InitialScale::Fixed(0.2) }, 0.05, 0.05);
}

/// With minibatches the answer is the exact posterior for every estimator, although the held parameter moves away from the center of
/// the control variates.
#[test]
fn every_estimator_stays_unbiased_when_a_held_parameter_changes() {
    fn check<G: GradientEstimator + Clone + std::fmt::Debug + 'static>(name: &str, gradient: G) {
        let (x, data) = data();
        let held = x.clone();
        let run = Builder::new(model().with(&data), Sgld, gradient, 1e-3).hold("tau").seed(6).burn_in(1000).thin(10);
        let start = Params { theta: full([1], 1.5), tau: full([1], 0.5) };
        let fit = run.gibbs(move |_| update(held.clone())).sample(&start, 6000).unwrap();
        let (theta, tau) = exact(&x);
        for (parameter, expected) in [("theta", theta), ("tau", tau)] {
            let row = *fit.summary().row(parameter).unwrap();
            let error = row.sd / row.ess_bulk.sqrt();
            // The gradient noise widens θ, which lowers τ by less than a hundredth.
            let bias = 0.01 * expected;
            assert!((row.mean - expected).abs() < 4.0 * error + bias, "{name}, {parameter}: {} ± {error}", row.mean);
            assert!(error < 0.02 * expected, "{name}, {parameter}: the error {error} would hide a wrong gradient");
        }
    }
    let scheme = WithoutReplacement::new(10);
    check("minibatch", MinibatchGradient::new(scheme));
    check("control variate", ControlVariate::new(scheme));
    check("SVRG", Svrg::new(scheme, 50));
    check("SAGA", Saga::new(scheme));
}

/// Algorithms that measure gradient noise do so in the free coordinates.
#[test]
fn algorithms_that_measure_noise_work_with_held_parameters() {
    let (x, data) = data();
    let gradient = MinibatchGradient::new(WithoutReplacement::new(10));
    let start = Params { theta: full([1], 1.0), tau: full([1], 1.0) };
    let run = Builder::new(model().with(&data), Psgld::default(), gradient, 1e-2).hold("tau").seed(1);
    let own = x.clone();
    let fit = run.gibbs(move |_| update(own.clone())).sample(&start, 500).unwrap();
    assert_eq!(fit.chains()[0].len(), 500);
    let run = Builder::new(model().with(&data), Sgfs::default(), gradient, 1e-2).hold("tau").seed(1);
    let fit = run.gibbs(move |_| update(x.clone())).sample(&start, 500).unwrap();
    assert_eq!(fit.chains()[0].len(), 500);
}

#[test]
fn unknown_names_and_holding_everything_are_errors() {
    let run = || Builder::new(bivariate().with(&Dataset::none()), Sgld, FullGradient, 0.1);
    let unknown = run().hold("v").start(&start()).unwrap_err().to_string();
    assert!(unknown.contains("no parameter `v`"), "{unknown}");
    let all = run().hold("theta").hold("w").start(&start()).unwrap_err().to_string();
    assert!(all.contains("UpdatesOnly"), "{all}");
}

/// Chains with a common start differ in the free parameters only, and each update has access to its own chain.
#[test]
fn jitter_leaves_held_parameters_alone() {
    let run = Builder::new(bivariate().with(&Dataset::none()), Sgld, FullGradient, 0.01).hold("w").chains(3);
    let idle = |context: &mut UpdateContext<'_>| context.get("w").map(|_| ());
    let fit = run.update(move |_| idle).sample(&start(), 1).unwrap();
    let (theta, w) = (fit.element("theta").unwrap(), fit.element("w").unwrap());
    assert!(theta[0] != theta[1] && theta[1] != theta[2]);
    assert!(w.iter().flatten().all(|w| (w - 1.7).abs() < 1e-15));
}
