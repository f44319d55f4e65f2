//! Estimates of the counts of all documents from those of a minibatch.

use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use sgmcmc_gradient::minibatch::Minibatch;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Error, Result};
use sgmcmc_storage::limit::memory_limit;

use super::latents::{LatentStore, Latents};
use super::settings::VarianceReduction;
use crate::topics::corpus::{Corpus, Document};
use crate::topics::table::Table;

/// The state of the variance reduction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Reduction {
    None,
    /// The counts of all documents at the center, the topics there in the order of words, and the seed of the tokens.
    Center {
        counts: Vec<f64>,
        phi: Vec<f32>,
        seed: u64,
    },
    /// The last counts of all documents: K numbers for each distinct word of each document, and their sum.
    Saga {
        last: Vec<f32>,
        sum: Vec<f64>,
    },
}

/// The estimator of counts.
#[derive(Debug)]
pub(super) struct Estimate {
    pub(super) reduction: Reduction,
    kind: VarianceReduction,
    /// The topics at the center of the control variate.
    center: Option<Table>,
    /// The index after the last entry of each document, for SAGA.
    ends: Vec<usize>,
    pub(super) latents: Latents,
    pub(super) store: Option<LatentStore>,
    /// The estimated counts in the order of words.
    pub(super) counts: Vec<f64>,
    document: Document,
}

impl Estimate {
    pub(super) fn new(
        kind: VarianceReduction,
        latents: Latents,
        store: Option<LatentStore>,
        corpus: &Corpus,
        topics: usize,
    ) -> Result<Self> {
        let mut ends = Vec::new();
        if kind == VarianceReduction::Saga {
            let (mut end, mut document) = (0, Document::default());
            for index in 0..corpus.documents() {
                corpus.read(index, &mut document)?;
                end += document.words();
                ends.push(end);
            }
            let needed = (end as u64).saturating_mul(4 * topics as u64);
            if needed > memory_limit() {
                return Err(Error::Memory {
                    what: format!("the counts of all documents for {topics} topics"),
                    needed: format!("{needed} bytes"),
                    limit: format!("{} bytes", memory_limit()),
                    remedy: "use a control variate, or raise the limit",
                });
            }
        }
        let counts = vec![0.0; corpus.vocabulary().len() * topics];
        let (reduction, center, document) = (Reduction::None, None, Document::default());
        Ok(Self { reduction, kind, center, ends, latents, store, counts, document })
    }

    /// Prepares the variance reduction before the step after `iterations` steps, with a pass over all documents if it
    /// begins there.
    pub(super) fn prepare(&mut self, iterations: u64, corpus: &Corpus, phi: &Table, rng: &mut StreamRng) -> Result<()> {
        match (&self.kind, &self.reduction) {
            (VarianceReduction::ControlVariate { after }, Reduction::None) if iterations >= *after => {
                self.counts.fill(0.0);
                let seed = rng.random();
                for index in 0..corpus.documents() {
                    corpus.read(index, &mut self.document)?;
                    self.latents.draw(&self.document, phi, None, &mut at_center(seed, index));
                    add(&mut self.counts, &self.document, self.latents.counts(), 1.0);
                }
                let rows = (0..phi.words()).flat_map(|word| (0..phi.topics()).map(move |topic| phi.get(word, topic)));
                self.reduction = Reduction::Center { counts: self.counts.clone(), phi: rows.collect(), seed };
                self.center = Some(phi.clone());
            }
            (VarianceReduction::Saga, Reduction::None) => {
                let (mut last, mut sum) = (Vec::new(), vec![0.0; self.counts.len()]);
                for index in 0..corpus.documents() {
                    corpus.read(index, &mut self.document)?;
                    let mut kept = self.store.as_mut().map(|store| store.document(index));
                    self.latents.draw(&self.document, phi, kept.as_mut(), rng);
                    add(&mut sum, &self.document, self.latents.counts(), 1.0);
                    last.extend_from_slice(self.latents.counts());
                }
                self.reduction = Reduction::Saga { last, sum };
            }
            _ => {}
        }
        Ok(())
    }

