//! Mistakes in loops over time, and their messages.

use sgmcmc::data::Rows;
use sgmcmc::gradient::Error;
use sgmcmc::prelude::*;
use sgmcmc::sequence::{iterate, scan};
use sgmcmc::{Engine, TensorTree};

use super::data;

fn refused<D: TensorTree>(model: &Model<Tensor<1>, D>, data: &Dataset<D>) -> String {
    model.with(data).evaluator(&zeros([1])).unwrap_err().to_string()
}

fn contains(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
}

#[test]
fn state_changes_shape() {
    let model = Model::new(|theta: Tensor<1>, y: Tensor<2>| {
        let start = y.clone().narrow(1, 0, 1);
        let grows = |h: Tensor<2>, y: Tensor<2>| (Tensor::cat(vec![h, y * theta.clone().unsqueeze()], 1), ());
        scan(start, y, 1, grows).last.sum_dim(1).squeeze_dim::<1>(1)
    });
    contains(&refused(&model, &data(2, 5)), &["the state has shape [2, 2] before", "a step must keep the shape"]);
}

#[test]
fn sequences_have_different_lengths() {
    let model = Model::new(|theta: Tensor<1>, y: Tensor<2>| {
        let shorter = y.clone().narrow(1, 0, 3);
        let start = y.clone().narrow(1, 0, 1);
        let body = |h: Tensor<2>, (a, b): (Tensor<2>, Tensor<2>)| (h + a * b * theta.clone().unsqueeze(), ());
        scan(start, (y, shorter), 1, body).last.squeeze_dim::<1>(1)
    });
    contains(&refused(&model, &data(2, 5)), &["[5, 3] steps along axis 1", "the same number"]);
}

#[test]
fn output_has_no_axis_of_time() {
    let model = Model::new(|theta: Tensor<1>, y: Tensor<2>| {
        let start = y.clone().narrow(1, 0, 1);
        let body = |h: Tensor<2>, y: Tensor<2>| (h.clone() + y * theta.clone().unsqueeze(), h.repeat_dim(1, 2));
        scan(start, y, 1, body).outputs.sum_dim(1).squeeze_dim::<1>(1)
    });
    contains(&refused(&model, &data(2, 5)), &["has shape [2, 2]", "must have size one", "unsqueeze_dim(1)"]);
}

#[test]
fn no_steps_and_no_sequences() {
    let none = Model::density(|theta: Tensor<1>| iterate(theta, 0, 0, |h| (h.tanh(), ())).last);
    contains(&refused(&none, &Dataset::none()), &["a sequence has no steps"]);
    let nothing = Model::density(|theta: Tensor<1>| scan(theta, (), 0, |h, ()| (h.tanh(), ())).last);
    contains(&refused(&nothing, &Dataset::none()), &["`scan` needs a sequence", "`iterate`"]);
    let other_axis = Model::density(|theta: Tensor<1>| scan(theta.clone(), theta, 2, |h, x| (h.tanh() + x, ())).last);
    contains(&refused(&other_axis, &Dataset::none()), &["has no axis 2"]);
}

#[test]
fn a_body_that_reads_values_runs_eagerly() {
    let model = Model::new(|theta: Tensor<1>, y: Tensor<2>| {
        let start = y.clone().narrow(1, 0, 1);
        let done = scan(start, y, 1, |h: Tensor<2>, y: Tensor<2>| {
            let grows = y.clone().sum().into_scalar::<f64>() > 1e9;
            (if grows { h } else { h * 0.5 + y * theta.clone().unsqueeze() }, ())
        });
        done.last.squeeze_dim::<1>(1).square() * -0.5
    });
    let posterior = model.with(&data(3, 5));
    let error = posterior.clone().engine(Engine::Compiled).evaluator(&zeros([1])).unwrap_err().to_string();
    contains(&error, &["reads the value of a tensor", "mask_where"]);
    let mut evaluator = posterior.evaluator(&zeros([1])).unwrap();
    assert!(evaluator.log_density(&[0.4], Rows::range(0..3)).unwrap().is_finite());
}

#[test]
fn time_along_the_observations_is_refused_under_minibatches() {
    let model = Model::new(|theta: Tensor<1>, y: Tensor<1>| {
        let before = y.clone().narrow(0, 0, 1) * 0.0;
        scan(before, y, 0, |h: Tensor<1>, y: Tensor<1>| (y.clone(), (y - h * theta.clone()).square() * -0.5)).outputs
    });
    let values = sgmcmc_testkit::sequences::series(50, 0);
    let posterior = model.with(&Dataset::new(array(values.clone(), [50]).unwrap()).unwrap());
    let compiled = posterior.clone().engine(Engine::Compiled).evaluator(&zeros([1])).unwrap_err().to_string();
    contains(&compiled, &["depends on other rows, by `scan`"]);
    let mut evaluator = posterior.evaluator(&zeros([1])).unwrap();
    let part = evaluator.likelihood(&[0.5], Rows::range(0..10), &mut [0.0]);
    assert!(matches!(part, Err(Error::MixedRows { .. })), "{part:?}");
    let whole = evaluator.likelihood(&[0.5], Rows::range(0..50), &mut [0.0]).unwrap();
    let mut expected = -0.5 * values[0] * values[0];
    for pair in values.windows(2) {
        expected -= 0.5 * (pair[1] - 0.5 * pair[0]) * (pair[1] - 0.5 * pair[0]);
    }
    assert!((whole - expected).abs() < 1e-9 * expected.abs(), "{whole} for {expected}");
}

#[test]
fn a_density_that_is_infinite_after_the_checked_steps() {
    let model = Model::new(|theta: Tensor<1>, y: Tensor<2>| {
        let start = y.clone().narrow(1, 0, 1);
        scan(start, y, 1, |h: Tensor<2>, y: Tensor<2>| (h * 1e80 + 1.0 + y * 0.0 + theta.clone().unsqueeze(), ()))
            .last
            .squeeze_dim::<1>(1)
    });
    contains(&refused(&model, &data(1, 20)), &["the log-likelihood is -inf at the start"]);
}
