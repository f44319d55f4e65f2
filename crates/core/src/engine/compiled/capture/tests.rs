//! Tests of captures, and of the errors of closures that cannot be compiled.

use burn_tensor::activation::log_sigmoid;
use burn_tensor::{DType, Distribution, Int, Tensor, TensorData};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Mutex;

use super::*;
use crate::{Dataset, Model, array, default_device, ones, zeros};
use sgmcmc_gradient::Constraint;

fn data(n: usize) -> Dataset<(Tensor<2>, Tensor<1>)> {
    let x: Vec<f64> = (0..2 * n).map(|i| (i as f64 * 0.7).sin()).collect();
    let y: Vec<f64> = (0..n).map(|i| (i % 2) as f64).collect();
    Dataset::new((array(x, [n, 2]).unwrap(), array(y, [n]).unwrap())).unwrap()
}

type Rows = (Tensor<2>, Tensor<1>);

fn captured<const R: usize>(
    likelihood: impl Fn(Tensor<1>, Rows) -> Tensor<R> + Send + Sync + 'static,
) -> Result<Captured, CompileError> {
    let posterior = Model::new(likelihood).with(&data(5));
    let start = zeros([2]);
    let layout = posterior.model().layout(&start).unwrap();
    capture(&posterior, &start, &layout, DType::F64)
}

fn message<const R: usize>(likelihood: impl Fn(Tensor<1>, Rows) -> Tensor<R> + Send + Sync + 'static) -> String {
    captured(likelihood).expect_err("the closure cannot be compiled").to_string()
}

fn logits(beta: Tensor<1>, x: Tensor<2>) -> Tensor<1> {
    x.matmul(beta.unsqueeze_dim(1)).squeeze_dim::<1>(1)
}

#[test]
fn terms_and_their_sum_have_the_same_graph() {
    let term = |beta, (x, y): Rows| log_sigmoid(logits(beta, x) * (y * 2.0 - 1.0));
    let each = captured(term).unwrap();
    let sum = captured(move |beta, rows| term(beta, rows).sum()).unwrap();
    let (each_term, sum_term) = (each.likelihood.unwrap(), sum.likelihood.unwrap());
    assert!(!each_term.summed && sum_term.summed);
    assert_eq!(each.graph.node(each_term.node), sum.graph.node(sum_term.node));
    assert!(each.graph.shape(each_term.node).rows && each.graph.shape(each_term.node).dims.is_empty());
    assert_eq!(each.parameters.len(), 1);
    assert!(each.prior.is_none());
    assert!(each.operations > 5, "{}", each.operations);
}

#[test]
fn operations_on_a_sum_are_applied_to_the_terms() {
    let twice = |beta: Tensor<1>, (x, y): Rows| {
        let scale = beta.clone().square().sum();
        let a = (logits(beta, x) * -0.5).sum();
        (a * scale - y.sum().neg() / 4.0).reshape([1, 1]).reshape([1])
    };
    let captured = captured(twice).unwrap();
    assert!(captured.likelihood.unwrap().summed);
}

#[test]
fn a_likelihood_independent_of_the_data_is_shared() {
    let shared = captured(|beta: Tensor<1>, (_, y): Rows| beta.square().sum().expand(y.dims())).unwrap();
    let likelihood = shared.likelihood.unwrap();
    assert!(!likelihood.summed);
    assert!(!shared.graph.shape(likelihood.node).rows);
}

#[test]
fn the_prior_contains_jacobians_and_powers() {
    let model = Model::new(|s: Tensor<1>, y: Tensor<1>| (y / s.clone()).square() * -0.5 - s.log())
        .prior(|s: Tensor<1>| s.sum().neg())
        .constrain("theta", Constraint::Positive)
        .prior_power(0.25)
        .unwrap();
    let data = Dataset::new(array(vec![0.5, 1.5, 2.0], [3]).unwrap()).unwrap();
    let (posterior, start) = (model.with(&data), ones([1]));
    let layout = posterior.model().layout(&start).unwrap();
    let captured = capture(&posterior, &start, &layout, DType::F64).unwrap();
    assert_eq!(captured.graph.shape(captured.parameters[0]).dims, [1, 1]);
    let prior = captured.prior.unwrap();
    assert!(captured.graph.shape(prior).dims.is_empty() && !captured.graph.shape(prior).rows);
    let quarter = sgmcmc_compiler::graph::Number(0.25);
    let scaled = |node: &sgmcmc_compiler::graph::Node| {
        use sgmcmc_compiler::graph::{Op, UnaryOp};
        matches!(node.op, Op::Unary(UnaryOp::Affine { scale, .. }) if scale == quarter)
    };
    assert!(captured.graph.nodes().iter().any(scaled));
}

#[test]
fn a_density_has_no_likelihood() {
    let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    let (posterior, start) = (model.with(&Dataset::none()), zeros([3]));
    let layout = posterior.model().layout(&start).unwrap();
    let captured = capture(&posterior, &start, &layout, DType::F32).unwrap();
    assert!(captured.likelihood.is_none() && captured.prior.is_some());
}

