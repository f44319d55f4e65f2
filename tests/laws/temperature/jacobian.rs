//! The log-Jacobian on the host, and the oracle that adds it.

use sgmcmc::Engine;
use sgmcmc::Layout;
use sgmcmc::TreeLayout;
use sgmcmc::data::Rows;
use sgmcmc::gradient::Oracle;
use sgmcmc::gradient::{Evaluator, FullGradient};
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;
use sgmcmc_testkit::models::normals;
use sgmcmc_testkit::relative_error;

/// All constraints, on shapes with several groups.
fn cases() -> Vec<(Constraint, [usize; 3])> {
    vec![
        (Constraint::Positive, [2, 1, 3]),
        (Constraint::Lower(-2.0), [2, 2, 1]),
        (Constraint::Upper(5.0), [2, 2, 1]),
        (Constraint::Interval(-1.0, 3.0), [2, 2, 2]),
        (Constraint::UnitInterval, [1, 2, 3]),
        (Constraint::Simplex, [2, 1, 4]),
        (Constraint::Simplex, [2, 2, 2]),
        (Constraint::Ordered, [2, 1, 3]),
        (Constraint::Ordered, [2, 1, 1]),
        (Constraint::PositiveOrdered, [2, 1, 3]),
        (Constraint::UnitVector, [2, 2, 3]),
        (Constraint::Softmax, [2, 1, 3]),
        (Constraint::CholeskyCorrelation, [2, 2, 2]),
        (Constraint::CholeskyCorrelation, [2, 4, 4]),
    ]
}

/// log p(x) = Σᵢ (wᵢ xᵢ − ½ c xᵢ²) with w = 1, 2, …, written on tensors; flat for `scale` zero.
fn model(shape: [usize; 3], constraint: Constraint, scale: f64) -> Model<Tensor<3>> {
    let weights = weights(shape);
    let log_density = move |x: Tensor<3>| {
        let weights = array(weights.clone(), shape).unwrap().to_device(&x.device());
        (x.clone() * weights - x.square() * 0.5).sum() * scale
    };
    Model::density(log_density).constrain("theta", constraint)
}

fn weights(shape: [usize; 3]) -> Vec<f64> {
    (0..shape.iter().product()).map(|i: usize| 1.0 + i as f64).collect()
}

/// The same log density on a slice.
fn log_density(x: &[f64]) -> f64 {
    x.iter().enumerate().map(|(i, x)| (1.0 + i as f64) * x - 0.5 * x * x).sum()
}

fn layout(shape: [usize; 3], constraint: Constraint) -> Layout {
    Layout::from_tree(&zeros(shape)).unwrap().constrained("theta", constraint).unwrap()
}

/// Values inside the constraint, and coordinates elsewhere.
fn places(layout: &Layout, shape: [usize; 3]) -> (Tensor<3>, Vec<f64>) {
    let start = array(layout.values(&vec![0.1; layout.dim()]).unwrap(), shape).unwrap();
    let y = normals(layout.dim(), 5).iter().map(|z| 1.5 * z).collect();
    (start, y)
}

fn evaluator(model: &Model<Tensor<3>>, start: &Tensor<3>) -> Box<dyn Evaluator> {
    model.with(&Dataset::none()).engine(Engine::Eager).evaluator(start).unwrap()
}

/// The gradient of `f` at `y` by central differences.
fn differences(y: &[f64], mut f: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let far = 1e-5;
    let mut point = y.to_vec();
    let mut slope = |k: usize| {
        point[k] = y[k] + far;
        let above = f(&point);
        point[k] = y[k] - far;
        let below = f(&point);
        point[k] = y[k];
        (above - below) / (2.0 * far)
    };
    (0..y.len()).map(&mut slope).collect()
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * b.abs().max(1.0))
}

#[test]
fn log_jacobians_on_the_host_are_those_of_the_model() {
    for (constraint, shape) in cases() {
        let layout = layout(shape, constraint);
        let (start, y) = places(&layout, shape);
        let mut expected = vec![0.0; y.len()];
        let flat = model(shape, constraint, 0.0);
        let log_jacobian = evaluator(&flat, &start).posterior(&y, Rows::range(0..0), &mut expected).unwrap();
        for factor in [1.0, -1.0, 0.7] {
            // Gradients are added to what is there.
            let mut gradient = vec![0.25; y.len()];
            let found = layout.log_jacobian(&y, factor, &mut gradient).unwrap();
            assert!(close(&[found], &[factor * log_jacobian], 1e-13), "{constraint}: {found}, {log_jacobian}");
            let scaled: Vec<f64> = expected.iter().map(|g| 0.25 + factor * g).collect();
            assert!(close(&gradient, &scaled, 1e-13), "{constraint}: {gradient:?} against {scaled:?}");
        }
        let mut gradient = vec![0.0; y.len()];
        layout.log_jacobian(&y, 1.0, &mut gradient).unwrap();
        let slopes = differences(&y, |y| layout.log_jacobian(y, 1.0, &mut vec![0.0; y.len()]).unwrap());
        assert!(close(&gradient, &slopes, 1e-8), "{constraint}: {gradient:?} against {slopes:?}");
    }
}

