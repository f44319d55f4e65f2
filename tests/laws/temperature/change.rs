//! Changes of the temperature along the chain, temperature zero, and checkpoints.

use std::fmt::Debug;

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc::algorithms::Dynamics;
use sgmcmc::algorithms::{Badodab, Baoab, CyclicalSgld, Hmc, HmcBfgs, Mala, Qnhmc, RiemannianMala, Sgld};
use sgmcmc::gradient::FullGradient;
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;

use super::{beta, gamma, run, wavy};

const BEFORE: f64 = 3.0;
const AFTER: f64 = 0.5;

/// `BEFORE` in the first `steps` steps, `AFTER` from then on.
fn switched(steps: u64) -> impl Fn(u64) -> f64 + Send + Sync + Copy + 'static {
    move |t| if t < steps { BEFORE } else { AFTER }
}

/// After a change of the temperature the chain goes on as one that starts there at the new temperature.
///
/// The first step is so long that it is rejected: the chain, or all chains of an ensemble, are where they were.
fn assert_goes_on<D: Dynamics<FullGradient> + Clone + Debug + 'static>(dynamics: D) {
    let name = format!("{dynamics:?}");
    let start = full([1], 2.0);
    let h = |t: u64| if t == 0 { 1e6 } else { 0.3 };
    let changing = Builder::new(gamma(), dynamics.clone(), FullGradient, h).temperature(switched(1));
    let mut changing = changing.start(&start).unwrap();
    changing.step().unwrap();
    assert_eq!(changing.position(), [2.0], "{name}: the first step was not rejected");
    let mut started = run(&gamma(), dynamics, 0.3).temperature(AFTER).start(&start).unwrap();
    *started.chain().noise() = changing.chain().noise().clone();
    for step in 1..=10 {
        changing.step().unwrap();
        started.step().unwrap();
        let (found, expected) = (changing.position()[0], started.position()[0]);
        assert!((found - expected).abs() < 1e-10, "{name}: {found} against {expected} after {step} steps");
    }
    assert!((started.position()[0] - 2.0).abs() > 1e-3, "{name} does not move");
}

#[test]
fn methods_with_an_accept_step_follow_a_change_of_the_temperature() {
    assert_goes_on(Mala::default());
    assert_goes_on(RiemannianMala::new(wavy()));
    assert_goes_on(Hmc { steps: 3, ..Hmc::default() });
    assert_goes_on(Qnhmc { steps: 3, ..Qnhmc::default() });
    assert_goes_on(HmcBfgs { steps: 3, ..HmcBfgs::default() });
}

/// A splitting written out for Gamma(3, 1), whose gradient at temperature T is 2 − eʸ + T.
///
/// Without a thermostat it is BAOAB with friction `xi`, with one it is BADODAB with a = `xi`.
struct ByHand {
    y: f64,
    v: f64,
    xi: f64,
    a: f64,
    thermostat: bool,
    h: f64,
}

impl ByHand {
    fn kick(&mut self, temperature: f64) {
        self.v += 0.5 * self.h * (2.0 - self.y.exp() + temperature);
    }

    fn adjust(&mut self, temperature: f64) {
        if self.thermostat {
            self.xi += 0.5 * (self.v * self.v - self.h * temperature);
        }
    }

    fn step(&mut self, temperature: f64, z: f64) {
        self.kick(temperature);
        self.y += 0.5 * self.v;
        self.adjust(temperature);
        let variance = self.a * self.h * temperature * (1.0 - (-2.0 * self.xi).exp()) / self.xi;
        self.v = (-self.xi).exp() * self.v + variance.sqrt() * z;
        self.adjust(temperature);
        self.y += 0.5 * self.v;
        self.kick(temperature);
    }
}

