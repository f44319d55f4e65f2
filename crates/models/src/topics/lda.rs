//! Latent Dirichlet allocation.

use sgmcmc_gradient::{ChainRng, Result, settings};
use sgmcmc_samplers::chain::Chain;
use sgmcmc_samplers::run::ChainRun;

use super::corpus::Corpus;
use super::fit::TopicsFit;
use super::prior::DirichletPrior;
use super::sampler::TopicSampler;
use super::stochastic::StochasticSampler;

/// The sampling method of a topic model.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::{Corpus, Document, Lda, Method, Vocabulary};
///
/// let documents = (0..40).map(|d| Document::from_tokens([d % 2, d % 2, 2 + d % 2]));
/// let corpus = Corpus::new(Vocabulary::numbered(4), documents)?;
/// let fit = Lda::new(2).method(Method::Gibbs).fit(&corpus, 20)?;
/// assert_eq!(fit.fit().chains()[0].len(), 20);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Method {
    /// Collapsed Gibbs sampling (Griffiths & Steyvers 2004): one topic per token, given all others. It is exact, and
    /// keeps six bytes per token in memory. An iteration is a sweep over all tokens.
    CollapsedGibbs,
    /// Gibbs sampling in two blocks: all topics given the tokens, all tokens given the topics. It is exact, and mixes
    /// more slowly than collapsed Gibbs sampling. Its draws are draws of the topics themselves.
    Gibbs,
    /// A stochastic sampler. An iteration is one minibatch.
    Stochastic(StochasticSampler),
}

impl From<StochasticSampler> for Method {
    fn from(stochastic: StochasticSampler) -> Self {
        Self::Stochastic(stochastic)
    }
}

/// Latent Dirichlet allocation (Blei, Ng & Jordan 2003).
///
/// Each of K topics is a distribution φ_k ~ Dirichlet(β) over the words. Each document has proportions θ_d ~
/// Dirichlet(α) of the topics. Each token of document d has a topic z ~ θ_d and a word w ~ φ_z.
///
/// | setting | default | meaning |
/// |---|---|---|
/// | [`alpha`](Self::alpha) | 0.1 | prior of the proportions of topics in a document |
/// | [`beta`](Self::beta) | 0.01 | prior of the words of a topic |
/// | [`method`](Self::method) | [`Method::CollapsedGibbs`] | sampling method |
/// | [`burn_in`](Self::burn_in) | 100 | iterations before the first draw |
/// | [`thin`](Self::thin) | 5 | iterations per draw |
/// | [`chains`](Self::chains) | 1 | number of chains |
/// | [`seed`](Self::seed) | 0 | seed of the random number generators |
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::{Corpus, Document, Lda};
///
/// let words = ["sun", "moon", "bread", "butter"].into_iter().collect();
/// let documents = (0..40).map(|d| Document::from_tokens(if d % 2 == 0 { [0, 0, 1, 1] } else { [2, 3, 3, 2] }));
/// let corpus = Corpus::new(words, documents)?;
/// let fit = Lda::new(2).seed(1).fit(&corpus, 20)?;
/// let mut first: Vec<String> = fit.top_words(0, 2).into_iter().map(|word| word.word).collect();
/// first.sort();
/// assert!(first == ["bread", "butter"] || first == ["moon", "sun"]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Lda {
    topics: usize,
    alpha: DirichletPrior,
    beta: DirichletPrior,
    method: Method,
    seed: u64,
    chains: usize,
    burn_in: u64,
    thin: u64,
}

/// The parameters of the priors: one α per topic, one β per word.
#[derive(Clone, Debug)]
pub(super) struct Priors {
    pub(super) alpha: Vec<f64>,
    pub(super) beta: Vec<f64>,
}

impl Lda {
    /// Creates a model with this number of topics.
    pub fn new(topics: usize) -> Self {
        Self {
            topics,
            alpha: 0.1.into(),
            beta: 0.01.into(),
            method: Method::CollapsedGibbs,
            seed: 0,
            chains: 1,
            burn_in: 100,
            thin: 5,
        }
    }

    /// Sets the prior of the proportions of topics in a document: one number, or one per topic.
    #[must_use]
    pub fn alpha(self, alpha: impl Into<DirichletPrior>) -> Self {
        Self { alpha: alpha.into(), ..self }
    }

