//! The sampler of a blocked factorization: see [`BlockSampler`].

use serde::{Deserialize, Serialize};
use sgmcmc_fit::codec::{decode, encode};
use sgmcmc_gradient::Error as ModelError;

use super::algorithm::BlockAlgorithm;
use super::block::{FactorBlock, add_gradients};
use super::entries::BlockedEntries;
use super::likelihood::EntryLikelihood;
use super::model::BlockedFactorization;
use super::movement::Movement;
use super::prior::FactorPrior;
use super::random::{Source, Use};
use crate::collective::{Result, numbers};

/// The sampler of a [`BlockedFactorization`] on one rank. All ranks call its methods together.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use sgmcmc::distributed::collective::{Error, ThreadRank};
/// use sgmcmc::distributed::factorization::{BlockedEntries, BlockedFactorization, Grid};
/// use sgmcmc::models::factorization::Entries;
///
/// let ratings = Entries::simulate_ratings(20, 30, 300, 2, 1)?;
/// let grid = Arc::new(Grid::new(20, 30, 2, 1)?);
/// let entries = BlockedEntries::distribute(Arc::new(ThreadRank::alone()), grid, ratings.iter())?;
/// let mut sampler = BlockedFactorization::new(2).step_size(1e-3).sampler(entries)?;
/// (0..20).try_for_each(|_| sampler.step())?;
/// let factors = sampler.factors()?.ok_or(Error::Launch { reason: "rank 0 has the factors".into() })?;
/// assert_eq!((factors.rows.len(), factors.columns.len()), (40, 60));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct BlockSampler<L> {
    pub(super) model: BlockedFactorization<L>,
    pub(super) entries: BlockedEntries,
    pub(super) source: Source,
    /// The number of iterations so far.
    pub(super) iteration: u64,
    /// The part of the next iteration, whose blocks of H are in place.
    pub(super) part: usize,
    /// The blocks of W of this rank.
    pub(super) rows: Vec<FactorBlock>,
    /// The block of H for each block of W.
    pub(super) columns: Vec<FactorBlock>,
    /// The blocks of H for the next part.
    pub(super) arriving: Vec<FactorBlock>,
}

/// The factors in the order of the rows and columns of the matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Factors {
    /// W, one row of factors per row of the matrix.
    pub rows: Vec<f64>,
    /// H, one row of factors per column of the matrix.
    pub columns: Vec<f64>,
}

/// The saved state of a rank.
#[derive(Serialize, Deserialize)]
struct Saved {
    iteration: u64,
    part: usize,
    rows: Vec<Vec<f64>>,
    columns: Vec<Vec<f64>>,
}

impl<L: EntryLikelihood> BlockSampler<L> {
    /// Creates a sampler at a random start.
    pub(super) fn new(model: BlockedFactorization<L>, entries: BlockedEntries) -> Result<Self> {
        let source = Source { seed: model.seed, chain: model.chain };
        let part = source.part(entries.parts(), 1);
        let (rows, columns, arriving) = (Vec::new(), Vec::new(), Vec::new());
        let mut this = Self { model, entries, source, iteration: 0, part, rows, columns, arriving };
        let vectors = this.model.algorithm.vectors();
        for row in this.entries.own_blocks() {
            let mut block = FactorBlock::new(row, this.length(Use::Row, row), vectors);
            this.start(Use::Row, &mut block);
            this.rows.push(block);
            let column = this.movement(part, part).column(row, part);
            let mut block = FactorBlock::new(column, this.length(Use::Column, column), vectors);
            this.start(Use::Column, &mut block);
            this.columns.push(block.clone());
            this.arriving.push(block);
        }
        Ok(this)
    }

    /// Returns the number of elements of a block.
    fn length(&self, purpose: Use, block: usize) -> usize {
        let order = if matches!(purpose, Use::Row) { self.entries.grid.rows() } else { self.entries.grid.columns() };
        order.range(block).len() * self.model.factors
    }

    /// Sets all samples of a block to its start.
    fn start(&self, purpose: Use, block: &mut FactorBlock) {
        let length = block.length;
        let prior = if matches!(purpose, Use::Row) { self.model.row_prior } else { self.model.column_prior };
        let (samples, _) = block.memory.split_at_mut(length * self.model.algorithm.interleaved());
        for sample in samples.chunks_exact_mut(length.max(1)) {
            match &self.model.fixed_columns {
                Some(columns) if matches!(purpose, Use::Column) => {
                    let grid = &self.entries.grid;
                    sample.copy_from_slice(&grid.columns().block_of(columns, self.model.factors, block.number));
                }
                _ => {
                    self.source.fill_normals(purpose, block.number, 0, sample);
                    sample.iter_mut().for_each(|x| *x *= self.model.start_scale);
                    prior.mirror(sample);
                }
            }
        }
    }

    /// Returns the number of iterations so far.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// Returns the number of interleaved chains: iteration t moves chain (t − 1) mod M.
    pub fn interleaved_chains(&self) -> usize {
        self.model.algorithm.interleaved()
    }

