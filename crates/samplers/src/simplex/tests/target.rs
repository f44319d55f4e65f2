//! Counts, targets and their evaluators.

use sgmcmc_gradient::{Constraint, FullGradient, Layout, Rows, Target};

use super::{categorical, start};
use crate::chain::Chain;
use crate::simplex::{Counts, Scir, SimplexTarget, StatisticsFn};

const ROWS: [f64; 12] = [3.0, 0.0, 1.0, 0.0, 5.0, 2.0, 1.0, 1.0, 0.0, 4.0, 0.0, 0.0];

fn multinomial() -> SimplexTarget {
    SimplexTarget::new(vec![0.5, 1.5, 2.5], Counts::from_rows(&ROWS, 3).unwrap()).unwrap()
}

#[test]
fn statistics_are_alpha_and_weighted_counts() {
    let mut evaluator = multinomial().evaluator(&vec![0.2, 0.5, 0.3]).unwrap();
    let (theta, mut a) = ([0.1, -2.0, 0.7], vec![0.0; 3]);
    evaluator.prior(&theta, &mut a).unwrap();
    assert_eq!(a, [0.5, 1.5, 2.5]);
    evaluator.likelihood(&theta, Rows::list(&[1, 3]).scaled(2.0), &mut a).unwrap();
    assert_eq!(a, [8.5, 11.5, 6.5]);
    let mut each = vec![0.0; 12];
    evaluator.gradient_per_observation(&theta, Rows::range(0..4), &mut each).unwrap();
    assert_eq!(each, ROWS);
    // The value is the log density of the Dirichlet distribution without its constant.
    let log_omega = theta.map(|y: f64| y - theta.iter().map(|y| y.exp()).sum::<f64>().ln());
    let expected: f64 = [7.5, 6.5, 4.5].iter().zip(log_omega).map(|(power, log)| power * log).sum();
    assert!((evaluator.log_density(&theta, Rows::range(0..4)).unwrap() - expected).abs() < 1e-12);
}

#[test]
fn the_gradient_of_the_density_is_that_of_central_differences() {
    let mut evaluator = multinomial().density().evaluator(&vec![0.2, 0.5, 0.3]).unwrap();
    let (theta, rows) = ([0.1, -2.0, 0.7], Rows::list(&[0, 1, 1, 2]).scaled(1.5));
    let mut gradient = vec![0.0; 3];
    evaluator.posterior(&theta, rows, &mut gradient).unwrap();
    for k in 0..3 {
        let mut at = |delta: f64| {
            let mut moved = theta;
            moved[k] += delta;
            evaluator.log_density(&moved, rows).unwrap()
        };
        let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!((gradient[k] - difference).abs() < 1e-6, "{} of {difference}", gradient[k]);
    }
}

/// The rows of a matrix are moved as separate simplexes, with the counts of their own.
#[test]
fn several_simplexes_are_independent() {
    let layout = Layout::new([
        ("rows".into(), vec![2, 3], Some(Constraint::Softmax)),
        ("other".into(), vec![2], Some(Constraint::Softmax)),
    ]);
    let statistics = StatisticsFn::new(100, |observation, counts| {
        counts[observation.row % 3] += observation.weight;
        counts[3 + observation.row % 2] += observation.weight;
        counts[6] += observation.weight;
    });
    let target = SimplexTarget::with_layout(layout.unwrap(), vec![1.0; 8], statistics).unwrap();
    let start_values = vec![0.3, 0.3, 0.4, 0.2, 0.2, 0.6, 0.5, 0.5];
    let log_theta = target.flatten(target.simplex_layout(), &start_values).unwrap();
    // The sum of θ is that of α.
    assert!((log_theta[..3].iter().map(|y| y.exp()).sum::<f64>() - 3.0).abs() < 1e-12);
    let mut chain = start(&target, Scir, FullGradient, 1.0, &log_theta, 1);
    let mut means = [0.0; 8];
    for _ in 0..4000 {
        chain.step().unwrap();
        let values = chain.layout().values(chain.position()).unwrap();
        means.iter_mut().zip(values).for_each(|(mean, value)| *mean += value / 4000.0);
    }
    let expected = [35.0, 34.0, 34.0, 51.0, 51.0, 1.0, 101.0, 1.0];
    for (j, (mean, a)) in means.into_iter().zip(expected).enumerate() {
        let total = if j < 6 { 103.0 } else { 102.0 };
        assert!((mean - a / total).abs() < 0.006, "{j}: {mean} of {}", a / total);
    }
}

/// Latent variables of an observation are a function of the coordinates.
#[test]
fn random_counts_are_reproducible() {
    use rand::RngExt;
    let statistics = StatisticsFn::new(50, |observation, counts| {
        counts[usize::from(observation.rng().random::<f64>() < observation.omega[0])] += observation.weight;
    });
    let target = SimplexTarget::new(vec![1.0; 2], statistics).unwrap();
    let mut evaluator = target.evaluator(&vec![0.5, 0.5]).unwrap();
    let mut counts = |theta: [f64; 2]| {
        let mut out = vec![0.0; 2];
        evaluator.likelihood(&theta, Rows::range(0..50), &mut out).unwrap();
        out
    };
    let first = counts([0.3, 0.1]);
    assert_eq!(first, counts([0.3, 0.1]));
    let others: Vec<_> = (0..20).map(|k| counts([0.3, 0.1 + 1e-9 * f64::from(k)])).collect();
    assert!(others.iter().filter(|other| **other != first).count() > 10);
    // The counts of the second category have probability 1 − ω₁ = 0.45.
    let mean = others.iter().map(|counts| counts[0]).sum::<f64>() / 1000.0;
    assert!((mean - 0.45).abs() < 4.0 * (0.25_f64 / 1000.0).sqrt(), "{mean}");
}

#[test]
fn mistakes_are_errors() {
    let counts = || Counts::from_labels(&[0, 1], 2).unwrap();
    assert!(SimplexTarget::new(vec![1.0], counts()).is_err());
    assert!(SimplexTarget::new(vec![1.0, 0.0], counts()).is_err());
    assert!(SimplexTarget::new(vec![1.0, f64::NAN], counts()).is_err());
    let error = SimplexTarget::new(vec![1.0; 3], counts()).unwrap_err().to_string();
    assert!(error.contains("the counts of an observation"), "{error}");
    let unconstrained = Layout::vector("beta", 2);
    let error = SimplexTarget::with_layout(unconstrained, vec![1.0; 2], counts()).unwrap_err().to_string();
    assert!(error.contains("`beta`") && error.contains("Softmax"), "{error}");
    assert!(categorical(1.0, &[1, 2]).with_total(-1.0).is_err());
    assert!(Counts::from_labels(&[], 0).is_err() && Counts::from_rows(&[1.0; 3], 2).is_err());
    assert!(Counts::from_rows(&[1.0, f64::INFINITY], 2).is_err());
}

#[test]
fn a_temperature_and_counts_that_are_not_finite_are_errors() {
    use crate::run::Builder;
    let run = |target| Builder::new(target, Scir, FullGradient, 0.1);
    let error = run(categorical(1.0, &[1, 2])).temperature(2.0).start(&vec![0.5, 0.5]).unwrap_err().to_string();
    assert!(error.contains("temperature"), "{error}");
    let statistics = StatisticsFn::new(1, |_, counts| counts[0] = f64::NAN);
    let target = SimplexTarget::new(vec![1.0; 2], statistics).unwrap();
    let error = run(target).start(&vec![0.5, 0.5]).unwrap().step().unwrap_err().to_string();
    assert!(error.contains("finite"), "{error}");
}
