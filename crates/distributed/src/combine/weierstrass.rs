//! Rejection of pairs of draws: see [`Weierstrass`].

use rand::RngExt;
use rand::seq::SliceRandom;
use sgmcmc_fit::Tempering;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_numerics::{Cholesky, vector::dot};

use super::consensus::Average;
use super::normal::{Normal, factor, variances};
use super::{Combination, DrawOrder, Draws, Error, Result, Weights, draw_count};

/// The Weierstrass rejection sampler (Wang & Dunson 2013): shards are combined in pairs, and the results in pairs again.
///
/// A draw θ_a of one shard and a draw θ_b of the other are accepted with probability exp(−½ δᵀ (Σ_a + Σ_b)⁻¹ δ/h²),
/// δ = θ_a − θ_b, and replaced by their average with the weights of [`Consensus`](super::Consensus). As h → 0, the
/// averages have the density of the product. h follows from the wanted share of accepted pairs. Pairs are drawn until
/// there are enough averages.
///
/// A smaller acceptance is closer to the product, and uses fewer different draws of the shards. With an acceptance of one
/// the result is consensus in pairs, so that normal subposteriors are combined exactly for every acceptance. The share
/// of pairs that are close falls with the dimension.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::{Combination, Draws, Weierstrass};
///
/// let shard = |shift: f64| Draws::new((0..100).map(|k| shift + f64::from(k % 10)).collect(), 1);
/// let sampler = Weierstrass { acceptance: 0.05, ..Weierstrass::default() };
/// assert_eq!(sampler.combine(&[shard(0.0)?, shard(1.0)?], 1)?.len(), 100);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weierstrass {
    /// The share of accepted pairs, from 0.001 to 1.
    pub acceptance: f64,
    /// The weights of averages. [`Weights::Covariance`] measures distances with the full covariances, the others with
    /// the variances.
    pub weights: Weights,
    /// The number of draws of every combination. `None` makes as many as the shortest shard has.
    pub draws: Option<usize>,
}

impl Default for Weierstrass {
    fn default() -> Self {
        Self { acceptance: 0.1, weights: Weights::Covariance, draws: None }
    }
}

/// A set of combined shards.
struct Node {
    /// The index of its first shard.
    first: usize,
    draws: Draws,
}

impl Combination for Weierstrass {
    fn name(&self) -> &'static str {
        "weierstrass"
    }

    fn order(&self) -> DrawOrder {
        DrawOrder::New
    }

    fn apply(&self, shards: &[Draws], _tempering: Tempering, rng: &mut StreamRng) -> Result<Draws> {
        if !(0.001..=1.0).contains(&self.acceptance) {
            let (name, value) = ("the acceptance", self.acceptance);
            return Err(Error::Setting { name, value, expected: "it must be between 0.001 and 1" });
        }
        let count = draw_count(self.draws, shards)?;
        let node = |(first, draws): (usize, &Draws)| Node { first, draws: draws.clone() };
        let mut level: Vec<Node> = shards.iter().enumerate().map(node).collect();
        while level.len() > 1 {
            let mut next = Vec::with_capacity(level.len().div_ceil(2));
            let mut nodes = level.into_iter();
            while let Some(one) = nodes.next() {
                next.push(match nodes.next() {
                    Some(other) => self.pair(&one, &other, count, rng)?,
                    None => one,
                });
            }
            level = next;
        }
        level.pop().map(|node| node.draws).ok_or(Error::NoShards)
    }
}

impl Weierstrass {
    /// Combines two sets of draws.
    fn pair(&self, one: &Node, other: &Node, count: usize, rng: &mut StreamRng) -> Result<Node> {
        let n = one.draws.len().min(other.draws.len());
        // Moments are those of all draws.
        let pair = [one.draws.thinned_to(n), other.draws.thinned_to(n)];
        let indices = [one.first, other.first];
        let named = |error| match error {
            Error::Singular { shard, row } => Error::Singular { shard: indices[shard], row },
            Error::TooFewDraws { shard, found, least, method, remedy } => {
                Error::TooFewDraws { shard: indices[shard], found, least, method, remedy }
            }
            other => other,
        };
        let all = [&one.draws, &other.draws];
        let average = Average::new(self.weights, &all, self.name()).map_err(named)?;
        let distance = Distance::new(self.weights, all, self.name()).map_err(named)?;
        let d = pair[0].dim();
        let mut partners: Vec<usize> = (0..n).collect();
        let (mut accepted, mut squares, mut bandwidth) = (Vec::new(), Vec::with_capacity(n), None);
        // Whole rounds use all draws equally often.
        while accepted.len() < count * d {
            partners.shuffle(rng);
            squares.clear();
            squares.extend(partners.iter().enumerate().map(|(i, j)| distance.square(pair[0].row(i), pair[1].row(*j))));
            let h = *bandwidth.get_or_insert_with(|| squared_bandwidth(&squares, self.acceptance));
            for (i, (j, square)) in partners.iter().zip(&squares).enumerate() {
                if rng.random::<f64>() < (-0.5 * square / h).exp() {
                    let end = accepted.len();
                    accepted.resize(end + d, 0.0);
                    average.write([pair[0].row(i), pair[1].row(*j)].into_iter(), &mut accepted[end..]);
                }
            }
        }
        let accepted = Draws::from_parts(accepted, d);
        let mut kept: Vec<usize> = (0..accepted.len()).collect();
        kept.shuffle(rng);
        Ok(Node { first: one.first, draws: accepted.only(&kept[..count]) })
    }
}