    /// Returns the number of entries on all ranks.
    pub fn total(&self) -> u64 {
        self.entries.total()
    }

    /// Performs one iteration.
    ///
    /// # Errors
    ///
    /// Returns an error that names the block if an element is no longer finite, and an error that names the rank if another rank failed.
    pub fn step(&mut self) -> Result<()> {
        let t = self.iteration + 1;
        let next = self.source.part(self.entries.parts(), t + 1);
        let h = self.model.step_size.at(self.iteration);
        sgmcmc_gradient::settings::non_negative("the step size", h)?;
        self.prepare_arrival(next);
        match self.model.algorithm {
            BlockAlgorithm::Hamcmc { memory, lambda, gamma } => {
                self.step_hamcmc(t, next, super::hamcmc::Settings { memory, lambda, gamma, h })?;
            }
            BlockAlgorithm::Sgld | BlockAlgorithm::Psgld { .. } => self.step_langevin(t, next, h)?,
        }
        std::mem::swap(&mut self.columns, &mut self.arriving);
        (self.iteration, self.part) = (t, next);
        self.check_finite(t)
    }

    /// Returns the movement of the blocks of H between two parts.
    pub(super) fn movement(&self, from_part: usize, to_part: usize) -> Movement {
        Movement { blocks: self.entries.grid.blocks(), own: self.entries.own_blocks(), from_part, to_part }
    }

    /// Gives the arriving blocks the numbers and lengths of those of part `next`.
    fn prepare_arrival(&mut self, next: usize) {
        let movement = self.movement(self.part, next);
        let vectors = self.model.algorithm.vectors();
        for (index, row) in self.entries.own_blocks().enumerate() {
            let column = movement.column(row, next);
            let length = self.length(Use::Column, column);
            self.arriving[index].reshape(column, length, vectors);
        }
    }

    /// Computes the gradients of all blocks of this rank at sample number `sample`, in `gradient`.
    pub(super) fn gradients(&mut self, sample: usize) {
        let Self { model, entries, rows, columns, part, .. } = self;
        let weight = weight(entries, *part);
        for (index, (w, h)) in rows.iter_mut().zip(columns).enumerate() {
            let block = entries.block(index, h.number);
            w.gradient.fill(0.0);
            h.gradient.fill(0.0);
            let (w_range, h_range) = (w.range(sample), h.range(sample));
            let h_gradient = model.fixed_columns.is_none().then_some(&mut h.gradient[..]);
            let (w_sample, h_sample) = (&w.memory[w_range], &h.memory[h_range]);
            add_gradients(&model.likelihood, block, model.factors, w_sample, h_sample, &mut w.gradient, h_gradient);
            if !matches!(model.algorithm, BlockAlgorithm::Psgld { .. }) {
                model.row_prior.complete(weight, w_sample, &mut w.gradient);
                model.column_prior.complete(weight, h_sample, &mut h.gradient);
            }
        }
    }

    /// Performs a step of SGLD or PSGLD. The blocks of H move on while those of W are updated.
    fn step_langevin(&mut self, t: u64, next: usize, h: f64) -> Result<()> {
        self.gradients(0);
        let (movement, source) = (self.movement(self.part, next), self.source);
        let Self { model, entries, rows, columns, arriving, part, .. } = self;
        let update = Update { algorithm: model.algorithm, h, t, source, weight: weight(entries, *part) };
        let vectors = 0..model.algorithm.vectors();
        if model.fixed_columns.is_none() {
            columns.iter_mut().for_each(|block| update.apply(Use::Column, model.column_prior, entries, block));
        }
        let mut update_rows =
            || rows.iter_mut().for_each(|block| update.apply(Use::Row, model.row_prior, entries, block));
        movement.exchange(&*entries.ranks, columns, arriving, vectors, &mut update_rows)
    }

    /// Checks that all elements of this rank are finite.
    fn check_finite(&self, t: u64) -> Result<()> {
        let sample = self.newest();
        let blocks = self.rows.iter().map(|block| ("W", block)).chain(self.columns.iter().map(|block| ("H", block)));
        for (factor, block) in blocks {
            #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "true of NaN too, by one comparison")]
            let found = block.vector(sample).iter().find(|x| !(x.abs() <= 1e100));
            if let Some(value) = found {
                let element = format!("{factor} in block {}", block.number);
                let (what, remedy) = ("an element", "use a smaller step size");
                return Err(ModelError::Diverged { what, element, value: *value, iteration: t, remedy }.into());
            }
        }
        Ok(())
    }

    /// Returns the number of the newest sample in the memory of a block.
    pub(super) fn newest(&self) -> usize {
        (self.iteration % self.interleaved_chains() as u64) as usize
    }