#[test]
fn log_jacobians_are_finite_far_out() {
    for (constraint, shape) in cases() {
        let layout = layout(shape, constraint);
        for far in [-700.0, -40.0, 40.0, 700.0] {
            let y: Vec<f64> = (0..layout.dim()).map(|k| if k % 2 == 0 { far } else { -far }).collect();
            let mut gradient = vec![0.0; y.len()];
            let value = layout.log_jacobian(&y, 1.0, &mut gradient).unwrap();
            assert!(value.is_finite() && gradient.iter().all(|g| g.is_finite()), "{constraint} at {far}: {value}");
        }
    }
}

#[test]
fn parameters_without_constraint_have_no_jacobian() {
    let params = Named::new().with("a", zeros([2])).with("b", zeros([1])).with("c", zeros([2]));
    let layout = Layout::from_tree(&params).unwrap();
    let mut gradient = vec![0.0; 5];
    assert!(close(&[layout.log_jacobian(&[1.0; 5], 2.0, &mut gradient).unwrap()], &[0.0], 0.0));
    assert_eq!(gradient, [0.0; 5]);
    let layout = layout.constrained("b", Constraint::Positive).unwrap();
    assert!(close(&[layout.log_jacobian(&[1.0, 2.0, 3.0, 4.0, 5.0], 2.0, &mut gradient).unwrap()], &[6.0], 0.0));
    assert_eq!(gradient, [0.0, 0.0, 2.0, 0.0, 0.0]);
    let short = layout.log_jacobian(&[1.0; 4], 2.0, &mut gradient).unwrap_err().to_string();
    assert!(short.contains("the flat parameter vector") && short.contains('4'), "{short}");
    assert!(layout.log_jacobian(&[1.0; 5], 2.0, &mut gradient[..4]).is_err());
}

/// Value and gradient from an oracle at `temperature`.
fn at_temperature(model: &Model<Tensor<3>>, start: &Tensor<3>, y: &[f64], temperature: f64) -> (f64, Vec<f64>) {
    let mut oracle = Oracle::new(FullGradient, evaluator(model, start), y, ChainRng::new(1, 0)).unwrap();
    oracle.set_temperature(temperature);
    let (mut fresh, mut again, mut prior) = (vec![0.0; y.len()], vec![0.0; y.len()], vec![0.0; y.len()]);
    let value = oracle.gradient(y, &mut fresh).unwrap();
    assert_eq!(oracle.gradient_same_batch(y, &mut again).unwrap().to_bits(), value.to_bits());
    // Without data the prior is all there is.
    assert!(close(&[oracle.prior(y, &mut prior).unwrap()], &[value], 1e-13));
    assert!(fresh == again && close(&prior, &fresh, 1e-13));
    (value, fresh)
}

/// Divided by T, the density at temperature T is that of the tempered model, and of a model that was tempered before.
#[test]
fn the_temperature_of_an_oracle_is_that_of_a_model() {
    for (constraint, shape) in cases() {
        let (start, y) = places(&layout(shape, constraint), shape);
        let model = model(shape, constraint, 1.0);
        for temperature in [0.25, 1.0, 3.0] {
            for before in [1.0, 2.0] {
                let warm = model.clone().temperature(before).unwrap();
                let (value, gradient) = at_temperature(&warm, &start, &y, temperature);
                let hot = model.clone().temperature(before * temperature).unwrap();
                let mut expected = vec![0.0; y.len()];
                let density = evaluator(&hot, &start).posterior(&y, Rows::range(0..0), &mut expected).unwrap();
                let scaled: Vec<f64> = gradient.iter().map(|g| g / temperature).collect();
                assert!(close(&[value / temperature], &[density], 1e-12), "{constraint} at {temperature}");
                assert!(close(&scaled, &expected, 1e-12), "{constraint} at {temperature}: {scaled:?}, {expected:?}");
            }
        }
    }
}

/// At temperature zero the density of the values is left.
#[test]
fn at_temperature_zero_there_is_no_jacobian() {
    for (constraint, shape) in cases() {
        let layout = layout(shape, constraint);
        let (start, y) = places(&layout, shape);
        let (value, gradient) = at_temperature(&model(shape, constraint, 1.0), &start, &y, 0.0);
        let of_values = |y: &[f64]| log_density(&layout.values(y).unwrap());
        assert!(close(&[value], &[of_values(&y)], 1e-12), "{constraint}: {value}");
        let slopes = differences(&y, of_values);
        assert!(relative_error(&gradient, &slopes) < 1e-7, "{constraint}: {gradient:?} against {slopes:?}");
    }
}

/// A kept gradient is brought to another temperature without a new estimate.
#[test]
fn gradients_are_brought_to_another_temperature() {
    for (constraint, shape) in cases() {
        let (start, y) = places(&layout(shape, constraint), shape);
        let model = model(shape, constraint, 1.0);
        let mut oracle = Oracle::new(FullGradient, evaluator(&model, &start), &y, ChainRng::new(1, 0)).unwrap();
        oracle.set_temperature(0.3);
        let mut kept = vec![0.0; y.len()];
        let value = oracle.gradient(&y, &mut kept).unwrap();
        oracle.set_temperature(2.5);
        let change = oracle.retemper(0.3, &y, &mut kept).unwrap();
        let (expected, gradient) = at_temperature(&model, &start, &y, 2.5);
        assert!(close(&[value + change], &[expected], 1e-13) && close(&kept, &gradient, 1e-13), "{constraint}");
        assert_eq!(oracle.state().estimates, 1);
    }
}
