//! Gibbs steps alternate with the sampler's own.

use sgmcmc::algorithms::{
    Adaptation, Badodab, Baoab, CyclicalSgld, Hamcmc, Hmc, HmcBfgs, InitialScale, Mala, Metric, PreconditionedSgld,
    Qnhmc, RiemannianMala, Sghmc, Sgnht, Sgrld,
};
use sgmcmc::distributions::{Gamma, Normal};

use super::*;

#[test]
fn a_conjugate_update_and_langevin_steps_find_the_posterior() {
    let (x, data) = data();
    let held = x.clone();
    // τ does not move by itself: its step is so small that only the update moves it.
    let step = sgmcmc::StepSize::from(2e-3).parameter("tau", 1e-12);
    let run = ula(&model(), &data, step).gibbs(move |_| update(held.clone())).seed(4).burn_in(200);
    let start = Params { theta: full([1], 1.0), tau: full([1], 1.0) };
    let fit = run.sample(&start, 2500).unwrap();
    let (theta, tau) = exact(&x);
    let summary = fit.summary();
    for (name, expected) in [("theta", theta), ("tau", tau)] {
        let row = summary.row(name).unwrap();
        let error = row.sd / row.ess_bulk.sqrt();
        assert!((row.mean - expected).abs() < 5.0 * error, "{name}: {} ± {error} against {expected}", row.mean);
        assert!(error < 0.05 * expected, "{name}: the error {error} would hide a wrong update");
    }
}

#[test]
fn an_update_out_of_bounds_or_of_another_size_is_an_error() {
    let (_, data) = data();
    let start = || Params { theta: full([1], 1.0), tau: full([1], 1.0) };
    let error = |update: fn(&mut Values<'_>, &mut StreamRng) -> Result<(), Error>| {
        let run = sgld(&model(), &data, 1e-4).minibatch(10).gibbs(move |_| update);
        let mut sampler = run.start(&start()).unwrap();
        sampler.step().unwrap_err().to_string()
    };
    let outside = error(|values, _| values.set("tau", &[-1.0]));
    assert!(outside.contains("`tau` is -1") && outside.contains("greater than 0"), "{outside}");
    let size = error(|values, _| values.set("tau", &[1.0, 2.0]));
    assert!(size.contains("length 2, expected 1"), "{size}");
    let name = error(|values, _| values.set("sigma", &[1.0]));
    assert!(name.contains("no parameter `sigma`"), "{name}");
}

#[test]
fn every_chain_has_its_own_update() {
    let (x, data) = data();
    let run = ula(&model(), &data, 1e-3).gibbs(move |_| update(x.clone())).chains(2).seed(1);
    let starts = Starts::drawn(|_| Params { theta: full([1], 1.0), tau: full([1], 1.0) });
    let fit = run.sample(starts, 50).unwrap();
    let taus = fit.element("tau").unwrap();
    assert_ne!(taus[0], taus[1]);
}