#[test]
fn reading_a_value_is_rejected() {
    let on_parameter = message(|beta: Tensor<1>, (x, _): Rows| {
        let positive = beta.clone().sum().into_scalar::<f64>() > 0.0;
        logits(if positive { beta } else { beta.neg() }, x)
    });
    assert!(on_parameter.contains("reads the value of a tensor"), "{on_parameter}");
    let on_data = message(|beta: Tensor<1>, (x, y): Rows| {
        let some = y.to_data().iter::<f64>().any(|y| y > 0.5);
        logits(beta, x) * if some { 1.0 } else { -1.0 }
    });
    assert!(on_data.contains("log-likelihood reads the value of a tensor"), "{on_data}");
}

#[test]
fn dependence_on_other_observations_is_rejected() {
    let mean = message(|beta: Tensor<1>, (x, _): Rows| {
        let centered = x.clone() - x.mean_dim(0);
        logits(beta, centered)
    });
    assert!(mean.contains("mean is taken over the rows"), "{mean}");
    let outer = message(|_: Tensor<1>, (_, y): Rows| {
        (y.clone().unsqueeze_dim::<2>(1) * y.unsqueeze_dim::<2>(0)).sum_dim(1).squeeze_dim::<1>(1)
    });
    assert!(outer.contains("one row depends on other rows"), "{outer}");
    let largest = message(|beta: Tensor<1>, (x, _): Rows| {
        let z = logits(beta, x);
        z.clone() - z.max()
    });
    assert!(largest.contains("one row depends on other rows, by `Max`"), "{largest}");
    let share = message(|beta: Tensor<1>, (x, _): Rows| {
        let z = logits(beta, x).exp();
        z.clone() / z.sum()
    });
    assert!(share.contains("one row depends on other rows, by `Div`"), "{share}");
    let contracted = message(|_: Tensor<1>, (x, y): Rows| y.unsqueeze_dim::<2>(0).matmul(x).sum());
    assert!(contracted.contains("one row depends on other rows, by `Matmul`"), "{contracted}");
    for text in [
        message(|beta: Tensor<1>, (x, _): Rows| burn_tensor::activation::softmax(logits(beta, x), 0).log()),
        message(|beta: Tensor<1>, (x, _): Rows| logits(beta, x).cumsum(0)),
        message(|beta: Tensor<1>, (x, _): Rows| logits(beta, x).flip([0])),
        message(|beta: Tensor<1>, (x, _): Rows| {
            Tensor::cat(vec![logits(beta.clone(), x.clone()), logits(beta, x)], 0).sum()
        }),
    ] {
        assert!(text.contains("rows"), "{text}");
    }
}

#[test]
fn transposing_by_reshape_is_rejected() {
    let text = message(|beta: Tensor<1>, (x, _): Rows| {
        let [n, k] = x.dims();
        (x.reshape([k, n]) * beta.unsqueeze_dim(1)).sum_dim(0).squeeze_dim::<1>(0)
    });
    assert!(text.contains("a reshape moves elements from one row to another"), "{text}");
}

#[test]
fn outer_tensors_must_be_moved_to_the_device() {
    let offset: Tensor<1> = array(vec![0.5], [1]).unwrap();
    let inside = offset.clone();
    let text = message(move |beta: Tensor<1>, (x, _): Rows| logits(beta, x) + offset.clone());
    assert!(text.contains("made outside of it"), "{text}");
    let moved = captured(move |beta: Tensor<1>, (x, _): Rows| {
        let device = x.device();
        logits(beta, x) + inside.clone().to_device(&device)
    });
    let moved = moved.unwrap();
    assert!(
        moved
            .graph
            .nodes()
            .iter()
            .any(|node| node.op == sgmcmc_compiler::graph::Op::Full(sgmcmc_compiler::graph::Number(0.5)))
    );
}

#[test]
fn random_numbers_are_rejected() {
    let drawn = message(|beta: Tensor<1>, (x, y): Rows| {
        let noise = Tensor::<1>::random(y.dims(), Distribution::Default, (&x.device(), DType::F64));
        logits(beta, x) + noise
    });
    assert!(drawn.contains("draws random numbers"), "{drawn}");
    let generator = Mutex::new(Xoshiro256PlusPlus::seed_from_u64(1));
    let constants = message(move |beta: Tensor<1>, (x, _): Rows| {
        let noise = vec![generator.lock().unwrap().random::<f64>(), 0.0];
        let noise = Tensor::<1>::from_data(TensorData::new(noise, [2]), (&x.device(), DType::F64));
        logits(beta + noise, x)
    });
    assert!(constants.contains("changes from call to call"), "{constants}");
    let generator = Mutex::new(Xoshiro256PlusPlus::seed_from_u64(1));
    let scalar =
        message(move |beta: Tensor<1>, (x, _): Rows| logits(beta, x) * generator.lock().unwrap().random::<f64>());
    assert!(scalar.contains("a number in `MulScalar`"), "{scalar}");
}

