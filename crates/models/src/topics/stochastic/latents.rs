//! The topics of the tokens of a minibatch.

use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Error, Result};
use sgmcmc_storage::limit::memory_limit;

use crate::topics::corpus::{Corpus, Document};
use crate::topics::document_gibbs::{DocumentGibbs, Previous};
use crate::topics::table::Table;
use crate::topics::tokens::push_words;

/// The number of sweeps over a document, and how many of them do not count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweeps {
    pub(super) all: usize,
    pub(super) burn_in: usize,
}

/// The Gibbs sampler of one document at a time, with working memory.
#[derive(Debug)]
pub(super) struct Latents {
    gibbs: DocumentGibbs,
    topics: usize,
    sweeps: Sweeps,
    words: Vec<u32>,
    assigned: Vec<u16>,
    /// The mean counts of the last document: K numbers per distinct word.
    counts: Vec<f32>,
}

impl Latents {
    pub(super) fn new(alpha: &[f64], sweeps: Sweeps) -> Self {
        let (words, assigned, counts) = (Vec::new(), Vec::new(), Vec::new());
        Self { gibbs: DocumentGibbs::new(alpha), topics: alpha.len(), sweeps, words, assigned, counts }
    }

    /// Draws the topics of a document given the topics `phi`, starting at `kept` if there are any, and returns the log
    /// of the conditional probabilities of its words. [`counts`](Self::counts) then returns the mean counts.
    pub(super) fn draw(
        &mut self,
        document: &Document,
        phi: &Table,
        kept: Option<&mut Kept<'_>>,
        rng: &mut StreamRng,
    ) -> f64 {
        self.words.clear();
        push_words(document, &mut self.words);
        self.assigned.clear();
        self.assigned.resize(self.words.len(), 0);
        let mut previous = Previous::None;
        if let Some(Kept { assigned, drawn: true }) = &kept {
            self.assigned.copy_from_slice(assigned);
            previous = Previous::Drawn;
        }
        self.counts.clear();
        self.counts.resize(document.words() * self.topics, 0.0);
        let share = 1.0 / (self.sweeps.all - self.sweeps.burn_in) as f32;
        let mut log_likelihood = 0.0;
        for sweep in 0..self.sweeps.all {
            log_likelihood = self.gibbs.sweep(phi, &self.words, &mut self.assigned, previous, rng);
            previous = Previous::Drawn;
            if sweep < self.sweeps.burn_in {
                continue;
            }
            let mut assigned = self.assigned.iter();
            for ((_, count), row) in document.iter().zip(self.counts.chunks_exact_mut(self.topics)) {
                assigned.by_ref().take(count as usize).for_each(|topic| row[usize::from(*topic)] += share);
            }
        }
        if let Some(kept) = kept {
            kept.assigned.copy_from_slice(&self.assigned);
        }
        log_likelihood
    }

    /// Returns the mean counts of the last document.
    pub(super) fn counts(&self) -> &[f32] {
        &self.counts
    }
}

/// The kept topics of one document.
#[derive(Debug)]
pub(super) struct Kept<'a> {
    assigned: &'a mut [u16],
    /// True if the topics have been drawn before.
    drawn: bool,
}

/// The topics of the tokens of all documents, and the documents for which they have been drawn.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct LatentStore {
    assigned: Vec<u16>,
    drawn: Vec<bool>,
    /// The index after the last token of each document. It follows from the corpus.
    #[serde(skip)]
    ends: Vec<usize>,
}

impl LatentStore {
    /// Creates a store for all documents.
    ///
    /// # Errors
    ///
    /// Returns an error if it exceeds the memory limit.
    pub(super) fn new(corpus: &Corpus) -> Result<Self> {
        let needed = corpus.tokens().saturating_mul(2);
        if needed > memory_limit() {
            return Err(Error::Memory {
                what: format!("the topics of {} tokens", corpus.tokens()),
                needed: format!("{needed} bytes"),
                limit: format!("{} bytes", memory_limit()),
                remedy: "leave out `keep_latents`, or raise the limit",
            });
        }
        let mut ends = Vec::with_capacity(corpus.documents());
        let mut end = 0;
        for document in 0..corpus.documents() {
            end += corpus.document_tokens(document)? as usize;
            ends.push(end);
        }
        Ok(Self { assigned: vec![0; end], drawn: vec![false; ends.len()], ends })
    }

    /// Returns the topics of a document, and marks them as drawn.
    pub(super) fn document(&mut self, index: usize) -> Kept<'_> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        let drawn = std::mem::replace(&mut self.drawn[index], true);
        Kept { assigned: &mut self.assigned[start..self.ends[index]], drawn }
    }

    /// Restores the state of a checkpoint.
    ///
    /// # Errors
    ///
    /// Returns an error if it is the state of another corpus or another number of topics.
    pub(super) fn restore(&mut self, saved: Self, topics: usize) -> Result<()> {
        let fits = saved.assigned.len() == self.assigned.len() && saved.drawn.len() == self.drawn.len();
        if !fits || saved.assigned.iter().any(|topic| usize::from(*topic) >= topics) {
            return Err(Error::Checkpoint { reason: "the kept topics of the tokens belong to another corpus".into() });
        }
        (self.assigned, self.drawn) = (saved.assigned, saved.drawn);
        Ok(())
    }
}
