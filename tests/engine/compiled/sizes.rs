//! Numbers of rows, kinds and ranks of data, and models without this or that: the compiled engine against the eager one.

use sgmcmc::burn::{Bool, s};
use sgmcmc::data::Rows;
use sgmcmc::gradient::Evaluator;
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::normals;
use sgmcmc_testkit::relative_error;

use sgmcmc_testkit::closures::compare::both;

fn posterior(evaluator: &mut dyn Evaluator, theta: &[f64], rows: Rows<'_>) -> (f64, Vec<f64>) {
    let mut gradient = vec![0.0; theta.len()];
    let value = evaluator.posterior(theta, rows, &mut gradient).unwrap();
    let density = evaluator.log_density(theta, rows).unwrap();
    assert!((value - density).abs() <= 1e-13 * (1.0 + value.abs()), "value {value}, log density {density}");
    (value, gradient)
}

/// Both engines give the same, in double precision, on ranges and lists of several lengths.
fn agree<P: TensorTree, D: TensorTree>(target: &Posterior<P, D>, start: &P) {
    let [mut compiled, mut eager] = both(target, start).unwrap();
    let n = eager.observations();
    let list: Vec<usize> = (0..2 * n).map(|i| (i * 5) % n.max(1)).collect();
    for seed in 0..2 {
        let theta = normals(eager.dim(), seed);
        let weights = vec![0.75; n];
        for rows in [
            Rows::range(0..n),
            Rows::range(0..n.min(1)),
            Rows::range(n / 2..n).scaled(3.0),
            Rows::list(&list),
            Rows::range(0..0),
            Rows::list(&[]),
            Rows::range(0..n).weighted(&weights).unwrap(),
        ] {
            let (value, gradient) = posterior(compiled.as_mut(), &theta, rows);
            let (expected, expected_gradient) = posterior(eager.as_mut(), &theta, rows);
            assert!((value - expected).abs() <= 1e-13 * (1.0 + expected.abs()), "{value} for {expected}");
            let error = relative_error(&gradient, &expected_gradient);
            assert!(error < 1e-12 || gradient == expected_gradient, "{gradient:?} for {expected_gradient:?}");
        }
    }
}

fn column(n: usize, k: usize) -> Tensor<2> {
    array(normals(n * k, 9), [n, k]).unwrap()
}

/// Sizes of parameters that are also numbers of rows are not taken for them.
#[test]
fn a_parameter_may_have_as_many_elements_as_there_are_rows() {
    for k in [1, 2, 7, 11, 13, 49] {
        let model = Model::new(|w: Tensor<1>, x: Tensor<2>| x.tanh().matmul(w.unsqueeze_dim(1)).squeeze_dim::<1>(1));
        let data = Dataset::new(column(k, k)).unwrap();
        agree(&model.with(&data), &zeros([k]));
    }
}

/// A closure that does something else for many observations than for few runs on the eager engine.
#[test]
fn a_branch_on_the_number_of_rows_is_found_when_it_is_taken() {
    let model = Model::new(|w: Tensor<1>, x: Tensor<2>| {
        let large = x.dims()[0] > 64;
        let z = x.matmul(w.unsqueeze_dim(1)).squeeze_dim::<1>(1);
        if large { z * 2.0 } else { z.square() }
    });
    let data = Dataset::new(column(120, 3)).unwrap();
    let [mut compiled, mut eager] = both(&model.with(&data), &ones([3])).unwrap();
    let theta = normals(3, 1);
    for n in [10, 100, 10, 64, 65, 120, 1] {
        let (found, expected) = (
            posterior(compiled.as_mut(), &theta, Rows::range(0..n)),
            posterior(eager.as_mut(), &theta, Rows::range(0..n)),
        );
        assert!(
            (found.0 - expected.0).abs() <= 1e-13 * (1.0 + expected.0.abs()),
            "{n} rows: {found:?} for {expected:?}"
        );
        assert!(relative_error(&found.1, &expected.1) < 1e-13, "{n} rows: {found:?} for {expected:?}");
        let mut terms = [vec![0.0; n], vec![0.0; n]];
        compiled.log_likelihood_per_observation(&theta, Rows::range(0..n), &mut terms[0]).unwrap();
        eager.log_likelihood_per_observation(&theta, Rows::range(0..n), &mut terms[1]).unwrap();
        assert!(relative_error(&terms[0], &terms[1]) < 1e-13);
    }
}

