//! The result of a run of a topic model.

use std::path::Path;

use sgmcmc_fit::{ChainOutcome, Fit};
use sgmcmc_gradient::{Error, Result};

use super::coherence::{Coherence, coherence};
use super::completion::PredictiveScore;
use super::corpus::{CompletionSplit, Corpus, Document};
use super::lda::Priors;
use super::report;
use super::topic_table::Topics;
use super::vocabulary::Vocabulary;

/// A word of a topic and its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct TopWord {
    /// The word.
    pub word: String,
    /// Its mean probability in the topic.
    pub probability: f64,
}

/// The draws of a topic model.
///
/// Topics have no order, so that topic k of one chain is not topic k of another. Words, proportions and coherence are
/// about the mean topics of the first chain with draws. Perplexity does not depend on the order of topics, and averages
/// over the draws of all chains.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::{Coherence, CompletionSplit, Corpus, Document, Lda, Vocabulary};
///
/// let documents = (0..64).map(|d| Document::from_tokens([d % 2, d % 2, 2 + d % 2, d % 2]));
/// let corpus = Corpus::new(Vocabulary::numbered(4), documents)?;
/// let split = CompletionSplit::new(&corpus, 8, 3)?;
/// let fit = Lda::new(2).fit(&split.train, 10)?;
/// assert!(fit.perplexity(&split)? < 4.0);
/// // A new document. That of a text is `Document::from_text(text, &tokenizer, fit.vocabulary())`.
/// let proportions = fit.proportions(&Document::from_tokens([0, 2, 0, 0, 2]))?;
/// assert!(proportions.iter().any(|p| *p > 0.9));
/// assert_eq!(fit.coherence(Coherence::Npmi, 2, &corpus)?.len(), 2);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TopicsFit {
    fit: Fit,
    vocabulary: Vocabulary,
    alpha: Vec<f64>,
    mean: Topics,
    /// The mean proportions of the topics in the corpus.
    shares: Vec<f64>,
}

