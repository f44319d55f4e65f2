//! Functions of matrices and kernels: values against their definitions, gradients against differences, and the compiled
//! engine against the eager one.

use sgmcmc::Engine;
use sgmcmc::data::{Precision, Rows};
use sgmcmc::distributions::{LkjCholesky, LogNormal, MultivariateNormal, Normal};
use sgmcmc::kernels::*;
use sgmcmc::matrix::*;
use sgmcmc::prelude::*;
use sgmcmc_testkit::closures::compare::Engines;
use sgmcmc_testkit::models::normals;

fn host<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

/// `count` positive definite matrices with `d` rows, with garbage above the diagonal.
fn definite(count: usize, d: usize, seed: u64) -> Tensor<3> {
    let root = array(normals(count * d * d, seed), [count, d, d]).unwrap();
    let product = add_diagonal(root.clone().matmul(root.swap_dims(1, 2)), 1.0);
    lower_triangle(product.clone()) - (product.clone() - lower_triangle(product)) * 3.0
}

/// The symmetric matrices with these lower triangles.
fn symmetric(lower: &Tensor<3>) -> Tensor<3> {
    let lower = lower_triangle(lower.clone());
    let strict = add_diagonal(lower.clone(), 0.0) - lower.clone() * add_diagonal(lower.zeros_like(), 1.0);
    lower + strict.swap_dims(1, 2)
}

fn near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + b.abs()))
}

#[test]
fn functions_satisfy_their_definitions() {
    for (d, count) in [(1, 1), (2, 3), (5, 2), (20, 1)] {
        let a = definite(count, d, 3);
        let factor = cholesky(a.clone());
        let rebuilt = factor.clone().matmul(factor.clone().swap_dims(1, 2));
        assert!(near(&host(&rebuilt), &host(&symmetric(&a)), 1e-12));
        assert!(near(&host(&lower_triangle(factor.clone())), &host(&factor), 0.0));
        // The triangle above the diagonal is ignored, and a batch of one is broadcast.
        let garbage = factor.clone() + (a.clone() - lower_triangle(a.clone()));
        let b = array(normals(d * 3, 5), [1, d, 3]).unwrap();
        let all = b.clone().expand([count, d, 3]);
        let upper = garbage.clone().swap_dims(1, 2);
        let transposed = factor.clone().swap_dims(1, 2);
        for (x, matrix) in [
            (solve_lower(garbage.clone(), b.clone()), factor.clone()),
            (solve_lower_transposed(garbage.clone(), b.clone()), transposed.clone()),
            (solve_upper(upper.clone(), b.clone()), transposed),
            (solve_upper_transposed(upper, b.clone()), factor.clone()),
            (solve_factored(garbage, b.clone()), rebuilt.clone()),
            (solve_positive_definite(a, b), rebuilt.clone()),
        ] {
            assert!(near(&host(&matrix.matmul(x)), &host(&all), 1e-11));
        }
        let pivots = host(&diagonal(factor.clone()));
        let logs: Vec<f64> = pivots.chunks(d).map(|pivots| 2.0 * pivots.iter().map(|x| x.ln()).sum::<f64>()).collect();
        assert!(near(&host(&log_determinant(factor)), &logs, 1e-13));
    }
}

type Function = fn(Tensor<3>, Tensor<3>) -> Tensor<3>;

