//! Mean and covariance of the displacement in one or two steps from a fixed θ.

use sgmcmc::schedule::PerParameter;

use super::*;

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
    assert_displacement(
        Baoab { alpha, ..Baoab::default() },
        SIZE,
        1,
        &LinearChain { state: 2, noise, update: &update },
        &START,
    );
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
