//! A step of HAMCMC on blocks.

use sgmcmc_numerics::InitialScale;

use super::block::{FactorBlock, add_gradients, dot};
use super::likelihood::EntryLikelihood;
use super::prior::FactorPrior;
use super::quasi_newton::{Basis, step_coefficients};
use super::random::Use;
use super::sampler::{BlockSampler, weight};
use crate::collective::Result;

/// The settings of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) memory: usize,
    pub(super) lambda: f64,
    pub(super) gamma: InitialScale,
    pub(super) h: f64,
}

/// The places of the vectors in the memory of a block: M samples, followed by s and y of M − 1 pairs.
///
/// The sample of iteration t is at t mod M, and takes the place of the sample of iteration t − M. The pair of iteration t
/// is at t mod (M − 1).
#[derive(Clone, Copy, Debug)]
struct Places {
    memory: usize,
    t: u64,
}

impl Places {
    fn sample(self) -> usize {
        (self.t % self.memory as u64) as usize
    }

    /// Returns the place of s of the pair of iteration `t`. That of y is the next.
    fn pair(self, t: u64) -> usize {
        self.memory + 2 * (t % (self.memory as u64 - 1)) as usize
    }

    /// Returns the place of s of pair number `index`, the oldest first.
    fn pair_at(self, index: usize) -> usize {
        // The oldest pair is that of iteration t − M + 1, whose place is that of t. Pairs before the first are zero.
        self.pair(self.t + index as u64)
    }
}

/// Returns vector number `vector` of the basis.
fn basis_vector(block: &FactorBlock, places: Places, basis: Basis, vector: usize) -> &[f64] {
    match vector.checked_sub(2 * basis.pairs) {
        None => block.vector(places.pair_at(vector / 2) + vector % 2),
        Some(0) => &block.gradient,
        Some(_) => &block.noise,
    }
}

impl<L: EntryLikelihood> BlockSampler<L> {
    /// Performs a step of HAMCMC. The samples of H move on while the second gradient is computed.
    pub(super) fn step_hamcmc(&mut self, t: u64, next: usize, settings: Settings) -> Result<()> {
        let Settings { memory, lambda, gamma, h } = settings;
        let places = Places { memory, t };
        let basis = Basis { pairs: memory - 1 };
        self.gradients(places.sample());
        for (purpose, blocks) in [(Use::Row, &mut self.rows), (Use::Column, &mut self.columns)] {
            for block in blocks {
                self.source.fill_normals(purpose, block.number, t, &mut block.noise);
            }
        }
        let products = self.products(places, basis)?;
        let coefficients = step_coefficients(basis, &products, gamma, h);
        let prior = self.model.row_prior;
        self.rows.iter_mut().for_each(|block| move_block(block, places, basis, &coefficients, prior));
        let moves_columns = self.model.fixed_columns.is_none();
        if moves_columns {
            let prior = self.model.column_prior;
            self.columns.iter_mut().for_each(|block| move_block(block, places, basis, &coefficients, prior));
        }
        let movement = self.movement(self.part, next);
        let ranks = self.entries.ranks.clone();
        let mut second = SecondGradient { sampler: self, places, lambda };
        let (held, mut arriving) = second.take();
        let mut columns = Vec::new();
        let exchanged = movement.exchange(&*ranks, &held, &mut arriving, 0..memory, &mut || {
            columns = second.compute(&held);
        });
        second.give_back(held, arriving, &columns);
        exchanged?;
        let vectors = self.model.algorithm.vectors();
        movement.exchange(&*ranks, &self.columns, &mut self.arriving, memory..vectors, &mut || ())
    }

    /// Returns the dot products of the basis over all blocks of all ranks.
    ///
    /// The products of each block are added in the order of the blocks, so that the sum does not depend on the number of ranks.
    fn products(&self, places: Places, basis: Basis) -> Result<Vec<f64>> {
        let (count, blocks) = (basis.product_count(), self.entries.grid.blocks());
        let mut partial = vec![0.0; 2 * blocks * count];
        let columns = self.columns.iter().filter(|_| self.model.fixed_columns.is_none());
        let rows = self.rows.iter().map(|block| (block.number, block));
        for (slot, block) in rows.chain(columns.map(|block| (blocks + block.number, block))) {
            let place = &mut partial[slot * count..(slot + 1) * count];
            for (product, (a, b)) in place.iter_mut().zip(basis.products()) {
                *product = dot(basis_vector(block, places, basis, a), basis_vector(block, places, basis, b));
            }
        }
        // Every number is zero on all ranks but one, so that this sum is exact.
        self.entries.ranks.all_reduce_sum(&mut partial)?;
        let mut products = vec![0.0; count];
        for block in partial.chunks_exact(count) {
            products.iter_mut().zip(block).for_each(|(product, partial)| *product += partial);
        }
        Ok(products)
    }
}

