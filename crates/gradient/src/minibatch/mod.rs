//! Minibatch schemes: random selections of observations with weights.
//!
//! All schemes are unbiased: E Σ_{i∈S} wᵢ aᵢ = Σᵢ aᵢ for all numbers aᵢ.

mod epochs;
mod index;
mod size;
mod weighted;
mod with_replacement;
mod without_replacement;

pub use epochs::Epochs;
pub use size::BatchSize;
pub use weighted::Weighted;
pub use with_replacement::WithReplacement;
pub use without_replacement::WithoutReplacement;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::data::Rows;
use crate::error::Result;
use crate::rng::StreamRng;

/// A random scheme for minibatches. A scheme is immutable; everything that changes between draws is in its state.
///
/// # Examples
///
/// ```
/// use sgmcmc::minibatch::{Minibatch, Scheme, WithoutReplacement};
/// use sgmcmc::rng::ChainRng;
///
/// let scheme = WithoutReplacement::new(10);
/// let (mut state, mut rng) = (scheme.init(1000)?, ChainRng::new(1, 0));
/// let mut batch = Minibatch::default();
/// scheme.draw(&mut state, rng.minibatch(), &mut batch);
/// assert_eq!((batch.rows.len(), batch.weight(0)), (10, 100.0));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Scheme: Clone + Send + Sync + 'static {
    /// The state that changes between draws.
    type State: Clone + Send + Serialize + DeserializeOwned + std::fmt::Debug;

    /// Returns the state before the first draw from a data set of `observations`.
    ///
    /// # Errors
    ///
    /// Returns an error if such minibatches cannot be drawn.
    fn init(&self, observations: usize) -> Result<Self::State>;

    /// Draws the next minibatch into `batch`. The allocations of `batch` are reused.
    fn draw(&self, state: &mut Self::State, rng: &mut StreamRng, batch: &mut Minibatch);

    /// Returns `true` if successive minibatches are independent. Estimators with memory per observation, such as
    /// [`Saga`](crate::estimator::Saga), are unbiased only in this case.
    fn has_independent_batches(&self) -> bool {
        true
    }

    /// Returns `true` if the observations of one minibatch are distinct. The variance of an estimate then has the
    /// finite-population factor 1 − n/N.
    fn has_distinct_observations(&self) -> bool {
        false
    }
}

/// A conversion into a [`Scheme`]. Numbers convert into [`WithoutReplacement`] of that size.
///
/// # Examples
///
/// ```
/// use sgmcmc::minibatch::{Epochs, IntoScheme, WithoutReplacement};
///
/// assert_eq!(500_usize.into_scheme(), WithoutReplacement::new(500));
/// assert_eq!(Epochs::new(0.1).into_scheme(), Epochs::new(0.1));
/// ```
pub trait IntoScheme {
    /// The type of the scheme.
    type Scheme: Scheme;

    /// Converts `self` into a scheme.
    fn into_scheme(self) -> Self::Scheme;
}

/// Implements [`IntoScheme`] for numbers.
macro_rules! number_into_scheme {
    ($($number:ty),+) => {
        $(impl IntoScheme for $number {
            type Scheme = WithoutReplacement;

            fn into_scheme(self) -> WithoutReplacement {
                WithoutReplacement::new(self)
            }
        })+
    };
}

/// Implements [`IntoScheme`] for schemes, as the identity.
macro_rules! scheme_into_itself {
    ($($scheme:ty),+) => {
        $(impl IntoScheme for $scheme {
            type Scheme = Self;

            fn into_scheme(self) -> Self {
                self
            }
        })+
    };
}

number_into_scheme!(i32, i64, u32, u64, usize, f64);
scheme_into_itself!(WithoutReplacement, WithReplacement, Epochs, Weighted);

/// The observations of one minibatch and their weights wᵢ.
///
/// # Examples
///
/// ```
/// use sgmcmc::minibatch::{BatchWeights, Minibatch};
///
/// let batch = Minibatch { rows: vec![7, 2], weights: BatchWeights::Same(500.0) };
/// assert_eq!(batch.as_rows()?.iter().collect::<Vec<_>>(), [(7, 500.0), (2, 500.0)]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Minibatch {
    /// The indices of the observations.
    pub rows: Vec<usize>,
    /// The weights of the observations.
    pub weights: BatchWeights,
}

/// The weights of the observations of a minibatch.
///
/// # Examples
///
/// ```
/// use sgmcmc::minibatch::{BatchWeights, Minibatch};
///
/// let batch = Minibatch { rows: vec![7, 2], weights: BatchWeights::Each(vec![10.0, 20.0]) };
/// assert_eq!(batch.weight(1), 20.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum BatchWeights {
    /// The same weight for all observations, N/n.
    Same(f64),
    /// One weight per observation, 1/(n pᵢ).
    Each(Vec<f64>),
}

impl Default for BatchWeights {
    fn default() -> Self {
        Self::Same(1.0)
    }
}

impl Minibatch {
    /// Returns the selection of the observations with their weights.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not one weight per observation.
    pub fn as_rows(&self) -> Result<Rows<'_>> {
        let rows = Rows::list(&self.rows);
        match &self.weights {
            BatchWeights::Same(weight) => Ok(rows.scaled(*weight)),
            BatchWeights::Each(weights) => rows.weighted(weights),
        }
    }

    /// Returns the weight of the observation at `position` of the minibatch.
    ///
    /// # Panics
    ///
    /// Panics if there is one weight per observation and `position` is out of range.
    pub fn weight(&self, position: usize) -> f64 {
        match &self.weights {
            BatchWeights::Same(weight) => *weight,
            BatchWeights::Each(weights) => weights[position],
        }
    }
}
