//! Likelihoods that are distributions of the observations.

use std::marker::PhantomData;
use std::sync::Arc;

use burn_tensor::{Bool, DType, Int, Tensor};
use rand::Rng;

use sgmcmc_gradient::error::{Error, Result};

use super::{LogLikelihood, Model};
use crate::closure::rank_one;
use crate::distributions::Generative;
use crate::tree::prior::{copy, leaf_values};
use crate::tree::{Path, Source, TensorTree, Visitor};

/// The distribution of the observations given the parameters.
pub(super) trait Observation<P, D>: Send + Sync {
    /// Returns the log-likelihood of each row.
    fn terms(&self, params: P, data: D) -> Tensor<1>;

    /// Draws the observed values, one vector for each leaf.
    fn draw(&self, params: P, data: D, rng: &mut dyn Rng) -> Vec<Vec<f64>>;

    /// Returns the mean of the observed values, if it is known.
    fn mean(&self, params: P, data: D) -> Option<Vec<f64>>;

    /// Returns the observed values, one vector for each leaf.
    fn observed(&self, data: D) -> Vec<Vec<f64>>;
}

/// An [`Observation`] made of two closures.
struct Closures<L, O, Y, G> {
    distribution: L,
    observed: O,
    types: PhantomData<fn() -> (Y, G)>,
}

impl<P, D, Y, G, L, O> Observation<P, D> for Closures<L, O, Y, G>
where
    P: TensorTree,
    D: TensorTree,
    Y: TensorTree,
    G: Generative<Y>,
    L: Fn(P, D) -> G + Send + Sync,
    O: Fn(D) -> Y + Send + Sync,
{
    fn terms(&self, params: P, data: D) -> Tensor<1> {
        let observed = (self.observed)(copy(&data));
        (self.distribution)(params, data).rows(observed)
    }

    fn draw(&self, params: P, data: D, rng: &mut dyn Rng) -> Vec<Vec<f64>> {
        let observed = (self.observed)(copy(&data));
        leaf_values(&(self.distribution)(params, data).draw(&observed, rng))
    }

    fn mean(&self, params: P, data: D) -> Option<Vec<f64>> {
        let observed = (self.observed)(copy(&data));
        (self.distribution)(params, data).mean(&observed)
    }

    fn observed(&self, data: D) -> Vec<Vec<f64>> {
        leaf_values(&(self.observed)(data))
    }
}

impl<P: TensorTree> Model<P> {
    /// Creates a model without observations, whose density is the prior that is declared beside the fields of the
    /// parameters.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    ///
    /// #[derive(TensorTree)]
    /// struct Scale {
    ///     #[tree(prior = Gamma::new(2.0, 1.0))]
    ///     sigma: Tensor<1>,
    /// }
    ///
    /// let model = Model::<Scale>::from_priors();
    /// assert_eq!(model.layout(&Scale { sigma: ones([1]) })?.blocks()[0].constraint, Some(Constraint::Positive));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn from_priors() -> Self {
        Self::empty()
    }
}

