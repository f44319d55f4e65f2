//! Names of dimensions and of the positions along them: see [`Axis`].

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Layout;
use crate::error::{Error, Result};

/// The name of a dimension of a parameter, and the labels of its positions.
///
/// Labels replace indices in the names of values: `beta[age]` in place of `beta[1]`. The name of the dimension is that
/// of the dimension in files for ArviZ and xarray, and the labels are its coordinates.
///
/// # Examples
///
/// ```
/// use sgmcmc::{Axis, Layout};
///
/// let layout = Layout::vector("beta", 2).with_axes("beta", [Axis::new("covariate").labels(["age", "income"])])?;
/// assert_eq!(layout.value_names(), ["beta[age]", "beta[income]"]);
/// // Indices are understood, too.
/// assert_eq!((layout.index("beta[income]")?, layout.index("beta[1]")?), (1, 1));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// The name of the dimension.
    pub name: String,
    /// The labels of the positions. Empty if positions have no names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

impl Axis {
    /// Creates an axis without labels.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), labels: Vec::new() }
    }

    /// Sets the labels of the positions.
    #[must_use]
    pub fn labels<L: Into<String>>(self, labels: impl IntoIterator<Item = L>) -> Self {
        Self { labels: labels.into_iter().map(Into::into).collect(), ..self }
    }

    /// Returns the label of a position: its index if it has none.
    pub fn label(&self, position: usize) -> Cow<'_, str> {
        self.labels.get(position).map_or_else(|| position.to_string().into(), |label| label.as_str().into())
    }

    /// Returns the position with this label or index. Labels are tried first.
    fn position(&self, text: &str) -> Option<usize> {
        self.labels.iter().position(|label| label == text).or_else(|| text.parse().ok())
    }
}

/// Returns the position with the label or index `text` along dimension number `dimension`.
pub(super) fn position(axes: &[Axis], dimension: usize, text: &str) -> Option<usize> {
    axes.get(dimension).map_or_else(|| text.parse().ok(), |axis| axis.position(text))
}

/// Splits the text between the brackets of a name at the commas that are not inside brackets themselves, since a label
/// may be `region[north]`. Returns `None` if brackets are unbalanced.
pub(super) fn subscripts(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (place, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                parts.push(text[start..place].trim());
                start = place + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    (depth == 0).then_some(parts)
}

/// Returns the reason why `axes` do not fit a parameter of this shape.
fn problem(axes: &[Axis], shape: &[usize]) -> Option<String> {
    if axes.len() != shape.len() {
        return Some(format!("{} for {} dimensions", axes.len(), shape.len()));
    }
    for (number, (axis, size)) in axes.iter().zip(shape).enumerate() {
        let Axis { name, labels } = axis;
        let is_taken = axes[..number].iter().any(|other| other.name == *name);
        if name.is_empty() || name == "chain" || name == "draw" || name.contains('/') || is_taken {
            return Some(format!("the name `{name}` is empty, contains `/`, or is used already"));
        }
        if !labels.is_empty() && labels.len() != *size {
            return Some(format!("{} labels for the {size} positions of `{name}`", labels.len()));
        }
        let is_name =
            |label: &String| subscripts(label).is_some_and(|parts| parts == [label.as_str()] && !label.is_empty());
        let mut sorted: Vec<&String> = labels.iter().collect();
        sorted.sort_unstable();
        if let Some(label) = labels.iter().find(|label| !is_name(label)) {
            return Some(format!(
                "the label `{label}` of `{name}` is empty or has spaces at its ends, a comma or single brackets"
            ));
        }
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!("the label `{}` of `{name}` is used twice", pair[0]));
        }
    }
    None
}

impl Layout {
    /// Names the dimensions of the parameter `name`, and the positions along them. `axes` has one entry per dimension.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter, or if the axes do not fit its shape.
    ///
    /// # Examples
    ///
    /// See [`Axis`].
    pub fn with_axes(mut self, name: &str, axes: impl IntoIterator<Item = Axis>) -> Result<Self> {
        self.block(name)?;
        let axes: Vec<Axis> = axes.into_iter().collect();
        for block in self.blocks.iter_mut().filter(|block| block.name == name) {
            if let Some(reason) = problem(&axes, &block.shape) {
                return Err(Error::Setting {
                    name: "the axes of a parameter",
                    value: format!("those of `{name}` of shape {:?}: {reason}", block.shape),
                    expected: "one axis per dimension, with different names, and no labels or one for each position",
                });
            }
            block.axes.clone_from(&axes);
        }
        Ok(self)
    }

