//! Rows that stand for a data set: spread over it, and those with the smallest and largest values of its leaves.

use crate::data::{Column, Values};

/// Rows that are spread evenly.
const EVEN: usize = 8;
/// Rows with extreme values, at most.
const EXTREMES: usize = 48;
/// Numbers that are looked at for extremes in leaves that are in memory; of larger leaves every so many rows are.
const LOOKED_AT: usize = 1 << 24;
/// The same for leaves that are read from a file.
const READ: usize = 1 << 16;

/// Rows of `columns`, in order, without repetition.
///
/// What a closure does with rare values shows in these rows if anywhere: an indicator that is one in few observations has its maximum
/// there.
pub(super) fn rows(columns: &[Column], observations: usize) -> Vec<usize> {
    if observations == 0 {
        return vec![];
    }
    let even = EVEN.min(observations);
    let mut rows: Vec<usize> = (0..even).map(|i| i * (observations - 1) / (even - 1).max(1)).collect();
    let found: Vec<Vec<usize>> = columns.iter().map(extremes).collect();
    // Each leaf has its share, and a wide leaf the extremes of features that are spread over it.
    let share = (EXTREMES / found.len().max(1)).max(2);
    for leaf in &found {
        let taken = share.min(leaf.len());
        rows.extend((0..taken).map(|i| leaf[i * leaf.len() / taken]));
    }
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// For each feature of a leaf, the rows with its smallest and its largest value.
fn extremes(column: &Column) -> Vec<usize> {
    match column.values() {
        Values::F32(values) => of(column, values, |value| f64::from(*value)),
        Values::F64(values) => of(column, values, |value| *value),
        Values::I32(values) => of(column, values, |value| f64::from(*value)),
        Values::I64(values) => of(column, values, |value| *value as f64),
        Values::Bool(values) => of(column, values, |value| f64::from(u8::from(*value))),
        Values::BoolBytes(values) => of(column, values, |value| f64::from(u8::from(*value != 0))),
    }
}

fn of<T>(column: &Column, values: &[T], number: impl Fn(&T) -> f64) -> Vec<usize> {
    let width = column.row_shape().iter().product::<usize>().max(1);
    let most = if column.in_place() { LOOKED_AT } else { READ };
    let step = values.len().div_ceil(most).max(1);
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
    fn a_rare_value_is_among_them() {
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
    fn one_row_stands_for_itself() {
        let column = Column::new("x", vec![2.0_f64], []).unwrap();
        assert_eq!(rows(&[column], 1), [0]);
        assert!(rows(&[], 0).is_empty());
    }
}
