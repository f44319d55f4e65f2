//! Probability distributions, for likelihoods, priors and simulated data.
//!
//! A distribution is created from its parameters, which are numbers or tensors. Its `log_prob` returns the log density
//! of values, with all normalizing constants. Gradients flow to the values and to the parameters.
//!
//! - **Shapes.** A parameter that is a tensor has the rank of the value, and each of its dimensions is one or that of
//!   the value. The result has the broadcast shape. [`MultivariateNormal`], [`MultivariateStudentT`], [`Dirichlet`] and
//!   [`Multinomial`] take values of shape `[n, d]`, [`CategoricalLogits`] and [`OrderedLogistic`] integers of shape
//!   `[n]`, and [`Wishart`], [`InverseWishart`], [`Lkj`], [`LkjCholesky`] and [`MatrixNormal`] matrices `[n, r, c]`.
//!   These return one entry per row or matrix.
//! - **Support.** Outside the support the log density is −∞ and its gradient is zero. At a boundary of the support it
//!   is the limit, which may be infinite, with an infinite gradient. Densities do not check that counts are whole
//!   numbers or that labels are zero or one. Data are checked once, when an evaluator is created: if the log-likelihood
//!   of an observation depends on a value outside the support, the evaluator returns an error with the name of the
//!   leaf, the index of the observation, and the value.
//! - **Parameters.** The constructor panics if a number is out of range. Inside the closure of a model the library
//!   turns the panic into an error. Tensors are not checked: the log density for a parameter out of range is
//!   unspecified, in most cases NaN.
//! - **Draws.** `sample` draws on the host and returns `f64` tensors on the default device, regardless of the type of
//!   the parameters. If a parameter in a tensor is out of range, the draw is NaN.
//! - **Descriptions.** [`Generative`] unites log density, draws, support and mean for priors and likelihoods.
//! - **Sequences.** [`crate::sequence`] has distributions of whole series.
//!
//! # Examples
//!
//! The closures of a model use distributions like this:
//!
//! ```
//! use sgmcmc::distributions::{Laplace, Normal};
//! use sgmcmc::prelude::*;
//!
//! fn log_prior(beta: Tensor<1>) -> Tensor<1> {
//!     Laplace::new(0.0, 1.0).log_prob(beta).sum()
//! }
//! fn log_likelihood(mean: Tensor<1>, sigma: Tensor<1>, y: Tensor<1>) -> Tensor<1> {
//!     Normal::new(mean, sigma).log_prob(y) // sigma has shape [1] and broadcasts
//! }
//! let y = array(vec![0.3, 1.0, -1.2], [3])?;
//! assert_eq!(log_likelihood(y.clone() * 0.9, ones([1]), y.clone()).dims(), [3]);
//! assert_eq!(log_prior(y).dims(), [1]);
//! # Ok::<(), sgmcmc::Error>(())
//! ```
//!
//! # Adding a distribution
//!
//! 1. Write one file with the type, its constructor, `log_prob`, and one `elementwise!`, `rowwise!` or `matrixwise!`
//!    invocation for its draws and its [`Distribution`] and [`Generative`] implementations. `mean: …` adds a closure for the mean.
//!    The support is the one that `log_prob` records.
//! 2. Add one row to the `distributions!` list at the end of this module. The list declares the module, exports the
//!    type, and adds it to `NAMES`, which a test compares with its table.
//! 3. Add one row to the table in `tests/engine/distributions/cases.rs`, and one to `tests/reference/generate.py` for
//!    the reference values.

mod cumulative;
mod generative;
mod observed;
mod param;
mod scatter;
mod stable;
mod support;

use std::fmt::Debug;

use burn_tensor::Tensor;
use rand::Rng;

pub(crate) use categorical_logits::category;
pub use cumulative::Cumulative;
pub use generative::{Domain, Generative};
pub(crate) use observed::{Observed, watching};
pub(crate) use param::Combine;
pub use param::Param;
pub use stable::Stable;

/// A distribution over tensors of rank `D` whose log densities have rank `OUT`.
///
/// `OUT` equals `D` if every element of the tensor is a value. It is one if every row is a value.
///
/// The components of a [`Mixture`] have this trait. All distributions of this module except those over integers
/// implement it. Their inherent methods of the same names need no import.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::{Distribution, Laplace, Normal};
///
/// let (normal, laplace) = (Normal::<1>::new(0.0, 1.0), Laplace::<1>::new(0.0, 1.0));
/// let components: Vec<Box<dyn Distribution<1>>> = vec![Box::new(normal), Box::new(laplace)];
/// let x = sgmcmc::array(vec![0.5, 1.5], [2])?;
/// assert!(components.iter().all(|component| component.log_prob(x.clone()).dims() == [2]));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Distribution<const D: usize, const OUT: usize = D>: Debug + Send + Sync {
    /// Returns the log density of each value.
    fn log_prob(&self, value: Tensor<D>) -> Tensor<OUT>;

    /// Returns independent draws in a tensor of the given shape.
    fn sample(&self, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D>;

    /// Returns the set of possible values.
    fn support(&self) -> Domain {
        Domain::Real
    }
}

