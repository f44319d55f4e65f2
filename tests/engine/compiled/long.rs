//! Closures of many operations, compiled on a thread with the stack that Rust gives a thread by default.

use std::thread;

use sgmcmc::Engine;
use sgmcmc::prelude::*;

/// The stack of a thread by default.
const STACK: usize = 2 << 20;

/// Compiles a closure of many operations and compares its value with that of the eager engine.
fn compiles(closure: impl Fn(Tensor<1>, Tensor<1>) -> Tensor<1> + Clone + Send + Sync + 'static) {
    let body = move || {
        let data = Dataset::new(array(vec![0.3, 0.1, -0.2], [3]).unwrap()).unwrap();
        let posterior = Model::new(closure).with(&data);
        let start = array(vec![0.2], [1]).unwrap();
        let mut compiled = posterior.clone().engine(Engine::Compiled).evaluator(&start).unwrap();
        let mut eager = posterior.clone().engine(Engine::Eager).evaluator(&start).unwrap();
        let rows = eager.all_rows();
        let (found, expected) = (compiled.log_density(&[0.3], rows).unwrap(), eager.log_density(&[0.3], rows).unwrap());
        assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{found} for {expected}");
        let gradient = compiled.posterior(&[0.3], rows, &mut [0.0]).unwrap();
        assert!((gradient - expected).abs() < 1e-9 * (1.0 + expected.abs()));
        assert!(posterior.explain(&start).unwrap().starts_with("compiled"));
    };
    thread::Builder::new().stack_size(STACK).spawn(body).unwrap().join().unwrap();
}

#[test]
fn element_wise() {
    compiles(|theta, x| (0..7000).fold(x.clone(), |v, _| (v * theta.clone()).tanh() + x.clone()));
}

#[test]
fn shared_by_all_rows() {
    compiles(|theta, x| x * (0..10_000).fold(theta.clone(), |v, _| v.tanh() + theta.clone() * 0.5));
}

#[test]
fn reductions() {
    compiles(|theta, x| {
        let one = x.unsqueeze_dim::<2>(1) * theta.unsqueeze::<2>();
        (0..3000).fold(one, |v, _| v.repeat_dim(1, 2).sum_dim(1).tanh()).squeeze_dim(1)
    });
}

#[test]
fn movements() {
    compiles(|theta, x| {
        let two = Tensor::cat(vec![x.clone().unsqueeze_dim::<2>(1), (x * theta).unsqueeze_dim(1)], 1);
        (0..3000).fold(two, |v, _| v.flip([1]).sin() * 0.9).sum_dim(1).squeeze_dim(1)
    });
}

#[test]
fn matrix_products() {
    compiles(|theta, x| {
        let one = x.unsqueeze_dim::<2>(1);
        (0..3000).fold(one, |v, _| v.matmul(theta.clone().unsqueeze()).tanh()).squeeze_dim(1)
    });
}

#[test]
fn sums_and_products_of_exponentials() {
    compiles(|theta, x| (0..10_000).fold(x, |v, _| v + theta.clone()) * 1e-3);
    compiles(|theta, x| (0..3000).fold(x.exp(), |p, _| p * (theta.clone() * 1e-3).exp()).log());
}

#[test]
fn more_operations_than_are_compiled() {
    let data = Dataset::new(array(vec![0.3], [1]).unwrap()).unwrap();
    let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (0..250_001).fold(x, |v, _| v + theta.clone()));
    let explained = model.with(&data).explain(&zeros([1])).unwrap();
    assert!(explained.starts_with("eager: the closures consist of 25000"), "{explained}");
}
