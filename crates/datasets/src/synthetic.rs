//! Random draws for the synthetic data sets.

use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use sgmcmc_gradient::rng::StreamRng;

use sgmcmc_storage::error::Result;

/// Creates the RNG of a synthetic data set.
pub(super) fn generator(seed: u64) -> StreamRng {
    StreamRng::seed_from_u64(seed)
}

/// Returns an error if `n` is not in `range`.
pub(super) fn check_size(n: usize, range: std::ops::RangeInclusive<usize>, expected: &'static str) -> Result<()> {
    if range.contains(&n) {
        return Ok(());
    }
    Err(sgmcmc_gradient::Error::Setting { name: "the number of observations", value: n.to_string(), expected }.into())
}

/// Draws a standard normal number.
pub(super) fn normal(rng: &mut StreamRng) -> f64 {
    StandardNormal.sample(rng)
}

/// Draws `count` normal numbers with standard deviation `scale`.
pub(super) fn normals(count: usize, scale: f64, rng: &mut StreamRng) -> Vec<f64> {
    (0..count).map(|_| scale * normal(rng)).collect()
}

/// A categorical distribution, sampled by bisection of the cumulative weights.
pub(super) struct Categories {
    /// The cumulative weights.
    sums: Vec<f64>,
}

impl Categories {
    /// Creates a distribution of indices with probabilities proportional to `weights`.
    pub(super) fn new(weights: impl IntoIterator<Item = f64>) -> Self {
        let sums = weights.into_iter().scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        Self { sums: sums.collect() }
    }

    /// Creates a distribution of the indices below `count` whose probabilities decrease as a power law.
    pub(super) fn popular(count: usize) -> Self {
        Self::new((0..count).map(|rank| 1.0 / (rank as f64 + 1.0 + 0.02 * count as f64)))
    }

    /// Draws an index.
    pub(super) fn draw(&self, rng: &mut StreamRng) -> usize {
        let total = self.sums.last().copied().unwrap_or_default();
        let target = rng.random::<f64>() * total;
        self.sums.partition_point(|sum| *sum <= target).min(self.sums.len().saturating_sub(1))
    }
}

/// Returns `true` with probability 1/(1 + exp(−logit)).
pub(super) fn bernoulli(logit: f64, rng: &mut StreamRng) -> bool {
    rng.random::<f64>() < 1.0 / (1.0 + (-logit).exp())
}

/// Draws an index with probability proportional to exp(score).
pub(super) fn softmax_draw(scores: &[f64], rng: &mut StreamRng) -> usize {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Categories::new(scores.iter().map(|score| (score - largest).exp())).draw(rng)
}

/// Draws `n` ratings from 1 to 5 of `items` by `users`, without duplicate pairs. Returns users, items and ratings.
///
/// A rating is the rounded sum of a mean, the biases of user and item, the product of their five factors, and noise.
pub(super) fn ratings(n: usize, users: usize, items: usize, rng: &mut StreamRng) -> (Vec<i64>, Vec<i64>, Vec<f32>) {
    const FACTORS: usize = 5;
    let (user_bias, item_bias) = (normals(users, 0.4, rng), normals(items, 0.5, rng));
    let (u, v) = (normals(users * FACTORS, 0.5, rng), normals(items * FACTORS, 0.5, rng));
    let (active, popular) = (Categories::popular(users), Categories::popular(items));
    let mut seen = std::collections::HashSet::with_capacity(n);
    let (mut user_of, mut item_of, mut rating_of) = (Vec::new(), Vec::new(), Vec::new());
    while user_of.len() < n {
        let (user, item) = (active.draw(rng), popular.draw(rng));
        if !seen.insert((user, item)) {
            continue;
        }
        let factors = |all: &[f64], index: usize| all[index * FACTORS..(index + 1) * FACTORS].to_vec();
        let product: f64 = factors(&u, user).iter().zip(factors(&v, item)).map(|(a, b)| a * b).sum();
        let value = 3.55 + user_bias[user] + item_bias[item] + product + 0.7 * normal(rng);
        user_of.push(user as i64);
        item_of.push(item as i64);
        rating_of.push(value.round().clamp(1.0, 5.0) as f32);
    }
    (user_of, item_of, rating_of)
}
