//! The operations of random closures, each with the domains of its operands and bounds of its result.

use sgmcmc::burn::{Tensor, activation};

use super::shapes::Arguments;

/// The bounds of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range(pub f64, pub f64);

impl Range {
    /// Returns the largest absolute value.
    pub fn size(self) -> f64 {
        self.0.abs().max(self.1.abs())
    }

    /// Returns the symmetric range up to `factor` times the largest absolute value.
    pub fn symmetric(self, factor: f64) -> Self {
        Self(-factor * self.size(), factor * self.size())
    }

    /// Returns the range that contains both ranges.
    pub fn or(self, other: Self) -> Self {
        Self(self.0.min(other.0), self.1.max(other.1))
    }

    /// Returns the range that contains this range and `number`.
    pub fn with(self, number: f64) -> Self {
        self.or(Self(number, number))
    }

    /// Returns the range of a function that is monotone in each operand.
    fn corners(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let corners = [f(self.0, other.0), f(self.0, other.1), f(self.1, other.0), f(self.1, other.1)];
        Self(corners.into_iter().fold(f64::INFINITY, f64::min), corners.into_iter().fold(f64::NEG_INFINITY, f64::max))
    }

    /// Returns the range of a monotone function.
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        self.corners(self, |a, _| f(a))
    }
}

/// The domain of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// All numbers.
    Any,
    /// Numbers above this one.
    Above(f64),
    /// Numbers up to this absolute value.
    Within(f64),
}

/// The required shape of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `[1 or n, 1 or 3]`
    Free,
    /// `[1 or n, 1]`
    Narrow,
    /// `[1 or n, 3]`
    Wide,
    /// `[n, 3]`
    Rows,
}

/// The shape of the result, relative to the broadcast shape of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// The broadcast shape.
    Same,
    /// The second dimension is one.
    Narrow,
    /// The second dimension is three.
    Wide,
    /// The first dimension runs over the n observations.
    Rows,
}

/// A function from the arguments of the closure, the operands and a constant to the result.
type Run = fn(&Arguments, &[Tensor<2>], f64) -> Tensor<2>;

/// An operation with one operand per domain.
#[derive(Debug)]
pub struct Operation {
    /// The name.
    pub name: &'static str,
    /// The domains of the operands.
    pub domains: &'static [Domain],
    /// The required shape of the operands.
    pub form: Form,
    /// The shape of the result.
    pub out: Out,
    /// The bounds of the result, as a function of the bounds of the operands and the constant.
    pub range: fn(&[Range], f64) -> Range,
    /// The implementation.
    pub run: Run,
}

use Domain::{Above, Any, Within};

macro_rules! operation {
    ($name:literal, $domains:expr, $form:ident -> $out:ident, $range:expr, $run:expr) => {
        Operation { name: $name, domains: $domains, form: Form::$form, out: Out::$out, range: $range, run: $run }
    };
}

macro_rules! unary {
    ($name:literal, $domain:expr, $range:expr, $run:expr) => {
        operation!($name, &[$domain], Free -> Same, |v, c| ($range)(v[0], c), |_, v, c| ($run)(v[0].clone(), c))
    };
}

macro_rules! binary {
    ($name:literal, [$a:expr, $b:expr], $range:expr, $run:expr) => {
        operation!($name, &[$a, $b], Free -> Same, |v, c| ($range)(v[0], v[1], c), |_, v, c| {
            ($run)(v[0].clone(), v[1].clone(), c)
        })
    };
}

macro_rules! along {
    ($name:literal, $domain:expr, $out:ident, $range:expr, $run:expr) => {
        operation!($name, &[$domain], Wide -> $out, |v, c| ($range)(v[0], c), |_, v, c| ($run)(v[0].clone(), c))
    };
}

type T = Tensor<2>;
use self::Range as R;

