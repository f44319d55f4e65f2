//! Closures that cannot be compiled: the compiled engine says why, and [`Engine::Auto`] gives what the eager engine gives.

use std::sync::atomic::{AtomicU64, Ordering};

use sgmcmc::Engine;
use sgmcmc::burn::{Distribution, TensorData};
use sgmcmc::data::Rows;
use sgmcmc::gradient::Evaluator;
use sgmcmc::prelude::*;

use sgmcmc_testkit::closures::compare::both;

type Observations = (Tensor<2>, Tensor<1>);

const N: usize = 120;

fn data() -> Dataset<Observations> {
    let x: Vec<f64> = (0..3 * N).map(|i| (i as f64 * 0.7).sin()).collect();
    let y: Vec<f64> = (0..N).map(|i| (i as f64 * 1.3).cos()).collect();
    Dataset::new((array(x, [N, 3]).unwrap(), array(y, [N]).unwrap())).unwrap()
}

fn start() -> Tensor<1> {
    array(vec![0.3, -0.2, 0.5], [3]).unwrap()
}

fn linear(theta: Tensor<1>, x: Tensor<2>) -> Tensor<1> {
    x.matmul(theta.unsqueeze_dim(1)).squeeze_dim(1)
}

fn squares(theta: Tensor<1>, (x, y): Observations) -> Tensor<1> {
    (y - linear(theta, x)).square() * -0.5
}

fn answer(evaluator: &mut dyn Evaluator, theta: &[f64], rows: Rows<'_>) -> sgmcmc::gradient::Result<(f64, Vec<f64>)> {
    let mut gradient = vec![0.0; theta.len()];
    let value = evaluator.posterior(theta, rows, &mut gradient)?;
    Ok((value, gradient))
}

/// The compiled engine refuses with a message that has `parts`, and automatic choice gives what the eager engine gives.
fn refused<const R: usize>(
    parts: &[&str],
    closure: impl Fn(Tensor<1>, Observations) -> Tensor<R> + Send + Sync + 'static,
) {
    let posterior = Model::new(closure).with(&data());
    refuses(parts, &posterior, &start());
    let mut eager = posterior.clone().engine(Engine::Eager).evaluator(&start()).unwrap();
    let mut auto = posterior.engine(Engine::Auto).evaluator(&start()).unwrap();
    for theta in [[0.3, -0.2, 0.5], [-1.0, 0.4, 0.0], [2.0, 1.0, -1.0]] {
        for n in [1, 2, 10, 64, 100, N] {
            let (expected, found) =
                (answer(eager.as_mut(), &theta, Rows::range(0..n)), answer(auto.as_mut(), &theta, Rows::range(0..n)));
            assert_eq!(found, expected, "{n} rows at {theta:?}");
            // Rows that depend on each other are evaluated all together or not at all.
            assert!(matches!(found, Ok(_) | Err(sgmcmc::gradient::Error::MixedRows { .. })), "{found:?}");
            assert!(found.is_ok() || n < N);
        }
    }
}