impl<P: TensorTree, D: TensorTree> Model<P, D> {
    /// Creates a model from the distribution of the observations given the parameters, and the leaf of the data that is
    /// observed.
    ///
    /// The log-likelihood is the log density of the observed leaf, and is compiled like that of [`new`](Self::new).
    /// In addition the model can draw observations: see [`simulate`](Self::simulate),
    /// [`Posterior::predictive`](crate::Posterior::predictive) and [`sbc`](Self::sbc). Several leaves are observed if both
    /// closures return tuples.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    ///
    /// #[derive(TensorTree)]
    /// struct Line {
    ///     #[tree(prior = Normal::new(0.0, 10.0))]
    ///     intercept: Tensor<1>,
    ///     #[tree(prior = Normal::new(0.0, 2.5))]
    ///     slopes: Tensor<1>,
    ///     #[tree(prior = HalfCauchy::new(1.0))]
    ///     sigma: Tensor<1>,
    /// }
    /// #[derive(TensorTree)]
    /// struct Rows {
    ///     x: Tensor<2>,
    ///     y: Tensor<1>,
    /// }
    ///
    /// let model = Model::observe(
    ///     |p: Line, r: Rows| Normal::new(linear(r.x, p.slopes) + p.intercept, p.sigma),
    ///     |r: Rows| r.y,
    /// );
    /// assert!(model.has_likelihood() && model.has_prior());
    /// ```
    pub fn observe<Y: TensorTree, G: Generative<Y> + 'static>(
        distribution: impl Fn(P, D) -> G + Send + Sync + 'static,
        observed: impl Fn(D) -> Y + Send + Sync + 'static,
    ) -> Self {
        let closures = Closures { distribution, observed, types: PhantomData::<fn() -> (Y, G)> };
        let observation: Arc<dyn Observation<P, D>> = Arc::new(closures);
        let terms = observation.clone();
        let log_likelihood: LogLikelihood<P, D> = Arc::new(move |params, data| rank_one(terms.terms(params, data)));
        Self { log_likelihood: Some(log_likelihood), observation: Some(observation), ..Self::empty() }
    }

    /// Returns the distribution of the observations.
    ///
    /// # Errors
    ///
    /// Returns an error if the model was created from a log-likelihood.
    pub(super) fn observation(&self) -> Result<&dyn Observation<P, D>> {
        self.observation.as_deref().ok_or_else(|| Error::NotGenerative {
            what: "observations",
            reason:
                "its likelihood is a closure that returns a log density: return the distribution of the observations \
                     instead, `Model::observe(|p, r| Normal::new(mean, p.sigma), |r| r.y)`"
                    .into(),
        })
    }

    /// Returns the indices of the leaves of `data` that are observed. `data` has at least one row.
    ///
    /// # Errors
    ///
    /// Returns an error if the observed values are not leaves of the data, but computed from them.
    pub(crate) fn observed_leaves(&self, data: &D) -> Result<Vec<usize>> {
        let marked = data.rebuild(&mut Markers { next: 0 });
        let leaf = |values: &Vec<f64>| {
            let first = values.first()? - MARK;
            #[expect(clippy::float_cmp, reason = "marks are whole numbers")]
            let same = values.iter().all(|value| *value == first + MARK);
            (same && first >= 0.0 && first.fract() <= 0.0 && first < leaf_names(data).len() as f64)
                .then_some(first as usize)
        };
        let observed = self.observation()?.observed(marked);
        observed.iter().map(leaf).collect::<Option<Vec<usize>>>().ok_or_else(|| Error::NotGenerative {
            what: "observations",
            reason: "the second closure of `observe` returns values that it computes: return a float or integer leaf of the \
                     data, `|r| r.y`, and store the computed values in the data"
                .into(),
        })
    }
}

/// Returns the paths of the leaves of `data`.
pub(crate) fn leaf_names<D: TensorTree>(data: &D) -> Vec<String> {
    let mut names = Names(Vec::new());
    data.visit(&mut Path::root(), &mut names);
    names.0
}

/// The mark of the first leaf. Single precision represents it and its successors exactly.
const MARK: f64 = 65_537.0;

/// Fills every leaf with a number of its own.
struct Markers {
    next: usize,
}

impl Markers {
    fn mark(&mut self) -> f64 {
        self.next += 1;
        MARK + (self.next - 1) as f64
    }
}

impl Source for Markers {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        Tensor::full(like.dims(), self.mark(), (&like.device(), like.dtype()))
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        Tensor::full(like.dims(), self.mark() as i64, (&like.device(), DType::I64))
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        self.mark();
        like.clone()
    }
}

/// Collects the paths of leaves.
struct Names(Vec<String>);

impl Visitor for Names {
    fn float<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D>) {
        self.0.push(path.name_or("data"));
    }

    fn int<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D, Int>) {
        self.0.push(path.name_or("data"));
    }

    fn bool<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D, Bool>) {
        self.0.push(path.name_or("data"));
    }
}