/// Element-wise operations of one operand.
pub static UNARY: &[Operation] = &[
    unary!("plus", Any, |r: R, c| R(r.0 + c, r.1 + c), |x: T, c| x + c),
    unary!("minus", Any, |r: R, c| R(r.0 - c, r.1 - c), |x: T, c| x - c),
    unary!("times", Any, |r: R, c| r.map(|x| x * c), |x: T, c| x * c),
    // Powers of two: Burn computes the derivative of x / c in single precision, whatever the type.
    unary!("over", Any, |r: R, c: f64| r.map(|x| x / power_of_two(c)), |x: T, c: f64| x / power_of_two(c)),
    unary!("from", Any, |r: R, c| r.map(|x| c - x), |x: T, c| x.neg() + c),
    unary!("neg", Any, |r: R, _| r.map(|x| -x), |x: T, _| x.neg()),
    unary!("abs", Any, |r: R, _| R(0.0, r.size()), |x: T, _| x.abs()),
    unary!("sign", Any, |_, _| R(-1.0, 1.0), |x: T, _| x.sign()),
    unary!("square", Any, |r: R, _| R(0.0, r.size().powi(2)), |x: T, _| x.square()),
    unary!("cube", Any, |r: R, _| r.map(|x| x.powi(3)), |x: T, _| x.powi_scalar(3)),
    unary!("power -2", Above(0.2), |r: R, _| r.map(|x| x.powi(-2)), |x: T, _| x.powi_scalar(-2)),
    unary!("power 1.5", Above(0.1), |r: R, _| r.map(|x| x.powf(1.5)), |x: T, _| x.powf_scalar(1.5)),
    unary!("power -0.5", Above(0.1), |r: R, _| r.map(|x| x.powf(-0.5)), |x: T, _| x.powf_scalar(-0.5)),
    unary!("recip", Above(0.1), |r: R, _| r.map(f64::recip), |x: T, _| x.recip()),
    unary!("exp", Within(3.0), |r: R, _| r.map(f64::exp), |x: T, _| x.exp()),
    unary!("log", Above(0.1), |r: R, _| r.map(f64::ln), |x: T, _| x.log()),
    unary!("log1p", Above(-0.8), |r: R, _| r.map(f64::ln_1p), |x: T, _| x.log1p()),
    unary!("sqrt", Above(0.1), |r: R, _| r.map(f64::sqrt), |x: T, _| x.sqrt()),
    unary!("erf", Any, |_, _| R(-1.0, 1.0), |x: T, _| x.erf()),
    unary!("sin", Any, |_, _| R(-1.0, 1.0), |x: T, _| x.sin()),
    unary!("cos", Any, |_, _| R(-1.0, 1.0), |x: T, _| x.cos()),
    unary!("tan", Within(1.2), |r: R, _| r.map(f64::tan), |x: T, _| x.tan()),
    unary!("sinh", Within(3.0), |r: R, _| r.map(f64::sinh), |x: T, _| x.sinh()),
    unary!("cosh", Within(3.0), |r: R, _| R(1.0, r.size().cosh()), |x: T, _| x.cosh()),
    unary!("tanh", Any, |_, _| R(-1.0, 1.0), |x: T, _| x.tanh()),
    unary!("asin", Within(0.9), |r: R, _| r.map(f64::asin), |x: T, _| x.asin()),
    unary!("acos", Within(0.9), |r: R, _| r.map(f64::acos), |x: T, _| x.acos()),
    unary!("atan", Any, |r: R, _| r.map(f64::atan), |x: T, _| x.atan()),
    unary!("asinh", Any, |r: R, _| r.map(f64::asinh), |x: T, _| x.asinh()),
    unary!("acosh", Above(1.1), |r: R, _| r.map(f64::acosh), |x: T, _| x.acosh()),
    unary!("atanh", Within(0.9), |r: R, _| r.map(f64::atanh), |x: T, _| x.atanh()),
    unary!("floor", Any, |r: R, _| r.map(f64::floor), |x: T, _| x.floor()),
    unary!("round", Any, |r: R, _| r.map(f64::round), |x: T, _| x.round()),
    unary!("sigmoid", Any, |_, _| R(0.0, 1.0), |x: T, _| activation::sigmoid(x)),
    unary!("log sigmoid", Any, |r: R, _| R(-r.size() - 0.7, 0.0), |x: T, _| activation::log_sigmoid(x)),
    unary!("relu", Any, |r: R, _| R(0.0, r.size()), |x: T, _| activation::relu(x)),
    unary!("leaky relu", Any, |r: R, _| r, |x: T, _| activation::leaky_relu(x, 0.125)),
    unary!("softplus", Any, |r: R, _| R(0.0, r.size() + 0.7), |x: T, _| activation::softplus(x, 1.0)),
    unary!("gelu", Any, |r: R, _| R(-0.2, r.size()), |x: T, _| activation::gelu(x)),
    unary!("silu", Any, |r: R, _| R(-0.3, r.size()), |x: T, _| activation::silu(x)),
    unary!("clamp", Any, |_, _| R(-0.5, 0.75), |x: T, _| x.clamp(-0.5, 0.75)),
    unary!("clamp below", Any, |r: R, c: f64| R(r.0.max(c), r.1.max(c)), |x: T, c| x.clamp_min(c)),
    unary!("clamp above", Any, |r: R, c: f64| R(r.0.min(c), r.1.min(c)), |x: T, c| x.clamp_max(c)),
    unary!("fill above", Any, |r: R, c| r.with(c), |x: T, c| {
        let mask = x.clone().greater_elem(c);
        x.mask_fill(mask, c)
    }),
    unary!("fill between", Any, |r: R, c| r.with(c), |x: T, c: f64| {
        let mask = x.clone().lower_elem(c + 0.5).bool_and(x.clone().greater_equal_elem(c - 0.5).bool_not().bool_not());
        x.mask_fill(mask, c)
    }),
    unary!("keep equal", Any, |r: R, c| r.with(c), |x: T, c| {
        let mask = x.clone().not_equal_elem(c).bool_xor(x.clone().lower_equal_elem(c));
        x.mask_fill(mask, c)
    }),
];