    /// Gathers the factors on rank 0. Returns `None` on the other ranks.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Collective::gather`](crate::collective::Collective::gather).
    pub fn factors(&self) -> Result<Option<Factors>> {
        let sample = self.newest();
        let joined = |blocks: &[FactorBlock]| -> Vec<f64> {
            blocks.iter().flat_map(|block| block.vector(sample)).copied().collect()
        };
        let ranks = &*self.entries.ranks;
        let rows = ranks.gather(0, bytemuck::cast_slice(&joined(&self.rows)))?;
        let columns = ranks.gather(0, bytemuck::cast_slice(&joined(&self.columns)))?;
        let (Some(rows), Some(columns)) = (rows, columns) else { return Ok(None) };
        let (rows, columns) = (numbers(&rows.concat()), numbers(&columns.concat()));
        // Row b of blocks has sent column (b + part) mod B.
        let (grid, factors) = (&self.entries.grid, self.model.factors);
        let mut by_place = vec![0.0; columns.len()];
        let mut from = 0;
        for row in 0..grid.blocks() {
            let range = grid.columns().range((row + self.part) % grid.blocks());
            let (start, length) = (range.start * factors, range.len() * factors);
            by_place[start..start + length].copy_from_slice(&columns[from..from + length]);
            from += length;
        }
        let (rows, columns) = (grid.rows().restored(&rows, factors), grid.columns().restored(&by_place, factors));
        Ok(Some(Factors { rows, columns }))
    }

    /// Returns a text that identifies everything that the draws depend on, for
    /// [`EpochCheckpoints`](crate::checkpoint::EpochCheckpoints).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Collective::all_gather`](crate::collective::Collective::all_gather).
    pub fn identity(&self) -> Result<String> {
        Ok(format!("{}; {}", self.model.describe(), self.entries.identity()?))
    }

    /// Serializes the state of this rank.
    ///
    /// # Errors
    ///
    /// Returns an error if the state cannot be encoded.
    pub fn save(&self) -> Result<Vec<u8>> {
        let memory = |blocks: &[FactorBlock]| blocks.iter().map(|block| block.memory.clone()).collect();
        let (rows, columns) = (memory(&self.rows), memory(&self.columns));
        Ok(encode(&Saved { iteration: self.iteration, part: self.part, rows, columns })?)
    }

    /// Restores the state that [`save`](Self::save) returned. The sampler then continues bit for bit.
    ///
    /// # Errors
    ///
    /// Returns an error if `saved` is not a state of this sampler.
    pub fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let Saved { iteration, part, rows, columns } = decode(saved)?;
        self.prepare_arrival(part);
        std::mem::swap(&mut self.columns, &mut self.arriving);
        let fits = |blocks: &[FactorBlock], saved: &[Vec<f64>]| {
            blocks.len() == saved.len()
                && blocks.iter().zip(saved).all(|(block, saved)| block.memory.len() == saved.len())
        };
        if part >= self.entries.grid.blocks() || !fits(&self.rows, &rows) || !fits(&self.columns, &columns) {
            let reason = "it holds blocks of another factorization".into();
            return Err(ModelError::Checkpoint { reason }.into());
        }
        self.rows.iter_mut().zip(rows).for_each(|(block, memory)| block.memory = memory);
        self.columns.iter_mut().zip(columns).for_each(|(block, memory)| block.memory = memory);
        (self.iteration, self.part) = (iteration, part);
        Ok(())
    }
}

/// Returns the number of all entries over that of a part.
pub(super) fn weight(entries: &BlockedEntries, part: usize) -> f64 {
    entries.total() as f64 / (entries.parts()[part].max(1)) as f64
}

/// A step of SGLD or PSGLD on one block.
struct Update {
    algorithm: BlockAlgorithm,
    h: f64,
    t: u64,
    source: Source,
    weight: f64,
}

impl Update {
    /// Moves a block. Its gradient is that of the log density for SGLD, and the sum of the derivatives for PSGLD.
    fn apply(&self, purpose: Use, prior: FactorPrior, entries: &BlockedEntries, block: &mut FactorBlock) {
        self.source.fill_normals(purpose, block.number, self.t, &mut block.noise);
        let FactorBlock { length, memory, gradient, noise, second, .. } = block;
        let (theta, rest) = memory.split_at_mut(*length);
        match self.algorithm {
            BlockAlgorithm::Psgld { alpha, lambda } => {
                let of_part = self.weight / entries.total() as f64;
                let v = &mut rest[..*length];
                second.iter_mut().zip(&*gradient).for_each(|(mean, sum)| *mean = of_part * sum);
                if self.t == 1 {
                    v.iter_mut().zip(&*second).for_each(|(v, mean)| *v = mean * mean);
                }
                prior.complete(self.weight, theta, gradient);
                for ((theta, v), (g, z)) in theta.iter_mut().zip(&*v).zip(gradient.iter().zip(&*noise)) {
                    let m = 1.0 / (lambda + v.sqrt());
                    *theta += 0.5 * self.h * m * g + (self.h * m).sqrt() * z;
                }
                v.iter_mut().zip(&*second).for_each(|(v, mean)| *v = alpha * *v + (1.0 - alpha) * mean * mean);
            }
            _ => {
                let root = self.h.sqrt();
                for ((theta, g), z) in theta.iter_mut().zip(&*gradient).zip(&*noise) {
                    *theta += 0.5 * self.h * g + root * z;
                }
            }
        }
        prior.mirror(theta);
    }
}
