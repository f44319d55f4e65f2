//! Position-dependent matrices: see [`Metric`].

use std::fmt;
use std::sync::Arc;

use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::{Error, Fingerprint, Result};

use crate::run::guard;

/// A function that writes its value at θ into a slice.
type MatrixFunction = dyn Fn(&[f64], &mut [f64]) + Send + Sync;

/// A position-dependent symmetric positive definite matrix M(θ), diagonal or dense, and Γᵢ(θ) = Σⱼ ∂Mᵢⱼ/∂θⱼ.
///
/// θ is the vector of unconstrained coordinates of the chain, in the order of its [`Layout`](sgmcmc_gradient::Layout).
/// If Γ is not given, it is computed by central differences of M, with about ten accurate digits and 2d evaluations of
/// M per step.
///
/// Used by [`Sgrld`](crate::langevin::Sgrld) and [`RiemannianMala`](crate::metropolis::RiemannianMala).
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Metric;
///
/// let metric = Metric::diagonal(|theta, m| m.copy_from_slice(&[1.0, 1.0 / (1.0 + theta[0] * theta[0])]))
///     .with_gamma(|_, gamma| gamma.fill(0.0));
/// let mut m = Vec::new();
/// metric.at(&[2.0, 0.0], &mut m)?;
/// assert_eq!(m, [1.0, 0.2]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone)]
pub struct Metric {
    shape: MetricShape,
    at: Arc<MatrixFunction>,
    gamma: Option<Arc<MatrixFunction>>,
}

/// The shape of a [`Metric`], of the matrices of [`Sgfs`](crate::langevin::Sgfs), and of the mass of a
/// [`WarmUp`](crate::metropolis::WarmUp).
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{Metric, MetricShape};
///
/// assert_eq!(Metric::diagonal(|_, m| m.fill(1.0)).shape(), MetricShape::Diagonal);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetricShape {
    /// The d entries of the diagonal.
    Diagonal,
    /// All d² entries, in row-major order.
    Dense,
}

impl MetricShape {
    /// Returns the size in bytes of `matrices` matrices of this shape; zero for diagonal matrices.
    pub(crate) fn dense_bytes(self, dim: usize, matrices: usize) -> usize {
        match self {
            Self::Diagonal => 0,
            Self::Dense => dim.saturating_mul(dim).saturating_mul(matrices * size_of::<f64>()),
        }
    }
}

/// The scales of the displacements of the points at which metrics are compared.
const DISPLACEMENTS: [f64; 6] = [0.0, 1e-3, 0.1, 1.0, 3.0, 10.0];

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gamma = if self.gamma.is_some() { "given" } else { "by differences" };
        f.debug_struct("Metric").field("shape", &self.shape).field("gamma", &gamma).finish_non_exhaustive()
    }
}

impl Metric {
    /// Creates a diagonal M. `m` writes d positive numbers.
    pub fn diagonal(m: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        Self { shape: MetricShape::Diagonal, at: Arc::new(m), gamma: None }
    }

    /// Creates a dense M. `m` writes d² numbers in row-major order.
    pub fn dense(m: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        Self { shape: MetricShape::Dense, at: Arc::new(m), gamma: None }
    }

    /// Returns this metric with the function `gamma` for Γ, which writes d numbers.
    #[must_use]
    pub fn with_gamma(self, gamma: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        Self { gamma: Some(Arc::new(gamma)), ..self }
    }

    /// Returns the shape of M.
    pub fn shape(&self) -> MetricShape {
        self.shape
    }

    /// Evaluates M(θ) into `out`, which is resized to the shape.
    ///
    /// # Errors
    ///
    /// Returns an error if an entry is not finite or a diagonal entry is not positive.
    pub fn at(&self, theta: &[f64], out: &mut Vec<f64>) -> Result<()> {
        let dim = theta.len();
        let (length, stride) = match self.shape {
            MetricShape::Diagonal => (dim, 1),
            MetricShape::Dense => (dim * dim, dim + 1),
        };
        out.resize(length, 0.0);
        (self.at)(theta, out);
        let bad = out.iter().find(|m| !m.is_finite()).or_else(|| out.iter().step_by(stride).find(|m| **m <= 0.0));
        bad.map_or(Ok(()), |m| {
            let expected = "the metric must be finite with a positive diagonal wherever the chain goes";
            Err(Error::Setting { name: "an entry of M(theta)", value: m.to_string(), expected })
        })
    }

