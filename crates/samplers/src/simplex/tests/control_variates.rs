//! Control variates of counts that depend on the simplex.

use sgmcmc_gradient::{
    ChainRng, ControlVariate, FullGradient, GradientEstimator, GradientNoise, MinibatchGradient, Oracle, Rows, Saga,
    Svrg, Target, Weighted, WithReplacement, WithoutReplacement,
};

use super::mean;
use crate::simplex::{SimplexTarget, StatisticsFn};

const N: usize = 60;

/// The weights of a mixture with known components: the counts are the probabilities of the components.
fn mixture() -> SimplexTarget {
    let statistics = StatisticsFn::new(N, |observation, counts| {
        let x = observation.row as f64 / N as f64;
        let terms: [f64; 3] =
            std::array::from_fn(|j| observation.omega[j] * (-8.0 * (x - 0.5 * j as f64).powi(2)).exp());
        let total: f64 = terms.iter().sum();
        counts.iter_mut().zip(terms).for_each(|(count, term)| *count += observation.weight * term / total);
    });
    SimplexTarget::new(vec![1.0; 3], statistics).unwrap()
}

/// The variance of a control variate is quadratic in the distance from its center.
#[test]
fn noise_is_quadratic_in_the_distance_from_the_center() {
    let target = mixture();
    let center = vec![0.2_f64, -0.1, 0.4];
    let mut evaluator = target.evaluator(&vec![0.2, 0.5, 0.3]).unwrap();
    let mut noise = |distance: f64, reduced: bool| {
        let theta: Vec<f64> = center.iter().zip([1.0, -0.5, 0.3]).map(|(c, d)| c + distance * d).collect();
        let scheme = WithReplacement::new(5);
        let estimator = ControlVariate::new(scheme).with_center(center.clone());
        let measured = if reduced {
            GradientNoise::measure(&estimator, evaluator.as_mut(), &theta, 2000, 1)
        } else {
            GradientNoise::measure(&MinibatchGradient::new(scheme), evaluator.as_mut(), &theta, 2000, 1)
        };
        measured.unwrap().total_variance()
    };
    assert!(noise(0.0, true) < 1e-20);
    let (near, far) = (noise(0.01, true), noise(0.02, true));
    assert!((far / near - 4.0).abs() < 0.1, "{}", far / near);
    assert!(near < 1e-3 * noise(0.01, false));
}

/// At a fixed point all estimators have the mean a. The table of SAGA and the center of SVRG hold counts.
#[test]
fn estimators_are_unbiased() {
    fn check<G: GradientEstimator + std::fmt::Debug>(gradient: G) {
        let (target, at, name) = (mixture(), [0.4, -0.3, 0.9], format!("{gradient:?}"));
        let evaluator = || target.evaluator(&vec![0.2, 0.5, 0.3]).unwrap();
        let mut exact = [0.0; 3];
        evaluator().posterior(&at, Rows::range(0..N), &mut exact).unwrap();
        // The start is the center and the table of the estimators, away from the point of the estimates.
        let mut oracle = Oracle::new(gradient, evaluator(), &[0.0; 3], ChainRng::new(3, 0)).unwrap();
        let estimates: Vec<[f64; 3]> = (0..4000)
            .map(|_| {
                let mut a = [0.0; 3];
                oracle.gradient(&at, &mut a).unwrap();
                a
            })
            .collect();
        for (j, exact) in exact.into_iter().enumerate() {
            let (found, error) = mean(estimates.iter().map(|a| a[j]));
            assert!((found - exact).abs() < 4.0 * error + 1e-9, "{name}: {found} ± {error} of {exact}");
        }
    }
    check(FullGradient);
    check(MinibatchGradient::new(WithoutReplacement::new(6)));
    check(MinibatchGradient::new(Weighted::new(6, (1..=N).map(|i| i as f64).collect()).unwrap()));
    check(ControlVariate::new(WithReplacement::new(6)));
    check(Svrg::new(WithoutReplacement::new(6), 10_000));
    check(Saga::new(WithoutReplacement::new(6)));
}
