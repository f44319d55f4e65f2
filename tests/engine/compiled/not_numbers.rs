//! NaN, very large numbers, kinks and signed zeros: where the engines agree, and where they are known to differ.

use std::f64::consts::PI;

use sgmcmc::burn::activation::{hard_sigmoid, hard_swish, quiet_softmax};
use sgmcmc::prelude::*;
use sgmcmc_testkit::closures::compare::both;

/// Value and gradient of both engines at `theta`, for observations of which one is missing.
fn answers(
    theta: [f64; 2],
    closure: impl Fn(Tensor<1>, Tensor<1>) -> Tensor<1> + Send + Sync + 'static,
) -> [(f64, [f64; 2]); 2] {
    let data = Dataset::allow_non_finite(array(vec![0.5, f64::NAN, -1.0], [3]).unwrap()).unwrap();
    let posterior = Model::new(closure).with(&data);
    let engines = both(&posterior, &array(vec![0.3, 0.4], [2]).unwrap()).unwrap();
    engines.map(|mut engine| {
        let mut gradient = [0.0; 2];
        let rows = engine.all_rows();
        let value = engine.posterior(&theta, rows, &mut gradient).unwrap();
        (value, gradient)
    })
}

fn same(what: &str, theta: [f64; 2], closure: impl Fn(Tensor<1>, Tensor<1>) -> Tensor<1> + Send + Sync + 'static) {
    let [(value, gradient), (expected, slopes)] = answers(theta, closure);
    let alike = |a: f64, b: f64| (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-12 * (1.0 + b.abs());
    assert!(alike(value, expected), "{what} at {theta:?}: {value} for {expected}");
    for (g, slope) in gradient.iter().zip(&slopes) {
        assert!(alike(*g, *slope), "{what} at {theta:?}: {gradient:?} for {slopes:?}");
    }
}

/// Element `i` of the parameters.
fn part(theta: &Tensor<1>, i: usize) -> Tensor<1> {
    theta.clone().narrow(0, i, 1)
}

/// Zero where `y` is missing.
fn known(terms: Tensor<1>, y: Tensor<1>) -> Tensor<1> {
    terms.mask_fill(y.is_nan(), 0.0)
}

#[test]
fn of_numbers_without_an_order_the_first_is_taken() {
    for theta in [[0.3, 0.4], [f64::NAN, 0.4], [0.3, f64::NAN]] {
        same("max_pair", theta, |theta, y| known(part(&theta, 0).max_pair(part(&theta, 1)) + y.clone(), y));
        same("min_pair", theta, |theta, y| known(part(&theta, 0).min_pair(part(&theta, 1)) + y.clone(), y));
        same("greater", theta, |theta, y| {
            let (a, b) = (part(&theta, 0), part(&theta, 1));
            known(b.clone().mask_where(a.clone().greater(b), a) + y.clone(), y)
        });
        same("greater or equal", theta, |theta, y| {
            let (a, b) = (part(&theta, 0), part(&theta, 1));
            known(b.clone().mask_where(a.clone().greater_equal(b), a) + y.clone(), y)
        });
    }
    // A missing observation on either side.
    same("max_pair", [0.3, 0.4], |theta, y| {
        known(part(&theta, 0).expand(y.dims()).max_pair(y.clone()) + part(&theta, 1), y)
    });
    same("max_pair", [0.3, 0.4], |theta, y| known(y.clone().max_pair(part(&theta, 0).expand(y.dims())), y));
}

#[test]
fn the_sign_of_what_is_not_a_number_is_zero() {
    for theta in [[0.3, -0.4], [f64::NAN, 0.4], [0.0, -0.0]] {
        same("sign", theta, |theta, y| known(theta.sign().sum() + y.clone(), y));
        same("abs", theta, |theta, y| known(theta.abs().sum() + y.clone(), y));
    }
    same("sign", [0.3, 0.4], |theta, y| y.sign() * part(&theta, 0));
}

#[test]
fn quiet_softmax_of_very_negative_numbers() {
    for theta in [[0.3, 0.4], [-700.0, -800.0], [-1000.0, -2000.0], [-1000.0, 3.0]] {
        same("quiet_softmax", theta, |theta, y| known(quiet_softmax(theta, 0).narrow(0, 0, 1) + y.clone() * 0.0, y));
    }
}

#[test]
fn at_a_kink_the_slope_is_that_of_either_side() {
    let near = |found: f64, choices: [f64; 2]| choices.iter().any(|choice| (found - choice).abs() < 1e-6);
    for kink in [-2.5, 2.5] {
        for (_, gradient) in
            answers([kink, 0.0], |theta, y| known(hard_sigmoid(part(&theta, 0), 0.2, 0.5) + y.clone(), y))
        {
            assert!(near(gradient[0], [0.0, 0.4]), "{gradient:?}");
        }
    }
    for (kink, outer) in [(-3.0, 0.0), (3.0, 2.0)] {
        for (_, gradient) in answers([kink, 0.0], |theta, y| known(hard_swish(part(&theta, 0)) + y.clone(), y)) {
            assert!(near(gradient[0], [outer, if kink < 0.0 { -1.0 } else { 3.0 }]), "{gradient:?}");
        }
    }
}

#[test]
fn the_sign_of_zero_may_differ() {
    let [(found, _), (expected, _)] = answers([0.0, 0.0], |theta, y| {
        let (a, b) = (part(&theta, 0), part(&theta, 1));
        known((a.neg() * 1.5).atan2(b.clone() * -1.0) + y.clone(), y)
    });
    let turns = (found - expected) / PI;
    assert!((turns - turns.round()).abs() < 1e-12, "{found} for {expected}");
}
