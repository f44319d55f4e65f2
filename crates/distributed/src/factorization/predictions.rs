//! Predictions of entries that were held out.

use sgmcmc_fit::codec::{decode, encode};

use super::block::{FactorBlock, dot};
use super::entries::BlockedEntries;
use super::likelihood::EntryLikelihood;
use super::sampler::BlockSampler;
use crate::collective::Result;

/// Predictions of entries that were held out, averaged over draws.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use sgmcmc::distributed::collective::{Collective, ThreadRank};
/// use sgmcmc::distributed::factorization::{BlockPredictions, BlockedEntries, BlockedFactorization, Grid};
/// use sgmcmc::models::factorization::Entries;
///
/// let ratings = Entries::simulate_ratings(20, 30, 300, 2, 1)?;
/// let (train, test) = ratings.split(0.9, 1)?;
/// let (grid, ranks) = (Arc::new(Grid::new(20, 30, 2, 1)?), Arc::new(ThreadRank::alone()));
/// let entries = BlockedEntries::distribute(ranks.clone(), grid.clone(), train.iter())?;
/// let mut predictions = BlockPredictions::new(BlockedEntries::distribute(ranks, grid, test.iter())?);
/// let mut sampler = BlockedFactorization::new(2).step_size(1e-3).sampler(entries)?;
/// for _ in 0..20 {
///     sampler.step()?;
///     predictions.push(&sampler)?;
/// }
/// let rmse = predictions.rmse()?;
/// assert!(rmse.of_draw > 0.0 && rmse.of_mean > 0.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BlockPredictions {
    entries: BlockedEntries,
    /// The predictions of the last draw, in the order of the entries.
    last: Vec<f64>,
    /// The sums of the predictions.
    sums: Vec<f64>,
    draws: u64,
}

/// Root mean squared errors of predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rmse {
    /// The error of the last draw.
    pub of_draw: f64,
    /// The error of the mean of all predictions so far.
    pub of_mean: f64,
}

impl BlockPredictions {
    /// Creates the predictions of `entries`, which are divided by the same grid as those of the sampler.
    pub fn new(entries: BlockedEntries) -> Self {
        let zeros = vec![0.0; entries.local()];
        Self { entries, last: zeros.clone(), sums: zeros, draws: 0 }
    }

    /// Adds the predictions of the newest sample. All blocks of H visit all ranks. All ranks must call it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Collective::exchange`](crate::collective::Collective::exchange).
    pub fn push<L: EntryLikelihood>(&mut self, sampler: &BlockSampler<L>) -> Result<()> {
        self.predict(sampler)?;
        self.sums.iter_mut().zip(&self.last).for_each(|(sum, last)| *sum += last);
        self.draws += 1;
        Ok(())
    }

    /// Computes the predictions of the newest sample, without adding them to the mean.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`push`](Self::push).
    pub fn predict<L: EntryLikelihood>(&mut self, sampler: &BlockSampler<L>) -> Result<()> {
        let (newest, blocks, factors) = (sampler.newest(), self.entries.grid.blocks(), sampler.model.factors);
        let copy = |block: &FactorBlock| {
            let mut copy = FactorBlock::new(block.number, block.length, 1);
            copy.memory.copy_from_slice(block.vector(newest));
            copy
        };
        let mut columns: Vec<_> = sampler.columns.iter().map(copy).collect();
        for shift in 0..blocks {
            for (index, (w, h)) in sampler.rows.iter().zip(&columns).enumerate() {
                let first = self.first(index, h.number);
                let block = self.entries.block(index, h.number);
                let places = block.row.iter().zip(&block.column);
                for ((row, column), prediction) in places.zip(&mut self.last[first..]) {
                    let (i, j) = (*row as usize * factors, *column as usize * factors);
                    *prediction = dot(&w.vector(newest)[i..i + factors], &h.vector(0)[j..j + factors]);
                }
            }
            let (from, to) = ((sampler.part + shift) % blocks, (sampler.part + shift + 1) % blocks);
            let movement = sampler.movement(from, to);
            let arriving = |row: usize| {
                let column = movement.column(row, to);
                FactorBlock::new(column, self.entries.grid.columns().range(column).len() * factors, 1)
            };
            let mut next: Vec<_> = self.entries.own_blocks().map(arriving).collect();
            movement.exchange(&*self.entries.ranks, &columns, &mut next, 0..1, &mut || ())?;
            columns = next;
        }
        Ok(())
    }

    /// Returns the index of the first prediction of a block.
    fn first(&self, own: usize, column: usize) -> usize {
        let blocks = self.entries.grid.blocks();
        let before = (0..own).flat_map(|row| (0..blocks).map(move |column| (row, column)));
        let before = before.chain((0..column).map(|column| (own, column)));
        before.map(|(row, column)| self.entries.block(row, column).value.len()).sum()
    }

    /// Returns the errors of the last draw and of the mean, over the entries of all ranks.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Collective::all_reduce_sum`](crate::collective::Collective::all_reduce_sum).
    pub fn rmse(&self) -> Result<Rmse> {
        let blocks = self.entries.grid.blocks();
        let mut squares = vec![0.0; 2 * blocks];
        let mut index = 0;
        let draws = self.draws.max(1) as f64;
        for (own, row) in self.entries.own_blocks().enumerate() {
            for observed in (0..blocks).flat_map(|column| &self.entries.block(own, column).value) {
                squares[2 * row] += (self.last[index] - observed).powi(2);
                squares[2 * row + 1] += (self.sums[index] / draws - observed).powi(2);
                index += 1;
            }
        }
        self.entries.ranks.all_reduce_sum(&mut squares)?;
        let total = self.entries.total() as f64;
        let error = |which: usize| (squares.iter().skip(which).step_by(2).sum::<f64>() / total).sqrt();
        Ok(Rmse { of_draw: error(0), of_mean: if self.draws == 0 { f64::NAN } else { error(1) } })
    }

    /// Serializes the sums of this rank.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be encoded.
    pub fn save(&self) -> Result<Vec<u8>> {
        Ok(encode(&(self.draws, &self.sums))?)
    }

    /// Restores the sums that [`save`](Self::save) returned.
    ///
    /// # Errors
    ///
    /// Returns an error if `saved` are not sums of the same entries.
    pub fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let (draws, sums): (u64, Vec<f64>) = decode(saved)?;
        if sums.len() != self.sums.len() {
            let reason = "it holds predictions of other entries".into();
            return Err(sgmcmc_gradient::Error::Checkpoint { reason }.into());
        }
        (self.draws, self.sums) = (draws, sums);
        Ok(())
    }
}
