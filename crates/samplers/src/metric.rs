//! A matrix M(θ) that depends on where the chain is, from the user: for SGRLD and for Langevin proposals.

use std::fmt;
use std::sync::Arc;

use sgmcmc_core::{Error, Result};

/// What writes a function of θ into a slice.
type Write = dyn Fn(&[f64], &mut [f64]) + Send + Sync;

/// A symmetric positive definite M(θ), diagonal or dense, and Γᵢ(θ) = Σⱼ ∂Mᵢⱼ/∂θⱼ.
///
/// θ are coordinates: the flat vector a chain moves in, unconstrained, in the order of its [`Layout`](sgmcmc_core::Layout). Where Γ is not given it
/// is made by central differences of M, accurate to about ten digits, for 2d evaluations of M per step.
///
/// ```
/// use sgmcmc_samplers::Metric;
///
/// let m = Metric::diagonal(|theta, m| m.copy_from_slice(&[1.0, 1.0 / (1.0 + theta[0] * theta[0])]))
///     .with_gamma(|_, gamma| gamma.fill(0.0));
/// ```
#[derive(Clone)]
pub struct Metric {
    shape: MetricShape,
    at: Arc<Write>,
    gamma: Option<Arc<Write>>,
}

/// Which numbers make up a [`Metric`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetricShape {
    /// The diagonal.
    Diagonal,
    /// All rows, one after another.
    Dense,
}

impl MetricShape {
    /// How many bytes `matrices` matrices of this shape take, of which only dense ones count.
    pub(crate) fn dense_bytes(self, dim: usize, matrices: usize) -> usize {
        match self {
            Self::Diagonal => 0,
            Self::Dense => dim.saturating_mul(dim).saturating_mul(matrices * size_of::<f64>()),
        }
    }
}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gamma = if self.gamma.is_some() { "given" } else { "by differences" };
        f.debug_struct("Metric").field("shape", &self.shape).field("gamma", &gamma).finish_non_exhaustive()
    }
}

impl Metric {
    /// A diagonal M: `m` writes d positive numbers.
    pub fn diagonal(m: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        Self { shape: MetricShape::Diagonal, at: Arc::new(m), gamma: None }
    }

    /// A dense M: `m` writes d² numbers, row by row.
    pub fn dense(m: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        Self { shape: MetricShape::Dense, at: Arc::new(m), gamma: None }
    }

    /// The same with Γ by `gamma`, which writes d numbers.
    #[must_use]
    pub fn with_gamma(self, gamma: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        Self { gamma: Some(Arc::new(gamma)), ..self }
    }

    /// Whether M is diagonal or dense.
    pub fn shape(&self) -> MetricShape {
        self.shape
    }

    /// M(θ) into `out`, which becomes as long as the shape says.
    ///
    /// # Errors
    ///
    /// If M is not finite, or has a diagonal that is not positive.
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

    /// Γ(θ) into `out`.
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

/// Room for [`Metric::gamma`] to work in.
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
    fn metrics_that_are_none_are_refused() {
        let refused = |value: f64| {
            let metric = Metric::dense(move |_, m| m.copy_from_slice(&[1.0, 0.0, 0.0, value]));
            metric.at(&[0.0, 0.0], &mut Vec::new()).unwrap_err().to_string()
        };
        assert!(refused(-1.0).contains("M(theta) is -1"));
        assert!(refused(f64::NAN).contains("NaN"));
    }
}
