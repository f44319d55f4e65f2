//! Settings that may differ by parameter: one value for all, and others by name.

use std::ops::Range;

use sgmcmc_core::{Layout, Result};

/// One value for all parameters, but for those that have their own.
///
/// Anything that becomes the common value is one: a number, or for step sizes any schedule.
///
/// ```
/// use sgmcmc_samplers::{PerParameter, Sghmc};
///
/// let one_for_all = Sghmc { alpha: 0.1.into(), ..Sghmc::default() };
/// let by_name = Sghmc { alpha: PerParameter::from(0.1).parameter("bias", 0.5), ..Sghmc::default() };
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PerParameter<V> {
    common: V,
    named: Vec<(String, V)>,
}

impl From<f64> for PerParameter<f64> {
    fn from(value: f64) -> Self {
        Self::all(value)
    }
}

impl<V> PerParameter<V> {
    /// The same value for all parameters.
    pub const fn all(value: V) -> Self {
        Self { common: value, named: Vec::new() }
    }

    /// The same, with its own value for the parameter `name`.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<V>) -> Self {
        self.named.push((name.into(), value.into()));
        self
    }

    /// The value of the parameters that have none of their own.
    pub fn common(&self) -> &V {
        &self.common
    }

    /// The value of the parameter `name`.
    pub fn of(&self, name: &str) -> &V {
        self.entry(name).map_or(&self.common, |entry| &self.named[entry].1)
    }

    /// The same with `change` applied to every value.
    #[must_use]
    pub fn map<W>(self, change: impl Fn(V) -> W) -> PerParameter<W> {
        let named = self.named.into_iter().map(|(name, value)| (name, change(value))).collect();
        PerParameter { common: change(self.common), named }
    }

    /// Every value that was given, the common one first.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        std::iter::once(&self.common).chain(self.named.iter().map(|(_, value)| value))
    }

    /// The names of the parameters that were given values of their own, in that order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|(name, _)| name.as_str())
    }

    /// The values with the coordinates of `layout` they are for, in order. Neighbours that share a value are together.
    ///
    /// # Errors
    ///
    /// If a value belongs to a parameter that is not there.
    pub fn places(&self, layout: &Layout) -> Result<Vec<(Range<usize>, &V)>> {
        self.named.iter().try_for_each(|(name, _)| layout.block(name).map(|_| ()))?;
        let mut places: Vec<(Range<usize>, &V)> = Vec::new();
        let mut last = None;
        for block in layout.blocks() {
            let entry = self.entry(&block.name);
            match places.last_mut() {
                Some((range, _)) if last == Some(entry) => range.end = block.range.end,
                _ => places.push((block.range.clone(), self.of(&block.name))),
            }
            last = Some(entry);
        }
        Ok(places)
    }

    /// The last value given for the parameter `name`, if there is one.
    fn entry(&self, name: &str) -> Option<usize> {
        self.named.iter().rposition(|(named, _)| named == name)
    }
}
