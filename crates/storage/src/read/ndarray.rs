//! Arrays of the `ndarray` crate.

use ndarray::{ArrayBase, Data, Dimension};
use sgmcmc_core::data::{Column, Values};

use crate::error::Result;

/// The leaf `name` from an array, whose first axis is the observation.
///
/// ```
/// use ndarray::array;
/// use sgmcmc_core::Dataset;
/// use sgmcmc_storage::read;
///
/// let x = read::ndarray("x", &array![[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
/// assert_eq!(Dataset::from_columns(vec![x])?.observations(), 3);
/// # Ok::<(), sgmcmc_storage::Error>(())
/// ```
///
/// # Errors
///
/// If the array has no axis or more than six, or no element.
pub fn ndarray<S, I>(name: &str, array: &ArrayBase<S, I>) -> Result<Column>
where
    S: Data,
    S::Elem: Copy,
    I: Dimension,
    Values: From<Vec<S::Elem>>,
{
    let values: Vec<S::Elem> = array.iter().copied().collect();
    let row_shape = array.shape().get(1..).unwrap_or_default();
    Ok(Column::new(name, values, row_shape)?)
}
