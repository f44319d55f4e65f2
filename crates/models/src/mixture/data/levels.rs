//! Observations of several categorical variables.

use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::{Error, Result};

use super::Observations;

/// Categorical variables: each observation has one level of every variable. Binary variables have two levels.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Levels, Observations};
///
/// // A binary variable and one of three levels.
/// let table = Levels::new(vec![2, 3], vec![0, 2, 1, 1])?;
/// assert_eq!((table.observations(), table.sizes()), (2, &[2, 3][..]));
/// assert!(Levels::new(vec![2, 3], vec![0, 3]).is_err());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// The number of levels of every variable.
    sizes: Vec<usize>,
    /// For every observation and variable, the index of the level among the levels of all variables.
    cells: Vec<u32>,
}

impl Levels {
    /// Creates a table with `sizes[v]` levels of variable v. The values are in row-major order, one row per
    /// observation, and levels count from 0.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no value, a row is incomplete or a level is too large.
    pub fn new(sizes: Vec<usize>, values: Vec<u32>) -> Result<Self> {
        let variables = sizes.len();
        if variables == 0 || values.is_empty() {
            return Err(Error::EmptyDataset { reason: "there is no observation".into() });
        }
        if !values.len().is_multiple_of(variables) {
            let (values, row_shape) = (values.len(), vec![variables]);
            return Err(Error::RowShape { leaf: "levels".into(), values, row_shape });
        }
        let mut cells = values;
        let mut start = 0;
        for (variable, size) in sizes.iter().enumerate() {
            for (row, level) in cells.iter_mut().skip(variable).step_by(variables).enumerate() {
                let cell = u32::try_from(start + *level as usize).ok().filter(|_| (*level as usize) < *size);
                let Some(cell) = cell else {
                    return Err(Error::DataOutsideSupport {
                        leaf: "the levels".into(),
                        position: format!("row {row}, column {variable}"),
                        value: f64::from(*level),
                        distribution: "Categorical",
                        support: format!("levels below {size}").into(),
                    });
                };
                *level = cell;
            }
            start += size;
        }
        Ok(Self { sizes, cells })
    }

    /// Returns the number of levels of every variable.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Returns the levels of an observation, as indices among the levels of all variables.
    pub(crate) fn row(&self, index: usize) -> &[u32] {
        &self.cells[index * self.sizes.len()..(index + 1) * self.sizes.len()]
    }
}

impl Observations for Levels {
    fn observations(&self) -> usize {
        self.cells.len() / self.sizes.len()
    }

    fn fingerprint(&self, hasher: &mut Fingerprinter) {
        hasher.word(self.sizes.len() as u64);
        self.sizes.iter().for_each(|size| hasher.word(*size as u64));
        self.cells.iter().for_each(|cell| hasher.word(u64::from(*cell)));
    }
}
