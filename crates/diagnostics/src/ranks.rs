//! Rank histograms. If chains agree, the ranks of each chain are uniform.

use crate::sample::Sample;

/// Returns the histogram of the ranks of each chain among all draws, with `bins` equal bins (Vehtari et al. 2021,
/// section 4.3).
///
/// Equal draws have ranks in the order of their indices. Chains are truncated to the shortest. The result is empty if
/// there are no bins or no draws, or if a draw is NaN.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::rank_histogram;
///
/// assert_eq!(rank_histogram(&[[1.0, 2.0, 7.0], [3.0, 8.0, 9.0]], 3), [[2, 1, 0], [0, 1, 2]]);
/// ```
pub fn rank_histogram<C: AsRef<[f64]>>(chains: &[C], bins: usize) -> Vec<Vec<usize>> {
    let sample = Sample::new(chains);
    if bins == 0 || sample.length() == 0 || sample.has_nan() {
        return Vec::new();
    }
    let mut counts = vec![vec![0; bins]; sample.chains()];
    let size = sample.draws.len();
    for (rank, (_, index)) in sample.order().iter().enumerate() {
        counts[*index as usize / sample.length()][rank * bins / size] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_counted_by_chain() {
        assert_eq!(rank_histogram(&[[1.0, 2.0, 7.0], [3.0, 8.0, 9.0]], 3), [[2, 1, 0], [0, 1, 2]]);
        assert_eq!(rank_histogram(&[[1.0, 2.0, 7.0, 3.0, 8.0]], 2), [[3, 2]]);
        assert!(rank_histogram(&[[1.0, f64::NAN]], 2).is_empty());
        assert!(rank_histogram(&[[1.0, 2.0]], 0).is_empty());
    }
}