#[test]
fn splittings_follow_a_change_of_the_temperature() {
    let (h, a) = (0.04, 0.2);
    let compare = |thermostat: bool, chain: &mut Sampler<Tensor<1>>| {
        let mut rng = ChainRng::new(9, 0);
        let mut z = || rng.noise().sample::<f64, _>(StandardNormal);
        let v = (h * BEFORE).sqrt() * z();
        let mut by_hand = ByHand { y: 2.0_f64.ln(), v, xi: a, a, thermostat, h };
        for t in 0..12 {
            chain.step().unwrap();
            by_hand.step(switched(4)(t), z());
            let found = chain.coordinates()[0];
            assert!((found - by_hand.y).abs() < 1e-11, "{found} against {} after {} steps", by_hand.y, t + 1);
        }
    };
    let start = full([1], 2.0);
    let baoab = run(&gamma(), Baoab { alpha: a, ..Baoab::default() }, h).temperature(switched(4)).seed(9);
    compare(false, &mut baoab.start(&start).unwrap());
    let badodab = run(&gamma(), Badodab { a: a.into(), ..Badodab::default() }, h).temperature(switched(4)).seed(9);
    compare(true, &mut badodab.start(&start).unwrap());
}

/// Saved and restored before or after a change of the temperature, and moved from outside, a chain goes on bit for bit.
#[test]
fn checkpoints_know_the_temperature() {
    fn check<D: Dynamics<FullGradient> + Clone + Debug + 'static>(dynamics: D) {
        let name = format!("{dynamics:?}");
        let builder = run(&gamma(), dynamics, 0.05).temperature(switched(5)).seed(3);
        for saved_after in [3, 5, 7] {
            let start = || builder.start(&full([1], 2.0)).unwrap();
            let (mut whole, mut resumed) = (start(), start());
            for _ in 0..saved_after {
                whole.step().unwrap();
            }
            let saved = whole.chain().save().unwrap();
            resumed.chain().restore(&saved).unwrap();
            for sampler in [&mut whole, &mut resumed] {
                sampler.chain().relocate(&[0.3]).unwrap();
            }
            for step in 0..8 {
                whole.step().unwrap();
                resumed.step().unwrap();
                let (a, b) = (whole.coordinates(), resumed.coordinates());
                assert_eq!(a, b, "{name}, saved after {saved_after}: {step} steps later");
            }
        }
    }
    check(Sgld);
    check(Baoab::default());
    check(Badodab::default());
    check(Mala::default());
    check(HmcBfgs { steps: 3, ..HmcBfgs::default() });
}

/// At temperature zero a chain climbs to the mode of the density of the values.
#[test]
fn at_temperature_zero_chains_climb_to_the_mode_of_the_values() {
    let end = |target: &Posterior<Tensor<1>, ()>, temperature: f64| {
        let mut chain = run(target, Sgld, 0.2).temperature(temperature).start(&full([1], 0.3)).unwrap();
        (0..2000).for_each(|_| chain.step().unwrap());
        chain.position()[0]
    };
    // (a − 1)/b, and (a − 1)/(a + b − 2).
    assert!((end(&gamma(), 0.0) - 2.0).abs() < 1e-9);
    assert!((end(&beta(), 0.0) - 3.0 / 3.5).abs() < 1e-9);
}

/// The exploration stage of cyclical SGLD climbs the density that its sampling stage samples, in coordinates.
///
/// For Gamma(3, 1) at temperature T that is 2y − eʸ + Ty, with its maximum at eʸ = 2 + T.
#[test]
fn cyclical_sgld_explores_at_the_temperature_of_the_run() {
    for temperature in [0.0, 0.5, 1.0, 2.0] {
        let dynamics = CyclicalSgld { period: 10_000, exploration: 0.5 };
        let mut chain = run(&gamma(), dynamics, 0.1).temperature(temperature).start(&full([1], 0.3)).unwrap();
        (0..2000).for_each(|_| chain.step().unwrap());
        assert!((chain.position()[0] - (2.0 + temperature)).abs() < 1e-9, "T = {temperature}: {:?}", chain.position());
    }
}
