//! Normal scores of ranks: Φ⁻¹((r − 3/8)/(S + 1/4)) with average ranks for ties (Blom 1958; Vehtari et al. 2021, eq.
//! (14)).
//!
//! With weights, the rank of a draw is S (weight below it + half its own weight)/Σw + 1/2. For equal weights this is
//! the average rank.

use std::borrow::Cow;

use crate::normal;
use crate::sample::Sample;

impl Sample {
    /// Returns the normal scores of the ranks. The score is 0 for a draw that is in neither half.
    pub(crate) fn bulk_scores(&self) -> Vec<f64> {
        bulk(self)
    }

    /// Returns the normal scores of the ranks of |x − median|, or `None` if the median is not finite.
    pub(crate) fn folded_scores(&self) -> Option<Vec<f64>> {
        folded(self)
    }
}

/// Returns the scores of the draws of `sample` that are in a half.
fn bulk(sample: &Sample) -> Vec<f64> {
    scores(sample, &sorted_halves(sample))
}

/// Returns the scores of |x − median|.
///
/// Downward and upward from the median, the sorted draws are also sorted by distance. The two lists are merged.
fn folded(sample: &Sample) -> Option<Vec<f64>> {
    let sorted = sorted_halves(sample);
    let median = median(sample, &sorted);
    if !median.is_finite() {
        return None;
    }
    let split = sorted.partition_point(|(x, _)| *x < median);
    // Each step takes the nearer of the next draws below and above. The counters advance without a branch.
    let distance = |index: usize| sorted.get(index).map_or(f64::INFINITY, |(x, _)| (x - median).abs());
    let (mut below, mut above) = (split, split);
    let merged: Vec<(f64, u32)> = (0..sorted.len())
        .map(|_| {
            let (down, up) = (distance(below.wrapping_sub(1)), distance(above));
            let take_below = above == sorted.len() || (below > 0 && down <= up);
            let next = if take_below { below - 1 } else { above };
            below -= usize::from(take_below);
            above += usize::from(!take_below);
            (if take_below { down } else { up }, sorted[next].1)
        })
        .collect();
    Some(scores(sample, &merged))
}

/// Returns the draws that are in a half, in ascending order.
fn sorted_halves(sample: &Sample) -> Cow<'_, [(f64, u32)]> {
    match sample.length().is_multiple_of(2) {
        true => Cow::Borrowed(sample.order()),
        false => Cow::Owned(sample.order().iter().copied().filter(|(_, index)| sample.in_half(*index)).collect()),
    }
}

/// Returns the median: the mean of the two middle draws, or with weights of the two draws around half the total weight.
fn median(sample: &Sample, sorted: &[(f64, u32)]) -> f64 {
    let upper = match &sample.weights {
        None => sorted.len() / 2,
        Some(weights) => {
            let half = 0.5 * sorted.iter().map(|(_, index)| weights[*index as usize]).sum::<f64>();
            let mut below = 0.0;
            let first_above = sorted.iter().position(|(_, index)| {
                below += weights[*index as usize];
                below > half
            });
            first_above.unwrap_or(sorted.len().saturating_sub(1))
        }
    };
    match (upper.checked_sub(1).and_then(|lower| sorted.get(lower)), sorted.get(upper)) {
        (Some((lower, _)), Some((upper, _))) => (lower + upper) / 2.0,
        (_, Some((only, _))) => *only,
        _ => f64::NAN,
    }
}

/// Returns the scores of sorted values, each at the index of its draw.
fn scores(sample: &Sample, sorted: &[(f64, u32)]) -> Vec<f64> {
    let size = sorted.len();
    let table = normal::scores(size);
    let weights = sample.weights.as_deref();
    let scale =
        weights.map(|weights| size as f64 / sorted.iter().map(|(_, index)| weights[*index as usize]).sum::<f64>());
    let mut result = vec![0.0; sample.draws.len()];
    let (mut start, mut below) = (0, 0.0);
    while start < size {
        let value = sorted[start].0;
        let ties = 1 + sorted[start + 1..].iter().take_while(|(other, _)| *other <= value).count();
        let group = &sorted[start..start + ties];
        let score = match (weights, scale) {
            (Some(weights), Some(scale)) => {
                let weight: f64 = group.iter().map(|(_, index)| weights[*index as usize]).sum();
                let rank = (below + 0.5 * weight) * scale + 0.5;
                below += weight;
                normal::score(rank, size)
            }
            // The mean of the ranks start + 1 ..= start + ties is a rank or lies between two ranks.
            _ if ties % 2 == 1 => table[start + ties / 2],
            _ => normal::score((2 * start + ties + 1) as f64 / 2.0, size),
        };
        group.iter().for_each(|(_, index)| result[*index as usize] = score);
        start += ties;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_have_the_mean_of_their_ranks() {
        let found = bulk(&Sample::new(&[[3.0, 1.0, 3.0, 0.0, 5.0, 3.0]]));
        let expected = [4.0, 2.0, 4.0, 1.0, 6.0, 4.0].map(|rank| normal::score(rank, 6));
        assert_eq!(found, expected);
        let found = bulk(&Sample::new(&[[3.0, 1.0, 3.0, 0.0]]));
        assert_eq!(found, [3.5, 2.0, 3.5, 1.0].map(|rank| normal::score(rank, 4)));
    }

    #[test]
    fn folding_ranks_the_distances_to_the_median() {
        let found = folded(&Sample::new(&[[0.0, 10.0, 4.0, 7.0]]));
        // The median is 5.5 and the distances are 5.5, 4.5, 1.5, 1.5.
        assert_eq!(found, Some([4.0, 3.0, 1.5, 1.5].map(|rank| normal::score(rank, 4)).to_vec()));
    }

    #[test]
    fn weights_are_multiplicities_of_ranks() {
        let weighted = bulk(&Sample::weighted(&[[1.0, 2.0, 3.0, 4.0]], &[[1.0, 2.0, 1.0, 1.0]]));
        // Of the ranks 1, 2-3, 4, 5 of five equal draws, shrunk to four.
        let expected = [0.5, 2.0, 3.5, 4.5].map(|middle| normal::score(middle * 0.8 + 0.5, 4));
        weighted.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-14, "{a} {b}"));
    }
}