fn refuses<P: TensorTree, D: TensorTree>(parts: &[&str], posterior: &Posterior<P, D>, start: &P) {
    let error =
        posterior.clone().engine(Engine::Compiled).evaluator(start).expect_err("cannot be compiled").to_string();
    for part in parts {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

#[test]
fn values_cannot_be_looked_at() {
    refused(&["log-likelihood", "reads the value", "mask_where"], |theta: Tensor<1>, rows| {
        let first: f64 = theta.clone().narrow(0, 0, 1).into_scalar();
        if first > 0.0 { squares(theta, rows) } else { squares(theta * 2.0, rows) }
    });
    refused(&["reads the value"], |theta: Tensor<1>, (x, y): Observations| {
        let largest: f64 = y.clone().max().into_scalar();
        squares(theta, (x, y)) * largest
    });
    refused(&["reads the value"], |theta: Tensor<1>, rows: Observations| {
        let factor = if rows.1.to_data().iter::<f64>().all(|y| y < 0.9) { 1.0 } else { 2.0 };
        squares(theta, rows) * factor
    });
}

#[test]
fn rows_cannot_meet() {
    refused(&["mean is taken over the rows"], |theta, (x, y)| squares(theta, (x, y.clone() - y.mean())));
    refused(&["mean is taken over the rows"], |theta, (x, y)| squares(theta, (x.clone() - x.mean_dim(0), y)));
    refused(&["depends on other rows"], |theta, (x, y)| squares(theta, (x, y.clone() / y.sum())));
    refused(&["depends on other rows", "Max"], |theta, (x, y)| squares(theta, (x, y.clone() - y.max())));
    refused(&["depends on other rows", "CumSum"], |theta, (x, y)| squares(theta, (x, y.cumsum(0))));
    refused(&["depends on other rows", "Flip"], |theta, (x, y)| squares(theta, (x, y.flip([0]))));
    refused(&["depends on other rows"], |theta, (x, y)| {
        let pairs = y.clone().unsqueeze_dim::<2>(1) - y.unsqueeze::<2>();
        pairs.square().sum_dim(1).squeeze_dim::<1>(1) * -0.01 + linear(theta, x)
    });
    refused(&["rows"], |theta, (x, y)| squares(theta, (x, y.clone() - y.narrow(0, 0, 1))));
    refused(&["moves elements from one row to another"], |theta: Tensor<1>, (x, y): Observations| {
        let n = y.dims()[0];
        squares(theta, (x.reshape([3, n]).transpose(), y))
    });
    refused(&["sum over the rows"], |theta, rows| squares(theta, rows).sum().exp().log());
    refused(&["added to a sum over the rows once"], |theta: Tensor<1>, rows| {
        squares(theta.clone(), rows).sum() - theta.square().sum()
    });
    refused(&["added to a sum over the rows once"], |theta, rows| squares(theta, rows).sum() + 1.0);
    refused(&["not a sum over the rows"], |theta: Tensor<1>, _| theta.square().sum() * -0.5);
    refused(&["mean"], |theta, rows| squares(theta, rows).mean());
}

#[test]
fn the_number_of_rows_cannot_matter() {
    refused(&["depends on the number of rows", "MulScalar"], |theta, rows: Observations| {
        let n = rows.1.dims()[0] as f64;
        squares(theta, rows) * (1.0 / n)
    });
    refused(&["depends on the number of rows"], |theta: Tensor<1>, rows: Observations| {
        let n = rows.1.dims()[0];
        let places = TensorData::new((0..n).map(|i| i as f64).collect::<Vec<f64>>(), [n]);
        let places = Tensor::<1>::from_data(places, (&theta.device(), theta.dtype()));
        squares(theta, rows) * places
    });
    // Recorded with more rows; with one row it does something else.
    refused(
        &["eager"],
        |theta: Tensor<1>, rows: Observations| {
            if rows.1.dims()[0] == 1 { squares(theta * 2.0, rows) } else { squares(theta, rows) }
        },
    );
}

#[test]
fn other_operations_are_named() {
    refused(&["`Sort", "cannot be compiled"], |theta, (x, y)| squares(theta, (x.sort(1), y)));
    refused(&["`ArgMax`", "cannot be compiled"], |theta, (x, y)| {
        let dtype = y.dtype();
        squares(theta, (x.clone(), x.argmax(1).squeeze_dim::<1>(1).float().cast(dtype)))
    });
    refused(&["loses digits"], |theta, (x, y)| {
        squares(theta, (x, y.cast(sgmcmc::burn::DType::F32).cast(sgmcmc::burn::DType::F64)))
    });
}

/// A recording does not show that a value was detached; the comparison with the eager engine does.
#[test]
fn detached_values_are_found() {
    refused(&["gradient", "eager"], |theta: Tensor<1>, rows| squares(theta.clone().detach() * 0.5 + theta, rows));
}

#[test]
fn random_numbers_are_found() {
    let inside = Model::new(|theta: Tensor<1>, rows: Observations| {
        let noise = Tensor::<1>::random([3], Distribution::Default, (&theta.device(), theta.dtype()));
        squares(theta + noise, rows)
    });
    refuses(&["random numbers"], &inside.with(&data()), &start());
    let state = AtomicU64::new(1);
    let constants = Model::new(move |theta: Tensor<1>, rows: Observations| {
        let drawn = state.fetch_add(0x9e37_79b9, Ordering::Relaxed) as f64 / 1e12;
        let noise = TensorData::new(vec![drawn; 3], [3]);
        squares(theta.clone() + Tensor::from_data(noise, (&theta.device(), theta.dtype())), rows)
    });
    refuses(&["changes from call to call", "random numbers"], &constants.with(&data()), &start());
    let state = AtomicU64::new(1);
    let scalars = Model::new(move |theta: Tensor<1>, rows: Observations| {
        squares(theta * (state.fetch_add(1, Ordering::Relaxed) as f64), rows)
    });
    refuses(&["changes from call to call"], &scalars.with(&data()), &start());
}

#[test]
fn a_tensor_from_outside_is_named() {
    let outside: Tensor<1> = array(vec![1.0, 2.0, 3.0], [3]).unwrap();
    let model = Model::new(move |theta: Tensor<1>, rows: Observations| squares(theta * outside.clone(), rows));
    let posterior = model.with(&data());
    refuses(&["made outside", "to_device"], &posterior, &start());
    let inside: Tensor<1> = array(vec![1.0, 2.0, 3.0], [3]).unwrap();
    let model = Model::new(move |theta: Tensor<1>, rows: Observations| {
        let moved = inside.clone().to_device(&theta.device());
        squares(theta * moved, rows)
    });
    let [mut compiled, mut eager] = both(&model.with(&data()), &start()).unwrap();
    let (found, expected) = (
        answer(compiled.as_mut(), &[0.1, 0.2, 0.3], Rows::range(0..9)).unwrap(),
        answer(eager.as_mut(), &[0.1, 0.2, 0.3], Rows::range(0..9)).unwrap(),
    );
    assert!((found.0 - expected.0).abs() < 1e-13 * expected.0.abs());
}

#[test]
fn a_panic_is_an_error_whatever_the_engine() {
    let always = Model::new(|_: Tensor<1>, _: Observations| -> Tensor<1> { panic!("on purpose") });
    let at_five = Model::new(|theta: Tensor<1>, rows: Observations| {
        assert_ne!(rows.1.dims()[0], 5, "not five rows");
        squares(theta, rows)
    });
    for engine in [Engine::Eager, Engine::Auto, Engine::Compiled] {
        let error = always.with(&data()).engine(engine).evaluator(&start()).unwrap_err().to_string();
        assert!(error.contains("on purpose"), "{error}");
        let mut evaluator = at_five.with(&data()).engine(engine).evaluator(&start()).unwrap();
        answer(evaluator.as_mut(), &[0.1, 0.2, 0.3], Rows::range(0..6)).unwrap();
        let error = evaluator.likelihood(&[0.1, 0.2, 0.3], Rows::range(0..5), &mut [0.0; 3]).unwrap_err().to_string();
        assert!(error.contains("not five rows"), "{error}");
    }
}
