//! Distributions as priors and likelihoods use them: log densities by row, draws, and the values that are possible.

use std::fmt::Debug;

use burn_tensor::{Int, Tensor};
use rand::Rng;
use sgmcmc_gradient::Constraint;

use super::observed::{Observed, Support, watching};
use super::param::Param;
use super::{CategoricalLogits, Distribution, Mixture, OrderedLogistic};

/// A distribution over the values of a tensor `Y`, which a prior or a likelihood can consist of.
///
/// All distributions of this module implement it for the tensors of their values. Tuples of distributions are
/// distributions of tuples of tensors. An array or a `Vec` of distributions of single values has one distribution for
/// each element of a vector, or of each row of a matrix.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::{Domain, Gamma, Generative, Normal};
/// use sgmcmc::rng::ChainRng;
/// use sgmcmc::{ones, zeros};
///
/// let prior = [Normal::new(0.0, 10.0), Normal::new(0.0, 1.0)];       // a vector of two elements
/// let drawn = prior.draw(&zeros([2]), ChainRng::new(1, 0).noise());
/// assert_eq!(prior.rows(drawn).dims(), [2]);
/// assert_eq!(Generative::<sgmcmc::burn::Tensor<1>>::domain(&Gamma::new(2.0, 1.0)), Domain::Positive);
/// # let _ = ones([1]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a distribution of `{Y}`",
    label = "not a distribution of `{Y}`",
    note = "a prior and the first closure of `Model::observe` return a distribution such as `Normal::new(0.0, 1.0)`, not \
            a log density: leave out `.log_prob(…)`",
    note = "the field must be a tensor of the rank of the distribution: one value per element, except distributions of \
            vectors such as `Dirichlet`",
    note = "counts are floats, `Tensor<1>`; only `CategoricalLogits` and `OrderedLogistic` have integers, `Tensor<1, Int>`"
)]
pub trait Generative<Y>: Debug + Send + Sync {
    /// Returns the log density of each row of `value`, the entries of its first axis.
    fn rows(&self, value: Y) -> Tensor<1>;

    /// Returns a draw with the shape of `like`, whose values are not used. Floats have double precision.
    ///
    /// # Panics
    ///
    /// Panics if a parameter of the distribution does not broadcast to the shape of `like`.
    fn draw(&self, like: &Y, rng: &mut dyn Rng) -> Y;

    /// Returns the set of possible values.
    fn domain(&self) -> Domain {
        Domain::Real
    }

    /// Returns the mean of each value in row-major order, or `None` if it is not known.
    fn mean(&self, like: &Y) -> Option<Vec<f64>> {
        let _ = like;
        None
    }
}

/// The set of possible values of a distribution.
///
/// # Examples
///
/// ```
/// use sgmcmc::Constraint;
/// use sgmcmc::distributions::Domain;
///
/// assert_eq!(Domain::Positive.constraint(), Some(Constraint::Positive));
/// assert!(Domain::Positive.contains(Constraint::UnitInterval));
/// assert!(!Domain::Positive.contains(Constraint::Ordered));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Domain {
    /// All real numbers.
    Real,
    /// The positive numbers.
    Positive,
    /// The numbers between two bounds, which may be infinite.
    Interval(f64, f64),
    /// Vectors of positive numbers that sum to one.
    Simplex,
    /// Lower Cholesky factors of correlation matrices.
    CholeskyCorrelation,
    /// Symmetric positive definite matrices, for which there is no constraint.
    PositiveDefinite,
    /// Integers. Parameters cannot have such a distribution.
    Discrete,
    /// Numbers with a bound that is a tensor, for example another parameter.
    Dependent,
    /// Matrices or vectors that no constraint describes.
    Unconstrained,
}

impl Domain {
    /// Returns the constraint of a parameter with these values, or `None` if there is none.
    pub fn constraint(self) -> Option<Constraint> {
        match self {
            Self::Positive => Some(Constraint::Positive),
            Self::Interval(low, high) if (low, high) == (0.0, 1.0) => Some(Constraint::UnitInterval),
            Self::Interval(low, high) => match (low.is_finite(), high.is_finite()) {
                (true, true) => Some(Constraint::Interval(low, high)),
                (true, false) if low.abs() <= 0.0 => Some(Constraint::Positive),
                (true, false) => Some(Constraint::Lower(low)),
                (false, true) => Some(Constraint::Upper(high)),
                (false, false) => None,
            },
            Self::Simplex => Some(Constraint::Simplex),
            Self::CholeskyCorrelation => Some(Constraint::CholeskyCorrelation),
            Self::Real | Self::Discrete | Self::Dependent | Self::PositiveDefinite | Self::Unconstrained => None,
        }
    }

