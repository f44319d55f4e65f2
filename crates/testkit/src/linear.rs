//! Small dense matrices, row-major.

/// Returns the product a · b of square matrices of size `d`.
pub fn multiply(a: &[f64], b: &[f64], d: usize) -> Vec<f64> {
    let entry = |k: usize| (0..d).map(|l| a[k / d * d + l] * b[l * d + k % d]).sum();
    (0..d * d).map(entry).collect()
}

/// Returns the transpose of a square matrix of size `d`.
pub fn transpose(a: &[f64], d: usize) -> Vec<f64> {
    (0..d * d).map(|k| a[k % d * d + k / d]).collect()
}

/// Returns the solution of a x = b, by Gaussian elimination with partial pivoting.
pub fn solve(a: &[f64], b: &[f64]) -> Vec<f64> {
    let d = b.len();
    let mut rows: Vec<Vec<f64>> =
        a.chunks_exact(d).zip(b).map(|(row, b)| row.iter().chain([b]).copied().collect()).collect();
    for k in 0..d {
        let pivot = (k..d).max_by(|i, j| rows[*i][k].abs().total_cmp(&rows[*j][k].abs())).unwrap_or(k);
        rows.swap(k, pivot);
        let top = rows[k].clone();
        for row in rows.iter_mut().skip(k + 1) {
            let factor = row[k] / top[k];
            row.iter_mut().zip(&top).for_each(|(value, top)| *value -= factor * top);
        }
    }
    let mut x = vec![0.0; d];
    for k in (0..d).rev() {
        let known: f64 = (k + 1..d).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][d] - known) / rows[k][k];
    }
    x
}

/// Returns the sample covariance (divisor n − 1) of rows of length `d`.
pub fn covariance(rows: &[f64], d: usize) -> Vec<f64> {
    let n = (rows.len() / d) as f64;
    let mean: Vec<f64> = (0..d).map(|j| rows.iter().skip(j).step_by(d).sum::<f64>() / n).collect();
    let entry = |k: usize| {
        let (i, j) = (k / d, k % d);
        rows.chunks_exact(d).map(|row| (row[i] - mean[i]) * (row[j] - mean[j])).sum::<f64>() / (n - 1.0)
    };
    (0..d * d).map(entry).collect()
}