    /// Labels the positions of the parameter `name`, which has one dimension. A name of the dimension is kept.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter, if it does not have one dimension, or if there is not one label for
    /// each of its values.
    pub fn with_labels<L: Into<String>>(self, name: &str, labels: impl IntoIterator<Item = L>) -> Result<Self> {
        let declared = self.block(name)?.axes.first().cloned();
        let axis = declared.unwrap_or_else(|| Axis::new(format!("{name}_dim_0"))).labels(labels);
        self.with_axes(name, [axis])
    }

    /// Returns this layout with the axes of the parameters of `other` that have the same names and shapes.
    #[must_use]
    pub fn with_axes_of(mut self, other: &Self) -> Self {
        for block in self.blocks.iter_mut().filter(|block| block.axes.is_empty()) {
            let same = other.blocks.iter().find(|known| known.name == block.name && known.shape == block.shape);
            block.axes = same.map_or_else(Vec::new, |known| known.axes.clone());
        }
        self
    }

    /// Returns this layout without the names of dimensions and positions.
    #[must_use]
    pub fn without_axes(mut self) -> Self {
        self.blocks.iter_mut().for_each(|block| block.axes.clear());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        let leaves = [("W", vec![2, 3]), ("mu", vec![1]), ("b", vec![2])];
        let layout = Layout::new(leaves.map(|(name, shape)| (name.to_owned(), shape, None))).unwrap();
        let county = Axis::new("county").labels(["Aitkin", "region[north]"]);
        layout.with_axes("W", [county, Axis::new("year")]).unwrap()
    }

    #[test]
    fn labels_stand_in_names_and_are_found() {
        let layout = layout();
        assert_eq!(layout.value_name(5), "W[region[north],2]");
        for index in 0..layout.value_count() {
            assert_eq!(layout.index(&layout.value_name(index)).unwrap(), index);
        }
        assert_eq!(layout.index("W[0, 2]").unwrap(), 2);
        assert_eq!(layout.index("W[Aitkin,2]").unwrap(), 2);
        for wrong in ["W[2,0]", "W[Aitkin]", "W[Aitkin,3]", "W[aitkin,0]", "W[Aitkin,0]]", "b[Aitkin]"] {
            assert!(layout.index(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_label_that_is_a_number_comes_before_an_index() {
        let layout = Layout::vector("x", 3).with_axes("x", [Axis::new("year").labels(["2", "1", "7"])]).unwrap();
        assert_eq!(["x[2]", "x[1]", "x[7]", "x[0]"].map(|name| layout.index(name).unwrap()), [0, 1, 2, 0]);
    }

    #[test]
    fn axes_that_do_not_fit_are_errors() {
        let message = |axes: Vec<Axis>| layout().with_axes("W", axes).unwrap_err().to_string();
        let year = || Axis::new("year");
        for (axes, part) in [
            (vec![year()], "1 for 2 dimensions"),
            (vec![year(), year()], "`year` is empty"),
            (vec![Axis::new("chain"), year()], "`chain` is empty"),
            (vec![year().labels(["a"]), Axis::new("z")], "1 labels for the 2 positions"),
            (vec![year().labels(["a", "a"]), Axis::new("z")], "`a` of `year` is used twice"),
            (vec![year().labels(["a", "b,c"]), Axis::new("z")], "`b,c` of `year`"),
            (vec![year().labels(["a", "b]"]), Axis::new("z")], "`b]` of `year`"),
        ] {
            assert!(message(axes).contains(part), "{part}");
        }
        assert!(layout().with_axes("V", []).is_err());
    }

    #[test]
    fn axes_survive_serialization_and_copies() {
        let layout = layout();
        let text = serde_json::to_string(&layout).unwrap();
        assert_eq!(serde_json::from_str::<Layout>(&text).unwrap(), layout);
        let plain = layout.clone().without_axes();
        assert!(!serde_json::to_string(&plain).unwrap().contains("axes"));
        assert_eq!(plain.with_axes_of(&layout), layout);
    }
}
