//! Draws as parameters of the model.

use sgmcmc::prelude::*;
use sgmcmc_testkit::models::logistic::Weights;

use super::{fit_of, layout};

fn like() -> Weights {
    Weights { bias: zeros([1]), beta: zeros([2]) }
}

fn fit() -> Fit {
    let rows = vec![vec![1.0, 2.0, 10.0], vec![3.0, 4.0, 20.0]];
    let more = vec![vec![5.0, 6.0, 30.0], vec![7.0, 8.0, 40.0], vec![9.0, 9.0, 9.0]];
    fit_of(layout(&[("bias", &[1]), ("beta", &[2])]), &[rows, more])
}

fn numbers<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

#[test]
fn means_and_draws_are_parameters() {
    let fit = fit().first(2);
    let mean = fit.mean(&like()).unwrap();
    assert_eq!((numbers(&mean.bias), numbers(&mean.beta)), (vec![4.0], vec![5.0, 25.0]));
    let sd = numbers(&fit.sd(&like()).unwrap().bias)[0];
    assert!((sd - (20.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{sd}");
    assert_eq!(numbers(&fit.quantile(&like(), 0.5).unwrap().bias), [4.0]);
    let biases: Vec<f64> = fit.params(&like()).unwrap().map(|w| numbers(&w.bias)[0]).collect();
    assert_eq!(biases, [1.0, 3.0, 5.0, 7.0]);
}

#[test]
fn arrays_are_cut_to_the_shortest_chain() {
    let draws = fit().draws("beta").unwrap();
    assert_eq!(draws.shape, [2, 2, 2]);
    assert_eq!(draws.values, [2.0, 10.0, 4.0, 20.0, 6.0, 30.0, 8.0, 40.0]);
    assert!(fit().draws("beta[0]").is_err());
}

#[test]
fn other_parameters_are_refused() {
    let other = Weights { bias: zeros([1]), beta: zeros([3]) };
    let error = fit().mean(&other).unwrap_err().to_string();
    assert!(error.contains("`beta`") && error.contains("[3]"), "{error}");
    assert!(fit().params(&zeros([3])).is_err());
}

#[test]
fn the_mode_follows_the_parameters_and_keeps_its_warning() {
    let mode = sgmcmc::mode::Mode {
        theta: vec![1.0, 2.0, 3.0],
        log_posterior: -5.0,
        gradient_norm: 240.0,
        start_log_posterior: -9.0,
        iterations: 7,
        full_passes: 9,
        outcome: sgmcmc::mode::SearchOutcome::IterationLimit,
        predicted_gain: Some(40.0),
    };
    let fit = fit().with_mode(Some(mode.clone()));
    let warned = |fit: &Fit| fit.check().to_string().contains("mode");
    assert!(warned(&fit));
    let flat = fit.derive_flat("first", &[1], |x, out| out[0] = x[0]).unwrap();
    let typed = fit.derive("first", &like(), |w: Weights| w.bias).unwrap();
    let only = fit.only(&["beta"]).unwrap();
    for (changed, theta) in
        [(flat, vec![1.0, 2.0, 3.0, 1.0]), (typed, vec![1.0, 2.0, 3.0, 1.0]), (only, vec![2.0, 3.0])]
    {
        assert_eq!(changed.mode(), Some(&sgmcmc::mode::Mode { theta, ..mode.clone() }));
        assert!(warned(&changed));
    }
}

#[test]
fn derived_quantities_are_values_like_others() {
    let fit = fit();
    let derived = fit.derive("ratio", &like(), |w: Weights| w.beta / w.bias).unwrap();
    assert_eq!(derived.draws("ratio").unwrap().values[..4], [2.0, 10.0, 4.0 / 3.0, 20.0 / 3.0]);
    let flat = fit.derive_flat("ratio", &[2], |x, out| out.copy_from_slice(&[x[1] / x[0], x[2] / x[0]])).unwrap();
    assert_eq!(flat, derived);
    assert!(derived.summary().row("ratio[1]").is_some());
    assert_eq!(derived.chains()[1].len(), 3);
    assert!(fit.derive("beta", &like(), |w: Weights| w.bias).unwrap_err().to_string().contains("`beta`"));
    assert!(fit.first(0).derive("b", &like(), |w: Weights| w.bias).is_err());
}
