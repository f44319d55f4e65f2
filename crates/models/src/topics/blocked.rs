//! Gibbs sampling of topics and tokens in two blocks.

use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Error, Result};

use super::corpus::Corpus;
use super::document_gibbs::{DocumentGibbs, Previous};
use super::log_gamma::LogGamma;
use super::table::Table;
use super::tokens::Tokens;

/// The smallest probability of a word in a topic that is stored. The sum of the weights of a token is then positive.
pub(super) const FLOOR: f64 = 1e-30;

/// The Gibbs sampler that draws the topics φ_k ~ Dirichlet(β + n_k) given all tokens, and then the tokens given φ.
#[derive(Debug)]
pub(super) struct Blocked {
    tokens: Tokens,
    documents: DocumentGibbs,
    phi: Table,
    beta: Vec<f64>,
}

impl Blocked {
    /// Starts at topics from the prior with parameter 1, and tokens given these topics.
    pub(super) fn new(corpus: &Corpus, alpha: &[f64], beta: &[f64], rng: &mut StreamRng) -> Result<Self> {
        let tokens = Tokens::read(corpus)?;
        let phi = Table::zeros(beta.len(), alpha.len());
        let mut sampler = Self { tokens, documents: DocumentGibbs::new(alpha), phi, beta: beta.to_vec() };
        let mut start = vec![0.0; beta.len() * alpha.len()];
        LogGamma::new().draw_all(&mut start, |_| 1.0, rng);
        normalize(&start, &mut sampler.phi);
        sampler.sweep(Previous::None, rng);
        Ok(sampler)
    }

    /// Draws all topics and then all tokens, and returns the sum of the logs of the conditional probabilities of the
    /// words.
    pub(super) fn step(&mut self, rng: &mut StreamRng) -> f64 {
        let topics = self.phi.topics();
        let mut log_theta = vec![0.0; self.beta.len() * topics];
        for (word, topic) in self.tokens.words.iter().zip(&self.tokens.topics) {
            log_theta[*word as usize * topics + usize::from(*topic)] += 1.0;
        }
        let counts = log_theta.clone();
        LogGamma::new().draw_all(&mut log_theta, |index| self.beta[index / topics] + counts[index], rng);
        normalize(&log_theta, &mut self.phi);
        self.sweep(Previous::Drawn, rng)
    }

    fn sweep(&mut self, previous: Previous, rng: &mut StreamRng) -> f64 {
        let Tokens { words, ends, topics } = &mut self.tokens;
        let (mut start, mut log_likelihood) = (0, 0.0);
        for end in ends {
            let range = start..*end;
            start = *end;
            let assigned = &mut topics[range.clone()];
            log_likelihood += self.documents.sweep(&self.phi, &words[range], assigned, previous, rng);
        }
        log_likelihood
    }

    pub(super) fn topics(&self) -> &Table {
        &self.phi
    }

    pub(super) fn assigned(&self) -> &[u16] {
        &self.tokens.topics
    }

    /// Restores the topics of all tokens, and the topics `phi` in the order of words.
    pub(super) fn restore(&mut self, assigned: Vec<u16>, phi: &[f32]) -> Result<()> {
        let topics = self.phi.topics();
        if phi.len() != topics * self.beta.len() {
            return Err(Error::Checkpoint { reason: "the topics have another size".into() });
        }
        self.tokens.restore(assigned, topics)?;
        self.phi.fill(|word, topic| phi[word * topics + topic]);
        Ok(())
    }
}

/// Writes exp(`log_theta`), normalized to sum 1 over the words of each topic, into `phi`. Elements are in the order of
/// words.
pub(super) fn normalize(log_theta: &[f64], phi: &mut Table) {
    let topics = phi.topics();
    let mut largest = vec![f64::NEG_INFINITY; topics];
    for row in log_theta.chunks_exact(topics) {
        largest.iter_mut().zip(row).for_each(|(largest, x)| *largest = largest.max(*x));
    }
    let mut sums = vec![0.0; topics];
    for row in log_theta.chunks_exact(topics) {
        sums.iter_mut().zip(row).zip(&largest).for_each(|((sum, x), largest)| *sum += (x - largest).exp());
    }
    for (word, row) in log_theta.chunks_exact(topics).enumerate() {
        for (topic, x) in row.iter().enumerate() {
            phi.set(word, topic, ((x - largest[topic]).exp() / sums[topic]).max(FLOOR) as f32);
        }
    }
}
