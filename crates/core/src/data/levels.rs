//! Categories with names, and their indices.

use burn_tensor::{Int, Tensor, TensorData};
use sgmcmc_gradient::error::{Error, Result};

use crate::array::default_device;

/// The categories of a column with the category of each observation: groups of a hierarchy, or levels of a factor.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::Levels;
///
/// let county = Levels::from_column(["Cook", "Aitkin", "Cook"]);
/// assert_eq!(county.names(), ["Aitkin", "Cook"]);             // sorted
/// assert_eq!(county.indices(), [1, 0, 1]);
/// assert_eq!(county.name(1), Some("Cook"));
/// let leaf = county.tensor();                                  // a data leaf for `effects.by(county)`
/// assert_eq!(leaf.dims(), [3]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    names: Vec<String>,
    indices: Vec<usize>,
}

impl Levels {
    /// Creates the levels of a column. They are the different values, sorted.
    pub fn from_column<T: Into<String>>(column: impl IntoIterator<Item = T>) -> Self {
        let column: Vec<String> = column.into_iter().map(Into::into).collect();
        let mut names = column.clone();
        names.sort_unstable();
        names.dedup();
        let index = |value: &String| names.binary_search(value).unwrap_or(0);
        Self { indices: column.iter().map(index).collect(), names }
    }

    /// Creates the levels of a column in a given order. A test set has the levels of the training set.
    ///
    /// # Errors
    ///
    /// Returns an error if the column has a value that is not one of `names`, or if a name is repeated.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::data::Levels;
    ///
    /// let size = Levels::with_names(&["small", "large"], ["large", "small", "small"])?;
    /// assert_eq!(size.indices(), [1, 0, 0]);
    /// assert!(Levels::with_names(&["small"], ["huge"]).unwrap_err().to_string().contains("huge"));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn with_names<T: AsRef<str>>(names: &[&str], column: impl IntoIterator<Item = T>) -> Result<Self> {
        let repeated = names.iter().enumerate().find(|(position, name)| names[..*position].contains(name));
        if let Some((_, name)) = repeated {
            let (value, expected) = (format!("{name:?} twice"), "each level has its own name");
            return Err(Error::Setting { name: "the list of levels", value, expected });
        }
        let index = |value: T| {
            names.iter().position(|name| *name == value.as_ref()).ok_or_else(|| Error::Setting {
                name: "a level",
                value: format!("{:?}", value.as_ref()),
                expected: "it must be one of the given names: add it to them",
            })
        };
        let indices = column.into_iter().map(index).collect::<Result<_>>()?;
        Ok(Self { names: names.iter().map(|name| (*name).to_owned()).collect(), indices })
    }

    /// Returns the names of the levels.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the name of the level `index`.
    pub fn name(&self, index: usize) -> Option<&str> {
        self.names.get(index).map(String::as_str)
    }

    /// Returns the level of each observation, counted from 0.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// Returns the number of levels, the length of a parameter with one entry per level.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Returns the number of observations of each level.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.names.len()];
        self.indices.iter().for_each(|index| sizes[*index] += 1);
        sizes
    }

    /// Returns the level of each observation as a data leaf.
    pub fn tensor(&self) -> Tensor<1, Int> {
        let indices: Vec<i64> = self.indices.iter().map(|index| *index as i64).collect();
        let count = indices.len();
        Tensor::from_data(TensorData::new(indices, [count]), &default_device())
    }
}