/// Element-wise operations of two or three operands.
pub static BINARY: &[Operation] = &[
    binary!("add", [Any, Any], |a: R, b: R, _| a.corners(b, |a, b| a + b), |a: T, b: T, _| a + b),
    binary!("sub", [Any, Any], |a: R, b: R, _| a.corners(b, |a, b| a - b), |a: T, b: T, _| a - b),
    binary!("mul", [Any, Any], |a: R, b: R, _| a.corners(b, |a, b| a * b), |a: T, b: T, _| a * b),
    binary!("div", [Any, Above(0.2)], |a: R, b: R, _| a.corners(b, |a, b| a / b), |a: T, b: T, _| a / b),
    binary!("pow", [Above(0.2), Within(2.0)], |a: R, b: R, _| a.corners(b, f64::powf), |a: T, b: T, _| a.powf(b)),
    binary!("atan2", [Any, Above(0.1)], |_, _, _| R(-1.6, 1.6), |a: T, b: T, _| a.atan2(b)),
    binary!("max", [Any, Any], |a: R, b: R, _| a.or(b), |a: T, b: T, _| {
        let dims = broadcast(&a, &b);
        a.expand(dims).max_pair(b.expand(dims))
    }),
    binary!("min", [Any, Any], |a: R, b: R, _| a.or(b), |a: T, b: T, _| {
        let dims = broadcast(&a, &b);
        a.expand(dims).min_pair(b.expand(dims))
    }),
    operation!("where greater", &[Any, Any, Any], Free -> Same, |v, _| v[0].or(v[1]).or(v[2]), |_, v, _| {
        let [a, b, c] = expanded(v);
        a.clone().mask_where(a.greater(b), c)
    }),
    operation!("where at most", &[Any, Any, Any], Free -> Same, |v, _| v[0].or(v[1]).or(v[2]), |_, v, _| {
        let [a, b, c] = expanded(v);
        b.clone().mask_where(a.clone().lower_equal(b).bool_or(c.clone().lower(a)), c)
    }),
    operation!("where equal", &[Any, Any, Any], Free -> Same, |v, _| v[0].or(v[1]).or(v[2]), |_, v, _| {
        let [a, b, c] = expanded(v);
        a.clone().mask_where(a.clone().equal(b.clone()).bool_not().bool_and(b.greater_equal(c.clone())), c)
    }),
];

/// Operations along the second dimension.
pub static ALONG: &[Operation] = &[
    along!("sum", Any, Narrow, |r: R, _| R(3.0 * r.0, 3.0 * r.1), |x: T, _| x.sum_dim(1)),
    along!("mean", Any, Narrow, |r: R, _| r, |x: T, _| x.mean_dim(1)),
    // Burn computes the gradient by dividing by the factors, which must not be zero.
    along!("prod", Above(0.2), Narrow, |r: R, _| r.map(|x| x.powi(3)), |x: T, _| x.prod_dim(1)),
    along!("max along", Any, Narrow, |r: R, _| r, |x: T, _| x.max_dim(1)),
    along!("min along", Any, Narrow, |r: R, _| r, |x: T, _| x.min_dim(1)),
    along!("softmax", Any, Same, |_, _| R(0.0, 1.0), |x: T, _| activation::softmax(x, 1)),
    along!("log softmax", Any, Same, |r: R, _| R(-2.0 * r.size() - 1.1, 0.0), |x: T, _| activation::log_softmax(x, 1)),
    along!("cumsum", Any, Same, |r: R, _| r.symmetric(3.0), |x: T, _| x.cumsum(1)),
    along!("var", Any, Narrow, |r: R, _| R(0.0, 4.0 * r.size().powi(2)), |x: T, _| x.var(1)),
    along!("log-sum-exp", Within(3.0), Narrow, |r: R, _| R(r.0, r.1 + 1.1), |x: T, _| x.exp().sum_dim(1).log()),
];

fn power_of_two(c: f64) -> f64 {
    c.round().exp2()
}

/// Returns the broadcast shape of two tensors.
fn broadcast(a: &T, b: &T) -> [usize; 2] {
    let ([r, c], [s, d]) = (a.dims(), b.dims());
    [r.max(s), c.max(d)]
}

/// Returns three tensors, expanded to their broadcast shape.
fn expanded(v: &[T]) -> [T; 3] {
    let [r, c] = broadcast(&v[0], &v[1]);
    let [s, d] = v[2].dims();
    let dims = [r.max(s), c.max(d)];
    [v[0].clone().expand(dims), v[1].clone().expand(dims), v[2].clone().expand(dims)]
}
