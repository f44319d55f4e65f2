//! Scaling of a float leaf, column by column: x' = (x − shift) / scale.
//!
//! | | shift | scale |
//! |---|---|---|
//! | standardise | mean | standard deviation (divisor N) |
//! | min-max | smallest value | largest − smallest value |
//!
//! A column that is constant has scale 1: it becomes 0, and comes back when inverted.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::convert::named;
use super::{Column, Dataset, Values};
use crate::error::{Error, Result};
use crate::tree::TensorTree;

/// A scaling fitted to one leaf, to be applied to that and to other data.
///
/// ```
/// use sgmcmc_core::{Columns, data::Scaling};
///
/// let train = Columns::new().leaf("x", vec![0.0, 10.0, 5.0, 30.0], [2, 2])?.build()?;
/// let test = Columns::new().leaf("x", vec![10.0, 20.0], [1, 2])?.build()?;
/// let scaling = Scaling::min_max(&train, "x")?;
/// assert_eq!(scaling.apply(&test)?.columns()[0].values(), &vec![2.0, 0.5].into());
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    leaf: String,
    shift: Vec<f64>,
    scale: Vec<f64>,
}

impl Scaling {
    /// To mean 0 and standard deviation 1 (divisor N).
    ///
    /// # Errors
    ///
    /// If there is no leaf of that name, or it is not float.
    pub fn standardise<D: TensorTree>(data: &Dataset<D>, leaf: &str) -> Result<Self> {
        Self::fit(data, leaf, |moments| (moments.mean, moments.variance.sqrt()))
    }

    /// To the range from 0 to 1.
    ///
    /// # Errors
    ///
    /// As [`standardise`](Self::standardise).
    pub fn min_max<D: TensorTree>(data: &Dataset<D>, leaf: &str) -> Result<Self> {
        Self::fit(data, leaf, |moments| (moments.smallest, moments.largest - moments.smallest))
    }

    /// The leaf it was fitted to.
    pub fn leaf(&self) -> &str {
        &self.leaf
    }

    /// What is taken off each column.
    pub fn shift(&self) -> &[f64] {
        &self.shift
    }

    /// What each column is then divided by.
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// The data with the leaf scaled. The leaf is copied to memory, the others are shared.
    ///
    /// # Errors
    ///
    /// If there is no such leaf, or it is not float, or has another number of columns.
    pub fn apply<D: TensorTree>(&self, data: &Dataset<D>) -> Result<Dataset<D>> {
        self.map(data, |value, shift, scale| (value - shift) / scale)
    }

    /// The data with the scaling undone.
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply).
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
            // By the extremes: rounding can leave a constant column a variance just above zero.
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

enum Floats<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}

fn values_of<'a>(columns: &'a [Column], leaf: &str) -> Result<(usize, Floats<'a>)> {
    let column = named(columns, leaf)?;
    match column.values() {
        Values::F32(values) => Ok((column.width(), Floats::Single(values))),
        Values::F64(values) => Ok((column.width(), Floats::Double(values))),
        _ => Err(Error::LeafKind { leaf: leaf.into(), found: column.kind(), expected: "float" }),
    }
}

struct Moments {
    mean: f64,
    variance: f64,
    smallest: f64,
    largest: f64,
}

/// Two passes, so that a large mean does not drown the variance.
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
    use crate::data::Columns;
    use crate::tree::Named;

    fn data() -> Dataset<Named> {
        let x = vec![1.0e6, 0.1, 2.0, 1.0e6 + 1.0, 0.1, 4.0, 1.0e6 + 2.0, 0.1, 9.0];
        let columns = Columns::new().leaf("x", x, [3, 3]).unwrap().leaf("user", vec![0_i64; 3], [3]).unwrap();
        columns.build().unwrap()
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
    fn standardised_columns_have_mean_0_and_variance_1() {
        let scaling = Scaling::standardise(&data(), "x").unwrap();
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
        for scaling in [Scaling::standardise(&data(), "x"), Scaling::min_max(&data(), "x")] {
            let scaled = doubles(&scaling.unwrap().apply(&data()).unwrap());
            close(&[scaled[1], scaled[4], scaled[7]], &[0.0; 3]);
        }
    }

    #[test]
    fn it_is_kept_and_applied_to_new_data() {
        let scaling = Scaling::min_max(&data(), "x").unwrap();
        let kept: Scaling = serde_json::from_str(&serde_json::to_string(&scaling).unwrap()).unwrap();
        assert_eq!(kept, scaling);
        let new = Columns::new().leaf("x", vec![1.0e6, 0.6, 16.0], [1, 3]).unwrap().build().unwrap();
        close(&doubles(&kept.apply(&new).unwrap()), &[0.0, 0.5, 2.0]);
        let single = data().with_precision(crate::data::Precision::Single);
        assert!(matches!(scaling.apply(&single).unwrap().columns()[0].values(), Values::F32(_)));
    }

    #[test]
    fn mistakes_are_named() {
        let message = |result: Result<Scaling>| result.unwrap_err().to_string();
        assert!(message(Scaling::min_max(&data(), "z")).contains("no data leaf `z`: the leaves are `x`, `user`"));
        assert!(message(Scaling::standardise(&data(), "user")).contains("`user` is integer"));
        let narrow = Columns::new().leaf("x", vec![1.0], [1]).unwrap().build().unwrap();
        let error = Scaling::min_max(&data(), "x").unwrap().apply(&narrow).unwrap_err().to_string();
        assert!(error.contains("`x`") && error.contains('1') && error.contains('3'), "{error}");
    }
}
