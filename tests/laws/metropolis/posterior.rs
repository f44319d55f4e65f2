//! The stationary law is the posterior.

use sgmcmc_testkit::differences::central_differences;

use super::*;

#[test]
fn gradients_of_the_densities_are_right() {
    for (model, theta) in
        [(Curved::Correlated, &[0.3, -0.8][..]), (Curved::Banana, &[0.7, 0.4]), (Curved::Funnel, &[-0.6, 0.5, 1.1])]
    {
        let mut evaluator = model.target().evaluator(&array(theta.to_vec(), [theta.len()]).unwrap()).unwrap();
        let mut gradient = vec![0.0; theta.len()];
        evaluator.posterior(theta, Rows::range(0..0), &mut gradient).unwrap();
        let differences = central_differences(evaluator.as_mut(), theta, Rows::range(0..0)).unwrap();
        assert!(gradient.iter().zip(differences).all(|(a, b)| (a - b).abs() < 1e-8), "{model:?}");
    }
}

#[test]
fn mala_has_the_law() {
    assert_law(Mala::default(), &Curved::Correlated, 0.5, 100, 40);
    assert_law(Mala { covariance: dense(), ..Mala::default() }, &Curved::Correlated, 0.5, 100, 20);
    assert_law(Mala::default(), &Curved::Banana, 0.5, 100, 40);
    assert_law(Mala::default(), &Curved::Funnel, 0.6, 100, 40);
}

/// A matrix that is wide where the funnel is.
fn as_wide_as_the_funnel() -> Metric {
    Metric::diagonal(|theta, m| m.copy_from_slice(&[0.5, theta[0].exp(), theta[0].exp()]))
}

/// With Γ and without: the correction is for the proposals as they are.
#[test]
fn corrected_langevin_has_the_law() {
    assert_law(RiemannianMala::new(as_wide_as_the_funnel()), &Curved::Funnel, 1.0, 100, 30);
    assert_law(RiemannianMala::new(growing()), &Curved::Banana, 0.4, 100, 40);
    assert_law(RiemannianMala { gamma: false, ..RiemannianMala::new(growing()) }, &Curved::Banana, 0.4, 100, 40);
}

#[test]
fn hmc_has_the_law() {
    assert_law(hmc_of(8), &Curved::Correlated, 0.4, 100, 4);
    assert_law(Hmc { covariance: dense(), ..hmc_of(4) }, &Curved::Correlated, 0.5, 100, 4);
    assert_law(hmc_of(6), &Curved::Banana, 0.2, 100, 6);
    assert_law(hmc_of(6), &Curved::Funnel, 0.4, 100, 8);
}

/// One iteration in five moves each chain of the ensemble.
#[test]
fn hmc_bfgs_has_the_law() {
    let ensemble = |steps| HmcBfgs { steps, jitter: 0.3, ..HmcBfgs::default() };
    assert_law(ensemble(6), &Curved::Correlated, 0.4, 500, 6);
    assert_law(ensemble(6), &Curved::Banana, 0.3, 500, 11);
    assert_law(ensemble(6), &Curved::Funnel, 0.3, 500, 31);
}

/// At temperature T the law is p^{1/T}: on a Gaussian, √T times as wide.
#[test]
fn temperature_widens() {
    let model = Curved::Correlated;
    for p in [
        p_values(&mut chain(hmc_of(8), &model, 0.2, 2.0, 12), &model, 100, 4, 2.0_f64.sqrt()),
        p_values(&mut chain(Mala::default(), &model, 0.3, 2.0, 12), &model, 100, 40, 2.0_f64.sqrt()),
    ] {
        assert!(p.iter().all(|p| *p > FALSE_ALARM), "p-values {p:?}");
    }
    let recipe =
        |temperature: f64| Builder::new(model.target(), Hmc::default(), FullGradient, 0.1).temperature(temperature);
    let cold = recipe(0.0).start(&zeros([2])).unwrap_err().to_string();
    assert!(cold.contains("temperature is 0") && cold.contains("find_mode"), "{cold}");
}
