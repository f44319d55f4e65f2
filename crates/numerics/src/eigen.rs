//! Eigenvalues and eigenvectors of symmetric matrices.

/// The eigenvalues and eigenvectors of a symmetric matrix, by cyclic Jacobi rotations.
///
/// The cost is about 10 d³ multiplications per sweep, and a few sweeps suffice.
///
/// # Examples
///
/// ```
/// use sgmcmc::numerics::SymmetricEigen;
///
/// let eigen = SymmetricEigen::new(&[2.0, 1.0, 1.0, 2.0], 2);
/// assert!((eigen.largest() - 3.0).abs() < 1e-12 && (eigen.smallest() - 1.0).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SymmetricEigen {
    /// The eigenvalues, in no particular order.
    pub values: Vec<f64>,
    /// The eigenvectors of norm one, in the order of the eigenvalues.
    pub vectors: Vec<Vec<f64>>,
}

/// The largest number of sweeps over all pairs. Convergence is quadratic, so a few suffice.
const MAX_SWEEPS: usize = 30;

impl SymmetricEigen {
    /// Decomposes the symmetric matrix `a` of `d` rows, in row-major order.
    ///
    /// # Panics
    ///
    /// Panics if `a` has fewer than `d`² entries.
    pub fn new(a: &[f64], d: usize) -> Self {
        let mut a = a.to_vec();
        let mut vectors: Vec<Vec<f64>> =
            (0..d).map(|i| (0..d).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        for _ in 0..MAX_SWEEPS {
            let off: f64 = (0..d * d).filter(|k| k / d != k % d).map(|k| a[k] * a[k]).sum();
            let size: f64 = a.iter().map(|a| a * a).sum();
            if off <= 1e-28 * size {
                break;
            }
            for p in 0..d {
                for q in p + 1..d {
                    rotate(&mut a, &mut vectors, d, [p, q]);
                }
            }
        }
        Self { values: (0..d).map(|i| a[i * d + i]).collect(), vectors }
    }

    /// Returns the matrix with the same eigenvectors and the eigenvalues `change(λ)`, in row-major order.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::numerics::SymmetricEigen;
    ///
    /// let inverse = SymmetricEigen::new(&[2.0, 0.0, 0.0, 4.0], 2).map(|value| 1.0 / value);
    /// assert_eq!(inverse, [0.5, 0.0, 0.0, 0.25]);
    /// ```
    pub fn map(&self, change: impl Fn(f64) -> f64) -> Vec<f64> {
        let d = self.values.len();
        let mut matrix = vec![0.0; d * d];
        for (value, vector) in self.values.iter().zip(&self.vectors) {
            let value = change(*value);
            for (row, left) in matrix.chunks_exact_mut(d).zip(vector) {
                row.iter_mut().zip(vector).for_each(|(entry, right)| *entry += value * left * right);
            }
        }
        matrix
    }

    /// Returns the smallest eigenvalue.
    pub fn smallest(&self) -> f64 {
        self.values.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Returns the largest eigenvalue.
    pub fn largest(&self) -> f64 {
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Applies the rotation that makes the entry (p, q) of `a` zero.
fn rotate(a: &mut [f64], vectors: &mut [Vec<f64>], d: usize, [p, q]: [usize; 2]) {
    let off = a[p * d + q];
    if off.abs() < f64::MIN_POSITIVE {
        return;
    }
    let ratio = (a[q * d + q] - a[p * d + p]) / (2.0 * off);
    let t = ratio.signum() / (ratio.abs() + (ratio * ratio + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..d {
        let (x, y) = (a[k * d + p], a[k * d + q]);
        (a[k * d + p], a[k * d + q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..d {
        let (x, y) = (a[p * d + k], a[q * d + k]);
        (a[p * d + k], a[q * d + k]) = (c * x - s * y, s * x + c * y);
        let (x, y) = (vectors[p][k], vectors[q][k]);
        (vectors[p][k], vectors[q][k]) = (c * x - s * y, s * x + c * y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symmetric_matrix_is_rebuilt_from_its_parts() {
        let a = [4.0, 1.0, -2.0, 1.0, 3.0, 0.5, -2.0, 0.5, 7.0];
        let SymmetricEigen { values, vectors } = SymmetricEigen::new(&a, 3);
        for k in 0..9 {
            let entry: f64 = values.iter().zip(&vectors).map(|(value, v)| value * v[k / 3] * v[k % 3]).sum();
            assert!((entry - a[k]).abs() < 1e-12, "{entry} {}", a[k]);
        }
    }
}
