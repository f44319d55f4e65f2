//! Scaling of the columns of a float leaf.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use sgmcmc_gradient::data::{Column, Values, find};
use sgmcmc_gradient::{Error, Result};

use super::Dataset;
use crate::tree::TensorTree;

/// A scaling of the columns of a float leaf, x' = (x − shift) / scale, fitted to one data set and applicable to others.
///
/// | constructor | shift | scale |
/// |---|---|---|
/// | [`standardize`](Self::standardize) | mean | standard deviation (divisor N) |
/// | [`min_max`](Self::min_max) | smallest value | largest − smallest value |
///
/// A constant column has scale 1: it becomes 0, and [`invert`](Self::invert) restores it.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::Scaling;
/// use sgmcmc::prelude::*;
///
/// let train = Columns::new().leaf("x", vec![0.0, 10.0, 5.0, 30.0], [2, 2])?.into_dataset()?;
/// let test = Columns::new().leaf("x", vec![10.0, 20.0], [1, 2])?.into_dataset()?;
/// let scaling = Scaling::min_max(&train, "x")?;
/// assert_eq!(scaling.apply(&test)?.columns()[0].values(), &vec![2.0, 0.5].into());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    leaf: String,
    shift: Vec<f64>,
    scale: Vec<f64>,
}

impl Scaling {
    /// Creates a scaling of `leaf` to mean 0 and standard deviation 1 (divisor N).
    ///
    /// # Errors
    ///
    /// Returns an error if there is no leaf with this name, or if it is not a float leaf.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::data::Scaling;
    /// use sgmcmc::prelude::*;
    ///
    /// let data = Columns::new().leaf("x", vec![1.0, 3.0], [2])?.into_dataset()?;
    /// let scaling = Scaling::standardize(&data, "x")?;
    /// assert_eq!((scaling.shift(), scaling.scale()), (&[2.0][..], &[1.0][..]));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn standardize<D: TensorTree>(data: &Dataset<D>, leaf: &str) -> Result<Self> {
        Self::fit(data, leaf, |moments| (moments.mean, moments.variance.sqrt()))
    }

    /// Creates a scaling of `leaf` to the range from 0 to 1.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no leaf with this name, or if it is not a float leaf.
    pub fn min_max<D: TensorTree>(data: &Dataset<D>, leaf: &str) -> Result<Self> {
        Self::fit(data, leaf, |moments| (moments.smallest, moments.largest - moments.smallest))
    }

    /// Returns the name of the leaf.
    pub fn leaf(&self) -> &str {
        &self.leaf
    }

    /// Returns the number that is subtracted from each column.
    pub fn shift(&self) -> &[f64] {
        &self.shift
    }

    /// Returns the number that each column is divided by after the subtraction.
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// Returns `data` with the leaf scaled. The scaled leaf is in new memory; the other leaves are shared.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no leaf with this name, if it is not a float leaf, or if it has another number of
    /// columns.
    pub fn apply<D: TensorTree>(&self, data: &Dataset<D>) -> Result<Dataset<D>> {
        self.map(data, |value, shift, scale| (value - shift) / scale)
    }

    /// Returns `data` with the inverse of the scaling applied to the leaf.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`apply`](Self::apply).
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::data::Scaling;
    /// use sgmcmc::prelude::*;
    ///
    /// let data = Columns::new().leaf("x", vec![1.0, 3.0], [2])?.into_dataset()?;
    /// let scaling = Scaling::min_max(&data, "x")?;
    /// let restored = scaling.invert(&scaling.apply(&data)?)?;
    /// assert_eq!(restored.columns()[0].values(), data.columns()[0].values());
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn invert<D: TensorTree>(&self, data: &Dataset<D>) -> Result<Dataset<D>> {
        self.map(data, |value, shift, scale| value * scale + shift)
    }

    fn fit<D: TensorTree>(data: &Dataset<D>, leaf: &str, rule: impl Fn(&Moments) -> (f64, f64)) -> Result<Self> {
        let moments = match values_of(data.columns(), leaf)? {
            (width, Floats::Single(values)) => moments(width, || values.iter().map(|value| f64::from(*value))),
            (width, Floats::Double(values)) => moments(width, || values.iter().copied()),
        };
        let constants = moments.iter().map(|column| {
            let (shift, scale) = rule(column);
            // Compares the extremes, because rounding can give a constant column a variance just above zero.
            if column.largest > column.smallest && scale > 0.0 { (shift, scale) } else { (column.smallest, 1.0) }
        });
        let (shift, scale) = constants.unzip();
        Ok(Self { leaf: leaf.into(), shift, scale })
    }

    fn map<D: TensorTree>(&self, data: &Dataset<D>, rule: impl Fn(f64, f64, f64) -> f64) -> Result<Dataset<D>> {
        let (width, values) = values_of(data.columns(), &self.leaf)?;
        if width != self.shift.len() || width != self.scale.len() {
            return Err(Error::LeafWidth { leaf: self.leaf.clone(), found: width, expected: self.shift.len() });
        }
        let constants = || self.shift.iter().zip(&self.scale).cycle();
        let scaled: Values = match values {
            Floats::Single(values) => {
                let pairs = values.iter().zip(constants());
                pairs
                    .map(|(value, (shift, scale))| rule(f64::from(*value), *shift, *scale) as f32)
                    .collect::<Vec<_>>()
                    .into()
            }
            Floats::Double(values) => {
                let pairs = values.iter().zip(constants());
                pairs.map(|(value, (shift, scale))| rule(*value, *shift, *scale)).collect::<Vec<_>>().into()
            }
        };
        let replaced = |column: &Column| {
            if column.name() == self.leaf { column.with_values(scaled.clone()) } else { column.clone() }
        };
        let columns = data.columns.iter().map(replaced).collect();
        Ok(Dataset { columns: Arc::new(columns), ..data.clone() })
    }
}

