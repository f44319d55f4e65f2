//! Models that all engines are tested with.

use burn_tensor::activation::{log_sigmoid, log_softmax, softmax};
use burn_tensor::{Int, Tensor};

use super::check::check;
use super::{dataset, matrix, vector};
use crate::{Model, Named, array, ones, zeros};

#[test]
fn normal_mean() {
    let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5)
        .prior(|theta: Tensor<1>| theta.square() * -0.005);
    check("normal mean", &model, &dataset(vector(6)), &ones([1]));
}

#[test]
fn logistic_regression() {
    let model = Model::new(|(bias, beta): (Tensor<1>, Tensor<1>), (x, y): (Tensor<2>, Tensor<1>)| {
        let logits = x.matmul(beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + bias;
        log_sigmoid(logits * (y * 2.0 - 1.0))
    })
    .prior(|(bias, beta): (Tensor<1>, Tensor<1>)| (beta.abs().sum() + bias.abs().sum()).neg());
    let y = array(vec![1.0, 0.0, 0.0, 1.0], [4]).unwrap();
    check("logistic", &model, &dataset((matrix(4, 5), y)), &(ones([1]), vector(5)));
}

#[test]
fn gaussian_mixture() {
    let model = Model::new(|theta: [Tensor<1>; 2], x: Tensor<2>| {
        let [a, b] = theta.map(|theta| {
            let offset = x.clone() - theta.unsqueeze_dim(0);
            offset.square().sum_dim(1).squeeze_dim::<1>(1) * -0.5
        });
        let largest = a.clone().max_pair(b.clone()).detach();
        let sum = (a - largest.clone()).exp() + (b - largest.clone()).exp();
        sum.log() + largest - 2.0_f64.ln()
    })
    .prior(|theta: [Tensor<1>; 2]| {
        let [a, b] = theta.map(|theta| theta.square().sum());
        (a + b) * -0.05
    });
    check("mixture", &model, &dataset(matrix(6, 2)), &[zeros([2]), ones([2])]);
}

#[test]
fn softmax_network() {
    type Layer = (Tensor<2>, Tensor<1>);
    let forward = |x: Tensor<2>, (weight, bias): Layer| x.matmul(weight) + bias.unsqueeze_dim(0);
    let squares = |(weight, bias): Layer| weight.square().sum() + bias.square().sum();
    let model = Model::new(move |(hidden, output): (Layer, Layer), (x, label): (Tensor<2>, Tensor<1, Int>)| {
        let hidden = softmax(forward(x, hidden), 1);
        let classes = log_softmax(forward(hidden, output), 1);
        classes.gather(1, label.unsqueeze_dim(1)).squeeze_dim::<1>(1)
    })
    .prior(move |(hidden, output): (Layer, Layer)| (squares(hidden) + squares(output)) * -0.5);
    let label = array(vec![0_i64, 2, 1, 2, 0], [5]).unwrap();
    let start = ((matrix(4, 3), vector(3)), (matrix(3, 3), vector(3)));
    check("network", &model, &dataset((matrix(5, 4), label)), &start);
}

#[test]
fn matrix_factorization() {
    type Ratings = (Tensor<1, Int>, Tensor<1, Int>, Tensor<1>);
    let model = Model::new(|(u, v): (Tensor<2>, Tensor<2>), (user, item, rating): Ratings| {
        let predicted = (u.select(0, user) * v.select(0, item)).sum_dim(1).squeeze_dim::<1>(1);
        (rating - predicted).square() * -1.5
    })
    .prior(|(u, v): (Tensor<2>, Tensor<2>)| (u.square().sum() + v.square().sum()) * -0.5);
    let user = array(vec![0_i64, 5, 3, 3], [4]).unwrap();
    let item = array(vec![1_i32, 0, 3, 2], [4]).unwrap();
    check("factorization", &model, &dataset((user, item, vector(4))), &(matrix(6, 2), matrix(4, 2)));
}

#[test]
fn leaves_named_at_run_time() {
    let model = Model::new(|params: Named, rows: Named| {
        let logits = rows.get::<2>("x").matmul(params.get::<1>("beta").unsqueeze_dim(1)).squeeze_dim::<1>(1);
        let z = logits + params.get::<1>("bias");
        let negative = z.clone().neg();
        log_sigmoid(negative.mask_where(rows.get_bool::<1>("seen"), z))
    });
    let seen = array(vec![true, false, true], [3]).unwrap();
    let rows = Named::new().with("x", matrix(3, 2)).with("seen", seen);
    check("named", &model, &dataset(rows), &Named::new().with("bias", ones([1])).with("beta", vector(2)));
}