/// Gradients with respect to both arguments against differences of fourth order.
#[test]
fn gradients_agree_with_differences() {
    let functions: [(&str, Function); 7] = [
        ("cholesky", |a, b| cholesky(a).matmul(b)),
        ("solve_lower", solve_lower),
        ("solve_lower_transposed", solve_lower_transposed),
        ("solve_upper", solve_upper),
        ("solve_factored", solve_factored),
        ("solve_positive_definite", solve_positive_definite),
        ("log_determinant", |a, b| log_determinant(a) * b),
    ];
    for (name, function) in functions {
        for batches in [[1, 1], [2, 2], [1, 2], [2, 1]] {
            let start = [definite(batches[0], 3, 3), array(normals(batches[1] * 6, 4), [batches[1], 3, 2]).unwrap()];
            let total = |x: &[Tensor<3>; 2]| {
                let y = function(x[0].clone(), x[1].clone());
                let weights = array(normals(y.dims().iter().product(), 9), y.dims()).unwrap();
                (y * weights).sum()
            };
            let leaves = start.clone().map(|x| x.autodiff().require_grad());
            let tracked = total(&leaves) + leaves[0].clone().sum() * 0.0 + leaves[1].clone().sum() * 0.0;
            let gradients = tracked.backward();
            for (leaf, x) in start.iter().enumerate() {
                let gradient = host(&leaves[leaf].grad(&gradients).unwrap());
                for at in 0..gradient.len() {
                    let value = |step: f64| {
                        let mut moved = start.clone();
                        let mut values = host(x);
                        values[at] += step;
                        moved[leaf] = array(values, x.dims()).unwrap();
                        total(&moved).into_scalar::<f64>()
                    };
                    let h = 1e-3;
                    let difference = (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
                    let error = (difference - gradient[at]).abs();
                    assert!(
                        error < 1e-8 * (1.0 + difference.abs()),
                        "{name}, {batches:?}, {leaf}[{at}]: {} {difference}",
                        gradient[at]
                    );
                }
            }
        }
    }
}

/// The covariance matrices of all kernels, for hyperparameters scale, length and period.
fn kernels<const D: usize>(p: &Tensor<1>, x: Tensor<D>) -> Vec<Tensor<D>> {
    let at = |k: usize| p.clone().narrow(0, k, 1).exp().unsqueeze::<D>();
    let lengths = p.clone().narrow(0, 1, 2).exp().unsqueeze::<D>();
    vec![
        SquaredExponential::new(at(0), lengths.clone()).covariance(x.clone(), 0.1),
        Matern::half(at(0), at(1)).covariance(x.clone(), 0.1),
        Matern::three_halves(at(0), lengths).covariance(x.clone(), 0.1),
        Matern::five_halves(at(0), at(1)).covariance(x.clone(), 0.1),
        Periodic::new(at(0), at(1), at(2)).covariance(x.clone(), 0.1),
        Linear::new(at(0), at(1)).plus(Matern::half(1.0, at(2))).covariance(x.clone(), 0.1),
        Linear::new(at(0), 0.5).times(SquaredExponential::new(1.5, at(1))).covariance(x, 0.1),
    ]
}

#[test]
fn kernels_agree_with_their_formulas() {
    let points = normals(8, 2);
    let (p, x) = ([0.3_f64, -0.2, 0.4], array(points.clone(), [4, 2]).unwrap());
    let (scale, length, period) = (p[0].exp(), p[1].exp(), p[2].exp());
    let formula = |kernel: usize, i: usize, j: usize| {
        let gap = |k: usize| points[2 * i + k] - points[2 * j + k];
        let r = (gap(0).powi(2) + gap(1).powi(2)).sqrt();
        let scaled = ((gap(0) / length).powi(2) + (gap(1) / period).powi(2)).sqrt();
        let product =
            |center: f64| (0..2).map(|k| (points[2 * i + k] - center) * (points[2 * j + k] - center)).sum::<f64>();
        let wave = |k: usize| ((std::f64::consts::PI * gap(k) / period).sin() / length).powi(2);
        let (s3, s5) = (3.0_f64.sqrt() * scaled, 5.0_f64.sqrt() * r / length);
        let value = match kernel {
            0 => (-0.5 * scaled * scaled).exp(),
            1 => (-r / length).exp(),
            2 => (1.0 + s3) * (-s3).exp(),
            3 => (1.0 + s5 + s5 * s5 / 3.0) * (-s5).exp(),
            4 => (-2.0 * (wave(0) + wave(1))).exp(),
            5 => product(length) + (-r / period).exp() / (scale * scale),
            _ => product(0.5) * 2.25 * (-0.5 * r * r / (length * length)).exp(),
        };
        scale * scale * value + if i == j { 0.1 } else { 0.0 }
    };
    let computed = kernels(&array(p.to_vec(), [3]).unwrap(), x);
    for (kernel, matrix) in computed.iter().enumerate() {
        let expected: Vec<f64> = (0..16).map(|at| formula(kernel, at / 4, at % 4)).collect();
        assert!(near(&host(matrix), &expected, 1e-13), "kernel {kernel}: {matrix} for {expected:?}");
    }
}

/// The data of a process with two coordinates.
fn inputs(precision: Precision) -> Vec<f64> {
    let round = |x: f64| if precision == Precision::Single { f64::from(x as f32) } else { x };
    normals(18, 5).into_iter().map(round).collect()
}

/// A density of the hyperparameters alone: the inputs are numbers in the closure.
fn process(kernel: usize) -> Model<Tensor<1>, ()> {
    Model::density(move |p: Tensor<1>| {
        let place = (&p.device(), p.dtype());
        let numbers = |values: Vec<f64>, dims: [usize; 2]| {
            Tensor::<2>::from_data(sgmcmc::burn::TensorData::new(values, dims), place)
        };
        let x = numbers(inputs(Precision::Single), [9, 2]);
        let y = numbers(normals(9, 8).iter().map(|x| f64::from(*x as f32)).collect(), [1, 9]);
        let covariance = kernels(&p, x).swap_remove(kernel);
        MultivariateNormal::covariance(0.0, covariance).log_prob(y) + Normal::new(0.0, 1.0).log_prob(p).sum()
    })
}

#[test]
fn processes_agree_in_both_engines_and_with_differences() {
    for kernel in 0..7 {
        for precision in [Precision::Single, Precision::Double] {
            let start = |precision| zeros([3]).cast(sgmcmc::dtype(precision));
            let mut engines = Engines::new(&process(kernel), &Dataset::none(), start, precision).unwrap();
            for theta in [[0.25, -0.5, 0.375], [0.0, 0.5, -0.25]] {
                engines.assert_agree(&format!("kernel {kernel}"), &theta, Rows::range(0..0));
            }
        }
        let mut evaluator =
            process(kernel).with(&Dataset::none()).engine(Engine::Compiled).evaluator(&zeros([3])).unwrap();
        let mut at =
            |theta: &[f64], gradient: &mut [f64]| evaluator.posterior(theta, Rows::range(0..0), gradient).unwrap();
        let theta = [0.25, -0.5, 0.375];
        let mut gradient = [0.0; 3];
        at(&theta, &mut gradient);
        for k in 0..3 {
            let mut value = |step: f64| {
                let mut moved = theta;
                moved[k] += step;
                at(&moved, &mut [0.0; 3])
            };
            let h = 2e-4;
            let difference = (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
            let error = (difference - gradient[k]).abs();
            assert!(error < 1e-8 * (1.0 + difference.abs()), "kernel {kernel}, {k}: {} {difference}", gradient[k]);
        }
    }
}

/// Each observation is a whole series with its own covariance matrix.
#[test]
fn batches_of_processes_agree_in_both_engines() {
    let n = 11;
    let round = |values: Vec<f64>| values.iter().map(|x| f64::from(*x as f32)).collect::<Vec<f64>>();
    let x = array(round(normals(n * 10, 5)), [n, 5, 2]).unwrap();
    let y = array(round(normals(n * 5, 6)), [n, 5]).unwrap();
    let data = Dataset::new((x, y)).unwrap();
    for kernel in 0..7 {
        let model = Model::new(move |p: Tensor<1>, (x, y): (Tensor<3>, Tensor<2>)| {
            MultivariateNormal::covariance(0.0, kernels(&p, x).swap_remove(kernel)).log_prob(y)
        });
        for precision in [Precision::Single, Precision::Double] {
            let start = |precision| zeros([3]).cast(sgmcmc::dtype(precision));
            let mut engines = Engines::new(&model, &data, start, precision).unwrap();
            engines.assert_agree("batch", &[0.25, -0.5, 0.375], Rows::range(0..n));
            engines.assert_agree("batch", &[0.0, 0.5, -0.25], Rows::list(&[3, 0, 10, 3]).scaled(2.75));
        }
    }
}

#[derive(TensorTree)]
struct Hierarchy {
    mean: Tensor<1>,
    #[tree(positive)]
    scale: Tensor<1>,
    #[tree(cholesky_correlation)]
    factor: Tensor<2>,
}

/// A covariance from scales and a correlation matrix with an LKJ prior.
#[test]
fn correlated_rows_agree_in_both_engines() {
    let n = 23;
    let y: Vec<f64> = normals(n * 3, 7).iter().map(|x| f64::from(*x as f32)).collect();
    let data = Dataset::new(array(y, [n, 3]).unwrap()).unwrap();
    let model = Model::new(|p: Hierarchy, y: Tensor<2>| {
        let factor = p.factor * p.scale.unsqueeze_dim::<2>(1);
        MultivariateNormal::cholesky(p.mean.unsqueeze_dim::<2>(0), factor).log_prob(y)
    })
    .prior(|p: Hierarchy| LkjCholesky::new(2.0).log_prob(p.factor) + LogNormal::new(0.0, 1.0).log_prob(p.scale).sum());
    let identity = || add_diagonal(zeros([3, 3]), 1.0);
    for precision in [Precision::Single, Precision::Double] {
        let dtype = sgmcmc::dtype;
        let start = |precision| Hierarchy {
            mean: zeros([3]).cast(dtype(precision)),
            scale: ones([3]).cast(dtype(precision)),
            factor: identity().cast(dtype(precision)),
        };
        let mut engines = Engines::new(&model, &data, start, precision).unwrap();
        let theta: Vec<f64> = normals(engines.compiled.dim(), 4).iter().map(|x| f64::from((x * 0.5) as f32)).collect();
        engines.assert_agree("hierarchy", &theta, Rows::range(0..n));
        engines.assert_agree("hierarchy", &theta, Rows::list(&[3, 0, 22, 3]).scaled(2.75));
    }
}

/// A matrix that is not positive definite gives NaN in both engines, and no panic.
#[test]
fn indefinite_matrices_give_nan() {
    let model = Model::density(|p: Tensor<2>| {
        let y = p.zeros_like().narrow(0, 0, 1);
        MultivariateNormal::covariance(0.0, p).log_prob(y)
    });
    let start = add_diagonal(zeros([2, 2]), 1.0);
    for engine in [Engine::Compiled, Engine::Eager] {
        let mut evaluator = model.with(&Dataset::none()).engine(engine).evaluator(&start).unwrap();
        let mut gradient = [0.0; 4];
        assert!(evaluator.posterior(&[1.0, 0.0, 0.5, 1.0], Rows::range(0..0), &mut gradient).unwrap().is_finite());
        assert!(gradient.iter().all(|g| g.is_finite()) && gradient[1] == 0.0, "{gradient:?}");
        for theta in [[1.0, 0.0, 2.0, 1.0], [-1.0, 0.0, 0.0, 1.0], [0.0; 4], [f64::NAN; 4]] {
            let value = evaluator.posterior(&theta, Rows::range(0..0), &mut gradient);
            assert!(value.as_ref().map_or(true, |value| value.is_nan()), "{theta:?}: {value:?}");
        }
    }
}

#[test]
fn mistakes_are_refused() {
    let message = |call: fn()| {
        let panic = std::panic::catch_unwind(call).unwrap_err();
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    assert_eq!(
        message(|| drop(cholesky(zeros([2, 3])))),
        "cholesky: the last two axes must be square matrices, not [2, 3]"
    );
    assert_eq!(
        message(|| drop(solve_lower(zeros([2, 2]), zeros([3, 1])))),
        "a triangular system: a factor of shape [2, 2] does not fit a right-hand side of shape [3, 1]"
    );
    assert_eq!(
        message(|| drop(MultivariateNormal::covariance(0.0, zeros([2, 3])))),
        "MultivariateNormal: covariance must be square, [d, d] or [n, d, d], not [2, 3]"
    );
    assert_eq!(
        message(|| drop(Linear::new(1.0, 0.0).between(zeros([2, 3]), zeros([2, 2])))),
        "a kernel: inputs must be [n, k] and [m, k], not [2, 3] and [2, 2]"
    );
}
