//! Gibbs sampling of the topics of the tokens of one document, given the topics.

use sgmcmc_gradient::rng::StreamRng;

use super::pick::{LogProduct, pick, uniform};
use super::table::{Block, LANES, Table, add_at, in_blocks};

/// The conditional sampler of the topics of one document: the weight of topic k for a token of word w is
/// (n_dk + α_k) φ_kw, where n_dk counts the other tokens of the document.
#[derive(Debug)]
pub(super) struct DocumentGibbs {
    alpha: Vec<Block>,
    alpha_sum: f64,
    topics: usize,
    /// n_dk + α_k.
    weights: Vec<Block>,
    sums: Vec<Block>,
}

/// The topics of the tokens before a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Previous {
    /// The tokens have no topics. They get one after another, each given those before it.
    None,
    /// The tokens have topics.
    Drawn,
}

impl DocumentGibbs {
    pub(super) fn new(alpha: &[f64]) -> Self {
        let blocks = in_blocks(alpha);
        let weights = blocks.clone();
        let sums = vec![[0.0; LANES]; blocks.len()];
        Self { alpha: blocks, alpha_sum: alpha.iter().sum(), topics: alpha.len(), weights, sums }
    }

    /// Draws the topic of every token once, and returns the sum of the logs of the conditional probabilities of the
    /// words.
    pub(super) fn sweep(
        &mut self,
        phi: &Table,
        words: &[u32],
        assigned: &mut [u16],
        previous: Previous,
        rng: &mut StreamRng,
    ) -> f64 {
        let blocks = phi.blocks();
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || match blocks {
                1 => self.pass(1, phi, words, assigned, previous, rng),
                2 => self.pass(2, phi, words, assigned, previous, rng),
                3 => self.pass(3, phi, words, assigned, previous, rng),
                4 => self.pass(4, phi, words, assigned, previous, rng),
                blocks => self.pass(blocks, phi, words, assigned, previous, rng),
            },
        )
    }

    #[inline(always)]
    fn pass(
        &mut self,
        blocks: usize,
        phi: &Table,
        words: &[u32],
        assigned: &mut [u16],
        previous: Previous,
        rng: &mut StreamRng,
    ) -> f64 {
        let (weights, sums) = (&mut self.weights[..blocks], &mut self.sums[..blocks]);
        weights.copy_from_slice(&self.alpha);
        let redraw = previous == Previous::Drawn;
        if redraw {
            assigned.iter().for_each(|topic| add_at(weights, usize::from(*topic), 1.0));
        }
        let mut product = LogProduct::new();
        for (word, assigned) in words.iter().zip(assigned.iter_mut()) {
            if redraw {
                add_at(weights, usize::from(*assigned), -1.0);
            }
            let picked = pick(weights, phi.row(*word as usize), 0.0, sums, uniform(rng), self.topics);
            product.multiply(picked.total);
            add_at(weights, picked.topic, 1.0);
            *assigned = picked.topic as u16;
        }
        match words.len().checked_sub(1) {
            Some(others) => product.log() - words.len() as f64 * (others as f64 + self.alpha_sum).ln(),
            None => 0.0,
        }
    }
}