/// Moves the oldest sample of a block to the new sample. Leaves the difference in `second`.
fn move_block(block: &mut FactorBlock, places: Places, basis: Basis, coefficients: &[f64], prior: FactorPrior) {
    let mut moved = std::mem::take(&mut block.second);
    moved.clear();
    moved.resize(block.length, 0.0);
    for (vector, coefficient) in coefficients.iter().enumerate() {
        let terms = basis_vector(block, places, basis, vector);
        moved.iter_mut().zip(terms).for_each(|(moved, term)| *moved += coefficient * term);
    }
    let range = block.range(places.sample());
    for (theta, moved) in block.memory[range].iter_mut().zip(&mut moved) {
        let mut new = [*theta + *moved];
        prior.mirror(&mut new);
        *moved = new[0] - *theta;
        *theta = new[0];
    }
    block.second = moved;
}

/// The second gradient of a step, on the same part at the new samples, and the pairs that follow from it.
struct SecondGradient<'a, L> {
    sampler: &'a mut BlockSampler<L>,
    places: Places,
    lambda: f64,
}

impl<L: EntryLikelihood> SecondGradient<'_, L> {
    /// Takes the blocks of H out of the sampler while they are sent.
    fn take(&mut self) -> (Vec<FactorBlock>, Vec<FactorBlock>) {
        (std::mem::take(&mut self.sampler.columns), std::mem::take(&mut self.sampler.arriving))
    }

    /// Computes the gradients, and the pairs of W. Returns the gradients of H.
    fn compute(&mut self, held: &[FactorBlock]) -> Vec<Vec<f64>> {
        let (sample, lambda, places) = (self.places.sample(), self.lambda, self.places);
        let BlockSampler { model, entries, rows, part, .. } = &mut *self.sampler;
        let weight = weight(entries, *part);
        let mut columns = Vec::with_capacity(held.len());
        for (index, (w, h)) in rows.iter_mut().zip(held).enumerate() {
            let mut w_gradient = std::mem::take(&mut w.noise);
            w_gradient.fill(0.0);
            let mut h_gradient = vec![0.0; if model.fixed_columns.is_none() { h.length } else { 0 }];
            let block = entries.block(index, h.number);
            let place = model.fixed_columns.is_none().then_some(&mut h_gradient[..]);
            let (ws, hs) = (w.vector(sample), h.vector(sample));
            add_gradients(&model.likelihood, block, model.factors, ws, hs, &mut w_gradient, place);
            model.row_prior.complete(weight, ws, &mut w_gradient);
            model.column_prior.complete(weight, hs, &mut h_gradient);
            set_pair(w, places, lambda, &w_gradient);
            w.noise = w_gradient;
            columns.push(h_gradient);
        }
        columns
    }

    /// Returns the blocks of H to the sampler, with their pairs.
    fn give_back(self, mut held: Vec<FactorBlock>, arriving: Vec<FactorBlock>, gradients: &[Vec<f64>]) {
        if self.sampler.model.fixed_columns.is_none() {
            let blocks = held.iter_mut().zip(gradients);
            blocks.for_each(|(block, gradient)| set_pair(block, self.places, self.lambda, gradient));
        }
        (self.sampler.columns, self.sampler.arriving) = (held, arriving);
    }
}

/// Stores the pair of this iteration: s is in `second`, and y = g − g' + λs, where g' is the gradient at the new sample.
fn set_pair(block: &mut FactorBlock, places: Places, lambda: f64, new_gradient: &[f64]) {
    let place = places.pair(places.t);
    let (s, y) = (block.range(place), block.range(place + 1));
    block.memory[s].copy_from_slice(&block.second);
    let FactorBlock { memory, gradient, second, .. } = block;
    for (((y, g), new), s) in memory[y].iter_mut().zip(&*gradient).zip(new_gradient).zip(&*second) {
        *y = g - new + lambda * s;
    }
}
