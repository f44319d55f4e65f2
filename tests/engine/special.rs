//! Special functions against values computed with 60 digits (`tests/reference`), and their gradients.

use sgmcmc::burn::{DType, Device, Tensor, TensorData};
use sgmcmc::default_device;
use sgmcmc::special::*;

type Function = fn(Vec<Tensor<1>>) -> Tensor<1>;

/// Name, the function of its arguments, and whether its error is relative however small the value. A new function is a
/// row here and one in `tests/reference/generate.py`.
const FUNCTIONS: [(&str, Function, bool); 14] = [
    ("lgamma", |x| lgamma(x[0].clone()), false),
    ("digamma", |x| digamma(x[0].clone()), false),
    ("lbeta", |x| lbeta(x[0].clone(), x[1].clone()), false),
    ("log_bessel_i0", |x| log_bessel_i0(x[0].clone()), true),
    ("erf", |x| erf(x[0].clone()), true),
    ("erfc", |x| erfc(x[0].clone()), true),
    ("normal_cdf", |x| normal_cdf(x[0].clone()), true),
    ("normal_log_cdf", |x| normal_log_cdf(x[0].clone()), true),
    ("expm1", |x| expm1(x[0].clone()), true),
    ("log1mexp", |x| log1mexp(x[0].clone()), true),
    ("log1pexp", |x| log1pexp(x[0].clone()), true),
    ("logaddexp", |x| logaddexp(x[0].clone(), x[1].clone()), false),
    ("xlogy", |x| xlogy(x[0].clone(), x[1].clone()), true),
    ("xlog1py", |x| xlog1py(x[0].clone(), x[1].clone()), true),
];

/// The arguments and values of a function in the reference table.
fn reference(name: &str) -> Vec<(Vec<f64>, f64)> {
    let numbers = |text: &str| text.split_whitespace().map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
    let table = include_str!("../reference/special.csv").lines().map(|line| line.split('|').collect::<Vec<_>>());
    let rows: Vec<_> = table.filter(|row| row[0] == name).map(|row| (numbers(row[1]), numbers(row[2])[0])).collect();
    assert!(rows.len() > 20, "{name} has {} rows", rows.len());
    rows
}

fn tensor(values: Vec<f64>, dtype: DType) -> Tensor<1> {
    let count = values.len();
    Tensor::from_data(TensorData::new(values, [count]), (&default_device(), dtype))
}

