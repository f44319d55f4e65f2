//! Factorization X ≈ W Hᵀ of a matrix whose blocks are divided among ranks: DSGLD, PSGLD and HAMCMC.
//!
//! X is divided into B × B blocks. Part s consists of the blocks (b, (b + s) mod B), b = 0, …, B − 1, which share no row and no
//! column. A rank holds the entries of some rows of blocks and the same blocks of W. At each iteration one part is drawn with
//! probability proportional to its number of entries, every rank computes the gradient of its blocks of the part, and the
//! blocks of H move to the ranks that need them for the next part:
//!
//! ```text
//! part 0        part 1        part 2            rank 0   W₀   X₀₀ X₀₁ X₀₂    H moves
//! 0 . .         . 0 .         . . 0             rank 1   W₁   X₁₀ X₁₁ X₁₂    between
//! . 1 .         . . 1         1 . .             rank 2   W₂   X₂₀ X₂₁ X₂₂    the ranks
//! . . 2         2 . .         . 2 .
//! ```
//!
//! The gradient of the part, times the number of all entries over that of the part, is an unbiased estimate of the
//! gradient of all entries. The draws depend on the seed and on the number of blocks. They are the same, bit for bit, on every
//! number of ranks.
//!
//! | algorithm | what moves with a block of H | global sums per iteration |
//! |---|---|---|
//! | [`BlockAlgorithm::Sgld`] (DSGLD) | H | none |
//! | [`BlockAlgorithm::Psgld`] | H, V | none |
//! | [`BlockAlgorithm::Hamcmc`] | the last M samples of H, M − 1 pairs | 7 dot products for M = 2 |
//!
//! Blocks of H are on their way while W is updated (SGLD, PSGLD) or while the second gradient is computed (HAMCMC).
//!
//! Sources: Ahn et al. (2015), DSGLD; Şimşekli et al. (2015), parallel SGLD; Şimşekli et al. (2016), §4.3 and Fig. 4, for PSGLD and
//! HAMCMC.

mod algorithm;
mod block;
mod entries;
mod grid;
mod hamcmc;
mod likelihood;
mod model;
mod movement;
mod predictions;
mod prior;
mod quasi_newton;
mod random;
mod run;
mod sampler;
#[cfg(test)]
mod tests;

pub use algorithm::BlockAlgorithm;
pub use entries::BlockedEntries;
pub use grid::Grid;
pub use likelihood::{EntryLikelihood, EntryTerm, GaussianEntries, PoissonEntries};
pub use model::BlockedFactorization;
pub use predictions::{BlockPredictions, Rmse};
pub use prior::FactorPrior;
pub use run::BlockRun;
pub use sampler::{BlockSampler, Factors};
