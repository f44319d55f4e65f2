//! The tokens of a corpus in memory, each with its topic.

use sgmcmc_gradient::{Error, Result};
use sgmcmc_storage::limit::memory_limit;

use super::corpus::{Corpus, Document};

/// The largest count that sums of ones in `f32` reach without rounding.
const MOST: u64 = 1 << 24;

/// The words of all tokens, document after document, and their topics.
#[derive(Debug)]
pub(super) struct Tokens {
    pub(super) words: Vec<u32>,
    /// The index after the last token of each document.
    pub(super) ends: Vec<usize>,
    pub(super) topics: Vec<u16>,
}

impl Tokens {
    /// Reads all documents of a corpus.
    ///
    /// # Errors
    ///
    /// Returns an error if the tokens exceed the memory limit, or if the corpus cannot be read.
    pub(super) fn read(corpus: &Corpus) -> Result<Self> {
        let needed = corpus.tokens().saturating_mul(6);
        if needed > memory_limit() {
            return Err(Error::Memory {
                what: format!("{} tokens and their topics", corpus.tokens()),
                needed: format!("{needed} bytes"),
                limit: format!("{} bytes", memory_limit()),
                remedy: "use a stochastic method, which reads one minibatch at a time, or raise the limit",
            });
        }
        let mut tokens = Self { words: Vec::new(), ends: Vec::new(), topics: Vec::new() };
        let mut document = Document::default();
        for index in 0..corpus.documents() {
            corpus.read(index, &mut document)?;
            push_words(&document, &mut tokens.words);
            tokens.ends.push(tokens.words.len());
        }
        let mut frequencies = vec![0_u64; corpus.vocabulary().len()];
        tokens.words.iter().for_each(|word| frequencies[*word as usize] += 1);
        if frequencies.iter().any(|count| *count >= MOST) || corpus.tokens() > u64::from(u32::MAX) {
            return Err(Error::Setting {
                name: "the largest frequency of a word",
                value: frequencies.iter().max().unwrap_or(&0).to_string(),
                expected: "Gibbs samplers of all documents count up to 2²⁴; use a stochastic method",
            });
        }
        tokens.topics = vec![0; tokens.words.len()];
        Ok(tokens)
    }

    /// Restores topics from a checkpoint.
    ///
    /// # Errors
    ///
    /// Returns an error if they are not topics of these tokens.
    pub(super) fn restore(&mut self, saved: Vec<u16>, topics: usize) -> Result<()> {
        if saved.len() != self.words.len() || saved.iter().any(|topic| usize::from(*topic) >= topics) {
            return Err(Error::Checkpoint { reason: "the topics of the tokens belong to another corpus".into() });
        }
        self.topics = saved;
        Ok(())
    }
}

/// Appends the tokens of a document, a word as often as it occurs.
pub(super) fn push_words(document: &Document, words: &mut Vec<u32>) {
    document.iter().for_each(|(word, count)| words.extend((0..count).map(|_| word)));
}
