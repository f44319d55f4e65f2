//! Ranks of true values among posterior draws, and tests of their uniformity.

use rand::RngExt;
use sgmcmc::diagnostics::distance::ks_one_sample;
use sgmcmc::rng::StreamRng;

/// The number of draws among which a true value is ranked.
pub(super) const DRAWS: usize = 39;

/// The number of bins of the histograms.
pub(super) const BINS: usize = 10;

/// The ranks of one parameter over all replications.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranks {
    pub(super) name: String,
    ranks: Vec<usize>,
    /// The randomized ranks (rank + U)/(draws + 1), uniform on (0, 1) if the sampler is calibrated.
    uniform: Vec<f64>,
}

/// The p-values of a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct PValues {
    /// The p-value of the ranks, sensitive to a shift.
    pub(super) shift: f64,
    /// The p-value of the distance of the ranks from the middle, sensitive to a wrong spread.
    pub(super) spread: f64,
}

impl PValues {
    /// Returns the smaller p-value.
    pub(super) fn smallest(self) -> f64 {
        self.shift.min(self.spread)
    }
}

/// The number of tests per parameter.
pub(super) const TESTS: usize = 2;

impl Ranks {
    /// Creates an empty list of ranks of the parameter `name`.
    pub(super) fn new(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// Adds the rank of `truth` among `draws`.
    pub(super) fn push(&mut self, truth: f64, draws: impl Iterator<Item = f64>, rng: &mut StreamRng) {
        let rank = draws.filter(|draw| *draw < truth).count();
        self.ranks.push(rank);
        self.uniform.push((rank as f64 + rng.random::<f64>()) / (DRAWS + 1) as f64);
    }

    /// Returns the number of ranks in each of [`BINS`] bins.
    pub(super) fn histogram(&self) -> Vec<usize> {
        let mut counts = vec![0; BINS];
        for rank in &self.ranks {
            counts[(rank * BINS / (DRAWS + 1)).min(BINS - 1)] += 1;
        }
        counts
    }

    /// Returns the p-values of Kolmogorov-Smirnov tests of uniformity.
    pub(super) fn p_values(&self) -> PValues {
        let uniform = |x: f64| x.clamp(0.0, 1.0);
        let folded: Vec<f64> = self.uniform.iter().map(|u| (2.0 * u - 1.0).abs()).collect();
        PValues {
            shift: ks_one_sample(&self.uniform, uniform).p_value,
            spread: ks_one_sample(&folded, uniform).p_value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sgmcmc::rng::ChainRng;

    /// Ranks of draws from N(0, 1) among draws from N(shift, width).
    fn ranks(shift: f64, width: f64) -> Ranks {
        use rand_distr::StandardNormal;
        let mut rng = ChainRng::new(1, 0);
        let mut ranks = Ranks::new("x".into());
        for _ in 0..300 {
            let truth: f64 = rng.noise().sample(StandardNormal);
            let draws: Vec<f64> =
                (0..DRAWS).map(|_| shift + width * rng.noise().sample::<f64, _>(StandardNormal)).collect();
            ranks.push(truth, draws.into_iter(), rng.minibatch());
        }
        ranks
    }

    #[test]
    fn calibrated_ranks_pass_and_others_do_not() {
        let calibrated = ranks(0.0, 1.0);
        assert!(calibrated.p_values().smallest() > 1e-3);
        assert_eq!(calibrated.histogram().iter().sum::<usize>(), 300);
        assert!(ranks(0.5, 1.0).p_values().shift < 1e-5);
        for width in [1.5, 0.67] {
            assert!(ranks(0.0, width).p_values().spread < 1e-5, "{width}");
        }
    }
}
