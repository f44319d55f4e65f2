//! The Markov chain of a topic model.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};
use sgmcmc_fit::codec::{decode, encode};
use sgmcmc_gradient::{ChainRng, Error, Layout, Result};
use sgmcmc_samplers::chain::{Chain, Cost, StepInfo};

use super::blocked::Blocked;
use super::collapsed::Collapsed;
use super::corpus::Corpus;
use super::lda::{Lda, Method};
use super::stochastic::{SavedTopics, StochasticTopics};
use super::table::Table;
use super::topic_table::Topics;

/// A Markov chain of the topics of a corpus. [`Lda::sampler`] creates it.
///
/// The position is the parameter `topics` of shape [K, V]: the probability of each word in each topic. With
/// [`Method::CollapsedGibbs`] it is the conditional mean of the topics given the topics of all tokens. Its averages over
/// draws are posterior means, but its variances do not include the variance of topics given tokens.
///
/// The log posterior of a step is the sum of log p(word | all other tokens and topics) over the tokens at the time of
/// their draw, a pseudo-likelihood. Stochastic methods estimate it from the minibatch.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::{Corpus, Document, Lda, Vocabulary};
///
/// let documents = (0..20).map(|d| Document::from_tokens([d % 2, d % 2, 2 + d % 2]));
/// let corpus = Corpus::new(Vocabulary::numbered(4), documents)?;
/// let mut sampler = Lda::new(2).sampler(&corpus)?;
/// for _ in 0..10 {
///     sampler.step()?;
/// }
/// assert!((0..2).all(|k| (sampler.topics().topic(k).sum::<f64>() - 1.0).abs() < 1e-5));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct TopicSampler {
    engine: Engine,
    rng: ChainRng,
    layout: Layout,
    info: StepInfo,
    documents: usize,
    position: OnceCell<Vec<f64>>,
}

#[derive(Debug)]
enum Engine {
    Collapsed(Box<Collapsed>),
    Blocked(Box<Blocked>),
    Stochastic(Box<StochasticTopics>),
}

/// The serialized state of a chain.
#[derive(Serialize, Deserialize)]
struct Saved {
    info: StepInfo,
    rng: ChainRng,
    engine: SavedEngine,
}

#[derive(Serialize, Deserialize)]
enum SavedEngine {
    Collapsed { assigned: Vec<u16> },
    Blocked { assigned: Vec<u16>, phi: Vec<f32> },
    Stochastic(SavedTopics),
}

impl TopicSampler {
    pub(super) fn new(lda: &Lda, corpus: &Corpus, mut rng: ChainRng) -> Result<Self> {
        let priors = lda.priors(corpus)?;
        let (alpha, beta) = (&priors.alpha, &priors.beta);
        let engine = match lda.chosen_method() {
            Method::CollapsedGibbs => Engine::Collapsed(Collapsed::new(corpus, alpha, beta, rng.noise())?.into()),
            Method::Gibbs => Engine::Blocked(Blocked::new(corpus, alpha, beta, rng.noise())?.into()),
            Method::Stochastic(settings) => {
                Engine::Stochastic(StochasticTopics::new(settings, corpus, alpha, beta, &mut rng)?.into())
            }
        };
        let layout = Layout::new([("topics".into(), vec![alpha.len(), beta.len()], None)])?;
        let documents = corpus.documents();
        Ok(Self { engine, rng, layout, info: StepInfo::new(0), documents, position: OnceCell::new() })
    }

    /// Performs one iteration: a sweep over all tokens, or one minibatch.
    ///
    /// # Errors
    ///
    /// Returns an error if the corpus can no longer be read, or if a parameter is not finite.
    pub fn step(&mut self) -> Result<()> {
        let mut info = StepInfo::new(self.info.iterations + 1);
        info.log_posterior = match &mut self.engine {
            Engine::Collapsed(sampler) => sampler.step(self.rng.noise()),
            Engine::Blocked(sampler) => sampler.step(self.rng.noise()),
            Engine::Stochastic(sampler) => {
                let stepped = sampler.step(self.info.iterations, &mut self.rng)?;
                info.step_size = stepped.step_size;
                stepped.log_likelihood
            }
        };
        self.info = info;
        self.position.take();
        Ok(())
    }

    /// Returns the current topics.
    pub fn topics(&self) -> Topics {
        Topics::from_table(match &self.engine {
            Engine::Collapsed(sampler) => sampler.topics(),
            Engine::Blocked(sampler) => sampler.topics().clone(),
            Engine::Stochastic(sampler) => sampler.topics().clone(),
        })
    }
}

/// Returns the elements of a table in the order of words.
fn elements(table: &Table) -> Vec<f32> {
    let row = |word| (0..table.topics()).map(move |topic| table.get(word, topic));
    (0..table.words()).flat_map(row).collect()
}

impl Chain for TopicSampler {
    fn step(&mut self) -> Result<()> {
        Self::step(self)
    }

    fn position(&self) -> &[f64] {
        self.position.get_or_init(|| self.topics().values())
    }

    fn info(&self) -> StepInfo {
        self.info
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn observations(&self) -> usize {
        self.documents
    }

    fn cost(&self) -> Cost {
        let minibatch = match &self.engine {
            Engine::Stochastic(sampler) => sampler.minibatch(),
            Engine::Collapsed(_) | Engine::Blocked(_) => self.documents,
        };
        Cost { gradients: self.info.iterations, minibatch }
    }

    fn is_exact(&self) -> bool {
        match &self.engine {
            Engine::Stochastic(sampler) => sampler.is_exact(),
            Engine::Collapsed(_) | Engine::Blocked(_) => true,
        }
    }

    fn save(&self) -> Result<Vec<u8>> {
        let engine = match &self.engine {
            Engine::Collapsed(sampler) => SavedEngine::Collapsed { assigned: sampler.assigned().to_vec() },
            Engine::Blocked(sampler) => {
                SavedEngine::Blocked { assigned: sampler.assigned().to_vec(), phi: elements(sampler.topics()) }
            }
            Engine::Stochastic(sampler) => SavedEngine::Stochastic(sampler.save()),
        };
        encode(&Saved { info: self.info, rng: self.rng.clone(), engine })
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let saved: Saved = decode(saved)?;
        match (&mut self.engine, saved.engine) {
            (Engine::Collapsed(sampler), SavedEngine::Collapsed { assigned }) => sampler.restore(assigned)?,
            (Engine::Blocked(sampler), SavedEngine::Blocked { assigned, phi }) => sampler.restore(assigned, &phi)?,
            (Engine::Stochastic(sampler), SavedEngine::Stochastic(saved)) => sampler.restore(saved)?,
            _ => return Err(Error::Checkpoint { reason: "it belongs to another method".into() }),
        }
        (self.info, self.rng) = (saved.info, saved.rng);
        self.position.take();
        Ok(())
    }
}
