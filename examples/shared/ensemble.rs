//! Ensembles that move one of their chains per iteration, in turn.

/// The draws of each of the `chains` chains: interleaved they would look less correlated than they are.
pub fn apart(draws: &[f64], chains: usize) -> Vec<Vec<f64>> {
    (0..chains).map(|chain| draws.iter().skip(chain).step_by(chains).copied().collect()).collect()
}
