//! Indices out of range, values that are no numbers, no rows, no data, no prior, nothing that depends on a parameter.

use sgmcmc::Engine;
use sgmcmc::data::Rows;
use sgmcmc::gradient::Evaluator;
use sgmcmc::prelude::*;

use sgmcmc_testkit::closures::compare::both;

fn gradient(evaluator: &mut dyn Evaluator, theta: &[f64], rows: Rows<'_>) -> (f64, Vec<f64>) {
    let mut gradient = vec![0.0; theta.len()];
    let value = evaluator.posterior(theta, rows, &mut gradient).unwrap();
    (value, gradient)
}

/// Exactly the same from both engines.
fn same<P: TensorTree, D: TensorTree>(target: &Posterior<P, D>, start: &P, theta: &[f64]) {
    let [mut compiled, mut eager] = both(target, start).unwrap();
    let n = eager.observations();
    for rows in [Rows::range(0..n), Rows::range(0..n).scaled(0.5), Rows::range(0..0), Rows::range(0..n.min(1))] {
        let (found, expected) = (gradient(compiled.as_mut(), theta, rows), gradient(eager.as_mut(), theta, rows));
        assert_eq!(found, expected);
        let mut priors = [vec![0.0; theta.len()], vec![0.0; theta.len()]];
        let found = compiled.prior(theta, &mut priors[0]).unwrap();
        let expected = eager.prior(theta, &mut priors[1]).unwrap();
        assert_eq!((found, &priors[0]), (expected, &priors[1]));
        let found = compiled.log_density(theta, rows).unwrap();
        let expected = eager.log_density(theta, rows).unwrap();
        assert!((found - expected).abs() < 1e-14 * (1.0 + expected.abs()));
    }
}

fn column(values: &[f64]) -> Dataset<Tensor<1>> {
    Dataset::new(array(values.to_vec(), [values.len()]).unwrap()).unwrap()
}

#[test]
fn an_index_out_of_range_is_an_error() {
    for wrong in [3_i64, 1000, -1, -4] {
        let mut groups = vec![0_i64, 1, 2, 1, 0];
        groups.push(wrong);
        let data = Dataset::new(array(groups, [6]).unwrap()).unwrap();
        let select = Model::new(|w: Tensor<1>, group: Tensor<1, Int>| w.select(0, group));
        let gather = Model::new(|w: Tensor<1>, group: Tensor<1, Int>| w.gather(0, group));
        let rows = Model::new(|w: Tensor<1>, group: Tensor<1, Int>| {
            let n = group.dims()[0];
            (w.unsqueeze::<2>().expand([n, 3]) * 2.0).gather(1, group.unsqueeze_dim(1)).squeeze_dim::<1>(1)
        });
        for (name, model) in [("select", select), ("gather", gather), ("gather of rows", rows)] {
            let posterior = model.with(&data);
            let mut eager = posterior.clone().engine(Engine::Eager).evaluator(&zeros([3])).unwrap();
            let expected = eager.likelihood(&[1.0, 2.0, 3.0], Rows::range(0..6), &mut [0.0; 3]);
            for engine in [Engine::Auto, Engine::Compiled] {
                // The comparison with the eager engine may have met the row already.
                let Ok(mut evaluator) = posterior.clone().engine(engine).evaluator(&zeros([3])) else { continue };
                assert!(evaluator.likelihood(&[1.0, 2.0, 3.0], Rows::range(0..5), &mut [0.0; 3]).is_ok());
                let found = evaluator.likelihood(&[1.0, 2.0, 3.0], Rows::range(0..6), &mut [0.0; 3]);
                assert_eq!(found.is_err(), expected.is_err(), "{name} at {wrong}: {found:?} for {expected:?}");
                if let (Ok(found), Ok(expected)) = (&found, &expected) {
                    assert!((found - expected).abs() < 1e-12, "{name} at {wrong}: {found} for {expected}");
                }
            }
        }
    }
}