/// Implements `sample` and [`Distribution`] for a distribution of single values.
///
/// The closure draws one number. Its arguments are the values of the parameters and the RNG. The closure `mean`, if it
/// is given, returns the mean.
macro_rules! elementwise {
    ($name:ident { $($param:ident),+ }, $draw:expr) => {
        elementwise!(@with $name { $($param),+ }, $draw, {});
    };
    ($name:ident { $($param:ident),+ }, $draw:expr, mean: $mean:expr) => {
        elementwise!(@with $name { $($param),+ }, $draw, {
            fn mean(&self, like: &burn_tensor::Tensor<D>) -> Option<Vec<f64>> {
                Some($crate::distributions::param::means([$(&self.$param),+], like.dims(), $mean))
            }
        });
    };
    (@with $name:ident { $($param:ident),+ }, $draw:expr, { $($mean:tt)* }) => {
        impl<const D: usize> $name<D> {
            /// Returns independent draws in an `f64` tensor of the given shape on the default device.
            pub fn sample<R: rand::Rng + ?Sized>(&self, shape: [usize; D], rng: &mut R) -> burn_tensor::Tensor<D> {
                $crate::distributions::param::draws([$(&self.$param),+], shape, rng, $draw)
            }
        }

        impl<const D: usize> $crate::distributions::Distribution<D> for $name<D> {
            fn log_prob(&self, value: burn_tensor::Tensor<D>) -> burn_tensor::Tensor<D> {
                Self::log_prob(self, value)
            }

            fn sample(&self, shape: [usize; D], rng: &mut dyn rand::Rng) -> burn_tensor::Tensor<D> {
                Self::sample(self, shape, rng)
            }

            fn support(&self) -> $crate::distributions::Domain {
                let value = $crate::distributions::generative::probe([$(&self.$param),+]);
                $crate::distributions::generative::recorded(|| drop(Self::log_prob(self, value)))
            }
        }

        generative!($name, { $($mean)* });
    };
}

/// Implements [`Generative`] for a [`Distribution`] of single values, with the methods that follow the name.
macro_rules! generative {
    ($name:ident) => {
        generative!($name, {});
    };
    ($name:ident, { $($method:tt)* }) => {
        impl<const D: usize> $crate::distributions::Generative<burn_tensor::Tensor<D>> for $name<D> {
            fn rows(&self, value: burn_tensor::Tensor<D>) -> burn_tensor::Tensor<1> {
                $crate::distributions::generative::sum_rows(Self::log_prob(self, value))
            }

            fn draw(&self, like: &burn_tensor::Tensor<D>, rng: &mut dyn rand::Rng) -> burn_tensor::Tensor<D> {
                $crate::distributions::Distribution::<D>::sample(self, like.dims(), rng)
            }

            fn domain(&self) -> $crate::distributions::Domain {
                $crate::distributions::Distribution::<D>::support(self)
            }

            $($method)*
        }
    };
}

/// Implements [`Distribution`] for a distribution over rows, with the [`Domain`] of a row.
macro_rules! rowwise {
    ($name:ident) => {
        rowwise!($name, Unconstrained);
    };
    ($name:ident, $domain:ident) => {
        impl $crate::distributions::Generative<burn_tensor::Tensor<2>> for $name {
            fn rows(&self, value: burn_tensor::Tensor<2>) -> burn_tensor::Tensor<1> {
                Self::log_prob(self, value)
            }

            fn draw(&self, like: &burn_tensor::Tensor<2>, rng: &mut dyn rand::Rng) -> burn_tensor::Tensor<2> {
                Self::sample(self, like.dims(), rng)
            }

            fn domain(&self) -> $crate::distributions::Domain {
                $crate::distributions::Domain::$domain
            }
        }

        impl $crate::distributions::Generative<burn_tensor::Tensor<1>> for $name {
            fn rows(&self, value: burn_tensor::Tensor<1>) -> burn_tensor::Tensor<1> {
                Self::log_prob(self, value.unsqueeze_dim::<2>(0))
            }

            fn draw(&self, like: &burn_tensor::Tensor<1>, rng: &mut dyn rand::Rng) -> burn_tensor::Tensor<1> {
                Self::sample(self, [1, like.dims()[0]], rng).squeeze_dim::<1>(0)
            }

            fn domain(&self) -> $crate::distributions::Domain {
                $crate::distributions::Domain::$domain
            }
        }

        impl $crate::distributions::Distribution<2, 1> for $name {
            fn log_prob(&self, value: burn_tensor::Tensor<2>) -> burn_tensor::Tensor<1> {
                Self::log_prob(self, value)
            }

            fn sample(&self, shape: [usize; 2], rng: &mut dyn rand::Rng) -> burn_tensor::Tensor<2> {
                Self::sample(self, shape, rng)
            }

            fn support(&self) -> $crate::distributions::Domain {
                $crate::distributions::Domain::$domain
            }
        }
    };
}

