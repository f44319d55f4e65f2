//! Parameters of distributions: numbers or tensors.

use std::ops::{Add, Div, Mul, Sub};

use burn_tensor::Tensor;
use burn_tensor::activation::log_sigmoid;
use rand::Rng;

use crate::special;

/// A parameter of a distribution: one number for all values, or a tensor that broadcasts against the values.
///
/// A tensor has the rank `D` of the values. Numbers are converted to tensors only in operations with the value, so they
/// need no allocation.
///
/// # Examples
///
/// Constructors take `impl Into<Param<D>>`, so numbers and tensors can be passed directly:
///
/// ```
/// use sgmcmc::distributions::{Normal, Param};
///
/// let x = sgmcmc::array(vec![0.5, 1.5], [2])?;
/// let by_number = Normal::new(1.0, 2.0).log_prob(x.clone());
/// let by_tensor = Normal::new(sgmcmc::ones([1]), Param::Number(2.0)).log_prob(x);
/// assert_eq!(by_number.dims(), by_tensor.dims());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a box would need one more allocation per tensor")]
pub enum Param<const D: usize> {
    /// The same number for every value.
    Number(f64),
    /// A tensor each of whose dimensions is one or that of the value.
    Tensor(Tensor<D>),
}

impl<const D: usize> From<f64> for Param<D> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<const D: usize> From<i32> for Param<D> {
    fn from(number: i32) -> Self {
        Self::Number(f64::from(number))
    }
}

impl<const D: usize> From<Tensor<D>> for Param<D> {
    fn from(tensor: Tensor<D>) -> Self {
        Self::Tensor(tensor)
    }
}

impl<const D: usize> From<&Tensor<D>> for Param<D> {
    fn from(tensor: &Tensor<D>) -> Self {
        Self::Tensor(tensor.clone())
    }
}

/// A vector is one row of a matrix, as in broadcasting. A vector of one element is a scalar.
impl From<Tensor<1>> for Param<2> {
    fn from(tensor: Tensor<1>) -> Self {
        Self::Tensor(tensor.unsqueeze_dim(0))
    }
}

/// A vector is the last axis of an array, as in broadcasting. A vector of one element is a scalar.
impl From<Tensor<1>> for Param<3> {
    fn from(tensor: Tensor<1>) -> Self {
        Self::Tensor(tensor.unsqueeze())
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, |$a:ident, $b:ident| $plain:expr, $number_first:expr) => {
        impl<const D: usize> $trait for Param<D> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                match (self, other) {
                    (Self::Number($a), Self::Number($b)) => Self::Number($plain),
                    (Self::Number($a), Self::Tensor($b)) => Self::Tensor($number_first),
                    (Self::Tensor($a), Self::Number($b)) => Self::Tensor($plain),
                    (Self::Tensor($a), Self::Tensor($b)) => Self::Tensor($plain),
                }
            }
        }

        impl<const D: usize> $trait<f64> for Param<D> {
            type Output = Self;

            fn $method(self, other: f64) -> Self {
                $trait::$method(self, Self::Number(other))
            }
        }
    };
}

operator!(Add, add, |a, b| a + b, b + a);
operator!(Sub, sub, |a, b| a - b, b.neg() + a);
operator!(Mul, mul, |a, b| a * b, b * a);
operator!(Div, div, |a, b| a / b, b.recip() * a);

impl<const D: usize> Param<D> {
    fn map(&self, number: impl FnOnce(f64) -> f64, tensor: impl FnOnce(Tensor<D>) -> Tensor<D>) -> Self {
        match self {
            Self::Number(value) => Self::Number(number(*value)),
            Self::Tensor(value) => Self::Tensor(tensor(value.clone())),
        }
    }

    pub(super) fn log(&self) -> Self {
        self.map(f64::ln, Tensor::log)
    }

    pub(super) fn exp(&self) -> Self {
        self.map(f64::exp, Tensor::exp)
    }

    /// Returns log(1/(1 + exp(−self))).
    pub(super) fn log_sigmoid(&self) -> Self {
        self.map(|z| z.min(0.0) - (-z.abs()).exp().ln_1p(), log_sigmoid)
    }

    pub(super) fn log1p(&self) -> Self {
        self.map(f64::ln_1p, Tensor::log1p)
    }

    pub(super) fn sqrt(&self) -> Self {
        self.map(f64::sqrt, Tensor::sqrt)
    }

    pub(super) fn lgamma(&self) -> Self {
        self.map(special::lgamma_of, special::lgamma_of)
    }

    /// Returns log(I₀(self) exp(−self)).
    pub(super) fn log_bessel_i0_scaled(&self) -> Self {
        self.map(special::log_bessel_i0_scaled_of, special::log_bessel_i0_scaled)
    }

    pub(super) fn lgamma_half_step(&self) -> Self {
        self.map(special::lgamma_half_step, special::lgamma_half_step)
    }

