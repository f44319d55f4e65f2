//! Shapes of parameters, refusals, and mixtures.

use sgmcmc::burn::DType;
use sgmcmc::distributions::*;
use sgmcmc::{array, zeros};
use sgmcmc_testkit::rng;

use crate::distributions::support::Support;
use crate::distributions::{cases, host, log_prob, owned, params, tensor};

/// Shared parameters, parameters of their own for each row, and many parameters for one value, against one by one.
#[test]
fn parameters_broadcast() {
    for case in cases::all() {
        let (points, set) = (case.support.inside(), owned(case.ordinary[0]));
        let value = tensor(&points, DType::F64);
        let one_by_one: Vec<f64> = points.iter().map(|point| log_prob(&case, &set, point)).collect();
        let shared = (case.tensors)(&params(&set, DType::F64)).log_prob(value.clone());
        assert_eq!(host(&shared), one_by_one, "{}", case.name);
        if case.numbers.is_some() {
            let columns: Vec<_> = set.iter().map(|p| p.repeat(points.len())).collect();
            let own = (case.tensors)(&params(&columns, DType::F64));
            assert_eq!(host(&own.log_prob(value.clone())), one_by_one, "{}", case.name);
            let one_value = own.log_prob(value.narrow(0, 1, 1));
            assert_eq!(host(&one_value), vec![one_by_one[1]; points.len()], "{}", case.name);
        } else if case.name.ends_with("diagonal") || case.support != Support::Plane && case.name != "Mixture" {
            let rows: Vec<_> = set.iter().map(|p| tensor(&vec![p.clone(); points.len()], DType::F64)).collect();
            assert_eq!(host(&(case.tensors)(&rows).log_prob(value)), one_by_one, "{}", case.name);
        }
    }
}

#[test]
fn vectors_of_parameters_are_rows() {
    let weights = || array(vec![0.2, 0.5, 0.3], [3]).unwrap();
    let row = || weights().unsqueeze_dim::<2>(0);
    let value = array(vec![0.1, 0.6, 0.3], [1, 3]).unwrap();
    let dirichlet = [Dirichlet::new(weights()), Dirichlet::new(row())].map(|d| host(&d.log_prob(value.clone())));
    assert_eq!(dirichlet[0], dirichlet[1]);
    let counts = array(vec![1.0, 0.0, 4.0], [1, 3]).unwrap();
    let multinomial = [Multinomial::new(weights()), Multinomial::new(row())].map(|d| host(&d.log_prob(counts.clone())));
    assert_eq!(multinomial[0], multinomial[1]);
    let label = array(vec![2_i64, 0], [2]).unwrap();
    let logits = weights().log();
    let categories = host(&CategoricalLogits::new(logits.clone()).log_prob(label));
    assert!((categories[0] - 0.3_f64.ln()).abs() < 1e-15 && (categories[1] - 0.2_f64.ln()).abs() < 1e-15);
    let mixture = Mixture::logits(logits).with(Normal::new(0, 1)).with(Normal::new(0, 1)).with(Normal::new(0, 1));
    let y = array(vec![0.7], [1]).unwrap();
    assert!((host(&mixture.log_prob(y.clone()))[0] - host(&Normal::new(0, 1).log_prob(y))[0]).abs() < 1e-15);
}

#[test]
fn numbers_out_of_range_are_refused() {
    type Row = (fn(), &'static str);
    let rows: [Row; 9] = [
        (|| drop(Normal::<1>::new(0.0, 0.0)), "Normal: scale must be positive and finite, not 0"),
        (|| drop(Normal::<1>::new(f64::NAN, 1)), "Normal: loc must be finite, not NaN"),
        (|| drop(Gamma::<2>::new(-1, 1.0)), "Gamma: shape must be positive and finite, not -1"),
        (|| drop(Bernoulli::<1>::new(1.5)), "Bernoulli: probs must be between zero and one, not 1.5"),
        (
            || drop(BinomialLogits::<1>::new(2.5, 0.0)),
            "BinomialLogits: total must be a whole number, not negative, not 2.5",
        ),
        (|| drop(Poisson::<1>::new(-1.0)), "Poisson: rate must be finite and not negative, not -1"),
        (|| drop(Uniform::<1>::new(2.0, 1.0)), "Uniform: high must be above low = 2, not 1"),
        (
            || drop(Mixture::<1>::weights(&[0.5, 0.6])),
            "Mixture: weights must be positive and add up to one, not [0.5, 0.6] (sum 1.1)",
        ),
        (
            || drop(Mixture::weights(&[0.5, 0.5]).with(Normal::new(0, 1)).log_prob(zeros([1]))),
            "Mixture: 2 weights for 1 components",
        ),
    ];
    for (make, expected) in rows {
        let panic = std::panic::catch_unwind(make).unwrap_err();
        let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        assert_eq!(message, Some(expected));
    }
}

#[test]
fn mixtures_of_families_and_of_rows() {
    let y = array(vec![-1.0, 0.5, 3.0], [3]).unwrap();
    let mixture = Mixture::weights(&[0.25, 0.75]).with(Exponential::new(2.0)).with(Normal::new(0.0, 1.0));
    let by_hand: Vec<f64> = [-1.0_f64, 0.5, 3.0]
        .iter()
        .map(|y| {
            let exponential = if *y < 0.0 { 0.0 } else { 2.0 * (-2.0 * y).exp() };
            let normal = (-0.5 * y * y).exp() / (2.0 * std::f64::consts::PI).sqrt();
            (0.25 * exponential + 0.75 * normal).ln()
        })
        .collect();
    for (computed, expected) in host(&mixture.log_prob(y.clone())).iter().zip(&by_hand) {
        assert!((computed - expected).abs() < 1e-14, "{computed} against {expected}");
    }
    // Weights of their own for each value, and for each row of a mixture of rows.
    let logits = array(vec![0.0, -800.0, -800.0, 0.0, -800.0, 0.0], [3, 2]).unwrap();
    let chosen = Mixture::logits(logits.clone()).with(Exponential::new(2.0)).with(Normal::new(0.0, 1.0));
    let normal = host(&Normal::new(0.0, 1.0).log_prob(y.clone()));
    assert_eq!(host(&chosen.log_prob(y)), [f64::NEG_INFINITY.max(-800.0 + normal[0]), normal[1], normal[2]]);
    let points = array(vec![0.0, 0.0, 5.0, 5.0, 4.0, 6.0], [3, 2]).unwrap();
    let near = MultivariateNormal::diagonal(0.0, 1.0);
    let far = MultivariateNormal::diagonal(5.0, 1.0);
    let rows = Mixture::logits(logits).with(near.clone()).with(far.clone());
    let log_prob = host(&rows.log_prob(points.clone()));
    let (near, far) = (host(&near.log_prob(points.clone())), host(&far.log_prob(points)));
    assert_eq!(log_prob, [near[0], far[1], far[2]]);
    let drawn = host(&rows.sample([3, 2], &mut rng(4)));
    assert!(drawn[..2].iter().all(|x| x.abs() < 4.0) && drawn[2..].iter().all(|x| (x - 5.0).abs() < 4.0), "{drawn:?}");
    // A mixture is a distribution: mixtures nest.
    let nested = Mixture::weights(&[1.0]).with(mixture);
    assert!((host(&nested.log_prob(array(vec![0.5], [1]).unwrap()))[0] - by_hand[1]).abs() < 1e-14);
}
