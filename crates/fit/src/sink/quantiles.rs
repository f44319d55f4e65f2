//! Streaming quantiles: a weighted merging t-digest per value, in constant memory.
//!
//! Source: Dunning & Ertl (2019), algorithm 1 with the scale function k₁(q) = δ/(2π) asin(2q − 1). Draws are collected
//! in a buffer and merged into about δ centroids. Centroids are small in the tails and large in the middle.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::Result;

use super::{Draw, Schema, Sink};
use crate::codec::{decode, encode};

/// The compression δ, which is about the maximal number of centroids. At 200 the error of a quantile is far below the
/// Monte Carlo error of most runs.
const COMPRESSION: f64 = 200.0;

/// The number of draws in the buffer before they are merged.
const BUFFER: usize = 500;

/// A t-digest: the approximate quantiles of a stream of weighted numbers.
///
/// # Examples
///
/// ```
/// use sgmcmc::sink::TDigest;
///
/// let mut digest = TDigest::default();
/// (0..=1000).for_each(|k| digest.push(f64::from(k), 1.0));
/// assert!((digest.quantile(0.5) - 500.0).abs() < 2.0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TDigest {
    /// The means and weights of the centroids, sorted by mean.
    centroids: Vec<(f64, f64)>,
    buffer: Vec<(f64, f64)>,
    smallest: Option<f64>,
    largest: Option<f64>,
}

impl TDigest {
    /// Adds a number with a weight.
    pub fn push(&mut self, value: f64, weight: f64) {
        self.smallest = Some(self.smallest.map_or(value, |smallest| smallest.min(value)));
        self.largest = Some(self.largest.map_or(value, |largest| largest.max(value)));
        self.buffer.push((value, weight));
        if self.buffer.len() >= BUFFER {
            self.merge();
        }
    }

    /// Returns the quantile at `p`, which lies between the smallest and the largest number. Returns NaN if the digest
    /// is empty.
    pub fn quantile(&self, p: f64) -> f64 {
        let mut digest = self.clone();
        digest.merge();
        let (Some(smallest), Some(largest)) = (digest.smallest, digest.largest) else { return f64::NAN };
        let total: f64 = digest.centroids.iter().map(|(_, weight)| weight).sum();
        // Interpolate between centroids, which are at the middles of their weights. The ends are the extremes.
        let (mut previous, mut before) = ((0.0, smallest), 0.0);
        for (mean, weight) in &digest.centroids {
            let next = ((before + 0.5 * weight) / total, *mean);
            if p <= next.0 {
                return interpolate(previous, next, p);
            }
            (previous, before) = (next, before + weight);
        }
        interpolate(previous, (1.0, largest), p)
    }

    /// Merges the buffer into the centroids.
    fn merge(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        let mut points = std::mem::take(&mut self.centroids);
        points.append(&mut self.buffer);
        points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = points.iter().map(|(_, weight)| weight).sum();
        let scale = |q: f64| COMPRESSION / (2.0 * PI) * (2.0 * q - 1.0).clamp(-1.0, 1.0).asin();
        let (mut before, mut merged): (f64, Vec<(f64, f64)>) = (0.0, Vec::new());
        for (value, weight) in points {
            match merged.last_mut() {
                Some((mean, held)) if scale((before + *held + weight) / total) - scale(before / total) <= 1.0 => {
                    *held += weight;
                    *mean += (value - *mean) * weight / *held;
                }
                last => {
                    before += last.map_or(0.0, |(_, held)| *held);
                    merged.push((value, weight));
                }
            }
        }
        self.centroids = merged;
    }
}

/// Interpolates linearly between two points of the quantile function.
fn interpolate((p0, x0): (f64, f64), (p1, x1): (f64, f64), p: f64) -> f64 {
    if p1 > p0 { x0 + (x1 - x0) * ((p - p0) / (p1 - p0)).clamp(0.0, 1.0) } else { x1 }
}

/// A sink that keeps a [`TDigest`] of every value and does not keep draws.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::sink::Quantiles;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let run = hmc(&model, &Dataset::none(), 0.025).seed(1);
/// let chains = run.sample_into(&zeros([2]), 500, |_chain| Quantiles::new())?;
/// let (digests, _outcome) = &chains[0];
/// assert!(digests[0].quantile(0.05) < digests[0].quantile(0.95));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Quantiles {
    digests: Vec<TDigest>,
}

impl Quantiles {
    /// Creates a sink without draws.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Sink for Quantiles {
    type Output = Vec<TDigest>;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.digests = vec![TDigest::default(); schema.layout.value_count()];
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        self.digests.iter_mut().zip(draw.values).for_each(|(digest, value)| digest.push(*value, draw.weight));
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&self.digests)
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        self.digests = decode(saved)?;
        Ok(())
    }

    fn finish(self) -> Vec<TDigest> {
        self.digests
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;
    use sgmcmc_gradient::rng::StreamRng;

    #[test]
    fn quantiles_of_many_draws_are_close_to_the_sorted_ones() {
        let mut rng = StreamRng::seed_from_u64(3);
        let mut digest = TDigest::default();
        let mut draws: Vec<f64> = (0..100_000).map(|_| rng.sample(StandardNormal)).collect();
        draws.iter().for_each(|draw| digest.push(*draw, 0.7));
        draws.sort_unstable_by(f64::total_cmp);
        for p in [0.001, 0.05, 0.25, 0.5, 0.9, 0.999] {
            // The rank of the quantile is within 0.05 % of the requested one.
            let rank = draws.partition_point(|draw| *draw < digest.quantile(p)) as f64 / 1e5;
            assert!((rank - p).abs() < 5e-4, "p {p}: rank {rank}");
        }
        assert!(digest.centroids.len() < 300, "{} centroids", digest.centroids.len());
    }

    #[test]
    fn weights_count() {
        let mut digest = TDigest::default();
        for k in 0..1000 {
            digest.push(0.0, 1.0);
            digest.push(f64::from(k) / 1000.0 + 1.0, 3.0);
        }
        assert!((digest.quantile(0.25)).abs() < 1.0);
        assert!((digest.quantile(0.625) - 1.5).abs() < 0.02, "{}", digest.quantile(0.625));
        assert!(TDigest::default().quantile(0.5).is_nan());
    }
}
