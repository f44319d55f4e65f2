//! Collapsed Gibbs sampling: topics and document proportions are integrated out.

use sgmcmc_gradient::Result;
use sgmcmc_gradient::rng::StreamRng;

use super::corpus::Corpus;
use super::pick::{LogProduct, pick, uniform};
use super::table::{Block, LANES, Table, add_at, in_blocks, set_at};
use super::tokens::Tokens;

/// The collapsed Gibbs sampler of Griffiths & Steyvers (2004).
///
/// The weight of topic k for a token of word w in document d is (n_dk + α_k)(n_kw + β_w)/(n_k + Σβ), where n are counts
/// of the other tokens. For one document, the vector (n_dk + α_k)/(n_k + Σβ) is kept up to date, since a token changes
/// two of its elements, so that a token needs one product of two vectors.
#[derive(Debug)]
pub(super) struct Collapsed {
    tokens: Tokens,
    /// The counts n_kw.
    counts: Table,
    /// The counts n_k.
    totals: Vec<u32>,
    alpha: Vec<Block>,
    alpha_sum: f64,
    beta: Vec<f32>,
    beta_sum: f32,
    scratch: Scratch,
}

/// Working memory for one document.
#[derive(Debug)]
struct Scratch {
    /// The counts n_dk.
    document: Vec<f32>,
    /// 1/(n_k + Σβ).
    inverse: Vec<f32>,
    /// 1/(n_k + 1 + Σβ). It is known before the topic of a token is drawn, so that the next token need not wait for a
    /// division.
    next_inverse: Vec<f32>,
    /// (n_dk + α_k)/(n_k + Σβ).
    weights: Vec<Block>,
    sums: Vec<Block>,
}

impl Collapsed {
    /// Assigns topics to the tokens one after another, each given the tokens before it.
    pub(super) fn new(corpus: &Corpus, alpha: &[f64], beta: &[f64], rng: &mut StreamRng) -> Result<Self> {
        let topics = alpha.len();
        let counts = Table::zeros(beta.len(), topics);
        let blocks = counts.blocks();
        let scratch = Scratch {
            document: vec![0.0; blocks * LANES],
            inverse: vec![0.0; blocks * LANES],
            next_inverse: vec![0.0; blocks * LANES],
            weights: vec![[0.0; LANES]; blocks],
            sums: vec![[0.0; LANES]; blocks],
        };
        let mut sampler = Self {
            tokens: Tokens::read(corpus)?,
            counts,
            totals: vec![0; topics],
            alpha: in_blocks(alpha),
            alpha_sum: alpha.iter().sum(),
            beta: beta.iter().map(|beta| *beta as f32).collect(),
            beta_sum: beta.iter().sum::<f64>() as f32,
            scratch,
        };
        sampler.sweep(rng, true);
        Ok(sampler)
    }

    /// Draws the topic of every token once, and returns the sum of the logs of the conditional probabilities of the
    /// words.
    pub(super) fn step(&mut self, rng: &mut StreamRng) -> f64 {
        self.sweep(rng, false)
    }

    fn sweep(&mut self, rng: &mut StreamRng, first: bool) -> f64 {
        let blocks = self.counts.blocks();
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || match (blocks, first) {
                // The loops over few blocks are unrolled.
                (1, false) => self.pass(1, rng, false),
                (2, false) => self.pass(2, rng, false),
                (3, false) => self.pass(3, rng, false),
                (4, false) => self.pass(4, rng, false),
                (blocks, first) => self.pass(blocks, rng, first),
            },
        )
    }

    #[inline(always)]
    fn pass(&mut self, blocks: usize, rng: &mut StreamRng, first: bool) -> f64 {
        let topics = self.totals.len();
        let rows = self.counts.values_mut();
        let Tokens { words, ends, topics: assigned } = &mut self.tokens;
        let Scratch { document, inverse, next_inverse, weights, sums } = &mut self.scratch;
        let (weights, sums) = (&mut weights[..blocks], &mut sums[..blocks]);
        let beta_sum = self.beta_sum;
        let from_precision = |total: u32| 1.0 / (total as f32 + beta_sum);
        for (topic, total) in self.totals.iter().enumerate() {
            inverse[topic] = from_precision(*total);
            next_inverse[topic] = from_precision(*total + 1);
        }
        let (mut start, mut log_likelihood) = (0, 0.0);
        for &end in ends.iter() {
            let (words, assigned) = (&words[start..end], &mut assigned[start..end]);
            start = end;
            document.fill(0.0);
            if !first {
                assigned.iter().for_each(|topic| document[usize::from(*topic)] += 1.0);
            }
            for (block, weights) in weights.iter_mut().enumerate() {
                for (lane, weight) in weights.iter_mut().enumerate() {
                    let topic = block * LANES + lane;
                    *weight = (document[topic] + self.alpha[block][lane]) * inverse[topic];
                }
            }
            let mut product = LogProduct::new();
            for (word, assigned) in words.iter().zip(assigned.iter_mut()) {
                let word = *word as usize;
                let row = &mut rows[word * blocks..(word + 1) * blocks];
                if !first {
                    let old = usize::from(*assigned);
                    let total = self.totals[old].wrapping_sub(1);
                    self.totals[old] = total;
                    document[old] -= 1.0;
                    next_inverse[old] = inverse[old];
                    inverse[old] = from_precision(total);
                    set_at(weights, old, (document[old] + self.alpha[old / LANES][old % LANES]) * inverse[old]);
                    add_at(row, old, -1.0);
                }
                let picked = pick(weights, row, self.beta[word], sums, uniform(rng), topics);
                product.multiply(picked.total);
                let new = picked.topic;
                document[new] += 1.0;
                inverse[new] = next_inverse[new];
                set_at(weights, new, (document[new] + self.alpha[new / LANES][new % LANES]) * inverse[new]);
                add_at(row, new, 1.0);
                let total = self.totals[new] + 1;
                self.totals[new] = total;
                next_inverse[new] = from_precision(total + 1);
                *assigned = new as u16;
            }
            if let Some(others) = words.len().checked_sub(1) {
                log_likelihood += product.log() - words.len() as f64 * (others as f64 + self.alpha_sum).ln();
            }
        }
        log_likelihood
    }

    /// Returns E[φ_kw | z] = (n_kw + β_w)/(n_k + Σβ).
    pub(super) fn topics(&self) -> Table {
        let mut table = self.counts.clone();
        table.fill(|word, topic| {
            (self.counts.get(word, topic) + self.beta[word]) / (self.totals[topic] as f32 + self.beta_sum)
        });
        table
    }

    pub(super) fn assigned(&self) -> &[u16] {
        &self.tokens.topics
    }

    /// Restores the topics of all tokens.
    pub(super) fn restore(&mut self, saved: Vec<u16>) -> Result<()> {
        self.tokens.restore(saved, self.totals.len())?;
        self.totals.fill(0);
        self.counts.fill(|_, _| 0.0);
        for (word, topic) in self.tokens.words.iter().zip(&self.tokens.topics) {
            let (word, topic) = (*word as usize, usize::from(*topic));
            self.totals[topic] += 1;
            self.counts.set(word, topic, self.counts.get(word, topic) + 1.0);
        }
        Ok(())
    }
}
