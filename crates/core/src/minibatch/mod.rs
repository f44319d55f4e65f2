//! Minibatch schemes: which observations an estimate looks at, and with what weights.
//!
//! Every scheme is unbiased: for any numbers aᵢ, E Σ_{i∈S} wᵢ aᵢ = Σᵢ aᵢ.

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

/// A way of drawing minibatches. The scheme itself never changes; what moves is its state.
pub trait Scheme: Clone + Send + Sync + 'static {
    /// What the next draw needs.
    type State: Clone + Send + Serialize + DeserializeOwned + std::fmt::Debug;

    /// The state before the first draw from `observations` rows; checks that such minibatches can be drawn.
    fn init(&self, observations: usize) -> Result<Self::State>;

    /// Draws the next minibatch into `batch`, reusing its memory.
    fn draw(&self, state: &mut Self::State, rng: &mut StreamRng, batch: &mut Minibatch);

    /// Returns whether successive minibatches are independent of each other. Estimators with a memory per observation, such as
    /// [`Saga`](crate::gradient::Saga), are unbiased only if they are.
    fn has_independent_batches(&self) -> bool {
        true
    }

    /// Returns whether the observations of one minibatch are distinct. The variance of an estimate then has the
    /// finite-population factor 1 − n/N.
    fn has_distinct_observations(&self) -> bool {
        false
    }
}

/// What says how minibatches are drawn: a [`Scheme`], or a number for [`WithoutReplacement`] of that size.
pub trait IntoScheme {
    /// The scheme.
    type Scheme: Scheme;

    /// The scheme.
    fn into_scheme(self) -> Self::Scheme;
}

macro_rules! number_is_scheme {
    ($($number:ty),+) => {
        $(impl IntoScheme for $number {
            type Scheme = WithoutReplacement;

            fn into_scheme(self) -> WithoutReplacement {
                WithoutReplacement::new(self)
            }
        })+
    };
}

macro_rules! scheme_is_scheme {
    ($($scheme:ty),+) => {
        $(impl IntoScheme for $scheme {
            type Scheme = Self;

            fn into_scheme(self) -> Self {
                self
            }
        })+
    };
}

number_is_scheme!(i32, i64, u32, u64, usize, f64);
scheme_is_scheme!(WithoutReplacement, WithReplacement, Epochs, Weighted);

/// The rows of one minibatch and their weights wᵢ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Minibatch {
    /// The rows.
    pub rows: Vec<usize>,
    /// How much each counts.
    pub weights: BatchWeights,
}

/// The weights of a minibatch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum BatchWeights {
    /// All rows alike, N/n.
    Same(f64),
    /// One weight per row, 1/(n pᵢ).
    Each(Vec<f64>),
}

impl Default for BatchWeights {
    fn default() -> Self {
        Self::Same(1.0)
    }
}

impl Minibatch {
    /// The rows with their weights, as engines take them.
    pub fn as_rows(&self) -> Result<Rows<'_>> {
        let rows = Rows::list(&self.rows);
        match &self.weights {
            BatchWeights::Same(weight) => Ok(rows.scaled(*weight)),
            BatchWeights::Each(weights) => rows.weighted(weights),
        }
    }

    /// The weight of the row at `position`.
    pub fn weight(&self, position: usize) -> f64 {
        match &self.weights {
            BatchWeights::Same(weight) => *weight,
            BatchWeights::Each(weights) => weights[position],
        }
    }
}
