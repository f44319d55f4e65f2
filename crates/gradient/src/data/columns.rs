//! Data sets as lists of columns.

use super::{Column, ElementType, Values};
use crate::error::{Error, Result};

/// The columns of a data set, assembled from plain vectors or read from a file.
///
/// # Examples
///
/// ```
/// use sgmcmc::Columns;
///
/// let columns = Columns::new()
///     .leaf("x", vec![0.5_f32, 1.0, -1.0, 2.0, 0.0, 3.0], [3, 2])?
///     .leaf("user", vec![4_i64, 0, 4], [3])?;
/// assert_eq!(columns.check()?, 3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    columns: Vec<Column>,
    non_finite: bool,
}

impl Columns {
    /// Creates an empty list of columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column of row-major `values`. The first axis of `shape` is the observation.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of values does not match the shape, or if the shape has no axis or more than six.
    pub fn leaf<T, const R: usize>(self, name: &str, values: Vec<T>, shape: [usize; R]) -> Result<Self>
    where
        Vec<T>: Into<Values>,
    {
        let expected = shape.iter().product();
        if values.len() != expected {
            return Err(Error::ArrayShape { values: values.len(), shape: shape.to_vec(), expected });
        }
        let Some((_, row_shape)) = shape.split_first() else {
            return Err(Error::EmptyDataset { reason: format!("leaf `{name}` has no axis") });
        };
        Ok(self.column(Column::new(name, values, row_shape)?))
    }

    /// Adds a column.
    #[must_use]
    pub fn column(mut self, column: Column) -> Self {
        self.columns.push(column);
        self
    }

    /// Allows NaN and infinite values. [`check`](Self::check) then does not read the values, for instance those of a
    /// mapped file.
    #[must_use]
    pub fn allow_non_finite(self) -> Self {
        Self { non_finite: true, ..self }
    }

    /// Returns the columns.
    pub fn as_slice(&self) -> &[Column] {
        &self.columns
    }

    /// Converts the list to a vector of columns.
    pub fn into_vec(self) -> Vec<Column> {
        self.columns
    }

    /// Returns the number of observations of the first column, or 0 if there is no column.
    pub fn observations(&self) -> usize {
        self.columns.first().map_or(0, Column::observations)
    }

    /// Returns the column called `name`.
    ///
    /// # Errors
    ///
    /// Returns [`Error::UnknownLeaf`] if there is no such column.
    pub fn get(&self, name: &str) -> Result<&Column> {
        find(&self.columns, name)
    }

    /// Checks that the columns form a data set. Returns the number of observations.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no column or no observation, if columns differ in the number of observations or in
    /// the float type, if two columns have the same name, or if a value is NaN or infinite and that was not
    /// [allowed](Self::allow_non_finite).
    pub fn check(&self) -> Result<usize> {
        if !self.non_finite {
            self.columns.iter().try_for_each(Column::check_finite)?;
        }
        let observations = check_columns(&self.columns)?;
        let repeated = |(index, column): (usize, &Column)| {
            self.columns[..index]
                .iter()
                .any(|earlier| earlier.name() == column.name())
                .then(|| column.name().to_owned())
        };
        match self.columns.iter().enumerate().find_map(repeated) {
            Some(leaf) => Err(Error::RepeatedLeaf { leaf }),
            None => Ok(observations),
        }
    }
}

impl From<Vec<Column>> for Columns {
    fn from(columns: Vec<Column>) -> Self {
        Self { columns, non_finite: false }
    }
}

/// Returns the column `name` among `columns`.
///
/// # Errors
///
/// Returns [`Error::UnknownLeaf`] if there is no such column.
pub fn find<'a>(columns: &'a [Column], name: &str) -> Result<&'a Column> {
    columns.iter().find(|column| column.name() == name).ok_or_else(|| {
        let known: Vec<_> = columns.iter().map(|column| format!("`{}`", column.name())).collect();
        Error::UnknownLeaf { leaf: name.into(), known: known.join(", ") }
    })
}

/// Checks that columns have the same number of observations and the same float type. Returns the number of
/// observations.
///
/// # Errors
///
/// Returns an error if a column differs from the first one, or if there is no column or no observation.
pub fn check_columns(columns: &[Column]) -> Result<usize> {
    let Some(first) = columns.first() else {
        return Err(Error::EmptyDataset { reason: "it has no leaf".into() });
    };
    if first.observations() == 0 {
        return Err(Error::EmptyDataset { reason: format!("leaf `{}` has no row", first.name()) });
    }
    if let Some(other) = columns.iter().find(|column| column.observations() != first.observations()) {
        return Err(Error::RowCount {
            leaf: other.name().into(),
            found: other.observations(),
            first: first.name().into(),
            expected: first.observations(),
        });
    }
    let is_float = |column: &&Column| matches!(column.element_type(), ElementType::F32 | ElementType::F64);
    let mut floats = columns.iter().filter(is_float);
    if let Some(first) = floats.next()
        && let Some(other) = floats.find(|column| column.element_type() != first.element_type())
    {
        return Err(Error::MixedPrecision {
            leaf: other.name().into(),
            found: other.element_type().to_string(),
            first: first.name().into(),
            expected: first.element_type().to_string(),
        });
    }
    Ok(first.observations())
}
