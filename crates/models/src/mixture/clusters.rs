//! The number of clusters.

use sgmcmc_gradient::{Error, Result};

/// The posterior distribution of the number of clusters.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::ClusterCount;
///
/// let clusters = ClusterCount::new(&[[2.0, 2.0, 3.0, 2.0], [2.0, 1.0, 2.0, 2.0]])?;
/// assert_eq!((clusters.mode(), clusters.probability(3)), (2, 0.125));
/// assert_eq!((clusters.mean(), clusters.quantile(0.9)), (2.0, 3));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterCount {
    /// The probability of every number, from 0.
    probabilities: Vec<f64>,
    monte_carlo_error: f64,
}

impl ClusterCount {
    /// Creates the distribution from the draws of each chain.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no draw.
    pub fn new<C: AsRef<[f64]>>(chains: &[C]) -> Result<Self> {
        let mut probabilities = Vec::new();
        let mut draws = 0_usize;
        for count in chains.iter().flat_map(|chain| chain.as_ref()) {
            let count = count.max(0.0) as usize;
            if probabilities.len() <= count {
                probabilities.resize(count + 1, 0.0);
            }
            probabilities[count] += 1.0;
            draws += 1;
        }
        if draws == 0 {
            return Err(Error::Draws { reason: "there is no draw of the number of clusters".into() });
        }
        probabilities.iter_mut().for_each(|probability| *probability /= draws as f64);
        Ok(Self { probabilities, monte_carlo_error: sgmcmc_diagnostics::mcse_mean(chains) })
    }

    /// Returns the posterior probability of `clusters` clusters.
    pub fn probability(&self, clusters: usize) -> f64 {
        self.probabilities.get(clusters).copied().unwrap_or_default()
    }

    /// Returns the posterior mean.
    pub fn mean(&self) -> f64 {
        self.probabilities.iter().enumerate().map(|(clusters, probability)| clusters as f64 * probability).sum()
    }

    /// Returns the Monte Carlo standard error of the mean, or NaN if there are too few draws.
    pub fn monte_carlo_error(&self) -> f64 {
        self.monte_carlo_error
    }

    /// Returns the most probable number.
    pub fn mode(&self) -> usize {
        let largest = self.probabilities.iter().copied().fold(0.0, f64::max);
        self.probabilities.iter().position(|probability| *probability >= largest).unwrap_or_default()
    }

    /// Returns the smallest number with a cumulative probability of at least `p`.
    pub fn quantile(&self, p: f64) -> usize {
        let mut cumulative = 0.0;
        let reached = self.probabilities.iter().position(|probability| {
            cumulative += probability;
            cumulative >= p - 1e-12
        });
        reached.unwrap_or(self.probabilities.len() - 1)
    }
}