fn host(tensor: &Tensor<1>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

/// The arguments of all rows, as one tensor per argument.
fn columns(rows: &[(Vec<f64>, f64)], dtype: DType) -> Vec<Tensor<1>> {
    (0..rows[0].0.len()).map(|j| tensor(rows.iter().map(|(x, _)| x[j]).collect(), dtype)).collect()
}

fn agrees(dtype: DType, tolerance: f64, in_range: impl Fn(f64) -> bool) {
    let mut failures = Vec::new();
    for (name, function, relative) in FUNCTIONS {
        let mut rows = reference(name);
        rows.retain(|(x, value)| x.iter().chain([value]).all(|x| in_range(*x)));
        let computed = function(columns(&rows, dtype));
        assert_eq!(computed.dtype(), dtype, "{name}");
        let mut worst = (0.0, String::new());
        for ((x, value), computed) in rows.iter().zip(host(&computed)) {
            let scale = if relative { value.abs().max(f64::MIN_POSITIVE) } else { value.abs().max(1.0) };
            let error = (computed - value).abs() / scale;
            if error.is_nan() || error > worst.0 {
                worst = (error, format!("{name}({x:?}) = {computed}, should be {value}: error {error:.1e}"));
            }
        }
        println!("{:?} {name}: worst error {:.1e}", dtype, worst.0);
        if worst.0.is_nan() || worst.0 > tolerance {
            failures.push(worst.1);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn values_in_double_precision() {
    agrees(DType::F64, 1e-12, |_| true);
}

#[test]
fn values_in_single_precision() {
    agrees(DType::F32, 1e-6, |x| x == 0.0 || (1e-37..1e38).contains(&x.abs()));
}

/// Single precision against double on dense grids, between the points of the table.
#[test]
fn single_precision_follows_double_precision() {
    let grid = |low: f64, high: f64| (0..5000).map(move |k| low + (high - low) * f64::from(k) / 4999.0);
    let positive = || grid(-7.0, 7.0).map(|exponent| 10.0_f64.powf(exponent)).collect::<Vec<_>>();
    for (name, function, relative) in FUNCTIONS {
        let x: Vec<f64> = match name {
            "lgamma" | "digamma" | "lbeta" => positive(),
            "erf" | "erfc" => grid(-9.0, 9.0).collect(),
            "normal_cdf" => grid(-12.5, 12.5).collect(),
            "normal_log_cdf" => grid(-60.0, 12.5).collect(),
            "expm1" | "log1pexp" => grid(-40.0, 40.0).collect(),
            "log1mexp" => grid(-40.0, -1e-3).collect(),
            _ => continue, // nothing but one operation after a mask
        };
        let x = tensor(x, DType::F32);
        let single = vec![x.clone(), x.flip([0]) * 0.37];
        let double = single.iter().map(|x| x.clone().cast(DType::F64)).collect();
        let [rough, exact] = [single, double].map(|x| host(&function(x)));
        for ((rough, exact), x) in rough.iter().zip(&exact).zip(0..) {
            let scale = if relative { exact.abs() } else { exact.abs().max(1.0) };
            let error = (rough - exact).abs() / scale;
            assert!(error < 1e-6, "{name} at point {x} is {rough}, should be {exact}: error {error:.1e}");
        }
    }
}

/// Gradients against differences of fourth order, whose own error is about 1e-11 |f'| plus the rounding of f over the
/// step. Steps are small against the distance to singularities.
#[test]
fn gradients_agree_with_differences() {
    for (name, function, _) in FUNCTIONS {
        let mut rows = reference(name);
        rows.retain(|(x, value)| {
            x.iter().all(|x| (1e-6..1e8).contains(&x.abs())) && (1e-250..1e20).contains(&value.abs())
        });
        let arguments = columns(&rows, DType::F64);
        let leaves: Vec<_> = arguments.iter().map(|x| x.clone().autodiff().require_grad()).collect();
        let gradients = function(leaves.clone()).sum().backward();
        for (j, leaf) in leaves.iter().enumerate() {
            let gradient = host(&leaf.grad(&gradients).unwrap());
            let margin = |x: f64| if name == "xlog1py" { x.abs().min(1.0 + x) } else { x.abs() };
            let steps: Vec<f64> = rows.iter().map(|(x, _)| 1e-3 * margin(x[j]).min(1.0)).collect();
            let at = |multiple: f64| {
                let mut moved = arguments.clone();
                moved[j] = moved[j].clone() + tensor(steps.clone(), DType::F64) * multiple;
                host(&function(moved))
            };
            let (a, b, c, d) = (at(-2.0), at(-1.0), at(1.0), at(2.0));
            for (i, (x, value)) in rows.iter().enumerate() {
                let difference = (a[i] - 8.0 * b[i] + 8.0 * c[i] - d[i]) / (12.0 * steps[i]);
                let error = (gradient[i] - difference).abs();
                let rounding = 1e-14 * value.abs().max(x[j].abs()) / steps[i];
                assert!(
                    error <= 1e-7 * difference.abs() + rounding,
                    "{name}({x:?}): derivative {j} is {}, differences give {difference}",
                    gradient[i]
                );
            }
        }
    }
}

/// Where branches meet, masks are active and values over- or underflow, gradients are numbers, and at the points below
/// the right ones.
#[test]
fn gradients_at_edges() {
    let derivative = |function: fn(Tensor<1>) -> Tensor<1>, x: f64, dtype: DType| {
        let leaf = tensor(vec![x], dtype).autodiff().require_grad();
        let gradients = function(leaf.clone()).sum().backward();
        host(&leaf.grad(&gradients).unwrap())[0]
    };
    let two_over_sqrt_pi = std::f64::consts::FRAC_2_SQRT_PI;
    let normal_at_zero = 0.5 * two_over_sqrt_pi * std::f64::consts::FRAC_1_SQRT_2;
    type Row = (&'static str, fn(Tensor<1>) -> Tensor<1>, f64, f64);
    let rows: [Row; 20] = [
        ("erfc", erfc, 0.0, -two_over_sqrt_pi),
        ("erfc", erfc, 1e4, 0.0),
        ("erfc", erfc, -1e4, 0.0),
        ("normal_cdf", normal_cdf, 0.0, normal_at_zero),
        ("normal_cdf", normal_cdf, -1e4, 0.0),
        ("normal_log_cdf", normal_log_cdf, 0.0, 2.0 * normal_at_zero),
        ("normal_log_cdf", normal_log_cdf, -1e4, 1e4),
        ("normal_log_cdf", normal_log_cdf, 1e4, 0.0),
        ("expm1", expm1, 0.0, 1.0),
        ("expm1", expm1, -1e4, 0.0),
        ("log1mexp", log1mexp, -1e4, 0.0),
        ("log1pexp", log1pexp, 0.0, 0.5),
        ("log1pexp", log1pexp, 1e4, 1.0),
        ("log1pexp", log1pexp, -1e4, 0.0),
        ("lgamma", lgamma, 1e10, 1e10_f64.ln()),
        ("logaddexp", |x| logaddexp(x.clone() * 3.0, x.zeros_like()), 0.0, 1.5),
        ("logaddexp", |x| logaddexp(x.clone() + f64::NEG_INFINITY, x.zeros_like()), 0.0, 0.0),
        ("logaddexp", |x| logaddexp(x.clone(), x.zeros_like() + f64::NEG_INFINITY), 2.0, 1.0),
        ("xlogy", |x| xlogy(x.clone(), x), 0.0, 0.0),
        ("xlog1py", |x| xlog1py(x.clone(), x - 1.0), 0.0, 0.0),
    ];
    for (name, function, x, expected) in rows {
        for (dtype, tolerance) in [(DType::F64, 1e-7), (DType::F32, 1e-5)] {
            let derivative = derivative(function, x, dtype);
            let error = (derivative - expected).abs();
            assert!(error <= tolerance * expected.abs().max(1.0), "{name}'({x}) = {derivative}, should be {expected}");
        }
    }
}

#[test]
fn logsumexp_over_a_dimension() {
    let infinity = f64::INFINITY;
    let x = [1000.0, 1001.0, -infinity, -infinity, -infinity, -infinity, 0.0, -50.0, -infinity];
    for dtype in [DType::F64, DType::F32] {
        let leaf: Tensor<2> = tensor(x.to_vec(), dtype).reshape([3, 3]).autodiff().require_grad();
        let sum = logsumexp(leaf.clone(), 1);
        assert_eq!(sum.dims(), [3, 1]);
        let values: Vec<f64> = sum.to_data().iter::<f64>().collect();
        assert!((values[0] - (1001.0 + (-1.0_f64).exp().ln_1p())).abs() < 1e-4);
        assert_eq!(values[1..], [-infinity, 0.0]);
        let gradients = sum.sum().backward();
        let gradient: Vec<f64> = leaf.grad(&gradients).unwrap().to_data().iter::<f64>().collect();
        let share = 1.0 / (1.0 + 1.0_f64.exp());
        let expected = [share, 1.0 - share, 0.0, 0.0, 0.0, 0.0, 1.0, (-50.0_f64).exp(), 0.0];
        for (gradient, expected) in gradient.iter().zip(expected) {
            assert!((gradient - expected).abs() < 1e-4, "{gradient} for {expected}");
        }
        let other_way = logsumexp(leaf.clone().transpose(), 0).transpose();
        assert_eq!(other_way.to_data().iter::<f64>().collect::<Vec<_>>(), values);
    }
}

#[test]
fn run_on_capture_devices() {
    let capture = Device::capture();
    let captured = capture.capture_scope(|scope| {
        for (_, function, _) in FUNCTIONS {
            let x = || tensor(vec![0.5, 0.75], DType::F32).to_device(&capture);
            assert_eq!(function(vec![x(), x()]).dims(), [2]);
        }
        let x = tensor(vec![0.5, 0.75], DType::F64).to_device(&capture);
        assert_eq!(logsumexp(x, 0).dims(), [1]);
        scope.complete([], [])
    });
    assert!(captured.expect("the capture is complete").graph.operations.len() > 100);
}
