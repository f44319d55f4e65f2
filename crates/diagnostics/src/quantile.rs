//! Weighted quantiles.

/// The quantiles of `draws` at `probabilities` (each in [0, 1]).
///
/// Draws are placed at the middles of their weights and joined by lines; for equal weights this is Hazen's rule (type 5 of
/// Hyndman & Fan).
pub fn quantiles(draws: &[f64], weights: &[f64], probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..draws.len()).collect();
    order.sort_unstable_by(|a, b| draws[*a].total_cmp(&draws[*b]));
    let total: f64 = weights.iter().sum();
    let mut below = 0.0;
    let places: Vec<(f64, f64)> = order
        .into_iter()
        .map(|index| {
            let middle = (below + 0.5 * weights[index]) / total;
            below += weights[index];
            (middle, draws[index])
        })
        .collect();
    probabilities.iter().map(|p| at(&places, *p)).collect()
}

fn at(places: &[(f64, f64)], p: f64) -> f64 {
    let after = places.partition_point(|(middle, _)| *middle < p);
    match (after.checked_sub(1).map(|before| places[before]), places.get(after)) {
        (Some((m0, x0)), Some((m1, x1))) => x0 + (x1 - x0) * (p - m0) / (m1 - m0),
        (Some((_, x)), None) => x,
        (None, Some((_, x))) => *x,
        (None, None) => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_follow_hazen() {
        let draws = [40.0, 10.0, 30.0, 20.0];
        let found = quantiles(&draws, &[2.0; 4], &[0.0, 0.25, 0.5, 0.625, 1.0]);
        assert_eq!(found, [10.0, 15.0, 25.0, 30.0, 40.0]);
    }

    #[test]
    fn weights_move_the_median() {
        let median = quantiles(&[1.0, 2.0, 3.0], &[1.0, 1.0, 100.0], &[0.5])[0];
        assert!(median > 2.9, "{median}");
        assert!(quantiles(&[], &[], &[0.5])[0].is_nan());
    }
}
