//! Tests that models, distributions and operations can be compiled.

mod check;
mod constraints;
mod distributions;
mod models;
mod operations;

use burn_tensor::Tensor;

use crate::{Dataset, array};

/// Returns numbers in (−1, 1).
fn numbers(count: usize, seed: f64) -> Vec<f64> {
    (0..count).map(|i| ((i as f64 + 1.0) * 1.7 + seed).sin()).collect()
}

fn matrix(n: usize, k: usize) -> Tensor<2> {
    array(numbers(n * k, 0.3), [n, k]).unwrap()
}

fn vector(n: usize) -> Tensor<1> {
    array(numbers(n, 0.8), [n]).unwrap()
}

fn dataset<D: crate::TensorTree>(tree: D) -> Dataset<D> {
    Dataset::new(tree).unwrap()
}
