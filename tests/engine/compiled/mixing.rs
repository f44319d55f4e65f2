//! Closures whose term for an observation depends on other observations.

use sgmcmc::Engine;
use sgmcmc::data::Rows;
use sgmcmc::prelude::*;

const N: usize = 20_000;
const PHI: f64 = 0.8;

/// A sequence with the regression coefficient [`PHI`].
fn sequence() -> Vec<f64> {
    let mut x = 0.0;
    let noise = |i: usize| ((i * 7919 % 1009) as f64 / 1009.0 - 0.5) * 3.0;
    (0..N)
        .map(|i| {
            x = PHI * x + noise(i);
            x
        })
        .collect()
}

/// The log-likelihood of an autoregression, written over rows: each has the one before as its regressor.
fn over_rows(phi: Tensor<1>, x: Tensor<1>) -> Tensor<1> {
    let [n] = x.dims();
    let before = Tensor::cat(vec![x.clone().narrow(0, 0, 1) * 0.0, x.clone().narrow(0, 0, n - 1)], 0);
    (x - before * phi).square() * -0.5
}

/// The same on one row.
fn on_one_row(phi: Tensor<1>, x: Tensor<2>) -> Tensor<1> {
    let [_, n] = x.dims();
    let (before, after) = (x.clone().narrow(1, 0, n - 1), x.clone().narrow(1, 1, n - 1));
    let rest = (after - before * phi.unsqueeze()).square().sum_dim(1);
    (rest + x.narrow(1, 0, 1).square()).squeeze_dim(1) * -0.5
}

fn value_by_hand(phi: f64) -> (f64, f64) {
    let x = sequence();
    let (mut value, mut slope) = (-0.5 * x[0] * x[0], 0.0);
    for pair in x.windows(2) {
        let residual = pair[1] - phi * pair[0];
        value -= 0.5 * residual * residual;
        slope += residual * pair[0];
    }
    (value, slope)
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} for {expected}");
}

#[test]
fn all_rows_are_evaluated_at_once() {
    let posterior = Model::new(over_rows).with(&Dataset::new(array(sequence(), [N]).unwrap()).unwrap());
    // The coefficient is zero at the start, where no row depends on another.
    for engine in [Engine::Auto, Engine::Eager] {
        let mut evaluator = posterior.clone().engine(engine).evaluator(&zeros([1])).unwrap();
        let (value, slope) = value_by_hand(0.5);
        let mut gradient = [0.0];
        let rows = evaluator.all_rows();
        close(evaluator.posterior(&[0.5], rows, &mut gradient).unwrap(), value);
        close(gradient[0], slope);
        close(evaluator.log_density(&[0.5], rows).unwrap(), value);
        let mut terms = vec![0.0; N];
        evaluator.log_likelihood_per_observation(&[0.5], rows, &mut terms).unwrap();
        close(terms.iter().sum(), value);
    }
}

#[test]
fn a_part_of_the_rows_is_an_error_that_names_the_remedy() {
    let posterior = Model::new(over_rows).with(&Dataset::new(array(sequence(), [N]).unwrap()).unwrap());
    let mut evaluator = posterior.evaluator(&zeros([1])).unwrap();
    for rows in [Rows::range(0..100), Rows::list(&[3, 1, 2]), Rows::range(1..N)] {
        let error = evaluator.posterior(&[0.5], rows, &mut [0.0]).unwrap_err().to_string();
        for part in ["depends on the other observations", "[1, T]", "FullGradient", "Model::density"] {
            assert!(error.contains(part), "`{part}` is not in: {error}");
        }
        assert!(evaluator.likelihood(&[0.5], rows, &mut [0.0]).is_err());
        assert!(evaluator.log_density(&[0.5], rows).is_err());
    }
    assert!(evaluator.gradient_per_observation(&[0.5], Rows::range(0..2), &mut [0.0; 2]).is_err());
}

#[test]
fn a_sequence_on_one_row_is_compiled() {
    let posterior = Model::new(on_one_row).with(&Dataset::new(array(sequence(), [1, N]).unwrap()).unwrap());
    let mut evaluator = posterior.engine(Engine::Compiled).evaluator(&zeros([1])).unwrap();
    let (value, slope) = value_by_hand(0.5);
    let mut gradient = [0.0];
    close(evaluator.posterior(&[0.5], Rows::range(0..1), &mut gradient).unwrap(), value);
    close(gradient[0], slope);
}

#[test]
fn closures_of_single_rows_are_not_taken_for_mixed() {
    // Reads values, so that it runs eagerly.
    let model = Model::new(|m: Tensor<1>, x: Tensor<1>| {
        let shift: f64 = m.clone().into_scalar();
        (x - m - shift * 0.1).square() * -0.5
    });
    let posterior = model.with(&Dataset::new(array(sequence(), [N]).unwrap()).unwrap());
    let mut evaluator = posterior.evaluator(&zeros([1])).unwrap();
    evaluator.posterior(&[0.5], Rows::list(&[7, 3]), &mut [0.0]).unwrap();
}
