//! The log density of every distribution, compiled, as the likelihood of rows and as a prior.

use sgmcmc::burn::{DType, TensorData};
use sgmcmc::data::{Precision, Rows};
use sgmcmc::prelude::*;
use sgmcmc::{Engine, default_device};

use crate::distributions::cases::{self, Case};
use sgmcmc_testkit::closures::compare::Engines;

fn tensor(rows: &[Vec<f64>], precision: Precision) -> Tensor<2> {
    let dtype = match precision {
        Precision::Single => DType::F32,
        Precision::Double => DType::F64,
    };
    Tensor::from_data(TensorData::new(rows.concat(), [rows.len(), rows[0].len()]), (&default_device(), dtype))
}

/// Parameters by name, each `[1, k]`.
fn params(set: &[&[f64]], precision: Precision) -> Named {
    let add = |tree: Named, (index, row): (usize, &&[f64])| {
        tree.with(format!("p{index}"), tensor(&[row.to_vec()], precision))
    };
    set.iter().enumerate().fold(Named::new(), add)
}

fn get(params: &Named, count: usize) -> Vec<Tensor<2>> {
    (0..count).map(|index| params.get::<2>(&format!("p{index}"))).collect()
}

/// Points near the start, at which the parameters are still in range.
fn thetas(set: &[&[f64]]) -> Vec<Vec<f64>> {
    let flat: Vec<f64> = set.concat();
    let moved = |factor: f64| flat.iter().map(|x| f64::from((x * factor) as f32)).collect();
    vec![moved(1.0), moved(0.9375)]
}

/// Values that single precision holds exactly, repeated to a few dozen rows.
fn points(case: &Case) -> Vec<Vec<f64>> {
    let round = |point: Vec<f64>| point.into_iter().map(|x| f64::from(x as f32)).collect::<Vec<f64>>();
    let inside: Vec<_> = case.support.inside().into_iter().map(round).collect();
    inside.iter().cycle().take(13).cloned().collect()
}

#[test]
fn as_likelihoods_agree() {
    for case in cases::all() {
        let points = points(&case);
        let data = Dataset::new(tensor(&points, Precision::Double)).unwrap();
        for (set, precision) in
            case.ordinary.iter().flat_map(|s| [Precision::Single, Precision::Double].map(|p| (s, p)))
        {
            let (make, count) = (case.tensors, set.len());
            let model = Model::new(move |p: Named, x: Tensor<2>| make(&get(&p, count)).log_prob(x));
            let start = |precision| params(set, precision);
            let mut engines = Engines::new(&model, &data, start, precision)
                .unwrap_or_else(|error| panic!("{} in {precision:?}: {error}", case.name));
            for theta in thetas(set) {
                engines.assert_agree(case.name, &theta, Rows::list(&[3, 0, 12, 11, 3]).scaled(7.0));
                engines.assert_agree(case.name, &theta, Rows::range(0..points.len()));
            }
        }
    }
}

#[test]
fn as_priors_agree() {
    for case in cases::all().into_iter().filter(|case| !case.support.is_discrete()) {
        for (set, precision) in
            case.ordinary.iter().flat_map(|s| [Precision::Single, Precision::Double].map(|p| (s, p)))
        {
            let point: Vec<f64> = case.support.inside()[0].clone();
            let (make, fixed) = (case.tensors, set.concat());
            let lengths: Vec<usize> = set.iter().map(|row| row.len()).collect();
            // The distribution of the parameter, with numbers made from the argument so that they are on its device.
            let model = Model::density(move |x: Tensor<2>| {
                let device = x.device();
                let mut rest = fixed.as_slice();
                let mut set = vec![];
                for length in &lengths {
                    let (row, others) = rest.split_at(*length);
                    let data = TensorData::new(row.to_vec(), [1, *length]);
                    set.push(Tensor::from_data(data, (&device, x.dtype())));
                    rest = others;
                }
                make(&set).log_prob(x)
            });
            let start = |precision| tensor(std::slice::from_ref(&point), precision);
            let mut engines = Engines::new(&model, &Dataset::none(), start, precision)
                .unwrap_or_else(|error| panic!("{} in {precision:?}: {error}", case.name));
            for theta in thetas(&[&point]) {
                engines.assert_agree(case.name, &theta, Rows::range(0..0));
            }
        }
    }
}

/// Burn computes the derivative of x / c in single precision, so the eager engine is given tensors instead of numbers.
#[test]
fn with_numbers_as_parameters_agree_with_tensors() {
    for case in cases::all().into_iter().filter(|case| !case.support.is_discrete()) {
        let (Some(make), set) = (case.numbers, case.ordinary[0].concat()) else { continue };
        let (make_tensors, fixed) = (case.tensors, set.clone());
        // The parameter scales the data a little.
        let numbers = Model::new(move |shrink: Tensor<1>, x: Tensor<2>| make(&set).log_prob(x * shrink.unsqueeze()));
        let tensors = Model::new(move |shrink: Tensor<1>, x: Tensor<2>| {
            let number = |value: &f64| x.zeros_like().narrow(0, 0, 1).narrow(1, 0, 1) + *value;
            make_tensors(&fixed.iter().map(number).collect::<Vec<_>>()).log_prob(x.clone() * shrink.unsqueeze())
        });
        for (precision, rounding) in [(Precision::Single, 1e-4), (Precision::Double, 1e-11)] {
            let data = Dataset::new(tensor(&points(&case), Precision::Double)).unwrap().with_precision(precision);
            let start = array(vec![0.96875], [1]).unwrap();
            let mut compiled = numbers.with(&data).engine(Engine::Compiled).evaluator(&start).expect(case.name);
            let mut eager = tensors.with(&data).engine(Engine::Eager).evaluator(&start).expect(case.name);
            for row in 0..points(&case).len() {
                let answers = [&mut compiled, &mut eager].map(|engine| {
                    let mut gradient = [0.0];
                    [engine.likelihood(&[0.984375], Rows::range(row..row + 1), &mut gradient).unwrap(), gradient[0]]
                });
                for (found, expected) in answers[0].iter().zip(answers[1]) {
                    let near = (found - expected).abs() <= rounding * (1.0 + expected.abs());
                    assert!(near, "{} in {precision:?}, row {row}: {found} for {expected}", case.name);
                }
            }
        }
    }
}