impl TopicsFit {
    pub(super) fn new(fit: Fit, corpus: &Corpus, priors: Priors) -> Result<Self> {
        let (topics, words) = (priors.alpha.len(), priors.beta.len());
        let expected = topics * words;
        let found = fit.layout().value_count();
        if found != expected {
            return Err(Error::Length { what: "a draw of topics", expected, found });
        }
        let chain = fit.chains().iter().find(|chain| !chain.is_empty());
        let chain = chain.ok_or_else(|| {
            let failures = fit.outcomes().iter().filter_map(|outcome| match outcome {
                ChainOutcome::Failed(error) => Some(error.clone()),
                _ => None,
            });
            failures.into_iter().next().unwrap_or_else(|| Error::Draws { reason: "there is no draw".into() })
        })?;
        let total: f64 = chain.weights().iter().sum();
        let mut mean = vec![0.0; expected];
        for (row, weight) in chain.rows().zip(chain.weights()) {
            mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += weight / total * x);
        }
        let mean = Topics::from_values(&mean, topics, words)?;
        let shares = shares(&mean, corpus, &priors.alpha)?;
        Ok(Self { fit, vocabulary: corpus.vocabulary().clone(), alpha: priors.alpha, mean, shares })
    }

    /// Returns the draws: the parameter `topics` of shape [K, V]. They can be written to files.
    pub fn fit(&self) -> &Fit {
        &self.fit
    }

    /// Returns the mean topics of the first chain.
    pub fn topics(&self) -> &Topics {
        &self.mean
    }

    /// Returns the words.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the share of each topic in the tokens of (at most 1000 documents of) the corpus.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Returns the `count` most probable words of a topic. There are none if there is no such topic.
    pub fn top_words(&self, topic: usize, count: usize) -> Vec<TopWord> {
        if topic >= self.mean.len() {
            return Vec::new();
        }
        let named = |word: u32| TopWord {
            word: self.vocabulary.word(word).unwrap_or_default().to_owned(),
            probability: self.mean.probability(topic, word),
        };
        self.mean.top_words(topic, count).into_iter().map(named).collect()
    }

    /// Returns the proportions of the topics in a new document, see [`Topics::proportions`].
    ///
    /// # Errors
    ///
    /// Returns an error if a word is outside the vocabulary.
    pub fn proportions(&self, document: &Document) -> Result<Vec<f64>> {
        self.mean.proportions(document, &self.alpha)
    }

    /// Returns the perplexity of the held-out tokens, with probabilities averaged over all draws of all chains, see
    /// [`PredictiveScore`].
    ///
    /// # Errors
    ///
    /// Returns an error if no token is held out, or if a word is outside the vocabulary.
    pub fn perplexity(&self, split: &CompletionSplit) -> Result<f64> {
        let mut score = PredictiveScore::new(split, &self.alpha)?;
        for chain in self.fit.chains() {
            for (row, weight) in chain.rows().zip(chain.weights()) {
                let topics = Topics::from_values(row, self.mean.len(), self.mean.words())?;
                score.add_weighted(&topics, *weight)?;
            }
        }
        Ok(score.perplexity())
    }

    /// Returns the coherence of the `count` most probable words of each topic in the documents of a corpus.
    ///
    /// # Errors
    ///
    /// Returns an error if the corpus cannot be read.
    pub fn coherence(&self, measure: Coherence, count: usize, corpus: &Corpus) -> Result<Vec<f64>> {
        let lists: Vec<_> = (0..self.mean.len()).map(|topic| self.mean.top_words(topic, count)).collect();
        coherence(measure, &lists, corpus)
    }

    /// Writes a self-contained HTML page with the words, the share and the coherence of each topic.
    ///
    /// # Errors
    ///
    /// Returns an error if the corpus cannot be read, or if the file cannot be written.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::models::topics::{Corpus, Document, Lda, Vocabulary};
    ///
    /// let documents = (0..20).map(|d| Document::from_tokens([d % 2, d % 2, 2 + d % 2]));
    /// let corpus = Corpus::new(Vocabulary::numbered(4), documents)?;
    /// let page = std::env::temp_dir().join("sgmcmc-doc-topics.html");
    /// Lda::new(2).fit(&corpus, 10)?.report(&corpus, &page)?;
    /// assert!(std::fs::read_to_string(&page)?.contains("word3"));
    /// # std::fs::remove_file(page)?;
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn report(&self, corpus: &Corpus, path: impl AsRef<Path>) -> sgmcmc_storage::Result<()> {
        let umass = self.coherence(Coherence::UMass, report::WORDS, corpus)?;
        let npmi = self.coherence(Coherence::Npmi, report::WORDS, corpus)?;
        let topics = (0..self.mean.len()).map(|topic| report::Topic {
            number: topic,
            share: self.shares[topic],
            umass: umass[topic],
            npmi: npmi[topic],
            words: self.top_words(topic, report::WORDS),
        });
        report::write(path.as_ref(), &self.fit, corpus, topics.collect())
    }
}

/// Returns the mean proportions of the topics, weighted by tokens, over at most 1000 documents at equal distances.
fn shares(topics: &Topics, corpus: &Corpus, alpha: &[f64]) -> Result<Vec<f64>> {
    let distance = corpus.documents().div_ceil(1000).max(1);
    let (mut shares, mut tokens) = (vec![0.0; topics.len()], 0.0);
    let mut document = Document::default();
    for index in (0..corpus.documents()).step_by(distance) {
        corpus.read(index, &mut document)?;
        let length = document.tokens() as f64;
        let proportions = topics.proportions(&document, alpha)?;
        shares.iter_mut().zip(proportions).for_each(|(share, p)| *share += length * p);
        tokens += length;
    }
    if tokens > 0.0 {
        shares.iter_mut().for_each(|share| *share /= tokens);
    }
    Ok(shares)
}