    /// Estimates the counts given the topics `phi`, and returns the estimate of the log probability of all words.
    pub(super) fn draw(&mut self, batch: &Minibatch, corpus: &Corpus, phi: &Table, rng: &mut StreamRng) -> Result<f64> {
        match &self.reduction {
            Reduction::None => self.counts.fill(0.0),
            Reduction::Center { counts, .. } => self.counts.copy_from_slice(counts),
            Reduction::Saga { sum, .. } => self.counts.copy_from_slice(sum),
        }
        let (topics, mut log_likelihood) = (phi.topics(), 0.0);
        for (position, &index) in batch.rows.iter().enumerate() {
            let weight = batch.weight(position);
            corpus.read(index, &mut self.document)?;
            if let (Reduction::Center { seed, .. }, Some(center)) = (&self.reduction, &self.center) {
                self.latents.draw(&self.document, center, None, &mut at_center(*seed, index));
                add(&mut self.counts, &self.document, self.latents.counts(), -weight);
            }
            let mut kept = self.store.as_mut().map(|store| store.document(index));
            log_likelihood += weight * self.latents.draw(&self.document, phi, kept.as_mut(), rng);
            add(&mut self.counts, &self.document, self.latents.counts(), weight);
            if let Reduction::Saga { last, sum } = &mut self.reduction {
                let start = if index == 0 { 0 } else { self.ends[index - 1] };
                let last = &mut last[start * topics..self.ends[index] * topics];
                add(&mut self.counts, &self.document, last, -weight);
                add(sum, &self.document, last, -1.0);
                add(sum, &self.document, self.latents.counts(), 1.0);
                last.copy_from_slice(self.latents.counts());
            }
        }
        Ok(log_likelihood)
    }

    /// Restores the state of a checkpoint.
    ///
    /// # Errors
    ///
    /// Returns an error if it belongs to another corpus or other settings.
    pub(super) fn restore(&mut self, reduction: Reduction, store: Option<LatentStore>, phi: &Table) -> Result<()> {
        let wrong = |what: &str| Err(Error::Checkpoint { reason: format!("{what} belongs to another run") });
        let size = self.counts.len();
        match (&self.kind, &reduction) {
            (_, Reduction::None) => {}
            (VarianceReduction::ControlVariate { .. }, Reduction::Center { counts, phi: center, .. })
                if counts.len() == size && center.len() == size =>
            {
                let mut table = phi.clone();
                table.fill(|word, topic| center[word * phi.topics() + topic]);
                self.center = Some(table);
            }
            (VarianceReduction::Saga, Reduction::Saga { last, sum })
                if sum.len() == size && last.len() == self.ends.last().unwrap_or(&0) * phi.topics() => {}
            _ => return wrong("the variance reduction"),
        }
        match (&mut self.store, store) {
            (None, None) => {}
            (Some(own), Some(saved)) => own.restore(saved, phi.topics())?,
            _ => return wrong("the store of latent variables"),
        }
        self.reduction = reduction;
        Ok(())
    }
}

/// Returns the generator of the tokens of a document at the center.
///
/// The tokens must be the same whenever the document is drawn. Otherwise the sum over all documents, which is computed
/// once, keeps the noise of one draw as a constant error of all estimates.
fn at_center(seed: u64, document: usize) -> StreamRng {
    // The generator mixes its seed.
    StreamRng::seed_from_u64(seed.wrapping_add(document as u64))
}

