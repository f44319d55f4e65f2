//! The parameters of a layout.

use std::fmt::Write as _;
use std::ops::Range;

use serde::Serialize;

use super::axis::Axis;
use crate::constraint::{Constraint, Groups};
use crate::error::{Error, Result};

/// A named parameter: its shape, its constraint, and its ranges in the two flat vectors.
///
/// # Examples
///
/// ```
/// use sgmcmc::{Constraint, Layout};
///
/// let layout = Layout::new([("weights".into(), vec![3], Some(Constraint::Simplex)), ("mu".into(), vec![1], None)])?;
/// let mu = layout.block("mu")?;
/// // A simplex of three values has two coordinates.
/// assert_eq!((mu.range.clone(), mu.values.clone()), (2..3, 3..4));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Block {
    /// The path of the leaf, such as `layer.weight`.
    pub name: String,
    /// The shape of the leaf.
    pub shape: Vec<usize>,
    /// The constraint of the values. `None` allows all numbers.
    pub constraint: Option<Constraint>,
    /// The range of its coordinates in the vector of coordinates.
    pub range: Range<usize>,
    /// The range of its elements in the vector of values, in row-major order.
    pub values: Range<usize>,
    /// The names of the dimensions and of the positions along them. Empty if the dimensions have no names, and one per
    /// dimension otherwise; see [`Layout::with_axes`](super::Layout::with_axes).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<Axis>,
    pub(super) groups: Groups,
}

impl Block {
    /// Returns `true` if the value at `index` of this parameter is constant under its constraint, such as a zero of a
    /// Cholesky factor.
    pub fn is_fixed(&self, index: usize) -> bool {
        self.constraint.is_some_and(|constraint| constraint.is_fixed(self.groups, index % self.groups.values.max(1)))
    }

    /// Returns the number of groups that the constraint transforms separately, and the number of coordinates of each
    /// group.
    pub fn group_shape(&self) -> [usize; 2] {
        [self.groups.count, self.groups.free]
    }

    /// Writes the values of the coordinates `theta` of this parameter into `values`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Length`] if `theta` or `values` has the wrong length.
    pub fn values_into(&self, theta: &[f64], values: &mut [f64]) -> Result<()> {
        self.check_lengths(values, theta)?;
        match &self.constraint {
            None => values.copy_from_slice(theta),
            Some(constraint) => self.pairs(theta, values).for_each(|(y, x)| constraint.constrain(y, x)),
        }
        Ok(())
    }

    /// Writes the coordinates of `values` of this parameter into `theta`.
    ///
    /// # Errors
    ///
    /// Returns an error if `values` or `theta` has the wrong length, or if a value is not finite or violates the
    /// constraint.
    pub fn coordinates(&self, values: &[f64], theta: &mut [f64]) -> Result<()> {
        self.check_lengths(values, theta)?;
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::StartNotFinite { element: self.element(index), value: values[index] });
        }
        let Some(constraint) = self.constraint else {
            theta.copy_from_slice(values);
            return Ok(());
        };
        let (free, length) = (self.groups.free.max(1), self.groups.values.max(1));
        for (group, (y, x)) in theta.chunks_exact_mut(free).zip(values.chunks_exact(length)).enumerate() {
            constraint.unconstrain(x, y).map_err(|outside| Error::OutsideSupport {
                element: self.element(group * self.groups.values + outside.index),
                value: outside.value,
                parameter: self.name.clone(),
                constraint,
            })?;
        }
        Ok(())
    }

    /// Checks the numbers of values and coordinates.
    fn check_lengths(&self, values: &[f64], theta: &[f64]) -> Result<()> {
        super::check("the values of a parameter", self.values.len(), values.len())?;
        super::check("the coordinates of a parameter", self.range.len(), theta.len())
    }

    /// Returns an iterator over the coordinates and the values of each group.
    pub(super) fn pairs<'a>(&self, y: &'a [f64], x: &'a mut [f64]) -> impl Iterator<Item = (&'a [f64], &'a mut [f64])> {
        y.chunks_exact(self.groups.free.max(1)).zip(x.chunks_exact_mut(self.groups.values.max(1)))
    }

    /// Returns the name of the element at `index` of this parameter.
    pub(super) fn element(&self, index: usize) -> String {
        let mut name = self.name.clone();
        if self.values.len() == 1 && self.axes.iter().all(|axis| axis.labels.is_empty()) {
            return name;
        }
        let mut remainder = index;
        let mut subscripts = vec![0; self.shape.len()];
        for (subscript, size) in subscripts.iter_mut().zip(&self.shape).rev() {
            *subscript = remainder % size;
            remainder /= size;
        }
        for (position, subscript) in subscripts.iter().enumerate() {
            let separator = if position == 0 { '[' } else { ',' };
            // Writing to a string cannot fail.
            let _ = match self.axes.get(position) {
                Some(axis) => write!(name, "{separator}{}", axis.label(*subscript)),
                None => write!(name, "{separator}{subscript}"),
            };
        }
        name.push(']');
        name
    }
}
