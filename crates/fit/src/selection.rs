//! Selection of parameters and of single values by names, wildcards and exclusions.

use sgmcmc_gradient::{Constraint, Error, Layout, Mode, Result};

use crate::Fit;

impl Fit {
    /// Returns the indices of the values that `patterns` select, each once, in the order of the patterns.
    ///
    /// | pattern | values |
    /// |---|---|
    /// | `beta` | all values of the parameter |
    /// | `beta[3]`, `W[0,2]` | one value |
    /// | `b*`, `W[*,2]`, `x?` | all values whose name, or the name of whose parameter, matches; `*` stands for any characters, `?` for one |
    /// | `~beta[0]`, `~z*` | leaves these values out |
    ///
    /// If all patterns begin with `~`, or there are none, they leave values out of all. The order of exclusions does not
    /// matter.
    ///
    /// # Errors
    ///
    /// Returns an error if a pattern matches no value, or if no value is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.025).sample(&zeros([12]), 20)?;
    /// assert_eq!(fit.find_values(&["theta[3]", "theta[1?]"])?, [3, 10, 11]);
    /// assert_eq!(fit.find_values(&["~theta[1*]"])?, [0, 2, 3, 4, 5, 6, 7, 8, 9]);
    /// assert!(fit.find_values(&["gamma*"]).is_err());
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn find_values<P: AsRef<str>>(&self, patterns: &[P]) -> Result<Vec<usize>> {
        find_values(&self.layout, patterns)
    }

    /// Returns this fit with the values that `patterns` select; see [`find_values`](Self::find_values).
    ///
    /// A parameter of which only some values are selected becomes one parameter per value, such as `beta[3]`. The
    /// [mode](Self::mode) is kept if all parameters are whole.
    ///
    /// # Errors
    ///
    /// Returns an error if a pattern matches no value, or if no value is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.025).sample(&zeros([3]), 20)?;
    /// assert_eq!(fit.select(&["theta[2]"])?.layout().value_names(), ["theta[2]"]);
    /// assert_eq!(fit.select(&["theta"])?.layout(), fit.layout());
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn select<P: AsRef<str>>(&self, patterns: &[P]) -> Result<Self> {
        let indices = self.find_values(patterns)?;
        let parts = Part::split(&self.layout, &indices);
        let layout = Layout::new(parts.iter().map(|part| (part.name.clone(), part.shape.clone(), part.constraint)))?;
        let layout = layout.with_axes_of(&self.layout);
        let mut values = Vec::with_capacity(indices.len());
        let fit = self.with_values(layout, |row| {
            values.clear();
            values.extend(indices.iter().map(|index| row[*index]));
            Ok(values.clone())
        })?;
        // A mode from a damaged file may have another length.
        let mode = self.mode.as_ref().filter(|mode| mode.theta.len() == self.layout.dim()).and_then(|mode| {
            let coordinates = parts.iter().map(|part| part.coordinates.clone()).collect::<Option<Vec<_>>>()?;
            let theta = coordinates.into_iter().flat_map(|range| mode.theta[range].to_vec()).collect();
            Some(Mode { theta, ..mode.clone() })
        });
        Ok(fit.with_mode(mode))
    }
}

/// A parameter of the layout of a selection.
struct Part {
    name: String,
    shape: Vec<usize>,
    constraint: Option<Constraint>,
    /// The range of coordinates, if the parameter is whole.
    coordinates: Option<std::ops::Range<usize>>,
}

impl Part {
    /// Splits the selected values into whole parameters and single values.
    fn split(layout: &Layout, indices: &[usize]) -> Vec<Self> {
        let (mut parts, mut rest) = (Vec::new(), indices);
        while let Some(first) = rest.first() {
            let whole = layout.blocks().iter().find(|block| {
                block.values.start == *first && rest.iter().copied().take(block.values.len()).eq(block.values.clone())
            });
            let length = match whole {
                Some(block) => {
                    let (name, shape, constraint) = (block.name.clone(), block.shape.clone(), block.constraint);
                    parts.push(Self { name, shape, constraint, coordinates: Some(block.range.clone()) });
                    block.values.len()
                }
                None => {
                    let name = layout.value_name(*first);
                    parts.push(Self { name, shape: vec![1], constraint: None, coordinates: None });
                    1
                }
            };
            rest = &rest[length..];
        }
        parts
    }
}