/// The way from a coordinate to its value and back rounds. A parameter that the update leaves alone must not go it: its path is, bit for
/// bit, that of a run without the update, since it does not depend on the other parameter.
#[test]
fn parameters_that_an_update_leaves_alone_keep_their_coordinates() {
    let independent = Model::density(|p: Params| {
        Normal::new(0.0, 1.0).log_prob(p.theta).sum() + Gamma::new(A, B).log_prob(p.tau).sum()
    });
    let target = independent.with(&Dataset::none());
    let run = || Builder::new(target.clone(), Sgld, FullGradient, 0.1).seed(4);
    let with = run().gibbs(|_| |values: &mut Values<'_>, _: &mut StreamRng| values.set("theta", &[1.5]));
    let start = Params { theta: full([1], 1.0), tau: full([1], 1.0) };
    let tau = |run: Builder<_, _, _>| run.sample(&start, 200).unwrap().element("tau").unwrap();
    assert_eq!(tau(with), tau(run()));
}

/// The largest curvature is 1/(1 − ρ) = 10: Langevin steps of h have a bias of at most 10h/4 in that direction, a twentieth of the variance of each
/// coordinate; 0.02 bounds it at h = 0.05 with room.
#[test]
fn gibbs_within_every_langevin_kernel_keeps_the_joint_law() {
    assert_bivariate("SGLD", Sgld, 0.05, 0.02);
    assert_bivariate("cyclical SGLD", CyclicalSgld { period: 10, exploration: 0.0 }, 0.05, 0.02);
    let m = [1.0, RHO, RHO, 1.0];
    assert_bivariate("preconditioned SGLD", PreconditionedSgld::dense(&m, 2).unwrap(), 0.05, 0.03);
    assert_bivariate("SGRLD", Sgrld::new(Metric::dense(move |_, out| out.copy_from_slice(&m))), 0.05, 0.03);
    for memory in [2, 3, 5] {
        let dynamics = Hamcmc { memory, lambda: 1.0, gamma: InitialScale::Fixed(0.2) };
        assert_bivariate(&format!("HAMCMC, M = {memory}"), dynamics, 0.1, 0.05);
    }
}

#[test]
fn gibbs_within_every_kernel_with_momentum_keeps_the_joint_law() {
    assert_bivariate("SGHMC", Sghmc { alpha: 0.1.into(), ..Sghmc::default() }, 0.01, 0.02);
    assert_bivariate("BAOAB", Baoab { alpha: 0.2, ..Baoab::default() }, 0.02, 0.02);
    assert_bivariate("BADODAB", Badodab { a: 0.1.into(), ..Badodab::default() }, 0.01, 0.02);
}

/// SGNHT is an Euler scheme: its positions and velocities are correlated by the order of √h, which a Gibbs step takes away. The error is of that order:
/// extrapolated from h and h/4 nothing is left but the next order and −ξ/2, 0.02 in all.
#[test]
fn gibbs_within_sgnht_tends_to_the_joint_law() {
    let at = |h, steps| second_moments(Sgnht { a: 0.01.into(), ..Sgnht::default() }, h, steps);
    let (coarse, fine) = (at(4e-3, 300_000), at(1e-3, 600_000));
    for ((coarse, fine), exact) in coarse.iter().zip(&fine).zip([1.0, 1.0, RHO]) {
        let (limit, error) = (2.0 * fine.0 - coarse.0, 2.0 * fine.1.hypot(0.5 * coarse.1));
        assert!((limit - exact).abs() < 4.0 * error + 0.02, "{limit} ± {error} against {exact}: {coarse:?}, {fine:?}");
        assert!(error < 0.05, "a standard error of {error} tells too little");
    }
}

#[test]
fn gibbs_within_every_kernel_that_accepts_or_rejects_keeps_the_joint_law() {
    assert_bivariate("MALA", Mala::default(), 0.2, 0.0);
    assert_bivariate("HMC", Hmc { steps: 3, ..Hmc::default() }, 0.1, 0.0);
    assert_bivariate("QNHMC", Qnhmc { steps: 3, adaptation: Adaptation::First(500), ..Qnhmc::default() }, 0.05, 0.0);
    assert_bivariate("HMC-BFGS", HmcBfgs { steps: 3, ..HmcBfgs::default() }, 0.1, 0.0);
    assert_bivariate("corrected Langevin", RiemannianMala::new(Metric::diagonal(|_, m| m.fill(0.5))), 0.3, 0.0);
}

/// The way from values to coordinates and back rounds. What an update leaves alone must not count as changed: the chain is the one without the update, bit
/// for bit, constrained parameters and kept gradients included.
#[test]
fn an_update_that_changes_nothing_changes_nothing() {
    fn same<D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static>(dynamics: D) {
        let start = Pair { theta: full([1], 0.3), w: full([1], 1.7) };
        let run = Builder::new(bivariate().with(&Dataset::none()), dynamics, FullGradient, 0.01).seed(4);
        let mut plain = run.start(&start).unwrap();
        let idle = |_: &mut Values<'_>, _: &mut StreamRng| Ok::<(), Error>(());
        let mut idle = run.clone().gibbs(move |_| idle).start(&start).unwrap();
        for _ in 0..50 {
            plain.step().unwrap();
            idle.step().unwrap();
            assert_eq!(plain.coordinates(), idle.coordinates());
        }
    }
    same(Hamcmc::default());
    same(Baoab::default());
    same(Sghmc::default());
    same(Hmc::default());
}

/// An update of one parameter leaves the coordinates of the other as they are.
#[test]
fn an_update_of_one_parameter_keeps_the_coordinates_of_the_other() {
    let start = Pair { theta: full([1], 0.3), w: full([1], 1.7) };
    let shift = |values: &mut Values<'_>, _: &mut StreamRng| {
        let theta = values.get("theta")?[0];
        values.set("theta", &[theta + 1.0])
    };
    let run = Builder::new(bivariate().with(&Dataset::none()), Sgld, FullGradient, 0.01).seed(4);
    let (mut plain, mut shifted) =
        (run.start(&start).unwrap(), run.clone().gibbs(move |_| shift).start(&start).unwrap());
    plain.step().unwrap();
    shifted.step().unwrap();
    assert_eq!(plain.coordinates()[1].to_bits(), shifted.coordinates()[1].to_bits());
    assert!((plain.coordinates()[0] + 1.0 - shifted.coordinates()[0]).abs() < 1e-12);
}
