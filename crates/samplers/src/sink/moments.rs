//! Running moments: weighted mean, and variances or the whole covariance, in one pass and constant memory.
//!
//! With W the sum of the weights so far, a draw x of weight w moves the mean by w(x − m)/W and the sum of products by
//! w (x − m)(x − m')ᵀ, m and m' the mean before and after (West 1979): no cancellation however large the mean is.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, Result};

use super::{Draw, Schema, Sink};
use crate::run::{decode, encode};

/// Which second moments are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spread {
    /// The variance of each element.
    #[default]
    Variances,
    /// The covariance of all elements, d² numbers.
    Covariance,
}

/// Weighted mean and spread of what was pushed.
///
/// ```
/// use sgmcmc_samplers::sink::RunningMoments;
///
/// let mut moments = RunningMoments::new();
/// for x in [[1.0, 0.0], [3.0, 2.0]] {
///     moments.push(&x, 1.0)?;
/// }
/// assert_eq!(moments.mean(), [2.0, 1.0]);
/// assert_eq!(moments.variances(), [2.0, 2.0]);
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunningMoments {
    spread: Spread,
    count: u64,
    weight: f64,
    squared_weights: f64,
    mean: Vec<f64>,
    /// Weighted sums of squares, or of products, row-major.
    products: Vec<f64>,
    #[serde(skip)]
    before: Vec<f64>,
}

impl RunningMoments {
    /// Means and variances.
    pub fn new() -> Self {
        Self::default()
    }

    /// Means and the whole covariance.
    pub fn with_covariance() -> Self {
        Self { spread: Spread::Covariance, ..Self::default() }
    }

    /// Takes one point.
    ///
    /// # Errors
    ///
    /// If it has another length than the first.
    pub fn push(&mut self, point: &[f64], weight: f64) -> Result<()> {
        let d = point.len();
        if self.count == 0 {
            self.mean = vec![0.0; d];
            self.products = vec![0.0; if self.spread == Spread::Covariance { d * d } else { d }];
        } else if d != self.mean.len() {
            return Err(Error::Length { what: "a point for running moments", expected: self.mean.len(), found: d });
        }
        self.count += 1;
        self.weight += weight;
        self.squared_weights += weight * weight;
        let Self { mean, products, before, .. } = self;
        before.clear();
        before.extend(point.iter().zip(mean.iter()).map(|(x, m)| x - m));
        let share = weight / self.weight;
        mean.iter_mut().zip(before.iter()).for_each(|(m, before)| *m += share * before);
        match self.spread {
            Spread::Variances => {
                for (((sum, x), m), before) in products.iter_mut().zip(point).zip(mean.iter()).zip(before.iter()) {
                    *sum += weight * before * (x - m);
                }
            }
            Spread::Covariance => {
                for (row, before) in products.chunks_exact_mut(d).zip(before.iter()) {
                    for ((sum, x), m) in row.iter_mut().zip(point).zip(mean.iter()) {
                        *sum += weight * before * (x - m);
                    }
                }
            }
        }
        Ok(())
    }

    /// How many points were taken.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The weighted mean.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The weighted variance of each element (divisor n − 1 for equal weights).
    pub fn variances(&self) -> Vec<f64> {
        let d = self.mean.len();
        let step = if self.spread == Spread::Covariance { d + 1 } else { 1 };
        self.products.iter().step_by(step).map(|sum| sum / self.divisor()).collect()
    }

    /// The weighted covariance, row-major, where it was kept.
    pub fn covariance(&self) -> Option<Vec<f64>> {
        let kept = self.spread == Spread::Covariance;
        kept.then(|| self.products.iter().map(|sum| sum / self.divisor()).collect())
    }

    fn divisor(&self) -> f64 {
        self.weight - self.squared_weights / self.weight
    }
}

/// The sink that keeps [`RunningMoments`].
#[derive(Clone, Debug, Default)]
pub struct Moments {
    moments: RunningMoments,
}

impl Moments {
    /// Means, and variances or the covariance.
    pub fn new(spread: Spread) -> Self {
        Self { moments: RunningMoments { spread, ..RunningMoments::default() } }
    }
}

impl Sink for Moments {
    type Output = RunningMoments;

    fn begin(&mut self, _schema: &Schema) -> Result<()> {
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        self.moments.push(draw.values, draw.weight)
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&self.moments)
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        self.moments = decode(saved)?;
        Ok(())
    }

    fn finish(self) -> RunningMoments {
        self.moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTS: [[f64; 2]; 4] = [[1e8, 3.0], [1e8 + 1.0, -1.0], [1e8 + 2.0, 0.5], [1e8 - 1.0, 2.0]];
    const WEIGHTS: [f64; 4] = [0.5, 1.0, 2.0, 0.25];

    fn by_definition() -> (Vec<f64>, Vec<f64>) {
        let total: f64 = WEIGHTS.iter().sum();
        let divisor = total - WEIGHTS.iter().map(|w| w * w).sum::<f64>() / total;
        let mean: Vec<f64> =
            (0..2).map(|j| POINTS.iter().zip(WEIGHTS).map(|(x, w)| w * x[j]).sum::<f64>() / total).collect();
        let entry = |i: usize, j: usize| {
            POINTS.iter().zip(WEIGHTS).map(|(x, w)| w * (x[i] - mean[i]) * (x[j] - mean[j])).sum::<f64>() / divisor
        };
        let covariance = vec![entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1)];
        (mean, covariance)
    }

    #[test]
    fn one_pass_gives_what_the_definition_gives() {
        let (mean, covariance) = by_definition();
        for mut moments in [RunningMoments::new(), RunningMoments::with_covariance()] {
            for (point, weight) in POINTS.iter().zip(WEIGHTS) {
                moments.push(point, weight).unwrap();
            }
            let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-7 * b.abs().max(1.0));
            assert!(close(moments.mean(), &mean));
            assert!(close(&moments.variances(), &[covariance[0], covariance[3]]));
            if let Some(found) = moments.covariance() {
                assert!(close(&found, &covariance), "{found:?} against {covariance:?}");
            }
        }
    }

    #[test]
    fn points_of_another_length_are_refused() {
        let mut moments = RunningMoments::new();
        moments.push(&[1.0, 2.0], 1.0).unwrap();
        assert!(moments.push(&[1.0], 1.0).unwrap_err().to_string().contains("length 1, expected 2"));
    }
}