    /// Returns a set that contains the values of both sets.
    pub(super) fn union(self, other: Self) -> Self {
        let bounds = |domain| match domain {
            Self::Positive => Some((0.0, f64::INFINITY)),
            Self::Interval(low, high) => Some((low, high)),
            _ => None,
        };
        match (bounds(self), bounds(other)) {
            _ if self == other => self,
            (Some((a, b)), Some((c, d))) => Self::between(a.min(c), b.max(d)),
            _ if self == Self::Discrete || other == Self::Discrete => Self::Discrete,
            _ => Self::Real,
        }
    }

    /// Returns the numbers of this set between two bounds, which may be infinite.
    pub(super) fn restricted(self, low: f64, high: f64) -> Self {
        match self {
            Self::Real => Self::between(low, high),
            Self::Positive => Self::between(low.max(0.0), high),
            Self::Interval(a, b) => Self::between(low.max(a), high.min(b)),
            other => other,
        }
    }

    /// Returns the numbers between two bounds, which may be infinite.
    fn between(low: f64, high: f64) -> Self {
        match (low, high) {
            (f64::NEG_INFINITY, f64::INFINITY) => Self::Real,
            (low, f64::INFINITY) if low.abs() <= 0.0 => Self::Positive,
            (low, high) => Self::Interval(low, high),
        }
    }

    /// Returns whether all values that `constraint` allows are in this set.
    pub fn contains(self, constraint: Constraint) -> bool {
        use Constraint as C;
        let (low, high) = match constraint {
            C::Positive | C::Mirrored | C::PositiveOrdered => (0.0, f64::INFINITY),
            C::Lower(low) => (low, f64::INFINITY),
            C::Upper(high) => (f64::NEG_INFINITY, high),
            C::Interval(low, high) => (low, high),
            C::UnitInterval | C::Simplex | C::Softmax => (0.0, 1.0),
            C::UnitVector | C::CholeskyCorrelation => (-1.0, 1.0),
            C::Ordered => (f64::NEG_INFINITY, f64::INFINITY),
        };
        match self {
            Self::Real | Self::Dependent | Self::Unconstrained => true,
            Self::Positive => low >= 0.0,
            Self::Interval(a, b) => low >= a && high <= b,
            Self::Simplex => matches!(constraint, C::Simplex | C::Softmax),
            Self::CholeskyCorrelation => constraint == C::CholeskyCorrelation,
            Self::Discrete | Self::PositiveDefinite => false,
        }
    }

    /// Returns a description that completes "values are …".
    pub fn describe(self) -> String {
        match self {
            Self::Real | Self::Unconstrained => "real numbers".into(),
            Self::Positive => "positive numbers".into(),
            Self::Interval(low, f64::INFINITY) => format!("numbers above {low}"),
            Self::Interval(f64::NEG_INFINITY, high) => format!("numbers below {high}"),
            Self::Interval(low, high) => format!("numbers from {low} to {high}"),
            Self::Simplex => "vectors of positive numbers that sum to one".into(),
            Self::CholeskyCorrelation => "Cholesky factors of correlation matrices".into(),
            Self::PositiveDefinite => "positive definite matrices".into(),
            Self::Discrete => "integers".into(),
            Self::Dependent => "numbers with bounds that are tensors".into(),
        }
    }
}

/// Returns the set of values that `log_prob` records as the support of its distribution.
pub(super) fn recorded(log_prob: impl FnOnce()) -> Domain {
    let ((), seen) = watching(log_prob);
    let domain = |seen: &Observed| match seen.support {
        Support::ZeroOrOne | Support::Counts(_) => Domain::Discrete,
        Support::NotNegative | Support::Positive => Domain::Positive,
        Support::Interval(low, high) => Domain::Real.restricted(low, high),
        Support::Dependent => Domain::Dependent,
    };
    seen.first().map_or(Domain::Real, domain)
}

/// Returns one value of the type and on the device of the parameters.
pub(super) fn probe<const D: usize, const P: usize>(params: [&Param<D>; P]) -> Tensor<D> {
    let tensor = params.iter().find_map(|param| match param {
        Param::Tensor(tensor) => Some(Tensor::full([1; D], 0.5, (&tensor.device(), tensor.dtype()))),
        Param::Number(_) => None,
    });
    tensor.unwrap_or_else(|| super::param::from_host(vec![0.5], [1; D]))
}

/// Returns the sum over all axes except the first one.
pub(super) fn sum_rows<const D: usize>(terms: Tensor<D>) -> Tensor<1> {
    if D == 1 {
        return Tensor::from_bridge(terms.into_bridge());
    }
    let [rows, rest] = [terms.dims()[0], terms.dims()[1..].iter().product()];
    let terms = if D == 2 { Tensor::from_bridge(terms.into_bridge()) } else { terms.reshape([rows, rest]) };
    terms.sum_dim(1).squeeze_dim::<1>(1)
}

impl<Y> Generative<Y> for Box<dyn Generative<Y>> {
    fn rows(&self, value: Y) -> Tensor<1> {
        (**self).rows(value)
    }

