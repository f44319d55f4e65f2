//! Identifiers of models. Checkpoints contain them, so that a run is not resumed with another model.

use serde::{Deserialize, Serialize};

use super::Evaluator;
use crate::data::{Precision, Rows};
use crate::error::Result;
use crate::fingerprint::Fingerprint;

/// An identifier of a model. Compare two with [`is_same`](Self::is_same).
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let normal = |scale: f64| Model::density(move |theta: Tensor<1>| theta.square().sum() * (-0.5 / scale));
/// let identity = |model: Model<Tensor<1>, ()>| {
///     let mut evaluator = model.with(&Dataset::none()).evaluator(&zeros([2]))?;
///     evaluator.identity(&[0.0, 0.0])
/// };
/// assert!(identity(normal(1.0))?.is_same(&identity(normal(1.0))?));
/// assert!(!identity(normal(1.0))?.is_same(&identity(normal(2.0))?));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ModelIdentity {
    /// A fingerprint of the recorded operations of likelihood and prior, with their constants, their powers and the
    /// constraints.
    Recorded(Fingerprint),
    /// The log densities of prior and likelihood and their gradients at several points, for some of the observations.
    Values {
        /// The numbers, in a fixed order.
        numbers: Vec<f64>,
        /// The maximum relative difference of two equal numbers, a bound of the rounding error.
        tolerance: f64,
    },
}

impl ModelIdentity {
    /// Returns `true` if both identifiers are consistent with the same model. The two variants are never consistent,
    /// because they belong to different engines.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Recorded(a), Self::Recorded(b)) => a == b,
            (Self::Values { numbers: a, tolerance }, Self::Values { numbers: b, .. }) => {
                let close = |(a, b): (&f64, &f64)| {
                    let identical = a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
                    identical || (a - b).abs() <= tolerance * (a.abs() + b.abs())
                };
                a.len() == b.len() && a.iter().zip(b).all(close)
            }
            _ => false,
        }
    }
}

/// The distances of the points from the given one, relative to one plus the magnitude of each coordinate.
const DISTANCES: [f64; 6] = [0.0, 1e-2, -0.1, 0.5, -1.0, 4.0];

/// The maximum number of observations at which the likelihood is evaluated.
const OBSERVATIONS: usize = 32;

/// Returns the identifier of a model by its values around `theta`.
pub(super) fn by_values<E: Evaluator + ?Sized>(evaluator: &mut E, theta: &[f64]) -> Result<ModelIdentity> {
    let tolerance = match evaluator.precision() {
        Precision::Single => 1e-4,
        Precision::Double => 1e-9,
    };
    let all = evaluator.observations();
    let rows: Vec<usize> = (0..OBSERVATIONS.min(all)).map(|k| k * all / OBSERVATIONS.min(all)).collect();
    let mut numbers = Vec::new();
    for distance in DISTANCES {
        // Each coordinate moves by a different amount, so that exchanged coordinates change the values.
        let moved = |(k, x): (usize, &f64)| x + distance * (1.0 + x.abs()) * (1.0 + 0.5 * (k as f64).sin());
        let point: Vec<f64> = theta.iter().enumerate().map(moved).collect();
        let mut gradient = vec![0.0; point.len()];
        numbers.push(evaluator.prior(&point, &mut gradient)?);
        numbers.push(weighted_norm(&gradient));
        gradient.fill(0.0);
        numbers.push(evaluator.likelihood(&point, Rows::list(&rows), &mut gradient)?);
        numbers.push(weighted_norm(&gradient));
    }
    Ok(ModelIdentity::Values { numbers, tolerance })
}

/// Returns a weighted sum of the magnitudes of a gradient, with different weights for nearby entries.
fn weighted_norm(gradient: &[f64]) -> f64 {
    gradient.iter().enumerate().map(|(k, g)| g.abs() * (1.0 + (k % 97) as f64 / 97.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_up_to_rounding() {
        let values = |x: f64| ModelIdentity::Values { numbers: vec![1.0, f64::NAN, x], tolerance: 1e-9 };
        assert!(values(-3.0).is_same(&values(-3.0 * (1.0 + 1e-12))));
        assert!(!values(-3.0).is_same(&values(-3.0 * (1.0 + 1e-6))));
        assert!(!values(-3.0).is_same(&ModelIdentity::Recorded(Fingerprint::new(b""))));
    }
}
