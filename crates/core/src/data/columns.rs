//! Data sets put together leaf by leaf.

use burn_tensor::Tensor;

use super::Dataset;
use crate::array::Number;
use crate::error::Result;
use crate::tree::Named;

/// A data set put together leaf by leaf from plain vectors; closures see it as [`Named`].
///
/// ```
/// use sgmcmc_core::Columns;
///
/// let data = Columns::new()
///     .leaf("x", vec![0.5_f32, 1.0, -1.0, 2.0, 0.0, 3.0], [3, 2])?
///     .leaf("user", vec![4_i64, 0, 4], [3])?
///     .build()?;
/// assert_eq!(data.observations(), 3);
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Columns {
    leaves: Named,
}

impl Columns {
    /// No leaf yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a leaf of row-major `values`.
    ///
    /// # Errors
    ///
    /// If the values do not fill the shape.
    pub fn leaf<T: Number, const R: usize>(self, name: &str, values: Vec<T>, shape: [usize; R]) -> Result<Self>
    where
        Tensor<R, T::Kind>: Into<crate::tree::Leaf>,
    {
        Ok(Self { leaves: self.leaves.with(name, crate::array::array(values, shape)?) })
    }

    /// The data set, checked as by [`Dataset::new`].
    pub fn build(self) -> Result<Dataset<Named>> {
        Dataset::new(self.leaves)
    }
}
