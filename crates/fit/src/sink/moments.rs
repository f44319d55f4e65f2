//! Running moments: the weighted mean, and the variances or the covariance, in one pass and constant memory.
//!
//! The algorithm is that of West (1979). Let W be the sum of the weights with the new draw, and let m and m' be the
//! means before and after it. A draw x of weight w adds w(x − m)/W to the mean and w (x − m)(x − m')ᵀ to the sum of
//! products. There is no cancellation for means that are large relative to the standard deviation.

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{Error, Result};

use super::{Draw, Schema, Sink};
use crate::codec::{decode, encode};

/// The second moments that [`Moments`] accumulates.
///
/// # Examples
///
/// See [`Moments`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SecondMoments {
    /// The variance of each element.
    #[default]
    Variances,
    /// The d × d covariance matrix of all elements.
    Covariance,
}

/// The weighted mean and the second moments of a stream of points.
///
/// # Examples
///
/// ```
/// use sgmcmc::sink::RunningMoments;
///
/// let mut moments = RunningMoments::new();
/// for x in [[1.0, 0.0], [3.0, 2.0]] {
///     moments.push(&x, 1.0)?;
/// }
/// assert_eq!(moments.mean(), [2.0, 1.0]);
/// assert_eq!(moments.variances(), [2.0, 2.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunningMoments {
    spread: SecondMoments,
    count: u64,
    weight: f64,
    squared_weights: f64,
    mean: Vec<f64>,
    /// The weighted sums of squares, or of products in row-major order.
    products: Vec<f64>,
    /// The difference between the point and the previous mean.
    #[serde(skip)]
    delta: Vec<f64>,
}

impl RunningMoments {
    /// Creates an accumulator of means and variances.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an accumulator of means and the covariance matrix.
    pub fn with_covariance() -> Self {
        Self { spread: SecondMoments::Covariance, ..Self::default() }
    }

    /// Adds a point.
    ///
    /// # Errors
    ///
    /// Returns an error if the length of the point differs from that of the first point.
    pub fn push(&mut self, point: &[f64], weight: f64) -> Result<()> {
        let d = point.len();
        if self.count == 0 {
            self.mean = vec![0.0; d];
            self.products = vec![0.0; if self.spread == SecondMoments::Covariance { d * d } else { d }];
        } else if d != self.mean.len() {
            return Err(Error::Length { what: "a point for running moments", expected: self.mean.len(), found: d });
        }
        self.count += 1;
        self.weight += weight;
        self.squared_weights += weight * weight;
        let Self { mean, products, delta, .. } = self;
        delta.clear();
        delta.extend(point.iter().zip(mean.iter()).map(|(x, m)| x - m));
        let share = weight / self.weight;
        mean.iter_mut().zip(delta.iter()).for_each(|(m, delta)| *m += share * delta);
        match self.spread {
            SecondMoments::Variances => {
                for (((sum, x), m), delta) in products.iter_mut().zip(point).zip(mean.iter()).zip(delta.iter()) {
                    *sum += weight * delta * (x - m);
                }
            }
            SecondMoments::Covariance => {
                for (row, delta) in products.chunks_exact_mut(d).zip(delta.iter()) {
                    for ((sum, x), m) in row.iter_mut().zip(point).zip(mean.iter()) {
                        *sum += weight * delta * (x - m);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the number of points.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the weighted mean.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Returns the weighted variance of each element. The divisor is n − 1 for equal weights.
    pub fn variances(&self) -> Vec<f64> {
        let d = self.mean.len();
        let step = if self.spread == SecondMoments::Covariance { d + 1 } else { 1 };
        self.products.iter().step_by(step).map(|sum| sum / self.divisor()).collect()
    }

    /// Returns the weighted covariance in row-major order, or `None` if only variances are accumulated.
    pub fn covariance(&self) -> Option<Vec<f64>> {
        let kept = self.spread == SecondMoments::Covariance;
        kept.then(|| self.products.iter().map(|sum| sum / self.divisor()).collect())
    }

    /// Returns the divisor of unbiased weighted variances, Σw − Σw²/Σw.
    fn divisor(&self) -> f64 {
        self.weight - self.squared_weights / self.weight
    }
}

/// A sink that accumulates [`RunningMoments`] and does not keep draws.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::sink::{Moments, SecondMoments};
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let run = hmc(&model, &Dataset::none(), 0.025).seed(1);
/// let chains = run.sample_into(&zeros([2]), 500, |_chain| Moments::new(SecondMoments::Covariance))?;
/// let (moments, _outcome) = &chains[0];
/// assert_eq!(moments.count(), 500);
/// assert_eq!(moments.covariance().map(|entries| entries.len()), Some(4));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Moments {
    moments: RunningMoments,
}

impl Moments {
    /// Creates a sink that accumulates means and the given second moments.
    pub fn new(spread: SecondMoments) -> Self {
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

    fn moments_by_definition() -> (Vec<f64>, Vec<f64>) {
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
    fn moments_agree_with_the_definition() {
        let (mean, covariance) = moments_by_definition();
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
    fn points_of_another_length_are_errors() {
        let mut moments = RunningMoments::new();
        moments.push(&[1.0, 2.0], 1.0).unwrap();
        assert!(moments.push(&[1.0], 1.0).unwrap_err().to_string().contains("length 1, expected 2"));
    }
}
