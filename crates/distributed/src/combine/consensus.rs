//! Consensus Monte Carlo: see [`Consensus`].

use sgmcmc_fit::Tempering;
use sgmcmc_gradient::rng::StreamRng;

use super::normal::{Normal, factor, variances};
use super::{Combination, DrawOrder, Draws, Result, shortest};

/// The weight matrices W_s of weighted averages.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::Weights;
///
/// assert_eq!(Weights::default(), Weights::Covariance);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// The inverse of the sample covariance of the shard. It needs more draws than coordinates, and memory for a matrix
    /// per shard.
    #[default]
    Covariance,
    /// The inverse of the sample variances. It ignores correlations.
    Variances,
    /// The same weight for every shard.
    Equal,
}

/// Consensus Monte Carlo (Scott et al. 2016): weighted averages of the draws of the shards.
///
/// ```text
/// θ_i = (Σ_s W_s)⁻¹ Σ_s W_s θ_si
/// ```
///
/// With [`Weights::Covariance`] it is exact for normal subposteriors. Draw i of every shard is used once, so that the
/// combined draws have the autocorrelation of those of the shards. If the shards differ in the number of draws, the
/// longer ones are thinned.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::{Combination, Consensus, Draws, Weights};
///
/// let one = Draws::new(vec![0.0, 2.0, 4.0], 1)?;
/// let other = Draws::new(vec![2.0, 6.0, 4.0], 1)?;
/// let consensus = Consensus { weights: Weights::Equal };
/// assert_eq!(consensus.combine(&[one, other], 0)?.values(), [1.0, 4.0, 4.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Consensus {
    /// The weights.
    pub weights: Weights,
}

impl Combination for Consensus {
    fn name(&self) -> &'static str {
        "consensus"
    }

    fn order(&self) -> DrawOrder {
        DrawOrder::Paired
    }

    fn apply(&self, shards: &[Draws], _tempering: Tempering, _rng: &mut StreamRng) -> Result<Draws> {
        let count = shortest(shards);
        let all: Vec<&Draws> = shards.iter().collect();
        let average = Average::new(self.weights, &all, self.name())?;
        let shards: Vec<Draws> = shards.iter().map(|draws| draws.thinned_to(count)).collect();
        let d = average.dim;
        let mut values = vec![0.0; count * d];
        for (index, row) in values.chunks_exact_mut(d).enumerate() {
            average.write(shards.iter().map(|draws| draws.row(index)), row);
        }
        Ok(Draws::from_parts(values, d))
    }
}

/// The weighted average of one draw per shard.
pub(super) struct Average {
    dim: usize,
    kind: Kind,
}

enum Kind {
    Covariance {
        shards: Vec<Normal>,
        /// The sum of the inverse covariances.
        sum: sgmcmc_numerics::Cholesky,
    },
    /// The weights of each shard, which sum to one for every coordinate.
    Diagonal(Vec<Vec<f64>>),
}

impl Average {
    /// Creates the average with weights from the draws of `shards`.
    pub(super) fn new(weights: Weights, shards: &[&Draws], method: &'static str) -> Result<Self> {
        let dim = shards.first().map_or(0, |draws| draws.dim());
        let kind = match weights {
            Weights::Covariance => {
                let normals = Normal::estimate_all(shards.iter().copied(), method)?;
                let mut sum = vec![0.0; dim * dim];
                let mut inverse = vec![0.0; dim * dim];
                for normal in &normals {
                    normal.cholesky.inverse(&mut inverse);
                    sum.iter_mut().zip(&inverse).for_each(|(sum, entry)| *sum += entry);
                }
                Kind::Covariance { shards: normals, sum: factor(&sum, dim, 0)? }
            }
            Weights::Variances => {
                let inverse = |(shard, draws): (usize, &&Draws)| {
                    let variances = variances(draws, shard, method)?;
                    Ok(variances.into_iter().map(f64::recip).collect())
                };
                let mut inverse: Vec<Vec<f64>> = shards.iter().enumerate().map(inverse).collect::<Result<_>>()?;
                for k in 0..dim {
                    let sum: f64 = inverse.iter().map(|weights| weights[k]).sum();
                    inverse.iter_mut().for_each(|weights| weights[k] /= sum);
                }
                Kind::Diagonal(inverse)
            }
            Weights::Equal => Kind::Diagonal(vec![vec![1.0 / shards.len() as f64; dim]; shards.len()]),
        };
        Ok(Self { dim, kind })
    }

    /// Writes the average of `rows`, one per shard, to `out`.
    pub(super) fn write<'a>(&self, rows: impl Iterator<Item = &'a [f64]>, out: &mut [f64]) {
        out.fill(0.0);
        match &self.kind {
            Kind::Covariance { shards, sum } => {
                let mut weighted = vec![0.0; self.dim];
                for (row, shard) in rows.zip(shards) {
                    weighted.copy_from_slice(row);
                    shard.cholesky.solve(&mut weighted);
                    out.iter_mut().zip(&weighted).for_each(|(out, x)| *out += x);
                }
                sum.solve(out);
            }
            Kind::Diagonal(weights) => {
                for (row, weights) in rows.zip(weights) {
                    out.iter_mut().zip(row.iter().zip(weights)).for_each(|(out, (x, w))| *out += w * x);
                }
            }
        }
    }
}
