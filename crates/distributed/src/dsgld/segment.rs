//! The draws of a rank, of whichever chain visits it.

use sgmcmc_fit::ChainDraws;
use sgmcmc_fit::sink::Draw;
use sgmcmc_gradient::Layout;

use crate::collective::{Result, numbers};

/// Draws as rows of numbers: the chain, the iteration, the weight, the log posterior, the statistics and the values.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    stats: usize,
    values: usize,
    numbers: Vec<f64>,
}

/// The number of numbers before the statistics.
const HEAD: usize = 4;

impl Segment {
    pub(super) fn new(stats: usize, values: usize) -> Self {
        Self { stats, values, numbers: Vec::new() }
    }

    pub(super) fn push(&mut self, chain: usize, draw: &Draw<'_>) {
        let Draw { iteration, weight, log_posterior, .. } = *draw;
        self.numbers.extend([chain as f64, iteration as f64, weight, log_posterior]);
        self.numbers.extend_from_slice(draw.stats);
        self.numbers.extend_from_slice(draw.values);
    }

    /// Returns the draws after the first `length` numbers as bytes.
    pub(super) fn since(&self, length: usize) -> &[u8] {
        bytemuck::cast_slice(&self.numbers[length..])
    }

    /// Returns the number of numbers.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Appends draws that [`since`](Self::since) returned.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.numbers.extend(numbers(bytes));
    }

    /// Returns the draws of each chain in the order of their iterations, `draws` of each.
    pub(super) fn chains(
        &self,
        chains: usize,
        draws: usize,
        layout: &Layout,
        stats: &[String],
    ) -> Result<Vec<ChainDraws>> {
        let width = HEAD + self.stats + self.values;
        let mut rows: Vec<&[f64]> = self.numbers.chunks_exact(width).collect();
        rows.sort_by(|a, b| a[1].total_cmp(&b[1]));
        let mut all = vec![ChainDraws::new(layout.value_count(), stats.to_vec()); chains];
        for row in rows {
            let (head, rest) = row.split_at(HEAD);
            let (stats, values) = rest.split_at(self.stats);
            let chain = &mut all[head[0] as usize];
            if chain.len() < draws {
                let (iteration, weight, log_posterior) = (head[1] as u64, head[2], head[3]);
                chain.push(&Draw { iteration, values, weight, log_posterior, stats })?;
            }
        }
        Ok(all)
    }
}
