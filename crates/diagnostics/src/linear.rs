//! Covariances and least squares.
//!
//! A linear algebra library takes longer to build than this crate, and the matrices have a few hundred rows at most.

use crate::lanes;

/// Returns the weighted mean and the weighted covariance (with divisor Σw − Σw²/Σw) of rows of `width` numbers.
pub(crate) fn moments(table: &[f64], width: usize, weights: Option<&[f64]>) -> (Vec<f64>, Vec<f64>) {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let (mut total, mut squares) = (0.0, 0.0);
    let mut mean = vec![0.0; width];
    for (index, row) in table.chunks_exact(width).enumerate() {
        total += weight(index);
        squares += weight(index).powi(2);
        mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight(index) * value);
    }
    mean.iter_mut().for_each(|sum| *sum /= total);
    let mut covariance = vec![0.0; width * width];
    for (index, row) in table.chunks_exact(width).enumerate() {
        for i in 0..width {
            for j in 0..=i {
                covariance[i * width + j] += weight(index) * (row[i] - mean[i]) * (row[j] - mean[j]);
            }
        }
    }
    for i in 0..width {
        for j in 0..=i {
            covariance[i * width + j] /= total - squares / total;
            covariance[j * width + i] = covariance[i * width + j];
        }
    }
    (mean, covariance)
}

/// Returns the x that minimizes |A x − b|, by a Householder QR decomposition with column pivoting.
///
/// A is a list of columns. Columns that are linear combinations of others up to rounding have the coefficient zero.
pub(crate) fn least_squares(mut columns: Vec<Vec<f64>>, mut target: Vec<f64>) -> Vec<f64> {
    let width = columns.len();
    let mut order: Vec<usize> = (0..width).collect();
    let mut diagonal: Vec<f64> = Vec::new();
    let largest = columns.iter().map(|column| lanes::dot(column, column)).fold(0.0, f64::max);
    for step in 0..width.min(target.len()) {
        let norm = |column: &Vec<f64>| lanes::dot(&column[step..], &column[step..]);
        let next = (step..width).max_by(|a, b| norm(&columns[*a]).total_cmp(&norm(&columns[*b]))).unwrap_or(step);
        columns.swap(step, next);
        order.swap(step, next);
        let size = norm(&columns[step]);
        // The remaining columns are in the span of the others up to rounding.
        if size <= largest * (target.len() as f64) * f64::EPSILON.powi(2) * 16.0 {
            break;
        }
        let (processed, rest) = columns.split_at_mut(step + 1);
        let reflector = &mut processed[step][step..];
        let corner = -size.sqrt().copysign(reflector[0]);
        reflector[0] -= corner;
        let scale = 2.0 / lanes::dot(reflector, reflector);
        for column in rest.iter_mut().chain([&mut target]) {
            let along = scale * lanes::dot(reflector, &column[step..]);
            column[step..].iter_mut().zip(&*reflector).for_each(|(value, entry)| *value -= along * entry);
        }
        diagonal.push(corner);
    }
    let rank = diagonal.len();
    let mut solution = vec![0.0; width];
    for row in (0..rank).rev() {
        let known: f64 = (row + 1..rank).map(|column| columns[column][row] * solution[order[column]]).sum();
        solution[order[row]] = (target[row] - known) / diagonal[row];
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_squares_recovers_a_line_with_and_without_duplicate_columns() {
        let one = vec![1.0; 5];
        let x = vec![0.0, 1.0, 2.0, 3.0, 4.0];
        let y: Vec<f64> = x.iter().map(|x| 3.0 - 2.0 * x).collect();
        let found = least_squares(vec![one.clone(), x.clone()], y.clone());
        assert!((found[0] - 3.0).abs() < 1e-13 && (found[1] + 2.0).abs() < 1e-13, "{found:?}");
        let noisy = vec![1.0, -1.0, 2.0, 0.0, 1.0];
        let found = least_squares(vec![x.clone()], noisy);
        assert!((found[0] - 7.0 / 30.0).abs() < 1e-14, "{found:?}");
        let found = least_squares(vec![x.clone(), one, x], y);
        assert!((found[0] + found[2] + 2.0).abs() < 1e-12 && (found[1] - 3.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn moments_use_weights() {
        let (mean, covariance) = moments(&[1.0, 2.0, 3.0, 6.0], 2, None);
        assert_eq!((mean, covariance), (vec![2.0, 4.0], vec![2.0, 4.0, 4.0, 8.0]));
        let (mean, _) = moments(&[1.0, 2.0, 3.0, 6.0], 2, Some(&[1.0, 3.0]));
        assert_eq!(mean, [2.5, 5.0]);
    }
}