    /// Returns a fingerprint of M, and of Γ if it is given, at `theta` and at displaced points.
    ///
    /// A function that panics at a displaced point has a fingerprint too: chains need not go there.
    pub(crate) fn fingerprint(&self, theta: &[f64]) -> Fingerprint {
        let dim = theta.len();
        let mut parts = Fingerprinter::new();
        let mut m = vec![0.0; if self.shape == MetricShape::Dense { dim * dim } else { dim }];
        let mut gamma = vec![0.0; dim];
        for (number, scale) in DISPLACEMENTS.into_iter().enumerate() {
            let displaced = |(j, x): (usize, &f64)| x + scale * (1.0 + (j * DISPLACEMENTS.len() + number) as f64).sin();
            let point: Vec<f64> = theta.iter().enumerate().map(displaced).collect();
            let evaluate = || {
                (self.at)(&point, &mut m);
                if let Some(function) = &self.gamma {
                    function(&point, &mut gamma);
                }
                Ok(())
            };
            match guard(String::new, evaluate) {
                Ok(()) => [&m, &gamma].into_iter().for_each(|numbers| parts.numbers(numbers)),
                Err(error) => parts.text(&error.to_string()),
            }
        }
        parts.finish()
    }

    /// Evaluates Γ(θ) into `out`.
    pub fn gamma(&self, theta: &[f64], out: &mut [f64], work: &mut MetricWork) {
        if let Some(gamma) = &self.gamma {
            return gamma(theta, out);
        }
        let dim = theta.len();
        let MetricWork { point, plus, minus } = work;
        point.clear();
        point.extend_from_slice(theta);
        let length = if self.shape == MetricShape::Dense { dim * dim } else { dim };
        plus.resize(length, 0.0);
        minus.resize(length, 0.0);
        out.fill(0.0);
        for j in 0..dim {
            let far = f64::EPSILON.cbrt() * theta[j].abs().max(1.0);
            let (above, below) = (theta[j] + far, theta[j] - far);
            point[j] = above;
            (self.at)(point, plus);
            point[j] = below;
            (self.at)(point, minus);
            point[j] = theta[j];
            match self.shape {
                MetricShape::Diagonal => out[j] = (plus[j] - minus[j]) / (above - below),
                MetricShape::Dense => {
                    let column = plus.iter().zip(&*minus).skip(j).step_by(dim);
                    out.iter_mut()
                        .zip(column)
                        .for_each(|(out, (plus, minus))| *out += (plus - minus) / (above - below));
                }
            }
        }
    }
}

/// The buffers of [`Metric::gamma`].
#[derive(Clone, Debug, Default)]
pub struct MetricWork {
    point: Vec<f64>,
    plus: Vec<f64>,
    minus: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// M = I + θθᵀ has Γᵢ = (d + 1) θᵢ; its diagonal alone 2θᵢ.
    #[test]
    fn differences_give_gamma() {
        let theta = [0.3, -2.0, 50.0];
        let entry = |theta: &[f64], k: usize| f64::from(u8::from(k / 3 == k % 3)) + theta[k / 3] * theta[k % 3];
        let dense = Metric::dense(move |theta, m| (0..9).for_each(|k| m[k] = entry(theta, k)));
        let diagonal = Metric::diagonal(move |theta, m| (0..3).for_each(|k| m[k] = entry(theta, 4 * k)));
        for (metric, factor) in [(dense, 4.0), (diagonal, 2.0)] {
            let (mut gamma, mut work) = ([0.0; 3], MetricWork::default());
            metric.gamma(&theta, &mut gamma, &mut work);
            let off = gamma.iter().zip(theta).map(|(gamma, theta)| (gamma / (factor * theta) - 1.0).abs());
            assert!(off.fold(0.0, f64::max) < 1e-9, "{gamma:?}");
            metric.with_gamma(|_, gamma| gamma.fill(7.0)).gamma(&theta, &mut gamma, &mut work);
            assert_eq!(gamma.map(f64::to_bits), [7.0_f64; 3].map(f64::to_bits));
        }
    }

    #[test]
    fn invalid_metrics_are_errors() {
        let message = |value: f64| {
            let metric = Metric::dense(move |_, m| m.copy_from_slice(&[1.0, 0.0, 0.0, value]));
            metric.at(&[0.0, 0.0], &mut Vec::new()).unwrap_err().to_string()
        };
        assert!(message(-1.0).contains("M(theta) is -1"));
        assert!(message(f64::NAN).contains("NaN"));
    }
}
