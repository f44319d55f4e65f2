//! Probability distributions, for likelihoods, priors and simulated data.
//!
//! A distribution is made from its parameters, numbers or tensors, and gives the log density of values, with all
//! normalising constants. Gradients flow to the values and to the parameters. The closures of a model use them like
//! this:
//!
//! ```
//! use sgmcmc_core::burn::Tensor;
//! use sgmcmc_core::distributions::{Laplace, Normal};
//!
//! fn log_prior(beta: Tensor<1>) -> Tensor<1> {
//!     Laplace::new(0.0, 1.0).log_prob(beta).sum()
//! }
//! fn log_likelihood(mean: Tensor<1>, sigma: Tensor<1>, y: Tensor<1>) -> Tensor<1> {
//!     Normal::new(mean, sigma).log_prob(y) // sigma: [1], broadcast
//! }
//! let y = sgmcmc_core::array(vec![0.3, 1.0, -1.2], [3])?;
//! assert_eq!(log_likelihood(y.clone() * 0.9, sgmcmc_core::ones([1]), y.clone()).dims(), [3]);
//! assert_eq!(log_prior(y).dims(), [1]);
//! # Ok::<(), sgmcmc_core::Error>(())
//! ```
//!
//! - **Shapes.** Parameters that are tensors have the rank of the value, and dimensions that are one or the value's.
//!   The result has the broadcast shape. [`MultivariateNormal`], [`Dirichlet`], [`Multinomial`] take values `[n, d]`
//!   and [`CategoricalLogits`] integers `[n]`; they give one entry per row.
//! - **Outside the support** the log density is −∞, and its gradient zero. At an edge of the support it is the limit,
//!   which may be infinite, with an infinite gradient. Densities do not check that counts are whole numbers and labels zero or
//!   one. Data are checked once, when an evaluator is made: a value outside the support, on which the log-likelihood of its row
//!   depends, is an error that names leaf, row and value.
//! - **Parameters.** A number out of range panics when the distribution is made, which the library turns into an error
//!   inside a closure. Tensors are not read: what a parameter out of range gives there is undefined, mostly NaN.
//! - **Draws.** `sample` draws on the host, in `f64` on the default device, whatever the parameters' type. Where a
//!   parameter in a tensor is out of range, the draw is NaN.
//!
//! A new distribution is one file with `new` and `log_prob`, one `elementwise!` line for its draws, and one row in the
//! tests.

mod observed;
mod param;
mod support;

use std::fmt::Debug;

use burn_tensor::Tensor;
use rand::Rng;

pub(crate) use observed::{Observed, watching};
pub use param::Param;

/// A distribution of tensors of rank `D` whose log densities have rank `OUT`: `D` where every element is a value of its
/// own, one where a value is a row.
///
/// This is what a [`Mixture`] is made of. All distributions of this module that are not over integers have it; their
/// own methods of the same names need no import.
pub trait Distribution<const D: usize, const OUT: usize = D>: Debug + Send + Sync {
    /// The log density of each value.
    fn log_prob(&self, value: Tensor<D>) -> Tensor<OUT>;

    /// Draws of the given shape.
    fn sample(&self, shape: [usize; D], rng: &mut dyn Rng) -> Tensor<D>;
}

/// Gives a distribution of single values its `sample` and the trait, from how one number is drawn given the parameters.
macro_rules! elementwise {
    ($name:ident { $($param:ident),+ }, $draw:expr) => {
        impl<const D: usize> $name<D> {
            /// Draws of the given shape, in `f64` on the default device.
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
        }
    };
}

/// Gives a distribution over rows its trait.
macro_rules! rowwise {
    ($name:ident) => {
        impl $crate::distributions::Distribution<2, 1> for $name {
            fn log_prob(&self, value: burn_tensor::Tensor<2>) -> burn_tensor::Tensor<1> {
                Self::log_prob(self, value)
            }

            fn sample(&self, shape: [usize; 2], rng: &mut dyn rand::Rng) -> burn_tensor::Tensor<2> {
                Self::sample(self, shape, rng)
            }
        }
    };
}

/// A draw from one of `rand_distr`'s distributions, NaN if its parameters are out of range.
fn draw<T, E, R: Rng + ?Sized>(distribution: Result<T, E>, rng: &mut R) -> f64
where
    T: rand_distr::Distribution<f64>,
{
    distribution.map_or(f64::NAN, |distribution| distribution.sample(rng))
}

/// A scale for draws, NaN if it is out of range.
fn positive(scale: f64) -> f64 {
    if scale > 0.0 { scale } else { f64::NAN }
}

macro_rules! distributions {
    ($($module:ident: $($name:ident),+;)+) => {
        $(mod $module;
        pub use $module::{$($name),+};)+
    };
}

distributions!(
    bernoulli: Bernoulli;
    bernoulli_logits: BernoulliLogits;
    beta: Beta;
    binomial_logits: BinomialLogits;
    categorical_logits: CategoricalLogits;
    cauchy: Cauchy;
    dirichlet: Dirichlet;
    exponential: Exponential;
    gamma: Gamma;
    generalized_gamma: GeneralizedGamma;
    half_cauchy: HalfCauchy;
    half_normal: HalfNormal;
    inverse_gamma: InverseGamma;
    laplace: Laplace;
    log_normal: LogNormal;
    logistic: Logistic;
    mixture: Mixture;
    multinomial: Multinomial;
    multivariate_normal: MultivariateNormal;
    negative_binomial: NegativeBinomial;
    normal: Normal;
    poisson: Poisson;
    poisson_log_rate: PoissonLogRate;
    student_t: StudentT;
    uniform: Uniform;
    weibull: Weibull;
);
