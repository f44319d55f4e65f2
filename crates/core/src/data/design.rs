//! Model matrices: numeric and categorical columns as covariates of a linear predictor.

use burn_tensor::{Tensor, TensorData};
use sgmcmc_gradient::error::{Error, Result};

use super::Levels;
use crate::array::default_device;

/// The coding of a categorical column with k levels by k − 1 covariates.
///
/// | contrast | coefficient | row of level i |
/// |---|---|---|
/// | `Treatment` | difference of level i from the first one | 1 in column i − 1; zero for the first level |
/// | `Sum` | difference of level i from the mean of the levels | 1 in column i; −1 in all columns for the last level |
/// | `Helmert` | difference of a level from the mean of the levels before it, divided by its position plus one | i in column i − 1, −1 in later columns |
/// | `Full` | the level itself: one covariate for each level, for models without an intercept | 1 in column i |
///
/// The codings are those of R (`contr.treatment`, `contr.sum`, `contr.helmert`).
///
/// # Examples
///
/// ```
/// use sgmcmc::data::Contrast;
///
/// assert_eq!(Contrast::Sum.row(2, 3), [-1.0, -1.0]);
/// assert_eq!(Contrast::Helmert.row(1, 3), [1.0, -1.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contrast {
    /// Differences from the first level.
    Treatment,
    /// Differences from the mean of the levels.
    Sum,
    /// Differences from the mean of the levels before.
    Helmert,
    /// One covariate for each level.
    Full,
}

impl Contrast {
    /// Returns the covariates of the level `level` of `levels`.
    pub fn row(self, level: usize, levels: usize) -> Vec<f64> {
        let columns = if self == Self::Full { levels } else { levels.saturating_sub(1) };
        let entry = |column: usize| match self {
            Self::Treatment => f64::from(u8::from(level == column + 1)),
            Self::Full => f64::from(u8::from(level == column)),
            Self::Sum if level + 1 == levels => -1.0,
            Self::Sum => f64::from(u8::from(level == column)),
            Self::Helmert if level == column + 1 => level as f64,
            Self::Helmert if level <= column => -1.0,
            Self::Helmert => 0.0,
        };
        (0..columns).map(entry).collect()
    }

    /// Returns the names of the covariates of the factor `factor`.
    fn names(self, factor: &str, levels: &Levels) -> Vec<String> {
        let named = |index: usize| format!("{factor}[{}]", levels.name(index).unwrap_or_default());
        match self {
            Self::Full => (0..levels.count()).map(named).collect(),
            Self::Treatment | Self::Helmert => (1..levels.count()).map(named).collect(),
            Self::Sum => (0..levels.count().saturating_sub(1)).map(named).collect(),
        }
    }
}

/// A model matrix: covariates with names, one row per observation.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::{Contrast, DesignMatrix, Levels};
///
/// let region = Levels::from_column(["north", "south", "east", "north"]);
/// let design = DesignMatrix::new()
///     .intercept()
///     .numeric("age", &[30.0, 41.0, 25.0, 60.0])?
///     .categorical("region", &region, Contrast::Treatment)?;
/// assert_eq!(design.names(), ["intercept", "age", "region[north]", "region[south]"]);
/// assert_eq!(design.matrix()?.dims(), [4, 4]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DesignMatrix {
    names: Vec<String>,
    columns: Vec<Covariate>,
    rows: Option<usize>,
}

/// A column of the matrix.
#[derive(Clone, Debug, PartialEq)]
enum Covariate {
    Ones,
    Values(Vec<f64>),
}

impl DesignMatrix {
    /// Creates a matrix without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column of ones, called `intercept`.
    #[must_use]
    pub fn intercept(mut self) -> Self {
        self.names.push("intercept".into());
        self.columns.push(Covariate::Ones);
        self
    }

    /// Adds a numeric column.
    ///
    /// # Errors
    ///
    /// Returns an error if its length is not the number of observations, or if a value is not finite.
    pub fn numeric(mut self, name: impl Into<String>, values: &[f64]) -> Result<Self> {
        let name = name.into();
        if let Some(value) = values.iter().find(|value| !value.is_finite()) {
            let value = format!("{value} in column `{name}`");
            return Err(Error::Setting { name: "a covariate", value, expected: "covariates must be finite" });
        }
        self.check_rows(values.len())?;
        self.names.push(name);
        self.columns.push(Covariate::Values(values.to_vec()));
        Ok(self)
    }

