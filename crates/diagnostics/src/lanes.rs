//! Sums over slices in eight lanes: what the processor's vectors take at once, and more accurate than one sum.

const LANES: usize = 8;

/// Σ x.
pub(crate) fn sum(x: &[f64]) -> f64 {
    fold(x, |lane, value| lane + value)
}

/// Σ (x − centre)².
pub(crate) fn squares(x: &[f64], centre: f64) -> f64 {
    fold(x, |lane, value| lane + (value - centre) * (value - centre))
}

/// Σ x y, over as many as both have.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let both = x.len().min(y.len());
    let (left, right) = (x[..both].chunks_exact(LANES), y[..both].chunks_exact(LANES));
    let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    let mut lanes = [0.0; LANES];
    for (x, y) in left.zip(right) {
        for (lane, (x, y)) in lanes.iter_mut().zip(x.iter().zip(y)) {
            *lane += x * y;
        }
    }
    lanes.iter().sum::<f64>() + rest
}

/// The smallest and the largest value; none if one is not finite.
pub(crate) fn range(x: &[f64]) -> Option<(f64, f64)> {
    // An infinity or a NaN makes the sum of 0 · x NaN, without a branch.
    let finite = !fold(x, |lane, value| lane + 0.0 * value).is_nan();
    let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    for chunk in x.chunks(LANES) {
        for ((low, high), value) in low.iter_mut().zip(&mut high).zip(chunk) {
            *low = if value < low { *value } else { *low };
            *high = if value > high { *value } else { *high };
        }
    }
    let (low, high) =
        (low.into_iter().fold(f64::INFINITY, f64::min), high.into_iter().fold(f64::NEG_INFINITY, f64::max));
    finite.then_some((low, high))
}

fn fold(x: &[f64], step: impl Fn(f64, f64) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let chunks = x.chunks_exact(LANES);
    let rest = chunks.remainder().iter().fold(0.0, |sum, value| step(sum, *value));
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = step(*lane, *value);
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_miss_nothing() {
        let x: Vec<f64> = (0..21).map(f64::from).collect();
        assert!((sum(&x) - 210.0).abs() < 1e-12);
        assert!((squares(&x, 10.0) - 770.0).abs() < 1e-12);
        assert!((dot(&x, &x[1..]) - (2870.0 - 210.0)).abs() < 1e-12);
        assert_eq!(range(&x), Some((0.0, 20.0)));
        assert_eq!(range(&[1.0, f64::INFINITY]), None);
        assert_eq!(range(&[1.0, f64::NAN]), None);
    }
}
