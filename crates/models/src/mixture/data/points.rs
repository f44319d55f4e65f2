//! Observations that are vectors of real numbers.

use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::{Error, Result};

use super::Observations;

/// Points of ℝᵈ.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Observations, Points};
///
/// let points = Points::new(vec![0.5, 1.0, -0.5, 2.0], 2)?;
/// assert_eq!((points.observations(), points.dim(), points.point(1)), (2, 2, &[-0.5, 2.0][..]));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    dim: usize,
    values: Vec<f64>,
}

impl Points {
    /// Creates points of `dim` coordinates from their coordinates, one point after the other.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no point, a point is incomplete or a coordinate is not finite.
    pub fn new(values: Vec<f64>, dim: usize) -> Result<Self> {
        if dim == 0 || values.is_empty() {
            return Err(Error::EmptyDataset { reason: "there is no point, or the points have no coordinate".into() });
        }
        if !values.len().is_multiple_of(dim) {
            return Err(Error::RowShape { leaf: "points".into(), values: values.len(), row_shape: vec![dim] });
        }
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            let position = format!("row {}, column {}", index / dim, index % dim);
            return Err(Error::DataNotFinite { leaf: "points".into(), position, value: values[index] });
        }
        Ok(Self { dim, values })
    }

    /// Returns the number of coordinates.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns a point.
    ///
    /// # Panics
    ///
    /// Panics if `index` is not below the number of points.
    pub fn point(&self, index: usize) -> &[f64] {
        &self.values[index * self.dim..(index + 1) * self.dim]
    }
}

impl Observations for Points {
    fn observations(&self) -> usize {
        self.values.len() / self.dim
    }

    fn fingerprint(&self, hasher: &mut Fingerprinter) {
        hasher.word(self.dim as u64);
        hasher.numbers(&self.values);
    }
}