/// The squared distance δᵀ (Σ_a + Σ_b)⁻¹ δ of two draws.
enum Distance {
    Covariance(Cholesky),
    Variances(Vec<f64>),
}

impl Distance {
    fn new(weights: Weights, [one, other]: [&Draws; 2], method: &'static str) -> Result<Self> {
        Ok(match weights {
            Weights::Covariance => {
                let (one, other) = (Normal::estimate(one, 0, method)?, Normal::estimate(other, 1, method)?);
                let sum: Vec<f64> = one.covariance.iter().zip(&other.covariance).map(|(a, b)| a + b).collect();
                Self::Covariance(factor(&sum, one.dim(), 0)?)
            }
            Weights::Variances | Weights::Equal => {
                let (one, other) = (variances(one, 0, method)?, variances(other, 1, method)?);
                Self::Variances(one.iter().zip(&other).map(|(a, b)| a + b).collect())
            }
        })
    }

    fn square(&self, one: &[f64], other: &[f64]) -> f64 {
        match self {
            Self::Covariance(cholesky) => {
                let mut z: Vec<f64> = one.iter().zip(other).map(|(a, b)| a - b).collect();
                cholesky.solve_lower(&mut z);
                dot(&z, &z)
            }
            Self::Variances(variances) => {
                one.iter().zip(other).zip(variances).map(|((a, b), variance)| (a - b).powi(2) / variance).sum()
            }
        }
    }
}

/// Returns the h² at which the mean of exp(−½ q/h²) over `squares` is `acceptance`.
fn squared_bandwidth(squares: &[f64], acceptance: f64) -> f64 {
    if acceptance >= 1.0 {
        return f64::INFINITY;
    }
    let scale = -2.0 * acceptance.ln();
    // Every term is at most the acceptance at the lower bound, and at least the acceptance at the upper one.
    let mut low = squares.iter().copied().fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE) / scale;
    let mut high = squares.iter().copied().fold(f64::MIN_POSITIVE, f64::max) / scale;
    for _ in 0..80 {
        let middle = low.sqrt() * high.sqrt();
        let mean = squares.iter().map(|q| (-0.5 * q / middle).exp()).sum::<f64>() / squares.len() as f64;
        if mean < acceptance { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::StandardNormal;

    use super::*;

    #[test]
    fn the_bandwidth_gives_the_acceptance() {
        let squares: Vec<f64> = (1..1000).map(|k| f64::from(k) * 0.01).collect();
        for acceptance in [0.001, 0.1, 0.9] {
            let h = squared_bandwidth(&squares, acceptance);
            let mean = squares.iter().map(|q| (-0.5 * q / h).exp()).sum::<f64>() / squares.len() as f64;
            assert!((mean - acceptance).abs() < 1e-9, "{mean} {acceptance}");
        }
        // Equal draws are always accepted.
        assert!((-0.5 * 0.0 / squared_bandwidth(&[0.0, 0.0], 0.5)).exp() > 0.99);
    }

    /// Distances are those of the sum of the covariances.
    #[test]
    fn distances_are_in_units_of_both_covariances() {
        let one = Draws::new(vec![1.0, 2.0, -1.0, 0.0, 0.0, -2.0, 1.0, 1.0, -1.0, -1.0], 2).unwrap();
        let other = Draws::new(vec![2.0, 0.0, -2.0, 0.0, 0.0, 2.0, 0.0, -2.0, 0.0, 0.0], 2).unwrap();
        let covariance = |draws| Normal::estimate(draws, 0, "test").unwrap().covariance;
        let sum: Vec<f64> = covariance(&one).iter().zip(covariance(&other)).map(|(a, b)| a + b).collect();
        let (dx, dy) = (1.5, -0.5);
        let determinant = sum[0] * sum[3] - sum[1] * sum[2];
        let full = (sum[3] * dx * dx - 2.0 * sum[1] * dx * dy + sum[0] * dy * dy) / determinant;
        let diagonal = dx * dx / sum[0] + dy * dy / sum[3];
        for (weights, expected) in
            [(Weights::Covariance, full), (Weights::Variances, diagonal), (Weights::Equal, diagonal)]
        {
            let distance = Distance::new(weights, [&one, &other], "test").unwrap();
            let found = distance.square(&[2.0, 0.5], &[0.5, 1.0]);
            assert!((found - expected).abs() < 1e-12, "{weights:?}: {found} {expected}");
        }
    }

    /// Normal draws with variances v and w have distances N(0, v + w), and accepted ones N(0, a² (v + w)) at the acceptance a. So
    /// averages with equal weights have the variance v w/(v + w) + a² (v − w)²/(4 (v + w)).
    #[test]
    fn accepted_averages_have_their_law() {
        let (v, w, count) = (1.0_f64, 9.0_f64, 20_000);
        let mut rng = StreamRng::seed_from_u64(6);
        let mut shard = |variance: f64| {
            let draw = |_| variance.sqrt() * rng.sample::<f64, _>(StandardNormal);
            Draws::new((0..count).map(draw).collect(), 1).unwrap()
        };
        let shards = [shard(v), shard(w)];
        for acceptance in [0.1, 0.5, 1.0_f64] {
            let method = Weierstrass { acceptance, weights: Weights::Equal, draws: None };
            let found = variances(&method.combine(&shards, 1).unwrap(), 0, "test").unwrap()[0];
            let expected = v * w / (v + w) + acceptance.powi(2) * (v - w).powi(2) / (4.0 * (v + w));
            // The shards have 20 000 independent draws, of which the averages use some more than once.
            assert!((found / expected - 1.0).abs() < 0.05, "{acceptance}: {found} {expected}");
        }
    }
}
