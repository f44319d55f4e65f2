//! Stochastic samplers of topics: minibatches of documents, Gibbs for their tokens, and a transition of the topics.

mod estimate;
mod kernel;
mod latents;
mod settings;

pub use settings::{StochasticSampler, TopicKernel, VarianceReduction};

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::minibatch::{Minibatch, Scheme, WithoutReplacement};
use sgmcmc_gradient::{BatchSize, ChainRng, Error, Result};

use self::estimate::{Estimate, Reduction};
use self::kernel::Transition;
use self::latents::{LatentStore, Latents, Sweeps};
use super::corpus::Corpus;
use super::table::Table;

/// The default number of documents per minibatch.
const MINIBATCH: usize = 50;

/// The state of a stochastic sampler.
#[derive(Debug)]
pub(super) struct StochasticTopics {
    settings: StochasticSampler,
    corpus: Corpus,
    beta: Vec<f64>,
    scheme: WithoutReplacement,
    batches: <WithoutReplacement as Scheme>::State,
    batch: Minibatch,
    estimate: Estimate,
    /// The expanded parameters in the order of words.
    theta: Vec<f64>,
    /// The parameters before the current step.
    before: Vec<f64>,
    phi: Table,
    /// True if every step is exact, see [`StochasticSampler`].
    exact: bool,
}

/// The serialized state of a stochastic sampler.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedTopics {
    theta: Vec<f64>,
    batches: <WithoutReplacement as Scheme>::State,
    reduction: Reduction,
    store: Option<LatentStore>,
}

/// The result of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stepped {
    pub(super) step_size: f64,
    /// The estimate of the sum of the logs of the conditional probabilities of the words.
    pub(super) log_likelihood: f64,
}

impl StochasticTopics {
    pub(super) fn new(
        settings: &StochasticSampler,
        corpus: &Corpus,
        alpha: &[f64],
        beta: &[f64],
        rng: &mut ChainRng,
    ) -> Result<Self> {
        settings.check()?;
        let topics = alpha.len();
        let documents = corpus.documents();
        let size = settings.minibatch.unwrap_or(BatchSize::Count(MINIBATCH.min(documents) as i64));
        let scheme = WithoutReplacement::new(size);
        let batches = scheme.init(documents)?;
        let store = settings.keep_latents.then(|| LatentStore::new(corpus)).transpose()?;
        let latents = Latents::new(alpha, Sweeps { all: settings.sweeps, burn_in: settings.burn_in });
        let estimate = Estimate::new(settings.reduction, latents, store, corpus, topics)?;
        let theta = settings.kernel.start(beta, topics, corpus.tokens() as f64, rng.noise());
        let mut phi = Table::zeros(beta.len(), topics);
        settings.kernel.topics(&theta, &mut phi);
        let one_sweep = settings.sweeps == settings.burn_in + 1;
        let exact = size.resolve(documents)? == documents
            && one_sweep
            && settings.keep_latents
            && settings.reduction == VarianceReduction::None;
        Ok(Self {
            settings: settings.clone(),
            corpus: corpus.clone(),
            beta: beta.to_vec(),
            scheme,
            batches,
            batch: Minibatch::default(),
            estimate,
            before: theta.clone(),
            theta,
            phi,
            exact,
        })
    }

    /// Draws a minibatch and its tokens, and moves the topics.
    pub(super) fn step(&mut self, iterations: u64, rng: &mut ChainRng) -> Result<Stepped> {
        let h = self.settings.step_size.at(iterations);
        self.estimate.prepare(iterations, &self.corpus, &self.phi, rng.noise())?;
        self.scheme.draw(&mut self.batches, rng.minibatch(), &mut self.batch);
        let log_likelihood = self.estimate.draw(&self.batch, &self.corpus, &self.phi, rng.noise())?;
        self.before.copy_from_slice(&self.theta);
        let counts = &self.estimate.counts;
        let from = Transition { counts, beta: &self.beta, topics: self.phi.topics(), h, exact: self.exact };
        self.settings.kernel.step(&mut self.theta, &from, rng.noise())?;
        if let Some(index) = self.theta.iter().position(|x| !x.is_finite()) {
            let value = self.theta[index];
            self.theta.copy_from_slice(&self.before);
            let (word, topic) = (index / self.phi.topics(), index % self.phi.topics());
            return Err(Error::Diverged {
                what: "the parameter",
                element: format!("topics[{topic},{word}]"),
                value,
                iteration: iterations + 1,
                remedy: "use a smaller step size",
            });
        }
        self.settings.kernel.topics(&self.theta, &mut self.phi);
        Ok(Stepped { step_size: h, log_likelihood })
    }

    pub(super) fn topics(&self) -> &Table {
        &self.phi
    }

    /// Returns the number of documents in the last minibatch.
    pub(super) fn minibatch(&self) -> usize {
        self.batch.rows.len()
    }

    pub(super) fn is_exact(&self) -> bool {
        self.exact && self.settings.kernel == TopicKernel::Scir
    }

    pub(super) fn save(&self) -> SavedTopics {
        SavedTopics {
            theta: self.theta.clone(),
            batches: self.batches.clone(),
            reduction: self.estimate.reduction.clone(),
            store: self.estimate.store.clone(),
        }
    }

    pub(super) fn restore(&mut self, saved: SavedTopics) -> Result<()> {
        if saved.theta.len() != self.theta.len() || saved.theta.iter().any(|x| !x.is_finite()) {
            return Err(Error::Checkpoint { reason: "the topics have another size".into() });
        }
        self.estimate.restore(saved.reduction, saved.store, &self.phi)?;
        (self.theta, self.batches) = (saved.theta, saved.batches);
        self.settings.kernel.topics(&self.theta, &mut self.phi);
        Ok(())
    }
}
