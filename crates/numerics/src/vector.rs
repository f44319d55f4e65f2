//! Products and sums of vectors.
//!
//! [`dot`] accumulates eight partial sums, so that the compiler can use SIMD instructions.

const LANES: usize = 8;

/// Returns aᵀb.
///
/// # Examples
///
/// ```
/// use sgmcmc::numerics::vector::dot;
///
/// assert_eq!(dot(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 32.0);
/// ```
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Adds a x to y.
///
/// # Examples
///
/// ```
/// use sgmcmc::numerics::vector::add_scaled;
///
/// let mut y = [1.0, 2.0];
/// add_scaled(&mut y, 3.0, &[1.0, -1.0]);
/// assert_eq!(y, [4.0, -1.0]);
/// ```
pub fn add_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

/// Multiplies x by a.
///
/// # Examples
///
/// ```
/// use sgmcmc::numerics::vector::scale;
///
/// let mut x = [1.0, -2.0];
/// scale(&mut x, 0.5);
/// assert_eq!(x, [0.5, -1.0]);
/// ```
pub fn scale(x: &mut [f64], a: f64) {
    x.iter_mut().for_each(|x| *x *= a);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_add_scaled_and_scale_agree_for_all_lengths() {
        for length in 0..40_usize {
            let a: Vec<f64> = (0..length).map(|k| k as f64 + 1.0).collect();
            let exact = length * (length + 1) * (2 * length + 1) / 6;
            assert!((dot(&a, &a) - exact as f64).abs() < 1e-9);
            let mut b = a.clone();
            add_scaled(&mut b, -0.5, &a);
            scale(&mut b, 2.0);
            assert_eq!(a, b);
        }
    }
}
