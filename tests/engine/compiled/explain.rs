//! The explanation of a model: the program it was compiled to, or the reason why it was not compiled.

use sgmcmc::Engine;
use sgmcmc::data::{Precision, Rows};
use sgmcmc::prelude::*;

use sgmcmc_testkit::closures::compare::both;

fn data() -> Dataset<Tensor<1>> {
    Dataset::new(array((0..40).map(|i| f64::from(i) / 8.0).collect::<Vec<f64>>(), [40]).unwrap()).unwrap()
}

#[test]
fn a_compiled_model_names_operations_buffers_and_tiles() {
    let model = Model::new(|t: Tensor<1>, y: Tensor<1>| (y - t.clone()).tanh().square() * -0.5)
        .prior(|t: Tensor<1>| t.square() * -0.5);
    for engine in [Engine::Auto, Engine::Compiled] {
        let text = model.with(&data()).engine(engine).explain(&zeros([1])).unwrap();
        for part in [
            "compiled, f64",
            "operations recorded",
            "log-posterior and gradient",
            "nodes",
            "buffers",
            "tiles of",
            "for each tile",
        ] {
            assert!(text.contains(part), "`{part}` is not in:\n{text}");
        }
        let single = model.with(&data().with_precision(Precision::Single)).engine(engine).explain(&zeros([1])).unwrap();
        assert!(single.contains("compiled, f32"), "{single}");
    }
    let text = model.with(&data()).engine(Engine::Eager).explain(&zeros([1])).unwrap();
    assert!(text.contains("eager: requested"), "{text}");
}

/// A series of many steps is one row, whose buffers must not be those of a tile of many rows.
#[test]
fn tiles_are_not_larger_than_the_data_set() {
    for rows in [1, 3, 40] {
        let data = Dataset::new(zeros([rows, 5])).unwrap();
        let model = Model::new(|t: Tensor<1>, y: Tensor<2>| {
            (y - t.unsqueeze()).tanh().square().sum_dim(1).squeeze_dim::<1>(1) * -0.5
        });
        let text = model.with(&data).engine(Engine::Compiled).explain(&zeros([1])).unwrap();
        let sizes = text.split("tiles of ").skip(1).filter_map(|rest| rest.split(' ').next()?.parse::<usize>().ok());
        let sizes: Vec<usize> = sizes.collect();
        assert!(!sizes.is_empty() && sizes.iter().all(|size| *size <= rows), "{rows} rows: {text}");
    }
}

#[test]
fn a_model_that_is_not_compiled_says_why() {
    let model = Model::new(|t: Tensor<1>, y: Tensor<1>| (y.clone() - y.mean() - t).square() * -0.5);
    for engine in [Engine::Auto, Engine::Compiled] {
        let text = model.with(&data()).engine(engine).explain(&zeros([1])).unwrap();
        assert!(text.starts_with("eager: a mean is taken over the rows"), "{text}");
    }
}

/// Burn computes the derivative of x / c in single precision; what is compiled is exact, and compiled all the same.
#[test]
fn division_by_a_number_is_compiled() {
    let model = Model::new(|t: Tensor<1>, y: Tensor<1>| ((y - t) / 1.7).square() * -0.5);
    let [mut compiled, _] = both(&model.with(&data()), &zeros([1])).unwrap();
    let mut gradient = [0.0];
    compiled.likelihood(&[0.25], Rows::range(0..40), &mut gradient).unwrap();
    let exact: f64 = (0..40).map(|i| (f64::from(i) / 8.0 - 0.25) / (1.7 * 1.7)).sum();
    assert!((gradient[0] - exact).abs() < 1e-13 * exact, "{} for {exact}", gradient[0]);
}

/// A start at which the gradient is zero but for rounding: 3 · 0.3 − 0.9 is not zero.
#[test]
fn a_start_at_the_mode_is_compiled() {
    let model = Model::density(|t: Tensor<1>| (t * 3.0 - 0.9).square() * -0.5);
    let start = array(vec![0.3], [1]).unwrap();
    let [mut compiled, mut eager] = both(&model.with(&Dataset::none()), &start).unwrap();
    let gradients = [&mut compiled, &mut eager].map(|engine| {
        let mut gradient = [0.0];
        engine.prior(&[0.5], &mut gradient).unwrap();
        gradient[0]
    });
    assert!((gradients[0] - gradients[1]).abs() < 1e-14, "{gradients:?}");
}
