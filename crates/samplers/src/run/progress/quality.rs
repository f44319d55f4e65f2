//! The quality of the draws of a run under way: see [`Quality`].

use std::sync::{Arc, Mutex, PoisonError};

use crate::chain::Chain;

/// The largest number of values of a draw that are watched.
const WATCHED: usize = 256;
/// The number of batches of a chain. When all are full, pairs of batches are merged.
const BATCHES: usize = 64;
/// The least number of full batches of a chain before its draws are assessed.
const LEAST_BATCHES: usize = 8;

/// The R-hat above which the effective sample size is that of the means of half chains.
const APART: f64 = 1.05;

/// The quality of the draws of all chains so far, estimated from the means of batches of successive draws.
///
/// It covers the draws since the run was started or resumed, and at most 256 values of each draw, evenly spaced. It is
/// coarser than the diagnostics of the finished [`Fit`](sgmcmc_fit::Fit), and needs no draws in memory.
///
/// # Examples
///
/// ```
/// use sgmcmc::run::Quality;
///
/// let quality = Quality { r_hat: 1.0123, effective_draws: 412.3 };
/// assert_eq!(quality.to_string(), "R-hat 1.012, worst ESS 412");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// The largest split R-hat of all watched values.
    pub r_hat: f64,
    /// The smallest effective sample size of the mean of all watched values, of all chains together.
    pub effective_draws: f64,
}

/// Shows the two numbers: "R-hat 1.012, worst ESS 412".
impl std::fmt::Display for Quality {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "R-hat {:.3}, worst ESS {:.0}", self.r_hat, self.effective_draws)
    }
}

/// Sums of successive draws of one chain, in a fixed number of batches of equal, growing size. Adding a draw does not
/// allocate.
#[derive(Clone, Debug)]
pub(in crate::run) struct Batches {
    /// The distance of the watched values.
    stride: usize,
    /// The number of draws of each batch.
    size: u64,
    /// The number of full batches.
    full: usize,
    /// The number of draws in the batch under way.
    pending: u64,
    /// The first draw, which is subtracted from all.
    shift: Vec<f64>,
    /// The sums and the sums of squares of the watched values of each batch.
    sums: Vec<[f64; 2]>,
}

impl Batches {
    /// Creates the batches of a chain whose draws have `values` values.
    pub(in crate::run) fn new(values: usize) -> Self {
        let stride = values.div_ceil(WATCHED).max(1);
        let watched = values.div_ceil(stride);
        let sums = vec![[0.0; 2]; watched * (BATCHES + 1)];
        Self { stride, size: 1, full: 0, pending: 0, shift: vec![f64::NAN; watched], sums }
    }

    /// Adds a draw.
    pub(in crate::run) fn push(&mut self, values: &[f64]) {
        let watched = self.shift.len();
        let batch = &mut self.sums[self.full * watched..(self.full + 1) * watched];
        let is_first = self.full == 0 && self.pending == 0;
        for ((sums, shift), value) in batch.iter_mut().zip(&mut self.shift).zip(values.iter().step_by(self.stride)) {
            if is_first {
                *shift = *value;
            }
            let difference = value - *shift;
            sums[0] += difference;
            sums[1] += difference * difference;
        }
        self.pending += 1;
        if self.pending < self.size {
            return;
        }
        (self.full, self.pending) = (self.full + 1, 0);
        if self.full == BATCHES {
            self.merge_pairs();
        }
        let next = self.full * watched;
        self.sums[next..next + watched].fill([0.0; 2]);
    }

    /// Merges pairs of batches into batches of twice the size.
    fn merge_pairs(&mut self) {
        let watched = self.shift.len();
        for batch in 0..BATCHES / 2 {
            for value in 0..watched {
                let (a, b) = (self.sums[2 * batch * watched + value], self.sums[(2 * batch + 1) * watched + value]);
                self.sums[batch * watched + value] = [a[0] + b[0], a[1] + b[1]];
            }
        }
        (self.full, self.size) = (BATCHES / 2, 2 * self.size);
    }

