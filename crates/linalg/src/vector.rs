//! Products and sums of vectors, in the order of lanes so that they are compiled to vector instructions.

const LANES: usize = 8;

/// aᵀb.
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

/// y += a x.
pub fn add_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += a * x);
}

/// x *= a.
pub fn scale(x: &mut [f64], a: f64) {
    x.iter_mut().for_each(|x| *x *= a);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_all_lengths() {
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