    /// Sets the prior of the words of a topic: one number, or one per word.
    #[must_use]
    pub fn beta(self, beta: impl Into<DirichletPrior>) -> Self {
        Self { beta: beta.into(), ..self }
    }

    /// Sets the sampling method.
    #[must_use]
    pub fn method(self, method: impl Into<Method>) -> Self {
        Self { method: method.into(), ..self }
    }

    /// Sets the seed. The same seed gives the same draws for every number of threads.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the number of chains, which run in parallel.
    #[must_use]
    pub fn chains(self, chains: usize) -> Self {
        Self { chains, ..self }
    }

    /// Sets the number of iterations before the first draw.
    #[must_use]
    pub fn burn_in(self, iterations: u64) -> Self {
        Self { burn_in: iterations, ..self }
    }

    /// Sets the number of iterations per draw.
    #[must_use]
    pub fn thin(self, iterations: u64) -> Self {
        Self { thin: iterations, ..self }
    }

    /// Makes `draws` draws of every chain.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, or if the draws or the tokens exceed a memory limit. A chain that
    /// fails later keeps its draws.
    pub fn fit(&self, corpus: &Corpus, draws: usize) -> Result<TopicsFit> {
        let fit = self.run(corpus)?.sample(draws)?;
        self.with_draws(corpus, fit)
    }

    /// Returns the run of [`fit`](Self::fit), to which checkpoints, progress reports and a stop signal can be added.
    /// [`with_draws`](Self::with_draws) turns its draws into a [`TopicsFit`].
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::models::topics::{Corpus, Document, Lda, Vocabulary};
    /// use sgmcmc::run::StopSignal;
    ///
    /// let documents = (0..20).map(|d| Document::from_tokens([d % 2, d % 2, 2 + d % 2]));
    /// let corpus = Corpus::new(Vocabulary::numbered(4), documents)?;
    /// let lda = Lda::new(2).chains(2);
    /// let fit = lda.with_draws(&corpus, lda.run(&corpus)?.stop_on(&StopSignal::new()).sample(10)?)?;
    /// assert_eq!(fit.fit().chains().len(), 2);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn run(&self, corpus: &Corpus) -> Result<ChainRun> {
        self.priors(corpus)?;
        let method = match &self.method {
            Method::CollapsedGibbs => "collapsed Gibbs".to_owned(),
            Method::Gibbs => "Gibbs".to_owned(),
            Method::Stochastic(stochastic) => stochastic.description(),
        };
        let identity = format!(
            "latent Dirichlet allocation, {} topics, alpha {:?}, beta {:?}, {method}, corpus {}",
            self.topics,
            self.alpha,
            self.beta,
            corpus.fingerprint()
        );
        let (lda, corpus) = (self.clone(), corpus.clone());
        let make = move |_chain: usize, rng: ChainRng| {
            TopicSampler::new(&lda, &corpus, rng).map(|sampler| Box::new(sampler) as Box<dyn Chain>)
        };
        let run = ChainRun::new(identity, make).seed(self.seed).chains(self.chains);
        Ok(run.burn_in(self.burn_in).thin(self.thin))
    }

    /// Returns the result of a run that [`run`](Self::run) has started, or of a fit that was read from a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the draws are not those of K topics over the words of `corpus`.
    pub fn with_draws(&self, corpus: &Corpus, fit: sgmcmc_fit::Fit) -> Result<TopicsFit> {
        TopicsFit::new(fit, corpus, self.priors(corpus)?)
    }

    /// Returns the Markov chain of the first chain of a run, to take steps one by one.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, or if the corpus cannot be read.
    pub fn sampler(&self, corpus: &Corpus) -> Result<TopicSampler> {
        TopicSampler::new(self, corpus, ChainRng::new(self.seed, 0))
    }

    pub(super) fn chosen_method(&self) -> &Method {
        &self.method
    }

    /// Returns the priors for a corpus.
    pub(super) fn priors(&self, corpus: &Corpus) -> Result<Priors> {
        let expected = "it must be from 1 to 65535";
        settings::within("the number of topics", self.topics, 1..=usize::from(u16::MAX), expected)?;
        Ok(Priors {
            alpha: self.alpha.resolve("the prior alpha", self.topics)?,
            beta: self.beta.resolve("the prior beta", corpus.vocabulary().len())?,
        })
    }
}