    /// Returns the sums of batch number `batch` of value number `value`.
    fn batch(&self, batch: usize, value: usize) -> [f64; 2] {
        self.sums[batch * self.shift.len() + value]
    }

    /// Returns the mean and the variance of value number `value` in `batches`.
    fn moments(&self, batches: std::ops::Range<usize>, value: usize) -> [f64; 2] {
        let n = (batches.len() as u64 * self.size) as f64;
        let [sum, squares] =
            batches.map(|batch| self.batch(batch, value)).fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
        let mean = sum / n;
        [self.shift[value] + mean, (squares - n * mean * mean).max(0.0) / (n - 1.0).max(1.0)]
    }
}

/// Returns the quality of the draws of `chains`, or `None` if a chain has too few, or if no value varies.
fn assess(chains: &[&Batches]) -> Option<Quality> {
    let watched = chains.first()?.shift.len();
    if chains.iter().any(|chain| chain.full < LEAST_BATCHES) {
        return None;
    }
    let (mut r_hat, mut effective) = (f64::NAN, f64::INFINITY);
    for value in 0..watched {
        let halves = chains.iter().flat_map(|chain| {
            let middle = chain.full / 2;
            [chain.moments(0..middle, value), chain.moments(middle..2 * middle, value)]
        });
        let halves: Vec<[f64; 2]> = halves.collect();
        let count = halves.len() as f64;
        let n =
            chains.iter().map(|chain| (chain.full / 2) as f64 * chain.size as f64).sum::<f64>() / chains.len() as f64;
        let within = halves.iter().map(|half| half[1]).sum::<f64>() / count;
        let mean = halves.iter().map(|half| half[0]).sum::<f64>() / count;
        let between = halves.iter().map(|half| (half[0] - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let total = (n - 1.0) / n * within + between;
        if !(within > 0.0 && total.is_finite()) {
            continue;
        }
        let ratio = (total / within).sqrt();
        r_hat = r_hat.max(ratio);
        // The variance of the mean of a batch times its size is that of independent draws times n/ESS.
        let (mut scaled, mut batches, mut draws) = (0.0, 0.0, 0.0);
        for chain in chains {
            for batch in 0..chain.full {
                let center = chain.shift[value] + chain.batch(batch, value)[0] / chain.size as f64;
                scaled += chain.size as f64 * (center - mean).powi(2);
            }
            batches += chain.full as f64;
            draws += chain.full as f64 * chain.size as f64;
        }
        // Chains that have not met differ by more than their batches show.
        let apart = if ratio > APART { n * between } else { 0.0 };
        let long_run = f64::max(scaled / (batches - 1.0), apart);
        effective = effective.min((draws * total / long_run).min(draws));
    }
    (effective.is_finite() && r_hat.is_finite()).then_some(Quality { r_hat, effective_draws: effective })
}

/// The batches of all chains of a run, as of their last reports.
#[derive(Debug)]
pub(in crate::run) struct QualityBoard {
    /// The index of the first chain of this process.
    first: usize,
    chains: Mutex<Vec<Vec<Batches>>>,
}

impl QualityBoard {
    /// Creates a board of `chains` chains, of which the first has the index `first`.
    pub(in crate::run) fn new(first: usize, chains: usize) -> Self {
        Self { first, chains: Mutex::new(vec![Vec::new(); chains]) }
    }

    /// Replaces the batches of the chain `index` and returns the quality of the draws of all chains. Chains that have no
    /// draws yet are left out.
    pub(in crate::run) fn update(&self, index: usize, batches: &[Batches]) -> Option<Quality> {
        let mut chains = self.chains.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(chain) = chains.get_mut(index - self.first) {
            chain.clear();
            chain.extend_from_slice(batches);
        }
        let all: Vec<&Batches> = chains.iter().flatten().filter(|batches| batches.full > 0).collect();
        assess(&all)
    }
}

/// Collects the parts of the progress reports of one chain with its draws.
#[derive(Debug)]
pub(in crate::run) struct Watch {
    board: Arc<QualityBoard>,
    chain: usize,
    /// The batches of each interleaved chain.
    batches: Vec<Batches>,
    /// The index of the statistic that is one for a divergent transition.
    diverging: Option<usize>,
    divergences: u64,
}

impl Watch {
    /// Creates the watch of the chain `index`, whose draws have the statistics `stats`.
    pub(in crate::run) fn new(board: Arc<QualityBoard>, index: usize, chain: &dyn Chain, stats: &[String]) -> Self {
        let batches = vec![Batches::new(chain.layout().value_count()); chain.interleaved_chains().max(1)];
        let diverging = stats.iter().position(|name| name == "diverging");
        Self { board, chain: index, batches, diverging, divergences: 0 }
    }

    /// Adds the draw of an iteration.
    pub(in crate::run) fn record(&mut self, iteration: u64, values: &[f64], stats: &[f64]) {
        let chain = (iteration.saturating_sub(1) % self.batches.len() as u64) as usize;
        self.batches[chain].push(values);
        self.divergences += u64::from(self.diverging.is_some_and(|index| stats[index] > 0.0));
    }

    /// Returns the number of divergences of this chain, and the quality of the draws of all chains.
    pub(in crate::run) fn read(&self) -> (u64, Option<Quality>) {
        (self.divergences, self.board.update(self.chain, &self.batches))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;

    /// Returns the batches of `draws` draws of an autoregression with the given coefficient, mean and constant second value.
    fn autoregression(seed: u64, draws: usize, phi: f64, mean: f64) -> Batches {
        let mut rng = sgmcmc_gradient::rng::StreamRng::seed_from_u64(seed);
        let mut batches = Batches::new(2);
        let mut x: f64 = rng.sample(StandardNormal);
        for _ in 0..draws {
            let noise: f64 = rng.sample(StandardNormal);
            x = phi * x + (1.0 - phi * phi).sqrt() * noise;
            batches.push(&[mean + x, 7.0]);
        }
        batches
    }

    #[test]
    fn moments_are_those_of_the_draws() {
        let mut batches = Batches::new(1);
        // 1000 draws fill 62 batches of 16.
        (0..1000).for_each(|x| batches.push(&[1e6 + f64::from(x)]));
        assert_eq!((batches.size, batches.full, batches.pending), (16, 62, 8));
        let [mean, variance] = batches.moments(0..62, 0);
        // The integers from 0 to 991.
        assert!((mean - 1e6 - 495.5).abs() < 1e-9 && (variance - 992.0 * 993.0 / 12.0).abs() < 1e-6);
    }

    #[test]
    fn effective_draws_are_those_of_an_autoregression() {
        let phi = 0.9_f64;
        let chains: Vec<Batches> = (0..8).map(|seed| autoregression(seed, 20_000, phi, 0.0)).collect();
        let quality = assess(&chains.iter().collect::<Vec<_>>()).unwrap();
        let expected = 160_000.0 * (1.0 - phi) / (1.0 + phi);
        assert!((quality.effective_draws / expected - 1.0).abs() < 0.2, "{quality:?}, {expected}");
        assert!(quality.r_hat < 1.01, "{quality:?}");
    }

    #[test]
    fn chains_apart_have_a_large_r_hat_and_few_effective_draws() {
        let chains = [autoregression(1, 1000, 0.0, 0.0), autoregression(2, 1000, 0.0, 3.0)];
        let quality = assess(&chains.iter().collect::<Vec<_>>()).unwrap();
        // Halves at 0 and 3 around 1.5: the variance between them is 3, within 1.
        assert!((quality.r_hat - 4.0_f64.sqrt()).abs() < 0.1, "{quality:?}");
        assert!(quality.effective_draws < 20.0, "{quality:?}");
    }

    #[test]
    fn too_few_draws_are_not_assessed() {
        assert_eq!(assess(&[&autoregression(1, 7, 0.0, 0.0)]), None);
        assert!(assess(&[&autoregression(1, 8, 0.0, 0.0)]).is_some());
    }
}
