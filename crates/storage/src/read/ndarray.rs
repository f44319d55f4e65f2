//! Arrays of the `ndarray` crate.

use ndarray::{ArrayBase, Data, Dimension};
use sgmcmc_gradient::data::{Column, Values};

use crate::error::Result;

/// Copies an array to the leaf `name`. The first axis is the observation.
///
/// # Errors
///
/// Returns an error if the array has no axis, more than six axes, or no element.
///
/// # Examples
///
/// ```
/// use ndarray::array;
/// use sgmcmc::Columns;
/// use sgmcmc::storage::read;
///
/// let x = read::ndarray("x", &array![[1.0_f32, 2.0], [3.0, 4.0], [5.0, 6.0]])?;
/// assert_eq!(Columns::from(vec![x]).observations(), 3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
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
