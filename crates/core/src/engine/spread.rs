//! Representative observations of a data set: some at regular intervals, and those with the extreme values of the
//! leaves.

use sgmcmc_gradient::data::{Column, Values};

/// The number of observations at regular intervals.
const EVEN: usize = 8;
/// The maximum number of observations with extreme values.
const EXTREMES: usize = 48;
/// The maximum number of values that are searched in a leaf in memory. Larger leaves are searched with a stride.
const SEARCHED_IN_MEMORY: usize = 1 << 24;
/// The maximum number of values that are searched in a leaf that is read from a file.
const SEARCHED_IN_FILE: usize = 1 << 16;

/// Returns the indices of representative observations, in increasing order.
///
/// They include observations with rare values: an indicator that is one for few observations has its maximum at one of
/// them.
pub(super) fn rows(columns: &[Column], observations: usize) -> Vec<usize> {
    if observations == 0 {
        return vec![];
    }
    let even = EVEN.min(observations);
    let mut rows: Vec<usize> = (0..even).map(|i| i * (observations - 1) / (even - 1).max(1)).collect();
    let found: Vec<Vec<usize>> = columns.iter().map(extremes).collect();
    // Each leaf contributes the same number of observations. For a wide leaf, they come from features at regular
    // intervals.
    let share = (EXTREMES / found.len().max(1)).max(2);
    for leaf in &found {
        let taken = share.min(leaf.len());
        rows.extend((0..taken).map(|i| leaf[i * leaf.len() / taken]));
    }
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// Returns the observations with the smallest and the largest value of each feature of a leaf.
fn extremes(column: &Column) -> Vec<usize> {
    match column.values() {
        Values::F32(values) => extremes_of(column, values, |value| f64::from(*value)),
        Values::F64(values) => extremes_of(column, values, |value| *value),
        Values::I32(values) => extremes_of(column, values, |value| f64::from(*value)),
        Values::I64(values) => extremes_of(column, values, |value| *value as f64),
        Values::Bool(values) => extremes_of(column, values, |value| f64::from(u8::from(*value))),
        Values::BoolBytes(values) => extremes_of(column, values, |value| f64::from(u8::from(*value != 0))),
    }
}

/// Returns the observations with the extreme values of each feature, where `number` converts a value.
fn extremes_of<T>(column: &Column, values: &[T], number: impl Fn(&T) -> f64) -> Vec<usize> {
    let width = column.row_shape().iter().product::<usize>().max(1);
    let limit = if column.in_place() { SEARCHED_IN_MEMORY } else { SEARCHED_IN_FILE };
    let step = values.len().div_ceil(limit).max(1);
    let mut found = vec![[(f64::INFINITY, 0), (f64::NEG_INFINITY, 0)]; width];
    for (row, features) in values.chunks_exact(width).enumerate().step_by(step) {
        for (value, [least, most]) in features.iter().map(&number).zip(&mut found) {
            if value < least.0 {
                *least = (value, row);
            }
            if value > most.0 {
                *most = (value, row);
            }
        }
    }
    found.into_iter().flatten().map(|(_, row)| row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_with_rare_values_are_included() {
        let mut rare = vec![0.0_f64; 5000];
        rare[1234] = 1.0;
        let mut features = vec![0.0_f32; 5000 * 3];
        features[77 * 3 + 1] = -4.0;
        let columns = [Column::new("rare", rare, []).unwrap(), Column::new("x", features, [3]).unwrap()];
        let rows = rows(&columns, 5000);
        assert!(rows.contains(&1234) && rows.contains(&77), "{rows:?}");
        assert!(rows.contains(&0) && rows.contains(&4999));
        assert!(rows.is_sorted() && rows.len() <= EVEN + EXTREMES);
    }

    #[test]
    fn a_single_observation_is_included() {
        let column = Column::new("x", vec![2.0_f64], []).unwrap();
        assert_eq!(rows(&[column], 1), [0]);
        assert!(rows(&[], 0).is_empty());
    }
}