/// Implements [`Distribution`] and [`Generative`] for a distribution over matrices, with the [`Domain`] of a matrix.
macro_rules! matrixwise {
    ($name:ident, $domain:ident) => {
        impl $crate::distributions::Generative<burn_tensor::Tensor<3>> for $name {
            fn rows(&self, value: burn_tensor::Tensor<3>) -> burn_tensor::Tensor<1> {
                Self::log_prob(self, value)
            }

            fn draw(&self, like: &burn_tensor::Tensor<3>, rng: &mut dyn rand::Rng) -> burn_tensor::Tensor<3> {
                Self::sample(self, like.dims(), rng)
            }

            fn domain(&self) -> $crate::distributions::Domain {
                $crate::distributions::Domain::$domain
            }
        }

        impl $crate::distributions::Generative<burn_tensor::Tensor<2>> for $name {
            fn rows(&self, value: burn_tensor::Tensor<2>) -> burn_tensor::Tensor<1> {
                Self::log_prob(self, value.unsqueeze_dim::<3>(0))
            }

            fn draw(&self, like: &burn_tensor::Tensor<2>, rng: &mut dyn rand::Rng) -> burn_tensor::Tensor<2> {
                let [rows, columns] = like.dims();
                Self::sample(self, [1, rows, columns], rng).squeeze_dim::<2>(0)
            }

            fn domain(&self) -> $crate::distributions::Domain {
                $crate::distributions::Domain::$domain
            }
        }

        impl $crate::distributions::Distribution<3, 1> for $name {
            fn log_prob(&self, value: burn_tensor::Tensor<3>) -> burn_tensor::Tensor<1> {
                Self::log_prob(self, value)
            }

            fn sample(&self, shape: [usize; 3], rng: &mut dyn rand::Rng) -> burn_tensor::Tensor<3> {
                Self::sample(self, shape, rng)
            }

            fn support(&self) -> $crate::distributions::Domain {
                $crate::distributions::Domain::$domain
            }
        }
    };
}

/// Draws from a distribution of `rand_distr`. Returns NaN if its parameters are out of range.
fn draw<T, E, R: Rng + ?Sized>(distribution: Result<T, E>, rng: &mut R) -> f64
where
    T: rand_distr::Distribution<f64>,
{
    distribution.map_or(f64::NAN, |distribution| distribution.sample(rng))
}

/// Returns `scale`, or NaN if it is not positive.
fn positive(scale: f64) -> f64 {
    if scale > 0.0 { scale } else { f64::NAN }
}

/// Declares the module of each distribution, exports its type, and lists its name.
macro_rules! distributions {
    ($($module:ident: $name:ident;)+) => {
        $(mod $module;
        pub use $module::$name;)+

        /// The names of all distributions, in alphabetical order. A test fails if its table lacks one of them.
        #[doc(hidden)]
        pub const NAMES: &[&str] = &[$(stringify!($name)),+];
    };
}

distributions!(
    bernoulli: Bernoulli;
    bernoulli_logits: BernoulliLogits;
    beta: Beta;
    beta_binomial: BetaBinomial;
    binomial_logits: BinomialLogits;
    categorical_logits: CategoricalLogits;
    cauchy: Cauchy;
    censored: Censored;
    dirichlet: Dirichlet;
    exponential: Exponential;
    gamma: Gamma;
    generalized_gamma: GeneralizedGamma;
    half_cauchy: HalfCauchy;
    half_normal: HalfNormal;
    inverse_gamma: InverseGamma;
    inverse_wishart: InverseWishart;
    laplace: Laplace;
    lkj: Lkj;
    lkj_cholesky: LkjCholesky;
    log_normal: LogNormal;
    logistic: Logistic;
    matrix_normal: MatrixNormal;
    mixture: Mixture;
    multinomial: Multinomial;
    multivariate_normal: MultivariateNormal;
    multivariate_student_t: MultivariateStudentT;
    negative_binomial: NegativeBinomial;
    normal: Normal;
    ordered_logistic: OrderedLogistic;
    poisson: Poisson;
    poisson_log_rate: PoissonLogRate;
    skew_normal: SkewNormal;
    student_t: StudentT;
    truncated: Truncated;
    uniform: Uniform;
    von_mises: VonMises;
    weibull: Weibull;
    wishart: Wishart;
    zero_inflated: ZeroInflated;
);