#[test]
fn chunks_and_threads_change_nothing() {
    let model = Model::new(|w: Tensor<1>, x: Tensor<2>| (x.matmul(w.unsqueeze_dim(1)).squeeze_dim::<1>(1)).tanh());
    let data = Dataset::new(column(1000, 3)).unwrap();
    agree(&model.with(&data).chunk_rows(7), &ones([3]));
    let [mut compiled, mut eager] = both(&model.with(&data), &ones([3])).unwrap();
    let expected = posterior(eager.as_mut(), &[0.5, -0.5, 0.25], Rows::range(0..1000));
    for threads in [1, 2, 3, 8] {
        compiled.set_threads(threads);
        let found = posterior(compiled.as_mut(), &[0.5, -0.5, 0.25], Rows::range(0..1000));
        assert!((found.0 - expected.0).abs() < 1e-12 * expected.0.abs());
        assert!(relative_error(&found.1, &expected.1) < 1e-12);
    }
}

/// Enough multiplications for the rows to be divided into four blocks, and a prior.
#[test]
fn a_likelihood_that_is_divided_among_threads() {
    const SHAPE: [usize; 2] = [256, 64];
    let model = Model::new(|w: Tensor<2>, x: Tensor<2>| x.matmul(w).tanh().sum_dim(1).squeeze_dim::<1>(1))
        .prior(|w: Tensor<2>| w.square().sum() * -0.5);
    let data = Dataset::new(column(4096, SHAPE[0])).unwrap();
    let [mut compiled, mut eager] = both(&model.with(&data), &ones(SHAPE)).unwrap();
    let theta: Vec<f64> = normals(SHAPE[0] * SHAPE[1], 2).iter().map(|w| 0.1 * w).collect();
    let rows = Rows::range(0..4096);
    let expected = posterior(eager.as_mut(), &theta, rows);
    let alone = posterior(compiled.as_mut(), &theta, rows);
    assert!((alone.0 - expected.0).abs() < 1e-12 * expected.0.abs(), "{} for {}", alone.0, expected.0);
    assert!(relative_error(&alone.1, &expected.1) < 1e-11);
    compiled.set_threads(2);
    assert_eq!(posterior(compiled.as_mut(), &theta, rows), alone);
}

#[test]
fn a_summed_likelihood_is_compiled_and_refuses_weights() {
    let model = Model::new(|w: Tensor<1>, x: Tensor<2>| {
        let z = x.matmul(w.clone().unsqueeze_dim(1)).squeeze_dim::<1>(1);
        (z.clone().square().sum() * -0.5 + z.sum() * w.sum()) / 4.0
    });
    let data = Dataset::new(column(30, 3)).unwrap();
    let [mut compiled, mut eager] = both(&model.with(&data), &ones([3])).unwrap();
    let theta = normals(3, 4);
    for rows in [Rows::range(0..30), Rows::list(&[4, 4, 9]).scaled(10.0), Rows::range(3..4), Rows::range(0..0)] {
        let (found, expected) = (posterior(compiled.as_mut(), &theta, rows), posterior(eager.as_mut(), &theta, rows));
        assert!((found.0 - expected.0).abs() <= 1e-13 * (1.0 + expected.0.abs()), "{found:?} for {expected:?}");
        assert!(relative_error(&found.1, &expected.1) < 1e-12 || found.1 == expected.1);
    }
    let weights = [1.0, 2.0, 3.0];
    let rows = Rows::range(0..3).weighted(&weights).unwrap();
    let errors = [compiled, eager].map(|mut engine| {
        let likelihood = engine.likelihood(&theta, rows, &mut [0.0; 3]).unwrap_err();
        let terms = engine.log_likelihood_per_observation(&theta, Rows::range(0..3), &mut [0.0; 3]).unwrap_err();
        let each = engine.gradient_per_observation(&theta, Rows::range(0..3), &mut [0.0; 9]).unwrap_err();
        [likelihood, terms, each]
    });
    assert_eq!(errors[0], errors[1]);
}

