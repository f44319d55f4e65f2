//! The little linear algebra that is needed: covariances, a Cholesky factor, least squares.
//!
//! A library of dense decompositions would take longer to build than everything else here, for matrices of a few hundred rows.

use crate::error::Error;
use crate::lanes;

/// The (weighted) mean and covariance (divisor Σw − Σw²/Σw) of rows of `width` numbers.
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

/// The lower triangular L with L Lᵀ = `matrix` (symmetric, row by row).
pub(crate) fn cholesky(matrix: &[f64], width: usize) -> Result<Vec<f64>, Error> {
    let mut factor = vec![0.0; width * width];
    for i in 0..width {
        for j in 0..=i {
            let product = lanes::dot(&factor[i * width..i * width + j], &factor[j * width..j * width + j]);
            let rest = matrix[i * width + j] - product;
            if i != j {
                factor[i * width + j] = rest / factor[j * width + j];
            } else if rest > matrix[i * width + i].abs() * f64::EPSILON {
                factor[i * width + i] = rest.sqrt();
            } else {
                return Err(Error::NotPositiveDefinite { row: i });
            }
        }
    }
    Ok(factor)
}

/// The x that makes |A x − b| smallest, by Householder reflections with the largest remaining column first; A is given column by column and is used up.
///
/// Columns that depend on others to rounding get the coefficient zero.
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
        // A column's part outside the span of the others that is rounding alone.
        if size <= largest * (target.len() as f64) * f64::EPSILON.powi(2) * 16.0 {
            break;
        }
        let (done, rest) = columns.split_at_mut(step + 1);
        let reflector = &mut done[step][step..];
        let corner = -size.sqrt().copysign(reflector[0]);
        reflector[0] -= corner;
        let scale = 2.0 / lanes::dot(reflector, reflector);
        for column in rest.iter_mut().chain([&mut target]) {
            let along = scale * lanes::dot(reflector, &column[step..]);
            column[step..].iter_mut().zip(&*reflector).for_each(|(value, part)| *value -= along * part);
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
    fn the_factor_times_itself_is_the_matrix() {
        let matrix = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let factor = cholesky(&matrix, 3).unwrap();
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| factor[i * 3 + k] * factor[j * 3 + k]).sum();
                assert!((product - matrix[i * 3 + j]).abs() < 1e-14);
            }
        }
        assert_eq!(cholesky(&[1.0, 1.0, 1.0, 1.0], 2), Err(Error::NotPositiveDefinite { row: 1 }));
    }

    #[test]
    fn least_squares_finds_the_line_and_survives_copies() {
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
    fn moments_weigh_rows() {
        let (mean, covariance) = moments(&[1.0, 2.0, 3.0, 6.0], 2, None);
        assert_eq!((mean, covariance), (vec![2.0, 4.0], vec![2.0, 4.0, 4.0, 8.0]));
        let (mean, _) = moments(&[1.0, 2.0, 3.0, 6.0], 2, Some(&[1.0, 3.0]));
        assert_eq!(mean, [2.5, 5.0]);
    }
}