#[test]
fn constants_that_depend_on_the_batch_size_are_rejected() {
    let scalar = message(|beta: Tensor<1>, (x, _): Rows| {
        let n = x.dims()[0] as f64;
        logits(beta, x) / n
    });
    assert!(scalar.contains("a number in `DivScalar` depends on the number of rows"), "{scalar}");
    let constant = message(|beta: Tensor<1>, (x, _): Rows| {
        let n = x.dims()[0];
        let values: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let device = x.device();
        logits(beta, x) + Tensor::from_data(TensorData::new(values, [n]), (&device, DType::F64))
    });
    assert!(constant.contains("depends on the number of rows"), "{constant}");
    let branch = message(|beta: Tensor<1>, (x, _): Rows| {
        let many = x.dims()[0] > 8;
        let z = logits(beta, x);
        if many { z.abs() } else { z.square() }
    });
    assert!(branch.contains("depends on the number of rows"), "{branch}");
}

#[test]
fn a_constant_added_to_the_sum_is_rejected() {
    let number = message(|beta: Tensor<1>, (x, _): Rows| logits(beta, x).sum() + 1.0);
    assert!(number.contains("once for the whole minibatch"), "{number}");
    let shared = message(|beta: Tensor<1>, (x, _): Rows| logits(beta.clone(), x).sum() - beta.square().sum());
    assert!(shared.contains("once for the whole minibatch"), "{shared}");
    let alone = message(|beta: Tensor<1>, _: Rows| beta.square().sum());
    assert!(alone.contains("not a sum over the rows"), "{alone}");
    let curved = message(|beta: Tensor<1>, (x, _): Rows| logits(beta, x).sum().square());
    assert!(curved.contains("is applied to a sum over the rows"), "{curved}");
}

#[test]
fn a_branch_on_the_batch_size_is_detected() {
    let model = Model::new(|beta: Tensor<1>, (x, _): Rows| {
        let many = x.dims()[0] >= 64;
        let z = logits(beta, x);
        if many { z.abs() } else { z.square() }
    });
    let (posterior, start) = (model.with(&data(5)), zeros([2]));
    let layout = posterior.model().layout(&start).unwrap();
    let captured = capture(&posterior, &start, &layout, DType::F64).unwrap();
    for n in [1, 2, 63] {
        check_row_count(&posterior, &start, &layout, DType::F64, n, &captured.signature).unwrap();
    }
    let text =
        check_row_count(&posterior, &start, &layout, DType::F64, 64, &captured.signature).unwrap_err().to_string();
    assert!(text.contains("whether `Mul` or `Abs` is computed depends on the number of rows"), "{text}");
}

#[test]
fn errors_name_unsupported_operations() {
    let sorted =
        message(|beta: Tensor<1>, (x, _): Rows| (x * beta.unsqueeze_dim(0)).sort(1).sum_dim(1).squeeze_dim::<1>(1));
    assert_eq!(sorted, "the operation `Sort` cannot be compiled");
    let position = message(|beta: Tensor<1>, (x, _): Rows| {
        let at: Tensor<2, Int> = (x.clone() * beta.unsqueeze_dim(0)).argmax(1);
        x.gather(1, at).squeeze_dim::<1>(1)
    });
    assert_eq!(position, "the operation `ArgMax` cannot be compiled");
    let panicked = message(|beta: Tensor<1>, (x, _): Rows| {
        assert!(x.dims()[0] < 3, "at most two rows");
        logits(beta, x)
    });
    assert!(panicked.contains("at most two rows"), "{panicked}");
    let mixed = message(|beta: Tensor<1>, (x, _): Rows| {
        let z = logits(beta, x).cast(DType::F32);
        z.exp().cast(DType::F64)
    });
    assert!(mixed.contains("f64 to f32 loses digits"), "{mixed}");
}

#[test]
fn concurrent_captures() {
    let captures: Vec<_> = std::thread::scope(|scope| {
        let chains: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..20).all(|_| captured(|beta: Tensor<1>, (x, _): Rows| logits(beta, x)).is_ok())))
            .collect();
        chains.into_iter().map(|chain| chain.join().unwrap()).collect()
    });
    assert_eq!(captures, [true; 4]);
}

#[test]
fn nested_captures() {
    let nested = captured(|beta: Tensor<1>, (x, _): Rows| {
        assert!(captured(|beta: Tensor<1>, (x, _): Rows| logits(beta, x)).is_ok());
        logits(beta, x)
    });
    assert!(nested.is_ok());
}

#[test]
fn row_counts_avoid_the_sizes_of_leaves() {
    let model = Model::new(|beta: Tensor<1>, (x, _): Rows| logits(beta.narrow(0, 0, 2), x));
    let (posterior, start) = (model.with(&data(5)), zeros([7]));
    let layout = posterior.model().layout(&start).unwrap();
    assert_eq!(row_counts(&posterior, &layout), [11, 13]);
    assert_eq!(default_device().settings(), leaves::settings(&start));
}
