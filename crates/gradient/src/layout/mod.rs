//! The mapping between named parameters and the flat vector of coordinates of a chain.

mod axis;
mod block;
mod jacobian;
mod split;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use axis::Axis;
pub use block::Block;
pub use split::Split;

use crate::constraint::{Constraint, Groups};
use crate::error::{Error, Result};

/// The maximum number of values of a layout. It is larger than any memory, and sizes in bytes do not overflow.
const MAX_VALUES: usize = 1 << 48;

/// The names, shapes, constraints and ranges of the parameters in flat `f64` vectors.
///
/// There are two flat vectors. Chains move unconstrained *coordinates*; models and draws have *values*. For parameters
/// without a [`Constraint`] the two are equal.
///
/// # Examples
///
/// ```
/// use sgmcmc::{Constraint, Layout};
///
/// let layout = Layout::new([("0".into(), vec![1], Some(Constraint::Positive)), ("1".into(), vec![3, 2], None)])?;
/// assert_eq!(layout.dim(), 7);
/// assert_eq!(layout.value_name(0), "0");
/// assert_eq!(layout.value_name(6), "1[2,1]");
/// assert_eq!(layout.index("1[2,1]")?, 6);
/// assert_eq!(layout.values(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?, [1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SerializedLayout")]
pub struct Layout {
    blocks: Vec<Block>,
}

/// The part of a serialized layout that is read. The ranges are computed from shapes and constraints.
#[derive(Deserialize)]
struct SerializedLayout {
    blocks: Vec<SerializedBlock>,
}

/// The part of a serialized [`Block`] that is read.
#[derive(Deserialize)]
struct SerializedBlock {
    name: String,
    shape: Vec<usize>,
    constraint: Option<Constraint>,
    #[serde(default)]
    axes: Vec<Axis>,
}

impl TryFrom<SerializedLayout> for Layout {
    type Error = Error;

    fn try_from(serialized: SerializedLayout) -> Result<Self> {
        let axes: Vec<(String, Vec<Axis>)> = serialized
            .blocks
            .iter()
            .filter(|block| !block.axes.is_empty())
            .map(|block| (block.name.clone(), block.axes.clone()))
            .collect();
        let blocks = serialized.blocks.into_iter().map(|block| (block.name, block.shape, block.constraint));
        axes.into_iter().try_fold(Self::new(blocks)?, |layout, (name, axes)| layout.with_axes(&name, axes))
    }
}

impl Layout {
    /// Sets the constraint of the parameter `name`. It replaces an earlier constraint.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter, or if its shape does not allow the constraint.
    pub fn constrained(self, name: &str, constraint: Constraint) -> Result<Self> {
        self.block(name)?;
        let constrained = Self::new(self.blocks.iter().map(|block| {
            let declared = if block.name == name { Some(constraint) } else { block.constraint };
            (block.name.clone(), block.shape.clone(), declared)
        }))?;
        Ok(constrained.with_axes_of(&self))
    }

    /// Creates the layout of one unconstrained vector.
    pub fn vector(name: &str, length: usize) -> Self {
        let groups = Groups { count: length, values: 1, free: 1 };
        let (range, values) = (0..length, 0..length);
        let (shape, axes) = (vec![length], Vec::new());
        Self { blocks: vec![Block { name: name.into(), shape, constraint: None, range, values, axes, groups }] }
    }

