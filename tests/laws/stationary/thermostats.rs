//! Long runs of SGNHT and BADODAB, which are not linear: the mean of the thermostat and the bias of the variance.

use super::*;

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
