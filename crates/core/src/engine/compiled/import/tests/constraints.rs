//! Constrained parameters.

use burn_tensor::Tensor;

use super::check::check;
use super::{dataset, matrix, vector};
use crate::{Model, array};
use sgmcmc_gradient::Constraint;

fn constrained(constraint: Constraint, start: Tensor<1>) {
    let k = start.dims()[0];
    let model = Model::new(|theta: Tensor<1>, x: Tensor<2>| x.matmul(theta.unsqueeze_dim(1)).squeeze_dim::<1>(1))
        .prior(|theta: Tensor<1>| theta.square().sum() * -0.5)
        .constrain("theta", constraint);
    check(&constraint.to_string(), &model, &dataset(matrix(4, k)), &start);
}

#[test]
fn every_constraint() {
    let start = |values: &[f64]| array(values.to_vec(), [values.len()]).unwrap();
    constrained(Constraint::Positive, start(&[0.5, 2.0]));
    constrained(Constraint::Lower(1.0), start(&[1.5, 2.0]));
    constrained(Constraint::Upper(3.0), start(&[0.5, 2.0]));
    constrained(Constraint::Interval(-1.0, 4.0), start(&[0.5, 2.0]));
    constrained(Constraint::UnitInterval, start(&[0.5, 0.25]));
    constrained(Constraint::Mirrored, start(&[0.5, 0.25]));
    constrained(Constraint::Simplex, start(&[0.2, 0.3, 0.1, 0.4]));
    constrained(Constraint::Ordered, start(&[-0.5, 0.3, 2.0]));
    constrained(Constraint::Ordered, start(&[-0.5]));
    constrained(Constraint::PositiveOrdered, start(&[0.5, 0.7, 2.0]));
    constrained(Constraint::Softmax, start(&[0.2, 0.3, 0.5]));
    constrained(Constraint::UnitVector, start(&[0.6, 0.0, -0.8]));
}

#[test]
fn correlations() {
    let model = Model::new(|factor: Tensor<2>, x: Tensor<2>| x.matmul(factor).square().sum_dim(1).squeeze_dim::<1>(1))
        .constrain("theta", Constraint::CholeskyCorrelation);
    let factor = array(vec![1.0, 0.0, 0.0, 0.6, 0.8, 0.0, 0.0, 0.6, 0.8], [3, 3]).unwrap();
    check("correlations", &model, &dataset(matrix(5, 3)), &factor);
}

#[test]
fn several_parameters_add_their_jacobians() {
    let model = Model::new(|(a, b): (Tensor<1>, Tensor<1>), x: Tensor<1>| x * a.sum() + b.sum())
        .constrain("0", Constraint::Positive)
        .constrain("1", Constraint::UnitInterval)
        .temperature(2.0)
        .unwrap();
    check("two", &model, &dataset(vector(3)), &(vector(2) + 1.5, vector(2) * 0.3 + 0.5));
}
