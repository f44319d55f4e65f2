//! All distributions: densities against reference values, integrals and differences, and draws against densities.

pub(crate) mod cases;
mod draws;
mod interface;
mod rows;
mod stable;
pub(crate) mod support;

use std::collections::BTreeSet;

use cases::{Case, Rows};
use sgmcmc::burn::{DType, Device, Tensor, TensorData};
use sgmcmc::default_device;
use sgmcmc::distributions::NAMES;
use support::Support;

fn tensor(rows: &[Vec<f64>], dtype: DType) -> Tensor<2> {
    let data = TensorData::new(rows.concat(), [rows.len(), rows[0].len()]);
    Tensor::from_data(data, (&default_device(), dtype))
}

fn params(rows: &[impl AsRef<[f64]>], dtype: DType) -> Vec<Tensor<2>> {
    rows.iter().map(|row| tensor(&[row.as_ref().to_vec()], dtype)).collect()
}

fn host<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

/// The distribution with parameters that are tensors in double precision.
fn ordinary(case: &Case, set: &[&[f64]]) -> Rows {
    (case.tensors)(&params(set, DType::F64))
}

/// Log densities, and gradients of their sum to all parameters and, at the end, to the values.
fn gradients(case: &Case, set: &[Vec<f64>], points: &[Vec<f64>], dtype: DType) -> (Vec<f64>, Vec<Vec<f64>>) {
    let leaf = |tensor: Tensor<2>| tensor.autodiff().require_grad();
    let mut leaves: Vec<_> = params(set, dtype).into_iter().map(leaf).collect();
    let value = leaf(tensor(points, dtype));
    let log_prob = (case.tensors)(&leaves).log_prob(value.clone());
    assert_eq!(log_prob.dtype(), dtype);
    leaves.push(value);
    // A leaf that plays no part (the value, for the uniform distribution) has gradient zero.
    let tracked =
        log_prob.clone().sum() + leaves.iter().map(|leaf| leaf.clone().sum() * 0.0).reduce(|a, b| a + b).unwrap();
    let gradients = tracked.backward();
    (host(&log_prob), leaves.iter().map(|leaf| host(&leaf.grad(&gradients).unwrap())).collect())
}

/// The log density at one point, in double precision.
fn log_prob(case: &Case, set: &[Vec<f64>], point: &[f64]) -> f64 {
    host(&(case.tensors)(&params(set, DType::F64)).log_prob(tensor(&[point.to_vec()], DType::F64)))[0]
}

fn owned(set: &[&[f64]]) -> Vec<Vec<f64>> {
    set.iter().map(|row| row.to_vec()).collect()
}

/// Rows of the reference table with the same distribution and parameters.
struct Reference {
    name: &'static str,
    set: Vec<Vec<f64>>,
    points: Vec<Vec<f64>>,
    log_probs: Vec<f64>,
}

fn references() -> Vec<Reference> {
    let numbers = |text: &str| text.split_whitespace().map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
    let mut references: Vec<Reference> = Vec::new();
    for line in include_str!("../../reference/densities.csv").lines().skip(1) {
        let columns: Vec<&'static str> = line.split('|').collect();
        let (name, set) = (columns[0], columns[1].split(';').map(numbers).collect::<Vec<_>>());
        if references.last().is_none_or(|last| last.name != name || last.set != set) {
            references.push(Reference { name, set, points: Vec::new(), log_probs: Vec::new() });
        }
        if let Some(last) = references.last_mut() {
            last.points.push(numbers(columns[2]));
            last.log_probs.extend(numbers(columns[3]));
        }
    }
    references
}

/// A case of one of several constructors has the name `Distribution.constructor`.
#[test]
fn every_distribution_has_a_case() {
    let distributions = cases::all().into_iter().filter_map(|case| case.name.split('.').next());
    assert_eq!(distributions.collect::<BTreeSet<_>>(), NAMES.iter().copied().collect());
}

#[test]
fn agree_with_reference_values() {
    let (cases, references) = (cases::all(), references());
    for case in &cases {
        let count: usize = references.iter().filter(|rows| rows.name == case.name).map(|rows| rows.points.len()).sum();
        assert!(count >= 6, "{} has {count} reference values", case.name);
    }
    for Reference { name, set, points, log_probs } in references {
        let case = cases.iter().find(|case| case.name == name).expect(name);
        let check = |distribution: Rows, dtype, relative: f64, absolute: f64| {
            let computed = host(&distribution.log_prob(tensor(&points, dtype)));
            for ((point, expected), computed) in points.iter().zip(&log_probs).zip(computed) {
                let error = (computed - expected).abs();
                let both_infinite = computed == f64::NEG_INFINITY && *expected == f64::NEG_INFINITY;
                assert!(
                    error < relative * expected.abs() || error < absolute || both_infinite,
                    "{name} {set:?} at {point:?} is {computed} in {dtype:?}, should be {expected}: error {error:.1e}"
                );
            }
        };
        // Relative, and absolute to rounding where the log density is nearly zero. In single precision the terms of a
        // log density, up to 1e6 where counts are, leave their own rounding.
        let single = if case.support.is_discrete() { 1e-3 } else { 1e-4 };
        for (dtype, relative, absolute) in [(DType::F64, 1e-10, 1e-14), (DType::F32, single, single)] {
            check((case.tensors)(&params(&set, dtype)), dtype, relative, absolute);
            if let Some(make) = case.numbers {
                check(make(&set.concat()), dtype, relative, absolute);
            }
        }
    }
}