    /// Adds the columns of a categorical variable with the given coding. Their names are those of the levels.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of its entries is not the number of observations, or if it has fewer than two
    /// levels.
    pub fn categorical(mut self, name: &str, levels: &Levels, contrast: Contrast) -> Result<Self> {
        self.check_rows(levels.indices().len())?;
        if levels.count() < 2 {
            let value = format!("{} in column `{name}`", levels.count());
            let expected = "a categorical column has at least 2: leave out a column that is constant";
            return Err(Error::Setting { name: "the number of levels", value, expected });
        }
        let rows: Vec<Vec<f64>> = (0..levels.count()).map(|level| contrast.row(level, levels.count())).collect();
        for (column, covariate) in contrast.names(name, levels).into_iter().enumerate() {
            self.names.push(covariate);
            let values = levels.indices().iter().map(|level| rows[*level][column]).collect();
            self.columns.push(Covariate::Values(values));
        }
        Ok(self)
    }

    /// Returns the names of the columns, which are those of the coefficients.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of columns, the length of the vector of coefficients.
    pub fn count(&self) -> usize {
        self.columns.len()
    }

    /// Returns the matrix as a data leaf of shape `[n, k]`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no column that determines the number of observations.
    pub fn matrix(&self) -> Result<Tensor<2>> {
        let rows = self.rows.ok_or_else(|| Error::EmptyDataset {
            reason: "the model matrix has no numeric or categorical column, so that the number of rows is unknown"
                .into(),
        })?;
        let mut values = vec![1.0; rows * self.columns.len()];
        for (column, covariate) in self.columns.iter().enumerate() {
            if let Covariate::Values(own) = covariate {
                let entries = values.iter_mut().skip(column).step_by(self.columns.len());
                entries.zip(own).for_each(|(entry, value)| *entry = *value);
            }
        }
        Ok(Tensor::from_data(TensorData::new(values, [rows, self.columns.len()]), &default_device()))
    }

    /// Checks the number of observations of a column.
    fn check_rows(&mut self, found: usize) -> Result<()> {
        let expected = *self.rows.get_or_insert(found);
        if found == expected {
            Ok(())
        } else {
            Err(Error::Length { what: "a column of the model matrix", expected, found })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of `contr.treatment(4)`, `contr.sum(4)` and `contr.helmert(4)` of R.
    #[test]
    fn contrasts_are_those_of_r() {
        let table = |contrast: Contrast| (0..4).map(|level| contrast.row(level, 4)).collect::<Vec<_>>();
        assert_eq!(table(Contrast::Treatment), [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        assert_eq!(table(Contrast::Sum), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -1.0, -1.0]]);
        assert_eq!(
            table(Contrast::Helmert),
            [[-1.0, -1.0, -1.0], [1.0, -1.0, -1.0], [0.0, 2.0, -1.0], [0.0, 0.0, 3.0]]
        );
        assert_eq!(table(Contrast::Full)[2], [0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn matrices_and_mistakes() {
        let levels = Levels::from_column(["b", "a", "b"]);
        assert_eq!(levels.sizes(), [1, 2]);
        let design = DesignMatrix::new().numeric("x", &[1.0, 2.0, 3.0]).unwrap().intercept();
        let design = design.categorical("g", &levels, Contrast::Sum).unwrap();
        assert_eq!(design.names(), ["x", "intercept", "g[a]"]);
        let values: Vec<f64> = design.matrix().unwrap().into_data().iter::<f64>().collect();
        assert_eq!(values, [1.0, 1.0, -1.0, 2.0, 1.0, 1.0, 3.0, 1.0, -1.0]);
        let message = |error: Error| error.to_string();
        assert!(message(design.numeric("z", &[1.0]).unwrap_err()).contains("length 1, expected 3"));
        assert!(message(DesignMatrix::new().numeric("z", &[f64::NAN]).unwrap_err()).contains("column `z`"));
        let one = Levels::from_column(["a", "a"]);
        assert!(message(DesignMatrix::new().categorical("g", &one, Contrast::Sum).unwrap_err()).contains("at least 2"));
        assert!(message(DesignMatrix::new().intercept().matrix().unwrap_err()).contains("number of rows is unknown"));
    }
}
