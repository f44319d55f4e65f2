//! Document completion: the perplexity of held-out tokens.

use sgmcmc_gradient::{Error, Result};

use super::corpus::{CompletionSplit, Document};
use super::table::{Block, in_blocks};
use super::topic_table::Topics;

/// The perplexity of held-out tokens, with probabilities averaged over draws.
///
/// For each draw, the topics of a test document follow from its observed tokens, see [`Topics::proportions`]. The
/// perplexity is exp(−mean log p̄), where p̄ is the mean over the draws of Σ_k θ_dk φ_kw for each held-out token.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::{CompletionSplit, Corpus, Document, PredictiveScore, Topics, Vocabulary};
///
/// let documents = (0..8).map(|_| Document::from_tokens([0, 0, 1, 1]));
/// let split = CompletionSplit::new(&Corpus::new(Vocabulary::numbered(2), documents)?, 4, 2)?;
/// let mut score = PredictiveScore::new(&split, &[0.1])?;
/// score.add(&Topics::from_values(&[0.5, 0.5], 1, 2)?)?;
/// assert!((score.perplexity() - 2.0).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PredictiveScore {
    alpha: Vec<Block>,
    topics: usize,
    observed: Vec<Document>,
    held_out: Vec<Document>,
    /// The sum over the draws of the probability of each distinct held-out word of each document.
    sums: Vec<f64>,
    weight: f64,
}

impl PredictiveScore {
    /// Creates a score without draws.
    ///
    /// # Errors
    ///
    /// Returns an error if no token is held out.
    pub fn new(split: &CompletionSplit, alpha: &[f64]) -> Result<Self> {
        let words: usize = split.held_out.iter().map(Document::words).sum();
        if words == 0 {
            return Err(Error::EmptyDataset { reason: "no token is held out".into() });
        }
        let (observed, held_out) = (split.observed.clone(), split.held_out.clone());
        let topics = alpha.len();
        Ok(Self { alpha: in_blocks(alpha), topics, observed, held_out, sums: vec![0.0; words], weight: 0.0 })
    }

    /// Adds a draw, and returns the perplexity of this draw alone.
    ///
    /// # Errors
    ///
    /// Returns an error if there is another number of topics than α, or if a word is outside the vocabulary.
    pub fn add(&mut self, topics: &Topics) -> Result<f64> {
        self.add_weighted(topics, 1.0)
    }

    /// Adds a draw with a weight, see [`add`](Self::add).
    ///
    /// # Errors
    ///
    /// Returns an error in the cases of [`add`](Self::add).
    pub fn add_weighted(&mut self, topics: &Topics, weight: f64) -> Result<f64> {
        let alone = self.probabilities(topics)?;
        self.sums.iter_mut().zip(&alone).for_each(|(sum, p)| *sum += weight * p);
        self.weight += weight;
        Ok(self.perplexity_of(&alone, 1.0))
    }

    /// Returns the perplexity of topics that are not added.
    ///
    /// # Errors
    ///
    /// Returns an error in the cases of [`add`](Self::add).
    pub fn of(&self, topics: &Topics) -> Result<f64> {
        Ok(self.perplexity_of(&self.probabilities(topics)?, 1.0))
    }

    /// Returns the perplexity of the mean of the probabilities over the draws. It is NaN if there is no draw.
    pub fn perplexity(&self) -> f64 {
        self.perplexity_of(&self.sums, self.weight)
    }

    fn probabilities(&self, topics: &Topics) -> Result<Vec<f64>> {
        if topics.len() != self.topics {
            return Err(Error::Length { what: "the list of topics", expected: self.topics, found: topics.len() });
        }
        let mut probabilities = Vec::with_capacity(self.sums.len());
        for (observed, held_out) in self.observed.iter().zip(&self.held_out) {
            topics.check(observed)?;
            topics.check(held_out)?;
            let theta = topics.fixed_point(observed, &self.alpha);
            probabilities.extend(held_out.iter().map(|(word, _)| topics.mixture(&theta, word)));
        }
        Ok(probabilities)
    }

    fn perplexity_of(&self, sums: &[f64], weight: f64) -> f64 {
        let counts = self.held_out.iter().flat_map(|document| document.iter().map(|(_, count)| f64::from(count)));
        let (mut log, mut tokens) = (0.0, 0.0);
        for (sum, count) in sums.iter().zip(counts) {
            log += count * (sum / weight).ln();
            tokens += count;
        }
        (-log / tokens).exp()
    }
}
