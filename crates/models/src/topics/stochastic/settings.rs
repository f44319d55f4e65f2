//! Settings of stochastic samplers of topics.

use sgmcmc_gradient::{BatchSize, Result, settings};
use sgmcmc_samplers::schedule::{Decay, SharedSchedule};

/// The transition of the topics in a stochastic sampler.
///
/// All of them move expanded parameters θ_kw, from which the topics follow. N̂_kw is the estimate of the number of
/// tokens of word w with topic k, and N̂_k its sum over the words.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::{Corpus, Document, Lda, StochasticSampler, TopicKernel, Vocabulary};
///
/// let documents = (0..40).map(|d| Document::from_tokens([d % 2, d % 2, 2 + d % 2]));
/// let corpus = Corpus::new(Vocabulary::numbered(4), documents)?;
/// let fit = Lda::new(2).method(StochasticSampler::new(TopicKernel::Sgrld).minibatch(10)).fit(&corpus, 20)?;
/// assert_eq!(fit.fit().chains()[0].len(), 20);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopicKernel {
    /// The stochastic Cox-Ingersoll-Ross process (Baker et al. 2018, Algorithm 3): the exact transition of dθ = (β + N̂ −
    /// θ) dt + √(2θ) dW. φ = θ/Σθ. There is no discretization error. The process treats the numbers of tokens N_k of the
    /// topics as given. They depend on the topics, so that a bias remains in corpora with few tokens per topic, unless
    /// every step is exact, see [`StochasticSampler`].
    Scir,
    /// Stochastic gradient Riemannian Langevin dynamics in the expanded-mean parametrization (Patterson & Teh 2013):
    /// θ ← |θ + h/2 (β − θ + N̂_kw − φ_kw N̂_k) + √(hθ) ξ|, φ = θ/Σθ.
    Sgrld,
    /// SGLD in the expanded-natural parametrization: θ ← θ + h/2 (β − e^θ + N̂_kw − φ_kw N̂_k) + √h ξ, φ = e^θ/Σe^θ.
    Sgld,
}

/// The estimate of the counts of all documents from those of a minibatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VarianceReduction {
    /// N̂ = (D/n) Σ_{d∈S} n_d.
    None,
    /// N̂ = N(φ̂) + (D/n) Σ_{d∈S} (n_d(φ) − n_d(φ̂)), where φ̂ are the topics after `after` steps. Each step needs two
    /// Gibbs samplers per document. The one at φ̂ uses the same random numbers whenever the document is drawn, so that N̂
    /// is unbiased. The variance due to the choice of documents decreases, that of the Gibbs samplers does not: use ten
    /// or more [`sweeps`](StochasticSampler::sweeps) after the burn-in. SCIR replaces negative estimates by 0, which is a bias
    /// for words that occur in few documents.
    ControlVariate {
        /// The number of steps before the center is fixed.
        after: u64,
    },
    /// N̂ = Σ_d m_d + (D/n) Σ_{d∈S} (n_d − m_d), where m_d are the last counts of document d. They are kept for all
    /// documents, K numbers for each distinct word of a document.
    Saga,
}

/// A stochastic sampler: the topics are moved by a [`TopicKernel`], with counts from a Gibbs sampler of the documents
/// of a minibatch.
///
/// The constructors have the step sizes of Baker (2019), table B.5.2. Memory does not grow with the corpus, unless
/// latent variables are kept or [`VarianceReduction::Saga`] is used.
///
/// If every minibatch is the whole corpus and each step uses one sweep (see [`sweeps`](Self::sweeps)) of latent
/// variables that are kept, SCIR is an exact Gibbs sampler for every step size. The scale of each topic is then drawn
/// from its conditional distribution before each transition.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::{Corpus, Document, Lda, StochasticSampler, Vocabulary};
///
/// let documents = (0..40).map(|d| Document::from_tokens([d % 2, d % 2, 2 + d % 2]));
/// let corpus = Corpus::new(Vocabulary::numbered(4), documents)?;
/// let fit = Lda::new(2).method(StochasticSampler::scir().minibatch(10).sweeps(4, 2)).fit(&corpus, 50)?;
/// assert_eq!(fit.fit().chains()[0].len(), 50);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StochasticSampler {
    pub(super) kernel: TopicKernel,
    pub(super) step_size: SharedSchedule,
    pub(super) minibatch: Option<BatchSize>,
    pub(super) sweeps: usize,
    pub(super) burn_in: usize,
    pub(super) reduction: VarianceReduction,
    pub(super) keep_latents: bool,
}

impl StochasticSampler {
    /// Creates the sampler of a kernel with its default step sizes.
    pub fn new(kernel: TopicKernel) -> Self {
        let step_size = match kernel {
            TopicKernel::Scir => Decay { h: 0.5, tau: 10.0, kappa: 0.33 },
            TopicKernel::Sgrld => Decay { h: 0.01, tau: 1000.0, kappa: 0.6 },
            TopicKernel::Sgld => Decay { h: 1e-3, tau: 1000.0, kappa: 0.33 },
        };
        let (step_size, reduction) = (step_size.into(), VarianceReduction::None);
        Self { kernel, step_size, minibatch: None, sweeps: 20, burn_in: 10, reduction, keep_latents: false }
    }

    /// Creates a sampler with [`TopicKernel::Scir`].
    pub fn scir() -> Self {
        Self::new(TopicKernel::Scir)
    }

    /// Creates a sampler with [`TopicKernel::Sgrld`].
    pub fn sgrld() -> Self {
        Self::new(TopicKernel::Sgrld)
    }

    /// Creates a sampler with [`TopicKernel::Sgld`].
    pub fn sgld() -> Self {
        Self::new(TopicKernel::Sgld)
    }

    /// Sets the step sizes.
    #[must_use]
    pub fn step_size(self, step_size: impl Into<SharedSchedule>) -> Self {
        Self { step_size: step_size.into(), ..self }
    }

    /// Sets the number of documents per minibatch. The default is 50, or all documents if there are fewer.
    #[must_use]
    pub fn minibatch(self, documents: impl Into<BatchSize>) -> Self {
        Self { minibatch: Some(documents.into()), ..self }
    }

    /// Sets the number of Gibbs sweeps over the documents of each minibatch, of which the first `burn_in` do not count.
    /// The counts are averages over the other sweeps. The default is 20 sweeps with 10 for burn-in.
    #[must_use]
    pub fn sweeps(self, sweeps: usize, burn_in: usize) -> Self {
        Self { sweeps, burn_in, ..self }
    }

    /// Sets the variance reduction.
    #[must_use]
    pub fn variance_reduction(self, reduction: VarianceReduction) -> Self {
        Self { reduction, ..self }
    }

    /// Keeps the topics of the tokens of all documents, so that the sweeps of a document start where its last ones
    /// ended. Two bytes per token are needed. By default the topics are drawn anew for each minibatch.
    #[must_use]
    pub fn keep_latents(self) -> Self {
        Self { keep_latents: true, ..self }
    }

    pub(super) fn check(&self) -> Result<()> {
        self.step_size.check()?;
        settings::positive("the step size of the first step", self.step_size.at(0))?;
        let expected = "there must be at least one sweep after the burn-in";
        settings::at_least("the number of sweeps", self.sweeps, self.burn_in.saturating_add(1), expected)?;
        Ok(())
    }

    /// Returns a text that identifies the settings.
    pub(in crate::topics) fn description(&self) -> String {
        format!("{self:?}")
    }
}
