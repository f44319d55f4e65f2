//! Kernel Stein discrepancies: how far draws are from the law whose scores ∇ log p they come with, without a reference sample.
//!
//! For a smooth kernel k the Stein kernel
//!
//! ```text
//! k₀(x, y) = s(x)·s(y) k(x, y) + s(x)·∇_y k(x, y) + s(y)·∇_x k(x, y) + ∇_x·∇_y k(x, y),   s = ∇ log p
//! ```
//!
//! has mean zero under p in either argument, so Σ w_i w_j k₀(x_i, x_j)/(Σw)² shrinks to zero for draws of p and to something positive for others (Liu,
//! Lee & Jordan 2016; Chwialkowski, Strathmann & Gretton 2016; Gorham & Mackey 2017). [`imq`] sums all pairs, [`fssd`] takes time linear in the draws.
//!
//! Scores are exact or of minibatches: noise that is independent of the draws keeps the mean of k₀ at zero off the diagonal, so prefer the U-statistic,
//! which leaves the diagonal out, with minibatch scores. For some of the columns ([`Points::columns`]) the discrepancy is that of the block.

mod fssd;
mod imq;
mod points;

pub use fssd::{Kernel, fssd, locations};
pub use imq::{Imq, imq};
pub use points::Points;

/// A squared discrepancy, by its two estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discrepancy {
    /// The V-statistic, over all pairs: the squared discrepancy of the draws as they are, never negative.
    pub v: f64,
    /// The U-statistic, over pairs of different draws: unbiased, about zero for draws of the law.
    pub u: f64,
}

impl Discrepancy {
    /// The discrepancy √v.
    pub fn value(&self) -> f64 {
        self.v.max(0.0).sqrt()
    }
}
