//! The division of the parameters into those that move and those that are held.

use std::ops::Range;

use super::Layout;
use crate::error::{Error, Result};

/// A division of the coordinates of a layout into *free* ones, which dynamics move, and *held* ones, which they do not.
///
/// # Examples
///
/// ```
/// use sgmcmc::Layout;
/// use sgmcmc::gradient::Split;
///
/// let layout = Layout::new([("a".into(), vec![1], None), ("b".into(), vec![2], None), ("c".into(), vec![1], None)])?;
/// let split = Split::new(&layout, &["b".to_owned()])?;
/// assert_eq!(split.layout().value_names(), ["a", "c"]);
/// assert_eq!(split.free(&[1.0, 2.0, 3.0, 4.0]), [1.0, 4.0]);
/// assert_eq!(split.held(&[1.0, 2.0, 3.0, 4.0]), [2.0, 3.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    layout: Layout,
    free: Vec<Range<usize>>,
    held: Vec<Range<usize>>,
}

impl Split {
    /// Holds the parameters `held` of `layout`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no parameter of a name, or if none is left to move.
    pub fn new(layout: &Layout, held: &[String]) -> Result<Self> {
        held.iter().try_for_each(|name| layout.block(name).map(|_| ()))?;
        let is_held = |name: &String| held.contains(name);
        let (kept, moved): (Vec<_>, Vec<_>) = layout.blocks().iter().partition(|block| is_held(&block.name));
        if moved.is_empty() {
            return Err(Error::Setting {
                name: "the list of held parameters",
                value: format!("{held:?}"),
                expected: "leave at least one parameter to the dynamics, or use `UpdatesOnly`",
            });
        }
        let free = moved.iter().map(|block| block.range.clone()).collect();
        let held = kept.iter().map(|block| block.range.clone()).collect();
        let leaves = moved.into_iter().map(|block| (block.name.clone(), block.shape.clone(), block.constraint));
        Ok(Self { layout: Layout::new(leaves)?.with_axes_of(layout), free, held })
    }

    /// Returns the layout of the free parameters.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the free coordinates of `theta`.
    pub fn free(&self, theta: &[f64]) -> Vec<f64> {
        self.free.iter().flat_map(|range| &theta[range.clone()]).copied().collect()
    }

    /// Returns the held coordinates of `theta`.
    pub fn held(&self, theta: &[f64]) -> Vec<f64> {
        self.held.iter().flat_map(|range| &theta[range.clone()]).copied().collect()
    }

    /// Calls `each` with every free number of `full` and its counterpart in `part`.
    pub fn for_each_free(&self, full: &mut [f64], part: &mut [f64], mut each: impl FnMut(&mut f64, &mut f64)) {
        let mut part = part.iter_mut();
        for range in &self.free {
            full[range.clone()].iter_mut().zip(&mut part).for_each(|(full, part)| each(full, part));
        }
    }

    /// Writes the free coordinates `part` into `theta`.
    pub fn set_free(&self, part: &[f64], theta: &mut [f64]) {
        place(&self.free, part, theta);
    }

    /// Writes the held coordinates `part` into `theta`.
    pub fn set_held(&self, part: &[f64], theta: &mut [f64]) {
        place(&self.held, part, theta);
    }
}

/// Writes the numbers of `part` into `ranges` of `theta`, in order.
fn place(ranges: &[Range<usize>], part: &[f64], theta: &mut [f64]) {
    let mut start = 0;
    for range in ranges {
        theta[range.clone()].copy_from_slice(&part[start..start + range.len()]);
        start += range.len();
    }
}