    fn draw(&self, like: &Y, rng: &mut dyn Rng) -> Y {
        (**self).draw(like, rng)
    }

    fn domain(&self) -> Domain {
        (**self).domain()
    }

    fn mean(&self, like: &Y) -> Option<Vec<f64>> {
        (**self).mean(like)
    }
}

impl<const D: usize, const OUT: usize> Generative<Tensor<D>> for Mixture<D, OUT> {
    fn rows(&self, value: Tensor<D>) -> Tensor<1> {
        sum_rows(self.log_prob(value))
    }

    fn draw(&self, like: &Tensor<D>, mut rng: &mut dyn Rng) -> Tensor<D> {
        self.sample(like.dims(), &mut rng)
    }

    fn domain(&self) -> Domain {
        Distribution::support(self)
    }
}

impl Generative<Tensor<1, Int>> for OrderedLogistic {
    fn rows(&self, value: Tensor<1, Int>) -> Tensor<1> {
        self.log_prob(value)
    }

    fn draw(&self, like: &Tensor<1, Int>, mut rng: &mut dyn Rng) -> Tensor<1, Int> {
        self.sample(like.dims()[0], &mut rng)
    }

    fn domain(&self) -> Domain {
        Domain::Discrete
    }
}

impl Generative<Tensor<1, Int>> for CategoricalLogits {
    fn rows(&self, value: Tensor<1, Int>) -> Tensor<1> {
        self.log_prob(value)
    }

    fn draw(&self, like: &Tensor<1, Int>, mut rng: &mut dyn Rng) -> Tensor<1, Int> {
        self.sample(like.dims()[0], &mut rng)
    }

    fn domain(&self) -> Domain {
        Domain::Discrete
    }
}

/// Returns the elements of the last axis, each with a last axis of one element.
fn elements<const D: usize>(value: &Tensor<D>, expected: usize) -> Vec<Tensor<D>> {
    let found = value.dims()[D - 1];
    assert!(
        found == expected,
        "a list of {expected} distributions needs as many elements in the last axis, not {found}"
    );
    (0..expected).map(|index| value.clone().narrow(D - 1, index, 1)).collect()
}

/// Returns the values that all distributions of a list have.
fn common<Y, G: Generative<Y>>(list: &[G]) -> Domain {
    let mut domains = list.iter().map(Generative::domain);
    let first = domains.next().unwrap_or(Domain::Real);
    assert!(
        domains.all(|domain| domain == first),
        "the distributions of a list must have the same support: use one field for each"
    );
    first
}

macro_rules! list {
    ([$($generics:tt)*] $list:ty) => {
        impl<G, const D: usize, $($generics)*> Generative<Tensor<D>> for $list
        where
            G: Generative<Tensor<D>>,
        {
            fn rows(&self, value: Tensor<D>) -> Tensor<1> {
                let terms: Vec<Tensor<1>> = self
                    .iter()
                    .zip(elements(&value, self.len()))
                    .map(|(distribution, element)| distribution.rows(element))
                    .collect();
                if D == 1 {
                    return Tensor::cat(terms, 0);
                }
                let sum = terms.into_iter().reduce(|sum, term| sum + term);
                sum.unwrap_or_else(|| panic!("a list of distributions must not be empty"))
            }

            fn draw(&self, like: &Tensor<D>, rng: &mut dyn Rng) -> Tensor<D> {
                let draws = self.iter().zip(elements(like, self.len()));
                Tensor::cat(draws.map(|(distribution, like)| distribution.draw(&like, rng)).collect(), D - 1)
            }

            fn domain(&self) -> Domain {
                common(self)
            }
        }
    };
}

list!([const N: usize] [G; N]);
list!([] Vec<G>);

macro_rules! tuple {
    ($($distribution:ident $value:ident $index:tt),+) => {
        impl<$($distribution, $value),+> Generative<($($value,)+)> for ($($distribution,)+)
        where
            $($distribution: Generative<$value>,)+
        {
            fn rows(&self, value: ($($value,)+)) -> Tensor<1> {
                let terms = [$(self.$index.rows(value.$index)),+];
                let sum = terms.into_iter().reduce(|sum, term| sum + term);
                sum.unwrap_or_else(|| unreachable!("a tuple has members"))
            }

            fn draw(&self, like: &($($value,)+), rng: &mut dyn Rng) -> ($($value,)+) {
                ($(self.$index.draw(&like.$index, rng),)+)
            }

            fn mean(&self, like: &($($value,)+)) -> Option<Vec<f64>> {
                let mut all = Vec::new();
                $(all.extend(self.$index.mean(&like.$index)?);)+
                Some(all)
            }
        }
    };
}

tuple!(A Y 0, B Z 1);
tuple!(A Y 0, B Z 1, C W 2);
tuple!(A Y 0, B Z 1, C W 2, E V 3);