/// Returns the indices of the values that `patterns` select.
fn find_values<P: AsRef<str>>(layout: &Layout, patterns: &[P]) -> Result<Vec<usize>> {
    let patterns = || patterns.iter().map(AsRef::as_ref);
    let mut out = vec![false; layout.value_count()];
    for pattern in patterns().filter_map(|pattern| pattern.strip_prefix('~')) {
        for index in matches(layout, pattern)? {
            out[index] = true;
        }
    }
    let mut found = Vec::new();
    let mut take = |index: usize| {
        if !out[index] {
            out[index] = true;
            found.push(index);
        }
    };
    let mut wanted = patterns().filter(|pattern| !pattern.starts_with('~')).peekable();
    if wanted.peek().is_none() {
        (0..layout.value_count()).for_each(&mut take);
    }
    for pattern in wanted {
        matches(layout, pattern)?.into_iter().for_each(&mut take);
    }
    if found.is_empty() && layout.value_count() > 0 {
        let value = patterns().collect::<Vec<_>>().join(" ");
        return Err(Error::Setting { name: "the selection of parameters", value, expected: "it leaves no value" });
    }
    Ok(found)
}

/// Returns the indices of the values that one pattern without `~` matches.
fn matches(layout: &Layout, pattern: &str) -> Result<Vec<usize>> {
    // A name is itself first, so that names with `*` or `?` can be selected.
    if let Some(block) = layout.blocks().iter().find(|block| block.name == pattern) {
        return Ok(block.values.clone().collect());
    }
    let exact = layout.index(pattern);
    if let Ok(index) = exact {
        return Ok(vec![index]);
    }
    let mut found = Vec::new();
    if pattern.contains(['*', '?']) {
        let text: Vec<char> = pattern.chars().filter(|c| !c.is_whitespace()).collect();
        for block in layout.blocks() {
            let all = is_match(&text, &block.name);
            found.extend(block.values.clone().filter(|index| all || is_match(&text, &layout.value_name(*index))));
        }
    }
    if found.is_empty() { exact.map(|index| vec![index]) } else { Ok(found) }
}

/// Returns whether a pattern with `*` and `?` matches all of `name`.
fn is_match(pattern: &[char], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut position) = (0, 0);
    // The position after the last star, and the character of the name that it has taken up to.
    let mut star: Option<(usize, usize)> = None;
    while position < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, position));
                at += 1;
            }
            Some(c) if *c == '?' || *c == name[position] => {
                at += 1;
                position += 1;
            }
            _ => match star {
                Some((after, taken)) => {
                    star = Some((after, taken + 1));
                    (at, position) = (after, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        let shapes: [(&str, &[usize]); 5] =
            [("mu", &[1]), ("beta", &[3]), ("beta_0", &[1]), ("W", &[2, 3]), ("a*b", &[2])];
        Layout::new(shapes.map(|(name, shape)| (name.to_owned(), shape.to_vec(), None))).unwrap()
    }

    fn names(patterns: &[&str]) -> String {
        let layout = layout();
        let found = find_values(&layout, patterns).unwrap();
        found.into_iter().map(|index| layout.value_name(index)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn names_elements_wildcards_and_exclusions_are_found() {
        assert_eq!(names(&["beta"]), "beta[0] beta[1] beta[2]");
        assert_eq!(names(&["beta[1]", "mu"]), "beta[1] mu");
        assert_eq!(names(&["beta*"]), "beta[0] beta[1] beta[2] beta_0");
        assert_eq!(names(&["beta[*]"]), "beta[0] beta[1] beta[2]");
        assert_eq!(names(&["W[*,2]"]), "W[0,2] W[1,2]");
        assert_eq!(names(&["W[1, *]"]), "W[1,0] W[1,1] W[1,2]");
        assert_eq!(names(&["b*", "~beta[1]"]), "beta[0] beta[2] beta_0");
        assert_eq!(names(&["~W", "~beta*", "~a*b"]), "mu");
        assert_eq!(names(&["a*b"]), "a*b[0] a*b[1]", "a name is itself");
        assert_eq!(names(&["mu", "m?", "mu"]), "mu", "each value once");
        assert_eq!(names(&[]).split(' ').count(), layout().value_count());
    }

    #[test]
    fn patterns_without_values_are_errors() {
        let layout = layout();
        let message = |patterns: &[&str]| find_values(&layout, patterns).unwrap_err().to_string();
        for pattern in ["gamma", "gamma*", "beta[7]", "~gamma", "W[2,0]"] {
            assert!(message(&[pattern]).contains(pattern.trim_start_matches('~')), "{}", message(&[pattern]));
        }
        assert!(message(&["mu", "~mu"]).contains("it leaves no value"));
    }

    #[test]
    fn wildcards_match_whole_names() {
        let matches = |pattern: &str, name: &str| is_match(&pattern.chars().collect::<Vec<_>>(), name);
        assert!(matches("*", "") && matches("a*a*b", "aaab") && matches("*ab", "aabab") && matches("é?", "éx"));
        assert!(!matches("a*b", "abc") && !matches("?", "") && !matches("a", "aa") && !matches("", "a"));
    }
}
