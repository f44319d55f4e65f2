//! Kernel Stein discrepancies: distances between draws and a target given by its scores ∇ log p, without a reference
//! sample.
//!
//! For a smooth kernel k the Stein kernel
//!
//! ```text
//! k₀(x, y) = s(x)·s(y) k(x, y) + s(x)·∇_y k(x, y) + s(y)·∇_x k(x, y) + ∇_x·∇_y k(x, y),   s = ∇ log p
//! ```
//!
//! has mean zero under p in either argument. For draws of p, Σ w_i w_j k₀(x_i, x_j)/(Σw)² therefore tends to zero,
//! and for other draws to a positive number (Liu, Lee & Jordan 2016; Chwialkowski, Strathmann & Gretton 2016; Gorham
//! & Mackey 2017). [`imq`] sums over all pairs. [`fssd`] takes time linear in the number of draws.
//!
//! Scores may be exact or minibatch estimates. Independent noise in the scores does not change the mean of k₀ for
//! pairs of different draws. Prefer the U-statistic, which excludes the diagonal, for minibatch scores.
//! [`Points::columns`] selects columns, for the discrepancy of one block of parameters.

mod fssd;
mod imq;
mod points;

pub use fssd::{Kernel, fssd, locations};
pub use imq::{Imq, imq};
pub use points::Points;

/// Two estimates of a squared discrepancy.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::ksd::Discrepancy;
///
/// assert_eq!(Discrepancy { v: 4.0, u: 3.9 }.value(), 2.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discrepancy {
    /// The V-statistic, over all pairs: the squared discrepancy of the empirical distribution, which is not negative.
    pub v: f64,
    /// The U-statistic, over pairs of different draws: an unbiased estimate with mean zero for draws of the target.
    pub u: f64,
}

impl Discrepancy {
    /// Returns the discrepancy √v.
    pub fn value(&self) -> f64 {
        self.v.max(0.0).sqrt()
    }
}