/// A single observation whose term is a sum cannot be distinguished from its term.
#[test]
fn one_observation_may_be_summed() {
    let model = Model::new(|w: Tensor<1>, x: Tensor<2>| x.matmul(w.unsqueeze_dim(1)).square().sum() * -0.5);
    agree(&model.with(&Dataset::new(column(1, 3)).unwrap()), &ones([3]));
}

#[test]
fn rows_merged_with_other_axes_are_distinguished() {
    let data = Dataset::new(column(23, 4)).unwrap();
    let merged = Model::new(|w: Tensor<1>, x: Tensor<2>| {
        let n = x.dims()[0];
        let pairs = x.reshape([2 * n, 2]).matmul(w.clone().reshape([2, 1])).tanh() * w.sum().unsqueeze();
        pairs.reshape([n, 2]).sum_dim(1).squeeze_dim::<1>(1)
    });
    agree(&merged.with(&data), &ones([2]));
    let turned = Model::new(|w: Tensor<1>, x: Tensor<2>| {
        let n = x.dims()[0];
        let pairs = x.reshape([n, 2, 2]).permute([1, 0, 2]).reshape([2, 2 * n]) * w.unsqueeze_dim::<2>(1);
        pairs.reshape([2, n, 2]).sin().swap_dims(0, 1).sum_dims_squeeze::<1, _>(&[1, 2])
    });
    agree(&turned.with(&data), &ones([2]));
    let wide = Model::new(|w: Tensor<1>, x: Tensor<2>| {
        let n = x.dims()[0];
        let line = w.unsqueeze::<2>().expand([n, 4]).reshape([4 * n]) * x.reshape([4 * n]).exp();
        line.reshape([n, 4]).slice(s![.., 1..4;2]).sum_dim(1).squeeze_dim::<1>(1)
    });
    agree(&wide.with(&data), &ones([4]));
}

#[test]
fn integers_and_masks_alone_are_data() {
    let group: Tensor<1, Int> = array((0..40).map(|i| (i * 7) % 5).collect::<Vec<i64>>(), [40]).unwrap();
    let flags: Vec<bool> = (0..80).map(|i| i % 3 == 0).collect();
    let model =
        Model::new(|w: Tensor<1>, group: Tensor<1, Int>| w.clone().select(0, group.clone()).sin() * w.gather(0, group));
    agree(&model.with(&Dataset::new(group.clone()).unwrap()), &ones([5]));
    let flags: Tensor<2, Bool> = array(flags, [40, 2]).unwrap();
    let model = Model::new(|w: Tensor<1>, (group, flags): (Tensor<1, Int>, Tensor<2, Bool>)| {
        let n = group.dims()[0];
        let w = w.select(0, group.clone()).unsqueeze_dim::<2>(1).expand([n, 2]);
        let any = flags.clone().any_dim(1).squeeze_dim::<1>(1).bool_or(group.greater_elem(3));
        let terms = w.clone().mask_where(flags, w.exp()).sum_dim(1).squeeze_dim::<1>(1);
        terms.mask_fill(any.bool_not(), -0.5)
    });
    agree(&model.with(&Dataset::new((group, flags)).unwrap()), &ones([5]));
    let images: Tensor<3> = array(normals(40 * 6, 3), [40, 2, 3]).unwrap();
    let model = Model::new(|w: Tensor<2>, x: Tensor<3>| {
        x.matmul(w.unsqueeze::<3>()).tanh().max_dim(1).sum_dim(2).reshape([-1])
    });
    agree(&model.with(&Dataset::new(images).unwrap()), &ones([3, 4]));
}