/// Adds `weight` times the counts of a document, K numbers per distinct word, to counts in the order of words.
fn add(counts: &mut [f64], document: &Document, own: &[f32], weight: f64) {
    let topics = if document.words() == 0 { return } else { own.len() / document.words() };
    for ((word, _), row) in document.iter().zip(own.chunks_exact(topics)) {
        let target = &mut counts[word as usize * topics..(word as usize + 1) * topics];
        target.iter_mut().zip(row).for_each(|(target, count)| *target += weight * f64::from(*count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topics::Vocabulary;
    use crate::topics::stochastic::latents::Sweeps;
    use sgmcmc_gradient::minibatch::BatchWeights;

    fn estimate(kind: VarianceReduction, corpus: &Corpus) -> Estimate {
        let latents = Latents::new(&[0.5, 0.2, 0.3], Sweeps { all: 20, burn_in: 5 });
        Estimate::new(kind, latents, None, corpus, 3).unwrap()
    }

    fn corpus() -> Corpus {
        let documents = (0..10_u32).map(|d| Document::from_tokens((0..4 + d % 3).map(|i| (i * d + i) % 5)));
        Corpus::new(Vocabulary::numbered(5), documents).unwrap()
    }

    fn phi() -> Table {
        let mut phi = Table::zeros(5, 3);
        phi.fill(|word, topic| ((word * 3 + topic * 2) % 5 + 1) as f32 / 15.0);
        phi
    }

    /// Returns the mean and the variance of the estimates of every count, over 10 000 minibatches of two documents.
    fn moments(estimate: &mut Estimate, corpus: &Corpus, phi: &Table) -> Vec<(f64, f64)> {
        let mut rng = StreamRng::seed_from_u64(9);
        let (mut sum, mut squares) = (vec![0.0; estimate.counts.len()], vec![0.0; estimate.counts.len()]);
        let draws = 10_000;
        for draw in 0..draws {
            let rows = vec![draw % 10, (draw % 10 + 1 + draw / 10 % 9) % 10];
            let batch = Minibatch { rows, weights: BatchWeights::Same(5.0) };
            estimate.draw(&batch, corpus, phi, &mut rng).unwrap();
            for ((sum, square), count) in sum.iter_mut().zip(&mut squares).zip(&estimate.counts) {
                *sum += count / draws as f64;
                *square += count * count / draws as f64;
            }
        }
        sum.into_iter().zip(squares).map(|(mean, square)| (mean, square - mean * mean)).collect()
    }

    #[test]
    fn the_control_variate_is_unbiased_whatever_was_drawn_at_its_center() {
        let (corpus, phi) = (corpus(), phi());
        let mut near = Table::zeros(5, 3);
        near.fill(|word, topic| phi.get(word, topic) * (1.0 + 0.1 * topic as f32));
        let plain = moments(&mut estimate(VarianceReduction::None, &corpus), &corpus, &near);
        for seed in 1..4 {
            let mut reduced = estimate(VarianceReduction::ControlVariate { after: 2 }, &corpus);
            let mut rng = StreamRng::seed_from_u64(seed);
            reduced.prepare(1, &corpus, &phi, &mut rng).unwrap();
            assert!(matches!(reduced.reduction, Reduction::None));
            reduced.prepare(2, &corpus, &phi, &mut rng).unwrap();
            let reduced = moments(&mut reduced, &corpus, &near);
            for (i, (plain, reduced)) in plain.iter().zip(&reduced).enumerate() {
                let error = ((plain.1 + reduced.1) / 10_000.0).sqrt();
                assert!((plain.0 - reduced.0).abs() <= 4.5 * error, "{i}: {reduced:?} against {plain:?}");
            }
            let total = |moments: &[(f64, f64)]| moments.iter().map(|(_, variance)| variance).sum::<f64>();
            assert!(total(&reduced) < 0.5 * total(&plain), "{} against {}", total(&reduced), total(&plain));
        }
    }

    #[test]
    fn minibatches_are_weighted_and_saga_keeps_the_last_counts() {
        let (corpus, phi, mut rng) = (corpus(), phi(), StreamRng::seed_from_u64(4));
        let mut plain = estimate(VarianceReduction::None, &corpus);
        let batch = Minibatch { rows: vec![3, 7], weights: BatchWeights::Same(5.0) };
        plain.draw(&batch, &corpus, &phi, &mut rng).unwrap();
        let tokens = corpus.document_tokens(3).unwrap() + corpus.document_tokens(7).unwrap();
        assert!((plain.counts.iter().sum::<f64>() - 5.0 * tokens as f64).abs() < 1e-4);
        let mut saga = estimate(VarianceReduction::Saga, &corpus);
        saga.prepare(0, &corpus, &phi, &mut rng).unwrap();
        for _ in 0..5 {
            saga.draw(&batch, &corpus, &phi, &mut rng).unwrap();
            assert!((saga.counts.iter().sum::<f64>() - corpus.tokens() as f64).abs() < 1e-4);
            let Reduction::Saga { last, sum } = &saga.reduction else { unreachable!() };
            let mut all = vec![0.0; sum.len()];
            for index in 0..corpus.documents() {
                let start = if index == 0 { 0 } else { saga.ends[index - 1] };
                add(&mut all, &corpus.document(index).unwrap(), &last[start * 3..saga.ends[index] * 3], 1.0);
            }
            assert!(all.iter().zip(sum).all(|(a, b)| (a - b).abs() < 1e-4));
        }
    }
}