/// The values of a float leaf.
enum Floats<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}

/// Returns the number of columns of a float leaf, and its values.
fn values_of<'a>(columns: &'a [Column], leaf: &str) -> Result<(usize, Floats<'a>)> {
    let column = find(columns, leaf)?;
    match column.values() {
        Values::F32(values) => Ok((column.width(), Floats::Single(values))),
        Values::F64(values) => Ok((column.width(), Floats::Double(values))),
        _ => Err(Error::LeafKind { leaf: leaf.into(), found: column.kind().name(), expected: "float" }),
    }
}

/// The moments and extremes of one column.
struct Moments {
    mean: f64,
    variance: f64,
    smallest: f64,
    largest: f64,
}

/// Computes the moments of each column. Two passes avoid cancellation in the variance if the mean is large.
fn moments<I: Iterator<Item = f64>>(width: usize, values: impl Fn() -> I) -> Vec<Moments> {
    let start = Moments { mean: 0.0, variance: 0.0, smallest: f64::INFINITY, largest: f64::NEG_INFINITY };
    let mut columns: Vec<Moments> = std::iter::repeat_with(|| Moments { ..start }).take(width).collect();
    let mut count = 0;
    for (index, value) in values().enumerate() {
        let column = &mut columns[index % width];
        column.mean += value;
        column.smallest = column.smallest.min(value);
        column.largest = column.largest.max(value);
        count = index / width + 1;
    }
    columns.iter_mut().for_each(|column| column.mean /= count as f64);
    for (index, value) in values().enumerate() {
        let column = &mut columns[index % width];
        column.variance += (value - column.mean).powi(2) / count as f64;
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::IntoDataset;
    use crate::tree::Named;
    use sgmcmc_gradient::Columns;

    fn data() -> Dataset<Named> {
        let x = vec![1.0e6, 0.1, 2.0, 1.0e6 + 1.0, 0.1, 4.0, 1.0e6 + 2.0, 0.1, 9.0];
        let columns = Columns::new().leaf("x", x, [3, 3]).unwrap().leaf("user", vec![0_i64; 3], [3]).unwrap();
        columns.into_dataset().unwrap()
    }

    fn doubles(data: &Dataset<Named>) -> Vec<f64> {
        match data.columns()[0].values() {
            Values::F64(values) => values.to_vec(),
            _ => unreachable!("the leaf keeps its type"),
        }
    }

    fn close(left: &[f64], right: &[f64]) {
        assert_eq!(left.len(), right.len());
        for (a, b) in left.iter().zip(right) {
            assert!((a - b).abs() < 1e-9, "{left:?} {right:?}");
        }
    }

    #[test]
    fn standardized_columns_have_mean_0_and_variance_1() {
        let scaling = Scaling::standardize(&data(), "x").unwrap();
        let scaled = scaling.apply(&data()).unwrap();
        let values = doubles(&scaled);
        for column in [0, 2] {
            let column: Vec<f64> = values.iter().skip(column).step_by(3).copied().collect();
            close(&[column.iter().sum(), column.iter().map(|v| v * v).sum::<f64>() / 3.0], &[0.0, 1.0]);
        }
        close(&doubles(&scaling.invert(&scaled).unwrap()), &doubles(&data()));
    }

    #[test]
    fn a_constant_column_becomes_zero() {
        for scaling in [Scaling::standardize(&data(), "x"), Scaling::min_max(&data(), "x")] {
            let scaled = doubles(&scaling.unwrap().apply(&data()).unwrap());
            close(&[scaled[1], scaled[4], scaled[7]], &[0.0; 3]);
        }
    }

    #[test]
    fn a_deserialized_scaling_applies_to_new_data() {
        let scaling = Scaling::min_max(&data(), "x").unwrap();
        let kept: Scaling = serde_json::from_str(&serde_json::to_string(&scaling).unwrap()).unwrap();
        assert_eq!(kept, scaling);
        let new = Columns::new().leaf("x", vec![1.0e6, 0.6, 16.0], [1, 3]).unwrap().into_dataset().unwrap();
        close(&doubles(&kept.apply(&new).unwrap()), &[0.0, 0.5, 2.0]);
        let single = data().with_precision(sgmcmc_gradient::Precision::Single);
        assert!(matches!(scaling.apply(&single).unwrap().columns()[0].values(), Values::F32(_)));
    }

    #[test]
    fn errors_name_the_leaf() {
        let message = |result: Result<Scaling>| result.unwrap_err().to_string();
        assert!(message(Scaling::min_max(&data(), "z")).contains("no data leaf `z`: the leaves are `x`, `user`"));
        assert!(message(Scaling::standardize(&data(), "user")).contains("`user` is integer"));
        let narrow = Columns::new().leaf("x", vec![1.0], [1]).unwrap().into_dataset().unwrap();
        let error = Scaling::min_max(&data(), "x").unwrap().apply(&narrow).unwrap_err().to_string();
        assert!(error.contains("`x`") && error.contains('1') && error.contains('3'), "{error}");
    }
}
