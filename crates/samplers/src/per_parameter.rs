//! Settings by parameter: see [`PerParameter`].

use std::ops::Range;

use sgmcmc_gradient::{Layout, Result};

/// A setting with one common value and, optionally, other values for named parameters.
///
/// The common value converts into this type: a number, or for step sizes any schedule.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Sghmc;
/// use sgmcmc::schedule::PerParameter;
///
/// let common = Sghmc { alpha: 0.1.into(), ..Sghmc::default() };
/// let by_name = Sghmc { alpha: PerParameter::from(0.1).parameter("bias", 0.5), ..Sghmc::default() };
/// assert_eq!(common.alpha.of("bias"), &0.1);
/// assert_eq!(by_name.alpha.of("bias"), &0.5);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PerParameter<V> {
    common: V,
    named: Vec<(String, V)>,
}

impl From<f64> for PerParameter<f64> {
    fn from(value: f64) -> Self {
        Self::new(value)
    }
}

impl<V> PerParameter<V> {
    /// Creates a setting with the same value for all parameters.
    pub const fn new(value: V) -> Self {
        Self { common: value, named: Vec::new() }
    }

    /// Returns this setting with `value` for the parameter `name`.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<V>) -> Self {
        self.named.push((name.into(), value.into()));
        self
    }

    /// Returns the common value.
    pub fn common(&self) -> &V {
        &self.common
    }

    /// Returns the value for the parameter `name`.
    pub fn of(&self, name: &str) -> &V {
        self.entry(name).map_or(&self.common, |entry| &self.named[entry].1)
    }

    /// Returns this setting with `change` applied to every value.
    #[must_use]
    pub fn map<W>(self, change: impl Fn(V) -> W) -> PerParameter<W> {
        let named = self.named.into_iter().map(|(name, value)| (name, change(value))).collect();
        PerParameter { common: change(self.common), named }
    }

    /// Returns all values, the common one first.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        std::iter::once(&self.common).chain(self.named.iter().map(|(_, value)| value))
    }

    /// Returns the names of the parameters with values of their own, in the order of [`values`](Self::values).
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the ranges of coordinates of `layout` with their values, in ascending order. Adjacent parameters with
    /// the same value share a range.
    ///
    /// # Errors
    ///
    /// Returns an error if `layout` has no parameter of a given name.
    pub fn by_range(&self, layout: &Layout) -> Result<Vec<(Range<usize>, &V)>> {
        self.named.iter().try_for_each(|(name, _)| layout.block(name).map(|_| ()))?;
        let mut ranges: Vec<(Range<usize>, &V)> = Vec::new();
        let mut last = None;
        for block in layout.blocks() {
            let entry = self.entry(&block.name);
            match ranges.last_mut() {
                Some((range, _)) if last == Some(entry) => range.end = block.range.end,
                _ => ranges.push((block.range.clone(), self.of(&block.name))),
            }
            last = Some(entry);
        }
        Ok(ranges)
    }

    /// Returns the index of the last value for the parameter `name`, if there is one.
    fn entry(&self, name: &str) -> Option<usize> {
        self.named.iter().rposition(|(named, _)| named == name)
    }
}
