//! What tells one model apart from another, so that a checkpoint goes on with the model that it was made with.

use serde::{Deserialize, Serialize};

use super::Evaluator;
use crate::data::{Precision, Rows};
use crate::error::Result;
use crate::fingerprint::Fingerprint;

/// What tells a model apart from others. Compare two with [`is_same`](Self::is_same).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ModelIdentity {
    /// The recorded operations of likelihood and prior, with their constants, their powers and the constraints.
    Recorded(Fingerprint),
    /// The log density of prior and likelihood and their gradients at several points, on some of the observations.
    Values {
        /// The numbers, in a fixed order.
        numbers: Vec<f64>,
        /// How far two of them may be apart, relative to their size: as far as rounding explains.
        tolerance: f64,
    },
}

impl ModelIdentity {
    /// Returns whether both are of the same model, as far as can be seen. A recorded model and one seen by its values are
    /// different: the engine has changed.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Recorded(a), Self::Recorded(b)) => a == b,
            (Self::Values { numbers: a, tolerance }, Self::Values { numbers: b, .. }) => {
                let near = |(a, b): (&f64, &f64)| {
                    let alike = a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
                    alike || (a - b).abs() <= tolerance * (a.abs() + b.abs())
                };
                a.len() == b.len() && a.iter().zip(b).all(near)
            }
            _ => false,
        }
    }
}

/// How far the points lie from the given one, relative to one plus the size of each coordinate.
const DISTANCES: [f64; 6] = [0.0, 1e-2, -0.1, 0.5, -1.0, 4.0];

/// Observations at which the likelihood is evaluated.
const OBSERVATIONS: usize = 32;

/// The model seen by its values around `theta`.
pub(super) fn by_values<E: Evaluator + ?Sized>(evaluator: &mut E, theta: &[f64]) -> Result<ModelIdentity> {
    let tolerance = match evaluator.precision() {
        Precision::Single => 1e-4,
        Precision::Double => 1e-9,
    };
    let all = evaluator.observations();
    let rows: Vec<usize> = (0..OBSERVATIONS.min(all)).map(|k| k * all / OBSERVATIONS.min(all)).collect();
    let mut numbers = Vec::new();
    for distance in DISTANCES {
        // Every coordinate moves by another amount, so that coordinates that are exchanged are noticed.
        let moved = |(k, x): (usize, &f64)| x + distance * (1.0 + x.abs()) * (1.0 + 0.5 * (k as f64).sin());
        let point: Vec<f64> = theta.iter().enumerate().map(moved).collect();
        let mut gradient = vec![0.0; point.len()];
        numbers.push(evaluator.prior(&point, &mut gradient)?);
        numbers.push(size(&gradient));
        gradient.fill(0.0);
        numbers.push(evaluator.likelihood(&point, Rows::list(&rows), &mut gradient)?);
        numbers.push(size(&gradient));
    }
    Ok(ModelIdentity::Values { numbers, tolerance })
}

/// A number that changes with every entry of a gradient.
fn size(gradient: &[f64]) -> f64 {
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
        assert!(!values(-3.0).is_same(&ModelIdentity::Recorded(Fingerprint::of(b""))));
    }
}