    /// Returns the number of coordinates.
    pub fn dim(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.range.end)
    }

    /// Returns the number of values.
    pub fn value_count(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.values.end)
    }

    /// Returns the parameters in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the parameter called `name`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::UnknownParameter`] if there is no such parameter.
    pub fn block(&self, name: &str) -> Result<&Block> {
        self.blocks.iter().find(|block| block.name == name).ok_or_else(|| self.unknown(name))
    }

    /// Returns the name of a value, such as `beta[3]` or `W[2,5]`. A parameter with one element has no subscript.
    pub fn value_name(&self, index: usize) -> String {
        match self.blocks.iter().find(|block| block.values.contains(&index)) {
            Some(block) => block.element(index - block.values.start),
            None => format!("[{index}]"),
        }
    }

    /// Returns the names of all values in order.
    pub fn value_names(&self) -> Vec<String> {
        (0..self.value_count()).map(|index| self.value_name(index)).collect()
    }

    /// Returns the name of a coordinate: the name of its value, or a name such as `weights~2` if the numbers of
    /// coordinates and values of the parameter differ.
    pub fn coordinate_name(&self, index: usize) -> String {
        match self.blocks.iter().find(|block| block.range.contains(&index)) {
            Some(block) if block.range.len() == block.values.len() => block.element(index - block.range.start),
            Some(block) => format!("{}~{}", block.name, index - block.range.start),
            None => format!("[{index}]"),
        }
    }

    /// Returns the index of the value called `name`, the inverse of [`value_name`](Self::value_name).
    ///
    /// # Errors
    ///
    /// Returns [`Error::UnknownParameter`] if there is no such value.
    pub fn index(&self, name: &str) -> Result<usize> {
        // A parameter of one value may be called `beta[3]`, for instance in a selection of the values of a fit.
        if let Some(block) = self.blocks.iter().find(|block| block.values.len() == 1 && block.name == name) {
            return Ok(block.values.start);
        }
        // The name of a parameter may contain brackets itself, as in the selection of a value of a fit.
        let of_block = |block: &Block| -> Option<usize> {
            let text = name.strip_prefix(block.name.as_str())?.strip_prefix('[')?.strip_suffix(']')?;
            let subscripts = axis::subscripts(text)?;
            if subscripts.len() != block.shape.len() {
                return None;
            }
            let mut flat = 0;
            for (dimension, (text, size)) in subscripts.iter().zip(&block.shape).enumerate() {
                let position = axis::position(&block.axes, dimension, text).filter(|position| position < size)?;
                flat = flat * size + position;
            }
            Some(block.values.start + flat)
        };
        self.blocks.iter().find_map(of_block).ok_or_else(|| self.unknown(name))
    }

    /// Returns the values of the coordinates `theta`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Length`] if `theta` has the wrong length.
    pub fn values(&self, theta: &[f64]) -> Result<Vec<f64>> {
        let mut values = vec![0.0; self.value_count()];
        self.values_into(theta, &mut values)?;
        Ok(values)
    }

    /// Returns `true` if a parameter is constrained, so that values differ from coordinates.
    pub fn is_constrained(&self) -> bool {
        self.blocks.iter().any(|block| block.constraint.is_some())
    }

    /// Writes the values of the coordinates `theta` into `values`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Length`] if `theta` or `values` has the wrong length.
    pub fn values_into(&self, theta: &[f64], values: &mut [f64]) -> Result<()> {
        self.check_length(theta)?;
        self.check_values(values)?;
        for block in &self.blocks {
            block.values_into(&theta[block.range.clone()], &mut values[block.values.clone()])?;
        }
        Ok(())
    }

    /// Returns the coordinates of `values`.
    ///
    /// # Errors
    ///
    /// Returns an error if `values` has the wrong length, or if a value is not finite or violates its constraint.
    pub fn coordinates(&self, values: &[f64]) -> Result<Vec<f64>> {
        self.check_values(values)?;
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::StartNotFinite { element: self.value_name(index), value: values[index] });
        }
        let mut theta = vec![0.0; self.dim()];
        for block in &self.blocks {
            block.coordinates(&values[block.values.clone()], &mut theta[block.range.clone()])?;
        }
        Ok(theta)
    }

    /// Checks that the length of `theta` is the number of coordinates.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Length`] if it is not.
    pub fn check_length(&self, theta: &[f64]) -> Result<()> {
        check("the flat parameter vector", self.dim(), theta.len())
    }

    /// Checks that the length of `values` is the number of values.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Length`] if it is not.
    pub fn check_values(&self, values: &[f64]) -> Result<()> {
        check("the vector of parameter values", self.value_count(), values.len())
    }

    /// Creates the layout of parameters with these names, shapes and constraints.
    ///
    /// # Errors
    ///
    /// Returns an error if a shape has too many elements, or if a shape does not allow its constraint.
    pub fn new(leaves: impl IntoIterator<Item = (String, Vec<usize>, Option<Constraint>)>) -> Result<Self> {
        let (mut coordinates, mut values) = (0_usize, 0_usize);
        let blocks = leaves.into_iter().map(|(name, shape, constraint)| {
            // A size of zero counts as one, so that products of any of the sizes cannot overflow later.
            let bound = shape.iter().try_fold(1_usize, |count, size| count.checked_mul((*size).max(1)));
            if bound.is_none_or(|bound| bound > MAX_VALUES.saturating_sub(values)) {
                let what = format!("a parameter `{name}` of shape {shape:?}");
                return Err(Error::memory(what, usize::MAX, MAX_VALUES, "check where the shape comes from"));
            }
            let count = shape.iter().product();
            let groups = match constraint {
                None => Groups { count, values: 1, free: 1 },
                Some(constraint) => constraint.groups(&shape).map_err(|reason| Error::Constraint {
                    parameter: name.clone(),
                    shape: shape.clone(),
                    constraint,
                    reason,
                })?,
            };
            let (range, value_range) = (coordinates..coordinates + groups.count * groups.free, values..values + count);
            (coordinates, values) = (range.end, value_range.end);
            Ok(Block { name, shape, constraint, range, values: value_range, axes: Vec::new(), groups })
        });
        Ok(Self { blocks: blocks.collect::<Result<_>>()? })
    }

    /// Checks that `found` has the parameters and shapes of this layout.
    ///
    /// # Errors
    ///
    /// Returns an error with the first difference.
    pub fn check_same(&self, found: &Self) -> Result<()> {
        let names = |layout: &Self| layout.blocks.iter().map(|block| block.name.clone()).collect::<Vec<_>>();
        if names(self) != names(found) {
            return Err(Error::ParameterLeaves { declared: names(self), found: names(found) });
        }
        match self.blocks.iter().zip(&found.blocks).find(|(a, b)| a.shape != b.shape) {
            Some((declared, found)) => Err(Error::ParameterShape {
                parameter: declared.name.clone(),
                declared: declared.shape.clone(),
                found: found.shape.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Returns the error that there is no parameter or value `name`.
    fn unknown(&self, name: &str) -> Error {
        let known = self.blocks.iter().map(|block| format!("`{}` {:?}", block.name, block.shape)).collect::<Vec<_>>();
        Error::UnknownParameter { name: name.to_owned(), known: known.join(", ") }
    }
}

/// Checks a length.
fn check(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}
