//! Highest-density intervals.

use crate::order;

/// The ends of an interval of probability.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::CredibleInterval;
///
/// let interval = CredibleInterval { lower: -1.0, upper: 2.0 };
/// assert_eq!(interval.width(), 3.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CredibleInterval {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl CredibleInterval {
    /// Returns the width of the interval.
    pub fn width(self) -> f64 {
        self.upper - self.lower
    }
}

/// Returns the highest-density interval of `draws`: the shortest interval from one draw to another that contains more
/// than `probability` of the weight. Its ends are NaN if a draw is NaN or the interval does not exist.
///
/// For equal weights it is the interval of `arviz.hdi` with the method "nearest". A missing weight counts as zero;
/// empty `weights` mean equal weights. A posterior with several modes may have a shorter region that is not an
/// interval.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::highest_density;
///
/// // Most draws are near zero, so that the interval excludes the upper tail.
/// let draws: Vec<f64> = (0..100).map(|i| (f64::from(i) / 25.0).exp()).collect();
/// let interval = highest_density(&draws, &[], 0.8);
/// assert_eq!((interval.lower, interval.upper), (draws[0], draws[80]));
/// ```
pub fn highest_density(draws: &[f64], weights: &[f64], probability: f64) -> CredibleInterval {
    let undefined = CredibleInterval { lower: f64::NAN, upper: f64::NAN };
    if draws.is_empty() || draws.iter().any(|x| x.is_nan()) {
        return undefined;
    }
    let order = order::order(draws);
    let weight = |rank: usize| {
        if weights.is_empty() { 1.0 } else { weights.get(order[rank].1 as usize).copied().unwrap_or(0.0) }
    };
    let wanted = probability * (0..order.len()).map(weight).sum::<f64>();
    let mut best = undefined;
    let (mut last, mut inside) = (0, 0.0);
    for first in 0..order.len() {
        // `inside` is the weight of the draws of ranks first, …, last − 1.
        while inside <= wanted && last < order.len() {
            inside += weight(last);
            last += 1;
        }
        if inside <= wanted {
            break;
        }
        let found = CredibleInterval { lower: order[first].0, upper: order[last - 1].0 };
        if best.lower.is_nan() || found.width() < best.width() {
            best = found;
        }
        inside -= weight(first);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_interval_is_found() {
        let draws: Vec<f64> = (0..1000).map(|i| -(1.0 - (f64::from(i) + 0.5) / 1000.0).ln()).collect();
        let interval = highest_density(&draws, &[], 0.89);
        // The exponential density decreases: the interval begins at the smallest draw. 891 draws are more than 89 %.
        assert_eq!((interval.lower, interval.upper), (draws[0], draws[890]));
        let flipped: Vec<f64> = draws.iter().map(|x| -x).collect();
        let mirrored = highest_density(&flipped, &[], 0.89);
        assert_eq!((mirrored.lower, mirrored.upper), (-draws[890], -draws[0]));
    }

    #[test]
    fn weights_count_like_repeated_draws() {
        let draws = [0.0, 1.0, 1.5, 2.0, 5.0, 9.0];
        let weights = [1.0, 3.0, 2.0, 3.0, 1.0, 1.0];
        let repeated: Vec<f64> =
            draws.iter().zip(weights).flat_map(|(x, w)| std::iter::repeat_n(*x, w as usize)).collect();
        for probability in [0.3, 0.5, 0.7, 0.85] {
            let (weighted, plain) =
                (highest_density(&draws, &weights, probability), highest_density(&repeated, &[], probability));
            assert_eq!(weighted, plain, "{probability}");
        }
    }

    #[test]
    fn undefined_intervals_are_nan() {
        assert!(highest_density(&[], &[], 0.9).lower.is_nan());
        assert!(highest_density(&[1.0, f64::NAN], &[], 0.9).upper.is_nan());
        assert!(highest_density(&[1.0, 2.0], &[], 1.0).lower.is_nan(), "no interval has more than all of the weight");
    }
}
