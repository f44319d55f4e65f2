//! Step sizes that change over time or differ by parameter: velocities and thermostats keep their temperature.

use super::*;

/// h falls to a quarter in one iteration. Velocities of variance hT must shrink with it: the first step after the change has the variance of the
/// new step size, not of the old one.
fn spread_after_a_change<D>(dynamics: D) -> f64
where
    D: Dynamics<FullGradient> + Clone + std::fmt::Debug,
{
    let (h, switch) = (1e-6, 10_u64);
    let p = Problem::new(1, 0.0);
    let mean = p.model.posterior_mean();
    let step_size = StepSize::from(move |t: u64| if t < switch { h } else { 0.25 * h });
    let recipe = recipe(dynamics, FullGradient, step_size, 1.0);
    let mut sum = 0.0;
    for seed in 0..3000 {
        let mut chain = p.chain(&recipe, &mean, seed);
        for _ in 0..switch {
            chain.step().unwrap();
        }
        let before = chain.position()[0];
        chain.step().unwrap();
        sum += (chain.position()[0] - before).powi(2);
    }
    sum / 3000.0 / (0.25 * h)
}

/// A displacement of one velocity of variance h; 3000 replications know it to 2.6 %, five standard errors are 13 %.
#[test]
fn velocities_follow_a_step_size_that_changes() {
    let close = |name: &str, found: f64| assert!((found - 1.0).abs() < 0.13, "{name}: {found}");
    close("SGNHT", spread_after_a_change(Sgnht { a: 1e-3.into(), thermostats: Thermostats::Global }));
    close("BAOAB", spread_after_a_change(Baoab { alpha: 1e-3, ..Baoab::default() }));
    close("BADODAB", spread_after_a_change(Badodab { a: 1e-3.into(), thermostats: Thermostats::Global }));
}

/// ξ − a is scaled by √(h/h').
#[test]
fn thermostats_follow_a_step_size_that_changes() {
    let p = Problem::new(1, 0.0);
    let (h, a) = (0.02, 0.01);
    for (name, dynamics) in [("SGNHT", true), ("BADODAB", false)] {
        let step_size = || StepSize::from(move |t: u64| if t < 5 { h } else { 1e-20 });
        let mut chain: Box<dyn Chain> = if dynamics {
            let sgnht = Sgnht { a: a.into(), thermostats: Thermostats::Global };
            Box::new(p.chain(&recipe(sgnht, FullGradient, step_size(), 1.0), &[0.5], 3))
        } else {
            let badodab = Badodab { a: a.into(), thermostats: Thermostats::Global };
            Box::new(p.chain(&recipe(badodab, FullGradient, step_size(), 1.0), &[0.5], 3))
        };
        let mut xi = [0.0];
        for _ in 0..5 {
            chain.step().unwrap();
        }
        chain.stats(&mut xi);
        let before = xi[0] - a;
        assert!(before.abs() > 1e-3, "{name}: the thermostat has not moved");
        chain.step().unwrap();
        chain.stats(&mut xi);
        // A step of 1e-20 moves the thermostat by nothing.
        let expected = before * (1e-20_f64 / h).sqrt();
        assert!((xi[0] - a - expected).abs() < 1e-12, "{name}: {} against {expected}", xi[0] - a);
    }
}

/// The schedule is a function of the iteration: a chain resumed after a change goes on bit for bit.
#[test]
fn a_chain_resumed_where_the_step_size_changes_goes_on_bit_for_bit() {
    let p = Problem::new(1, 0.0);
    let step_size = || StepSize::from(|t: u64| 0.01 / (1.0 + t as f64));
    let make =
        |seed| p.chain(&recipe(Baoab { alpha: 0.1, ..Baoab::default() }, FullGradient, step_size(), 1.0), &[0.5], seed);
    let (mut chain, mut resumed) = (make(3), make(4));
    for _ in 0..10 {
        chain.step().unwrap();
    }
    resumed.restore(&chain.save().unwrap()).unwrap();
    for _ in 0..10 {
        chain.step().unwrap();
        resumed.step().unwrap();
        assert_eq!(chain.position(), resumed.position());
    }
}
