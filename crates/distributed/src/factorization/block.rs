//! A block of a factor with everything that its algorithm keeps of it.

use std::ops::Range;

use super::entries::Block;
use super::likelihood::EntryLikelihood;

/// A block of W or of H, `factors` numbers per row.
#[derive(Clone, Debug, Default)]
pub(super) struct FactorBlock {
    /// The number of the block.
    pub(super) number: usize,
    /// The number of elements of the block.
    pub(super) length: usize,
    /// The samples, followed by what the metric needs, `length` numbers each. This is what moves between ranks.
    pub(super) memory: Vec<f64>,
    /// The gradient of the current iteration.
    pub(super) gradient: Vec<f64>,
    /// The gradient at the new sample, and work space.
    pub(super) second: Vec<f64>,
    /// The noise of the current iteration.
    pub(super) noise: Vec<f64>,
}

impl FactorBlock {
    /// Creates a block with `vectors` vectors of zeros.
    pub(super) fn new(number: usize, length: usize, vectors: usize) -> Self {
        let zeros = || vec![0.0; length];
        Self { number, length, memory: vec![0.0; length * vectors], gradient: zeros(), second: zeros(), noise: zeros() }
    }

    /// Gives the block another number and length. The contents are undefined.
    pub(super) fn reshape(&mut self, number: usize, length: usize, vectors: usize) {
        (self.number, self.length) = (number, length);
        self.memory.resize(length * vectors, 0.0);
        [&mut self.gradient, &mut self.second, &mut self.noise].into_iter().for_each(|v| v.resize(length, 0.0));
    }

    /// Returns the place of vector number `index` in the memory.
    pub(super) fn range(&self, index: usize) -> Range<usize> {
        index * self.length..(index + 1) * self.length
    }

    /// Returns vector number `index`.
    pub(super) fn vector(&self, index: usize) -> &[f64] {
        &self.memory[self.range(index)]
    }
}

/// Adds the derivatives of the entries of `block` to the gradients of `w` and of `h`, if it has one.
pub(super) fn add_gradients<L: EntryLikelihood>(
    likelihood: &L,
    block: &Block,
    factors: usize,
    w: &[f64],
    h: &[f64],
    w_gradient: &mut [f64],
    mut h_gradient: Option<&mut [f64]>,
) {
    for ((row, column), observed) in block.row.iter().zip(&block.column).zip(&block.value) {
        let (i, j) = (*row as usize * factors, *column as usize * factors);
        let (wi, hj) = (&w[i..i + factors], &h[j..j + factors]);
        let predicted = dot(wi, hj);
        let derivative = likelihood.derivative(predicted, *observed);
        w_gradient[i..i + factors].iter_mut().zip(hj).for_each(|(g, h)| *g += derivative * h);
        if let Some(h_gradient) = &mut h_gradient {
            h_gradient[j..j + factors].iter_mut().zip(wi).for_each(|(g, w)| *g += derivative * w);
        }
    }
}

/// Returns aᵀb.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
