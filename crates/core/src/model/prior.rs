//! The prior of a model: its log density, and draws from it.

use std::sync::Arc;

use burn_tensor::Tensor;
use rand::Rng;
use rayon::prelude::*;
use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{ChainDraws, Fit};
use sgmcmc_gradient::error::{Closure, Error, Result};
use sgmcmc_gradient::rng::{ChainRng, StreamRng};

use super::{Model, sum};
use crate::closure::{RankOne, guarded, rank_one};
use crate::tree::prior::{self, PriorDraws};
use crate::tree::{TensorTree, TreeLayout};

/// Draws parameters with the shapes of its first argument.
pub(super) type DrawPrior<P> = Arc<dyn Fn(&P, &mut dyn Rng) -> P + Send + Sync>;

/// The purpose of the streams of draws from the prior.
const PRIOR: u64 = 1;

impl<P: TensorTree, D: TensorTree> Model<P, D> {
    /// Returns this model with `factor`, a function of the parameters, added to its log density.
    ///
    /// A factor expresses parts of a log-prior that are not the distribution of one field. Draws from the prior do not
    /// include it, so that a model with a factor draws from its prior only by
    /// [`prior_draws`](Self::prior_draws).
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::data::Rows;
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    ///
    /// #[derive(TensorTree)]
    /// struct Effects {
    ///     #[tree(prior = Normal::new(0.0, 1.0))]
    ///     effects: Tensor<1>,
    /// }
    ///
    /// // A soft constraint: the sum is close to zero.
    /// let model = Model::<Effects>::from_priors().factor(|p: Effects| Normal::new(0.0, 0.01).log_prob(p.effects.sum()));
    /// let mut evaluator = model.with(&Dataset::none()).evaluator(&Effects { effects: zeros([2]) })?;
    /// let lower = evaluator.log_density(&[0.1, 0.1], Rows::range(0..0))?;
    /// assert!(lower < evaluator.log_density(&[0.1, -0.1], Rows::range(0..0))? - 100.0);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn factor<const R: usize>(self, factor: impl Fn(P) -> Tensor<R> + Send + Sync + 'static) -> Self {
        Self { factor: Some(Arc::new(move |params| rank_one(factor(params)))), ..self }
    }

    /// Returns this model with a function that draws parameters from the prior, for priors that are closures.
    ///
    /// The first argument has the shapes of the parameters. The priors of fields need no such function.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| Normal::new(0.0, 2.0).log_prob(theta).sum())
    ///     .prior_draws(|like: &Tensor<1>, rng| Normal::new(0.0, 2.0).sample(like.dims(), rng));
    /// let fit = model.sample_prior(&zeros([3]), 1000, 1)?;
    /// assert!((fit.summary().rows()[0].sd - 2.0).abs() < 0.2);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn prior_draws(self, draw: impl Fn(&P, &mut dyn Rng) -> P + Send + Sync + 'static) -> Self {
        Self { draw_prior: Some(Arc::new(draw)), ..self }
    }

    /// Computes the log-prior on tensors of any device: the priors of the fields, or the closure, and the factor.
    ///
    /// The result has shape `[1]` and is not tempered. It is `None` if the model has no log-prior.
    ///
    /// # Errors
    ///
    /// Returns an error if a closure panics or returns another shape, or if the model has both a closure and priors on
    /// fields.
    pub fn log_prior(&self, params: P) -> Result<Option<Tensor<1>>> {
        let one = |value: RankOne| match value {
            Ok(tensor) if tensor.dims() == [1] => Ok(tensor),
            Ok(tensor) => Err(Error::PriorShape { shape: tensor.dims().to_vec() }),
            Err(shape) => Err(Error::PriorShape { shape }),
        };
        let factor = match &self.factor {
            Some(factor) => Some(one(guarded(Closure::LogPrior, || factor(prior::copy(&params)))?)?),
            None => None,
        };
        let prior = match &self.log_prior {
            Some(_) if P::HAS_PRIOR => {
                let reason = "its field has a prior, and the model has a closure for the log-prior, which would count it \
                              twice: remove one of them, or add a term with `Model::factor`";
                return Err(Error::Prior { parameter: "the parameters".into(), reason: reason.into() });
            }
            Some(log_prior) => Some(one(guarded(Closure::LogPrior, || log_prior(params))?)?),
            None if P::HAS_PRIOR => guarded(Closure::LogPrior, || params.log_prior())?,
            None => None,
        };
        Ok(sum(prior, factor))
    }

    /// Draws parameters with the shapes of `like` from the prior.
    ///
    /// # Errors
    ///
    /// Returns an error if a field has no prior and the model has no function that draws, if the model has a
    /// [`factor`](Self::factor), or if a draw is not finite.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    /// use sgmcmc::rng::ChainRng;
    ///
    /// #[derive(TensorTree)]
    /// struct Schools {
    ///     #[tree(prior = Normal::new(0.0, 5.0))]
    ///     mu: Tensor<1>,
    ///     #[tree(prior = HalfCauchy::new(5.0))] // implies `positive`
    ///     tau: Tensor<1>,
    ///     #[tree(prior = |p| Normal::new(p.mu, p.tau))]
    ///     effects: Tensor<1>,
    /// }
    ///
    /// let model = Model::<Schools>::from_priors();
    /// let like = Schools { mu: zeros([1]), tau: ones([1]), effects: zeros([8]) };
    /// let drawn = model.draw_prior(&like, ChainRng::new(1, 0).noise())?;
    /// assert_eq!(drawn.effects.dims(), [8]);
    /// assert!(drawn.tau.into_scalar::<f64>() > 0.0);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn draw_prior(&self, like: &P, rng: &mut dyn Rng) -> Result<P> {
        let drawn = match &self.draw_prior {
            Some(draw) => guarded(Closure::PriorDraw, || draw(like, rng))?,
            None => self.draw_fields(like, rng)?,
        };
        // Checks shapes and constraints.
        let layout = self.layout(like)?;
        layout.flatten(&drawn)?;
        Ok(drawn)
    }

    /// Draws from the priors of the fields.
    fn draw_fields(&self, like: &P, rng: &mut dyn Rng) -> Result<P> {
        let refused = |reason: &str| Err(Error::NotGenerative { what: "parameters", reason: reason.into() });
        if self.factor.is_some() {
            return refused("the log density has a factor, which draws would ignore: add `Model::prior_draws`");
        }
        if self.log_prior.is_some() {
            return refused(
                "its prior is a closure that returns a log density: add `Model::prior_draws`, or declare the priors beside the \
                 fields with `#[tree(prior = …)]`",
            );
        }
        if !P::HAS_PRIOR {
            return refused("it has no prior: declare the priors beside the fields with `#[tree(prior = …)]`");
        }
        guarded(Closure::PriorDraw, || {
            let mut draws = PriorDraws::new(rng);
            let drawn = like.draw_prior(&mut draws);
            draws.into_error().map_or(Ok(drawn), Err)
        })?
    }

    /// Makes `draws` independent draws from the prior, in parallel. The draws have the form of a fit of one chain, so
    /// that they have a summary, plots and predictions. The result does not depend on the number of threads.
    ///
    /// All draws are in memory, twice while the fit is made: 16 bytes per value. Tensors exist for as many draws at a
    /// time as there are threads. [`draw_prior`](Self::draw_prior) makes one draw at a time.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`draw_prior`](Self::draw_prior).
    pub fn sample_prior(&self, like: &P, draws: usize, seed: u64) -> Result<Fit> {
        let layout = self.layout(like)?;
        let streams = ChainRng::streams(seed, PRIOR, draws);
        let draw = |mut rng: StreamRng| {
            let drawn = self.draw_prior(like, &mut rng)?;
            let values = layout.values(&layout.flatten(&drawn)?)?;
            let log_prior = self.log_prior(drawn)?.map_or(0.0, |term| term.into_scalar::<f64>());
            Ok((values, log_prior))
        };
        let rows = streams.into_par_iter().map(draw).collect::<Result<Vec<_>>>()?;
        let mut chain = ChainDraws::new(layout.value_count(), vec![]);
        for (iteration, (values, log_posterior)) in (1..).zip(&rows) {
            let log_posterior = *log_posterior;
            chain.push(&Draw { iteration, values, weight: 1.0, log_posterior, stats: &[] })?;
        }
        Fit::new(layout, vec![chain])
    }
}