    pub(super) fn lbeta(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Self::Number(special::lbeta_of(*a, *b)),
            (Self::Tensor(a), b) => Self::Tensor(special::lbeta(a.clone(), b.like(a))),
            (a, Self::Tensor(b)) => Self::Tensor(special::lbeta(a.like(b), b.clone())),
        }
    }

    /// Returns the parameter as a tensor. A number becomes one element with the float type and the device of `other`.
    pub(super) fn like(&self, other: &Tensor<D>) -> Tensor<D> {
        match self {
            Self::Number(number) => Tensor::full([1; D], *number, (&other.device(), other.dtype())),
            Self::Tensor(tensor) => tensor.clone(),
        }
    }

    /// Returns self · log y, or 0 where self and y are 0.
    pub(super) fn xlogy(&self, y: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Number(0.0) => y.zeros_like(),
            Self::Number(x) => y.log() * *x,
            Self::Tensor(x) => special::xlogy(x.clone(), y),
        }
    }

    /// Returns self · log(1 + y), or 0 where self = 0 and y = −1.
    pub(super) fn xlog1py(&self, y: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Number(0.0) => y.zeros_like(),
            Self::Number(x) => y.log1p() * *x,
            Self::Tensor(x) => special::xlog1py(x.clone(), y),
        }
    }

    /// Panics if the parameter is a number that is not finite. Tensors are not checked.
    pub(crate) fn finite(self, distribution: &str, name: &str) -> Self {
        self.checked(f64::is_finite, distribution, name, "finite")
    }

    /// Panics if the parameter is a number that is not positive and finite. Tensors are not checked.
    pub(crate) fn positive(self, distribution: &str, name: &str) -> Self {
        self.checked(|value| value > 0.0 && value.is_finite(), distribution, name, "positive and finite")
    }

    /// Panics if the parameter is a number that is not `valid`. Tensors are not checked.
    pub(super) fn checked(self, valid: impl Fn(f64) -> bool, distribution: &str, name: &str, must: &str) -> Self {
        if let Self::Number(value) = self
            && !valid(value)
        {
            panic!("{distribution}: {name} must be {must}, not {value}");
        }
        self
    }

    /// Copies the parameter to the host. Returns its elements in row-major order, and its shape.
    fn read(&self) -> (Vec<f64>, [usize; D]) {
        match self {
            Self::Number(number) => (vec![*number], [1; D]),
            Self::Tensor(tensor) => (host(tensor), tensor.dims()),
        }
    }

    /// Copies the parameter to the host, broadcast to `shape`.
    pub(super) fn values(&self, shape: [usize; D]) -> Vec<f64> {
        let (values, dims) = self.read();
        let fits = dims.iter().zip(&shape).all(|(dim, size)| *dim == 1 || dim == size);
        assert!(fits, "a parameter of shape {dims:?} does not broadcast to draws of shape {shape:?}");
        let count: usize = shape.iter().product();
        (0..count)
            .map(|mut flat| {
                let (mut index, mut stride) = (0, 1);
                for axis in (0..D).rev() {
                    let position = flat % shape[axis];
                    flat /= shape[axis];
                    index += stride * if dims[axis] == 1 { 0 } else { position };
                    stride *= dims[axis];
                }
                values[index]
            })
            .collect()
    }
}

/// Reshapes a vector `[k]` to one row `[1, k]`. Returns a matrix unchanged.
pub(super) fn as_rows<const R: usize>(tensor: Tensor<R>, distribution: &str, name: &str) -> Tensor<2> {
    let dims = tensor.dims();
    match dims.as_slice() {
        [k] => tensor.reshape([1, *k]),
        [n, k] => tensor.reshape([*n, *k]),
        _ => panic!("{distribution}: {name} must be [k], [1, k] or [n, k], not {dims:?}"),
    }
}

/// Copies the elements of a tensor to the host, as `f64`.
pub(super) fn host<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

/// Arithmetic of a tensor of values with a parameter.
pub(crate) trait Combine<const D: usize> {
    fn plus(self, param: &Param<D>) -> Self;
    fn minus(self, param: &Param<D>) -> Self;
    fn times(self, param: &Param<D>) -> Self;
    fn over(self, param: &Param<D>) -> Self;
}

macro_rules! combine {
    ($($method:ident $operator:tt),+) => {
        impl<const D: usize> Combine<D> for Tensor<D> {
            $(fn $method(self, param: &Param<D>) -> Self {
                match param {
                    Param::Number(number) => self $operator *number,
                    Param::Tensor(tensor) => self $operator tensor.clone(),
                }
            })+
        }
    };
}

combine!(plus +, minus -, times *, over /);

/// Returns a tensor of the given shape. `draw` draws each element from the values of its parameters.
pub(super) fn draws<const D: usize, const P: usize, R: Rng + ?Sized>(
    params: [&Param<D>; P],
    shape: [usize; D],
    rng: &mut R,
    draw: impl Fn([f64; P], &mut R) -> f64,
) -> Tensor<D> {
    let values = params.map(|param| param.values(shape));
    let count = shape.iter().product();
    let drawn = (0..count).map(|i| draw(std::array::from_fn(|p| values[p][i]), rng)).collect();
    from_host(drawn, shape)
}

/// Returns `mean` of the values of the parameters, for each element of a tensor of the given shape.
pub(super) fn means<const D: usize, const P: usize>(
    params: [&Param<D>; P],
    shape: [usize; D],
    mean: impl Fn([f64; P]) -> f64,
) -> Vec<f64> {
    let values = params.map(|param| param.values(shape));
    (0..shape.iter().product()).map(|i| mean(std::array::from_fn(|p| values[p][i]))).collect()
}

/// Creates a tensor in double precision on the default device.
pub(super) fn from_host<const D: usize>(values: Vec<f64>, shape: [usize; D]) -> Tensor<D> {
    use burn_tensor::{DType, TensorData};
    Tensor::from_data(TensorData::new(values, shape), (&crate::array::default_device(), DType::F64))
}
