//! Points where functions have kinks, ties or poles: the compiled engine takes the same side as the eager one.

use sgmcmc::burn::activation;
use sgmcmc::data::{Precision, Rows};
use sgmcmc::prelude::*;

use sgmcmc_testkit::closures::compare::both;

type Closure = fn(Tensor<2>, Tensor<2>) -> Tensor<2>;

/// Functions of parameters θ `[1, 3]` and data x `[n, 3]`.
const CLOSURES: [(&str, Closure); 45] = [
    ("relu", |t, x| activation::relu(t - x)),
    ("leaky relu", |t, x| activation::leaky_relu(t - x, 0.25)),
    ("abs", |t, x| (t - x).abs()),
    ("sign", |t, x| (t.clone() - x).sign() * t),
    ("softplus", |t, x| activation::softplus((t - x) * 60.0, 1.0)),
    ("log sigmoid", |t, x| activation::log_sigmoid((t - x) * 400.0)),
    ("sigmoid", |t, x| activation::sigmoid((t - x) * 400.0)),
    ("gelu", |t, x| activation::gelu(t - x)),
    ("hard sigmoid", |t, x| activation::hard_sigmoid(t - x, 0.5, 0.5)),
    ("max pair", |t, x| {
        let n = x.dims()[0];
        t.expand([n, 3]).max_pair(x)
    }),
    ("min pair", |t, x| {
        let n = x.dims()[0];
        x.min_pair(t.expand([n, 3]) * 1.0)
    }),
    ("max of equals", |t, x| (t.clone() * 2.0).max_pair(t + 0.25) * x),
    ("clamp", |t, x| (t - x).clamp(-0.25, 0.25)),
    ("clamp min", |t, x| (t - x).clamp_min(0.0)),
    ("clamp max", |t, x| (t - x).clamp_max(0.5)),
    ("max along", |t, x| (t - x).max_dim(1)),
    ("min along", |t, x| (t - x).min_dim(1)),
    ("max abs along", |t, x| (t - x).max_abs_dim(1)),
    ("floor", |t, x| (t.clone() - x).floor() * t),
    ("round", |t, x| ((t.clone() - x) * 2.0).round() * t),
    ("ceil", |t, x| (t.clone() - x).ceil() * t),
    ("square", |t, x| (t - x).powi_scalar(2)),
    ("power 0", |t, x| (t - x).powi_scalar(0)),
    ("cube", |t, x| (t - x).powi_scalar(3)),
    ("power of zero", |t, x| (t - x).abs().powf_scalar(1.5)),
    ("where greater", |t, x| {
        let d = t - x;
        let mask = d.clone().greater_elem(0.0);
        d.clone().mask_where(mask, d * 3.0)
    }),
    ("where at least", |t, x| {
        let d = t - x;
        let mask = d.clone().greater_equal_elem(0.0);
        d.clone().mask_fill(mask, 0.5) * d
    }),
    ("equal", |t, x| {
        let d = t.clone() - x;
        d.clone().equal_elem(0.0).float().cast(d.dtype()) * t
    }),
    ("remainder", |t, x| (t - x).remainder_scalar(0.75)),
    ("tanh far out", |t, x| ((t - x) * 50.0).tanh()),
    ("exp far out", |t, x| ((t - x) * -20.0).exp()),
    ("erf far out", |t, x| ((t - x) * 20.0).erf()),
    ("power 2.5 of zero", |t, x| (t - x).abs().powf_scalar(2.5)),
    ("power 0.5 of zero", |t, x| (t - x).abs().powf_scalar(0.5)),
    ("root of zero", |t, x| (t - x).abs().sqrt()),
    ("root of a square", |t, x| (t - x).square().sqrt()),
    ("product with zero", |t, x| (t - x).prod_dim(1)),
    ("over zero", |t, x| t.clone() / (t - x)),
    ("recip of zero", |t, x| (t - x).recip()),
    ("log of zero", |t, x| (t - x).abs().log()),
    ("x log x", |t, x| {
        let d = (t - x).abs();
        d.clone() * d.log()
    }),
    ("log of exp", |t, x| ((t - x) * 5.0).exp().log()),
    ("softmax far out", |t, x| activation::softmax((t - x) * 300.0, 1)),
    ("log softmax far out", |t, x| activation::log_softmax((t - x) * 300.0, 1)),
    ("log1p of expm", |t, x| (((t - x) * 30.0).exp() + 1.0).log()),
];

/// A grid on which θ meets x exactly.
fn data() -> Dataset<Tensor<2>> {
    let grid: Vec<f64> = (0..60).map(|i| f64::from((i * 7) % 9) / 4.0 - 1.0).collect();
    Dataset::new(array(grid, [20, 3]).unwrap()).unwrap()
}

#[test]
fn the_same_side_is_taken() {
    let mut wrong = vec![];
    for (name, closure) in CLOSURES {
        for precision in [Precision::Single, Precision::Double] {
            let data = data().with_precision(precision);
            let model = Model::new(move |t: Tensor<2>, x: Tensor<2>| closure(t, x).sum_dim(1).squeeze_dim::<1>(1));
            let start = array(vec![0.31, -0.17, 0.63], [1, 3]).unwrap();
            let [mut compiled, mut eager] = match both(&model.with(&data), &start) {
                Ok(engines) => engines,
                Err(error) => {
                    wrong.push(format!("{name} in {precision:?}: {error}"));
                    continue;
                }
            };
            for theta in [[0.25, 0.25, 0.25], [0.0, -0.5, 1.0], [-1.0, 0.5, 0.0], [0.5, 0.5, -0.75]] {
                let mut gradients = [[0.0; 3]; 2];
                let values = [&mut compiled, &mut eager]
                    .into_iter()
                    .zip(&mut gradients)
                    .map(|(engine, gradient)| engine.likelihood(&theta, Rows::range(0..20), gradient).unwrap());
                let values: Vec<f64> = values.collect();
                let rounding = if precision == Precision::Single { 1e-5 } else { 1e-12 };
                // Where the eager engine has no number, as for the root of the square of zero, there may be one.
                let near = |a: f64, b: f64| {
                    b.is_nan() || a.to_bits() == b.to_bits() || (a - b).abs() <= rounding * (1.0 + b.abs())
                };
                let [found, expected] = gradients;
                if !near(values[0], values[1]) || found.iter().zip(&expected).any(|(a, b)| !near(*a, *b)) {
                    wrong.push(format!("{name} at {theta:?} in {precision:?}: {values:?}, {found:?} for {expected:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