#[test]
fn missing_values_can_be_masked() {
    let values = vec![1.0, f64::NAN, 3.0, f64::INFINITY, -1.0, 0.5];
    let data = Dataset::allow_non_finite(array(values, [6]).unwrap()).unwrap();
    let model = Model::new(|t: Tensor<1>, y: Tensor<1>| {
        let missing = y.clone().is_nan().bool_or(y.clone().is_inf());
        (y.mask_fill(missing.clone(), 0.0) - t).square().mask_fill(missing, 0.0)
    });
    let start = array(vec![0.5], [1]).unwrap();
    // The first two rows are looked at when an evaluator is made, and all of them count.
    same(&model.with(&data), &start, &[0.25]);
    // Masked too late: zero times infinity is no number in the gradient.
    let unmasked = Model::new(|t: Tensor<1>, y: Tensor<1>| {
        let finite = y.clone().is_finite();
        let terms = (y - t).square();
        terms.zeros_like().mask_where(finite, terms)
    });
    let auto = unmasked.with(&data).engine(Engine::Auto).evaluator(&start).unwrap();
    let eager = unmasked.with(&data).engine(Engine::Eager).evaluator(&start).unwrap();
    let [found, expected] = [auto, eager].map(|mut engine| gradient(engine.as_mut(), &[0.25], Rows::range(0..6)));
    assert_eq!(found.0.to_bits(), expected.0.to_bits());
    assert!(found.1[0].is_nan() && expected.1[0].is_nan(), "{found:?} for {expected:?}");
}

#[test]
fn parts_of_a_model_may_be_missing() {
    let data = column(&[0.5, 1.5, -1.0, 2.0]);
    let likelihood = || Model::new(|t: Tensor<1>, y: Tensor<1>| (y - t).square() * -0.5);
    same(&likelihood().with(&data), &zeros([1]), &[0.25]);
    same(&likelihood().prior(|t: Tensor<1>| t.square() * -0.125).with(&data), &zeros([1]), &[0.25]);
    same(&Model::density(|t: Tensor<1>| t.square() * -0.125).with(&Dataset::none()), &zeros([1]), &[0.25]);
    let tempered = likelihood().prior(|t: Tensor<1>| t.square() * -0.125).temperature(4.0).unwrap();
    same(&tempered.clone().with(&data), &zeros([1]), &[0.25]);
    same(&tempered.prior_power(0.25).unwrap().with(&data), &zeros([1]), &[0.25]);
}

#[test]
fn nothing_need_depend_on_a_parameter() {
    let data = column(&[0.5, 1.5, -1.0, 2.0]);
    let constant = Model::new(|t: Tensor<1>, y: Tensor<1>| Tensor::<1>::ones(y.dims(), (&t.device(), t.dtype())) * 0.5);
    same(&constant.with(&data), &zeros([1]), &[0.25]);
    same(&Model::new(|_: Tensor<1>, y: Tensor<1>| y * 0.5).with(&data), &zeros([1]), &[0.25]);
    same(&Model::new(|_: Tensor<1>, y: Tensor<1>| y.zeros_like()).with(&data), &zeros([1]), &[0.25]);
    let shared = Model::new(|t: Tensor<1>, y: Tensor<1>| t.square().expand(y.dims()) * -0.5);
    same(&shared.with(&data), &zeros([1]), &[0.25]);
    let first = Model::new(|(a, _): (Tensor<1>, Tensor<2>), y: Tensor<1>| y * a);
    same(&first.with(&data), &(zeros([1]), zeros([2, 2])), &[0.25, 1.0, 2.0, 3.0, 4.0]);
    let unused = first.prior(|(_, b): (Tensor<1>, Tensor<2>)| b.sum());
    same(&unused.with(&data), &(zeros([1]), zeros([2, 2])), &[0.25, 1.0, 2.0, 3.0, 4.0]);
    let flat = Model::density(|a: Tensor<1>| a.zeros_like().sum());
    same(&flat.with(&Dataset::none()), &zeros([2]), &[1.0, 2.0]);
}

#[test]
fn wrong_lengths_and_rows_are_errors() {
    let model = Model::new(|t: Tensor<1>, y: Tensor<1>| (y - t).square() * -0.5);
    let [compiled, eager] = both(&model.with(&column(&[0.5, 1.5, -1.0])), &zeros([1])).unwrap();
    let errors = [compiled, eager].map(|mut engine| {
        [
            engine.likelihood(&[0.0, 1.0], Rows::range(0..3), &mut [0.0]).unwrap_err(),
            engine.likelihood(&[0.0], Rows::range(0..4), &mut [0.0]).unwrap_err(),
            engine.posterior(&[0.0], Rows::list(&[1, 7]), &mut [0.0]).unwrap_err(),
            engine.log_density(&[0.0], Rows::list(&[1, 7])).unwrap_err(),
            engine.log_likelihood_per_observation(&[0.0], Rows::range(0..3), &mut [0.0; 2]).unwrap_err(),
            engine.log_likelihood_per_observation(&[0.0], Rows::range(2..4), &mut [0.0; 2]).unwrap_err(),
            engine.gradient_per_observation(&[0.0], Rows::range(0..3), &mut [0.0; 2]).unwrap_err(),
        ]
    });
    assert_eq!(errors[0], errors[1]);
}
