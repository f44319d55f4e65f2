//! The data of an α-stable factorization.

use sgmcmc_gradient::{Error, Result};

use super::super::entries::{Entries, Entry};
use super::Complex;

/// The observed entries of a real or complex matrix.
///
/// The distribution of a complex entry does not depend on its argument, so that only the squared absolute values are
/// kept.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::{Complex, Entries, StableData};
///
/// let real = StableData::real(&Entries::dense(1, 2, &[3.0, -1.0])?)?;
/// assert_eq!(real.powers().values(), [9.0, 1.0]);
/// let complex = StableData::complex(1, 1, &[Complex { re: 3.0, im: 4.0 }])?;
/// assert_eq!(complex.powers().values(), [25.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StableData {
    powers: Entries,
    /// 1 for real and 2 for complex entries.
    components: f64,
}

impl StableData {
    /// Creates the data of a real matrix, which may have missing entries.
    ///
    /// # Errors
    ///
    /// Returns an error if a square is not finite.
    pub fn real(entries: &Entries) -> Result<Self> {
        let squared = entries.iter().map(|entry| Entry { value: entry.value * entry.value, ..entry });
        Ok(Self { powers: Entries::new(entries.rows(), entries.columns(), squared)?, components: 1.0 })
    }

    /// Creates the data of a complex matrix from its entries in row-major order.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of entries is not rows × columns, or if a square is not finite.
    pub fn complex(rows: usize, columns: usize, entries: &[Complex]) -> Result<Self> {
        let powers: Vec<f64> = entries.iter().map(Complex::power).collect();
        Ok(Self { powers: Entries::dense(rows, columns, &powers)?, components: 2.0 })
    }

    /// Returns the squared absolute values of the entries.
    pub fn powers(&self) -> &Entries {
        &self.powers
    }

    /// Returns the number of real components of an entry, 1 or 2.
    pub(super) fn components(&self) -> f64 {
        self.components
    }

    /// Returns the median of the absolute values.
    ///
    /// # Errors
    ///
    /// Returns an error if it is zero, because then the scale of the factors is not known.
    pub(super) fn median(&self) -> Result<f64> {
        let mut powers = self.powers.values().to_vec();
        let middle = powers.len() / 2;
        let (_, median, _) = powers.select_nth_unstable_by(middle, f64::total_cmp);
        if *median > 0.0 {
            return Ok(median.sqrt());
        }
        Err(Error::EmptyDataset { reason: "half of the entries are zero, which have probability zero".into() })
    }

    /// Interprets the squares as those of complex entries.
    #[cfg(test)]
    pub(super) fn into_complex(self) -> Self {
        Self { components: 2.0, ..self }
    }

    /// Replaces the squared absolute values.
    #[cfg(test)]
    pub(super) fn set_powers(&mut self, powers: &[f64]) {
        self.powers.set_values(powers);
    }
}
