//! Microseconds per operation to compile long closures, on a thread with the default stack size.

use std::error::Error;
use std::thread;
use std::time::Instant;

use sgmcmc::Engine;
use sgmcmc::prelude::*;

/// The numbers of operations of the closures.
const OPERATIONS: [usize; 3] = [1_000, 10_000, 100_000];
/// The default stack size of a thread.
const STACK: usize = 2 << 20;

/// A function of the parameter, the data and the approximate number of operations.
type LongClosure = fn(Tensor<1>, Tensor<1>, usize) -> Tensor<1>;

const CLOSURES: [(&str, LongClosure); 6] = [
    ("element-wise", |theta, x, operations| {
        (0..operations / 3).fold(x.clone(), |v, _| (v * theta.clone()).tanh() + x.clone())
    }),
    ("shared", |theta, x, operations| x * (0..operations / 2).fold(theta.clone(), |v, _| v.tanh() + theta.clone())),
    ("reductions", |theta, x, operations| {
        let one = x.unsqueeze_dim::<2>(1) * theta.unsqueeze::<2>();
        let v = (0..operations / 3).fold(one, |v, _| (v.clone().repeat_dim(1, 2)).sum_dim(1).tanh());
        v.squeeze_dim(1)
    }),
    ("movement", |theta, x, operations| {
        let two = Tensor::cat(vec![x.clone().unsqueeze_dim::<2>(1), (x * theta).unsqueeze_dim(1)], 1);
        let v = (0..operations / 3).fold(two, |v, _| v.flip([1]).sin() * 0.9);
        v.sum_dim(1).squeeze_dim(1)
    }),
    ("products", |theta, x, operations| {
        let one = x.unsqueeze_dim::<2>(1);
        let v = (0..operations / 2).fold(one, |v, _| v.matmul(theta.clone().unsqueeze()).tanh());
        v.squeeze_dim(1)
    }),
    ("sums", |theta, x, operations| (0..operations).fold(x, |v, _| v + theta.clone())),
];

/// Prints a row for each closure and number of operations.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    println!("{:<14} {:>10} {:>12} {:>14} {:>12}", "closure", "operations", "seconds", "µs/operation", "eager s");
    for (name, form) in CLOSURES {
        for operations in OPERATIONS {
            let measured = thread::Builder::new().stack_size(STACK).spawn(move || measure(form, operations))?;
            let [compiled, eager] = measured.join().map_err(|_| "the closure panicked")??;
            let each = compiled * 1e6 / operations as f64;
            println!("{name:<14} {operations:>10} {compiled:>12.3} {each:>14.2} {eager:>12.3}");
        }
    }
    Ok(())
}

/// Returns the seconds to compile a closure, and the seconds of one gradient of the eager engine.
fn measure(form: LongClosure, operations: usize) -> sgmcmc::gradient::Result<[f64; 2]> {
    let model = Model::new(move |theta: Tensor<1>, x: Tensor<1>| form(theta, x, operations).square() * -0.5);
    let data = Dataset::new(array(vec![0.3, 0.1, -0.2], [3])?)?;
    let posterior = model.with(&data);
    let start = array(vec![0.2], [1])?;
    let began = Instant::now();
    let evaluator = posterior.clone().engine(Engine::Compiled).evaluator(&start)?;
    let compiled = began.elapsed().as_secs_f64();
    drop(evaluator);
    let mut evaluator = posterior.engine(Engine::Eager).evaluator(&start)?;
    let began = Instant::now();
    let rows = evaluator.all_rows();
    evaluator.likelihood(&[0.2], rows, &mut [0.0])?;
    Ok([compiled, began.elapsed().as_secs_f64()])
}