#[test]
fn integrate_to_one() {
    for case in cases::all() {
        let nodes = case.support.nodes();
        let points: Vec<_> = nodes.iter().map(|(x, _)| x.clone()).collect();
        for set in case.ordinary {
            let densities = host(&ordinary(&case, set).log_prob(tensor(&points, DType::F64)));
            let mass: f64 = densities.iter().zip(&nodes).map(|(log, (_, weight))| log.exp() * weight).sum();
            assert!((mass - 1.0).abs() < 1e-8, "{} {set:?} has mass {mass}", case.name);
        }
    }
}

/// Gradients against differences of fourth order, whose own error is about 1e-11 of the gradient plus the rounding of
/// the log density over the step.
#[test]
fn gradients_agree_with_differences() {
    for case in cases::all() {
        for (set, point) in
            case.ordinary.iter().flat_map(|set| case.support.inside().into_iter().map(move |x| (set, x)))
        {
            let set = owned(set);
            let (values, gradients) = gradients(&case, &set, std::slice::from_ref(&point), DType::F64);
            let value = values[0];
            assert!(value.is_finite(), "{} {set:?} at {point:?} is {value}", case.name);
            let mut leaves = set.clone();
            leaves.push(point.clone());
            // Counts do not vary, nor does the number of trials.
            let last = if case.support.is_discrete() { set.len() } else { leaves.len() };
            let first = usize::from(["BinomialLogits", "BetaBinomial"].contains(&case.name));
            for (leaf, element) in (first..last).flat_map(|leaf| (0..leaves[leaf].len()).map(move |e| (leaf, e))) {
                let here = leaves[leaf][element];
                if here == 0.0 {
                    continue; // the entry above the diagonal of a triangular matrix
                }
                let margin = if let Support::Interval(low, high) = case.support {
                    (high - point[0]).min(point[0] - low)
                } else {
                    1.0
                };
                let step = 1e-3 * here.abs().min(margin).min(1.0);
                let at = |multiple: f64| {
                    let mut moved = leaves.clone();
                    moved[leaf][element] += multiple * step;
                    log_prob(&case, &moved[..set.len()], &moved[set.len()])
                };
                let difference = (at(-2.0) - 8.0 * at(-1.0) + 8.0 * at(1.0) - at(2.0)) / (12.0 * step);
                let rounding = 1e-14 * value.abs().max(here.abs()).max(1.0) / step;
                let gradient = gradients[leaf][element];
                assert!(
                    (gradient - difference).abs() <= 1e-7 * difference.abs() + rounding,
                    "{} {set:?} at {point:?}: gradient {gradient} to entry {element} of {leaf}, differences {difference}",
                    case.name
                );
            }
        }
    }
}

#[test]
fn nothing_is_nan_at_extremes() {
    for case in cases::all() {
        let points: Vec<_> = case.support.inside().into_iter().chain(case.support.extremes()).collect();
        // Where parameters are columns, all points at once, each with parameters of its own.
        let batch = if case.numbers.is_some() { points.len() } else { 1 };
        for set in case.ordinary.iter().chain(case.extreme) {
            let set: Vec<Vec<f64>> = set.iter().map(|row| row.repeat(batch)).collect();
            for (points, dtype) in points.chunks(batch).flat_map(|p| [DType::F64, DType::F32].map(|dtype| (p, dtype))) {
                let (values, mut gradients) = gradients(&case, &set, points, dtype);
                if case.support.is_discrete() {
                    gradients.pop(); // counts do not vary
                }
                assert!(
                    values.iter().chain(gradients.iter().flatten()).all(|x| !x.is_nan()),
                    "{} {set:?} at {points:?} in {dtype:?}: {values:?}, gradients {gradients:?}",
                    case.name
                );
            }
        }
    }
}

#[test]
fn outside_the_support_the_density_is_zero() {
    for case in cases::all() {
        for (set, point) in
            case.ordinary.iter().flat_map(|set| case.support.outside().into_iter().map(move |x| (set, x)))
        {
            for dtype in [DType::F64, DType::F32] {
                let (value, gradients) = gradients(&case, &owned(set), std::slice::from_ref(&point), dtype);
                assert_eq!(value, [f64::NEG_INFINITY], "{} at {point:?}", case.name);
                assert!(gradients.iter().flatten().all(|g| *g == 0.0), "{} at {point:?}: {gradients:?}", case.name);
            }
        }
    }
}

#[test]
fn run_on_capture_devices() {
    for case in cases::all() {
        let capture = Device::capture();
        let captured = capture.capture_scope(|scope| {
            let move_in = |t: Tensor<2>| t.to_device(&capture);
            let set: Vec<_> = params(case.ordinary[0], DType::F64).into_iter().map(move_in).collect();
            let points = case.support.inside();
            let value = || move_in(tensor(&points, DType::F64));
            assert_eq!((case.tensors)(&set).log_prob(value()).dims(), [points.len()]);
            if let Some(make) = case.numbers {
                assert_eq!(make(&case.ordinary[0].concat()).log_prob(value()).dims(), [points.len()]);
            }
            scope.complete([], [])
        });
        let operations = captured.expect("the capture is complete").graph.operations.len();
        assert!(operations > 1, "{}: only {operations} operations were recorded", case.name);
    }
}
