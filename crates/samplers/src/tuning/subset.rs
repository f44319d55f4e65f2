//! An evaluator restricted to some of the observations.

use sgmcmc_gradient::data::{Precision, Weights};
use sgmcmc_gradient::minibatch::{BatchWeights, Minibatch, Scheme};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Evaluator, Layout, Result, Rows, Weighted};

/// A random selection of observations with weights, so that weighted sums over the selection estimate sums over all
/// data.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    rows: Vec<usize>,
    weights: BatchWeights,
}

impl Selection {
    /// Selects `size` of `observations` observations uniformly, without replacement.
    pub(super) fn uniform(observations: usize, size: usize, rng: &mut StreamRng) -> Self {
        let rows = rand::seq::index::sample(rng, observations, size).into_vec();
        Self { rows, weights: BatchWeights::Same(observations as f64 / size as f64) }
    }

    /// Selects `size` observations with probabilities in proportion to `influences`.
    ///
    /// # Errors
    ///
    /// Returns an error if an influence is not a positive number.
    pub(super) fn weighted(size: usize, influences: Vec<f64>, rng: &mut StreamRng) -> Result<Self> {
        let observations = influences.len();
        let scheme = Weighted::new(size, influences)?;
        let (mut state, mut batch) = (scheme.init(observations)?, Minibatch::default());
        scheme.draw(&mut state, rng, &mut batch);
        let mut drawn: Vec<(usize, f64)> =
            batch.rows.iter().enumerate().map(|(k, row)| (*row, batch.weight(k))).collect();
        drawn.sort_by_key(|(row, _)| *row);
        // Observations that were drawn several times are evaluated once.
        drawn.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let (rows, weights) = drawn.into_iter().unzip();
        Ok(Self { rows, weights: BatchWeights::Each(weights) })
    }
}

/// An evaluator of a selection of the observations.
#[derive(Debug)]
pub(super) struct Subset<'a> {
    evaluator: &'a mut dyn Evaluator,
    selection: &'a Selection,
}

impl<'a> Subset<'a> {
    /// Creates an evaluator of `selection`.
    pub(super) fn new(evaluator: &'a mut dyn Evaluator, selection: &'a Selection) -> Self {
        Self { evaluator, selection }
    }

    /// Returns the observations of the data that `rows` selects, with their weights.
    fn select(&self, rows: Rows<'_>) -> Result<Minibatch> {
        rows.check(self.selection.rows.len())?;
        let Selection { rows: all, weights } = self.selection;
        let selected = rows.iter().map(|(row, _)| all[row]).collect();
        let weights = match (weights, rows.weights()) {
            // A common weight stays one, because likelihoods that return their sum have no weights of single
            // observations.
            (BatchWeights::Same(weight), Weights::Same(factor)) => BatchWeights::Same(weight * factor),
            (BatchWeights::Same(weight), Weights::Each(factors)) => {
                BatchWeights::Each(factors.iter().map(|factor| weight * factor).collect())
            }
            (BatchWeights::Each(weights), _) => {
                BatchWeights::Each(rows.iter().map(|(row, factor)| weights[row] * factor).collect())
            }
        };
        Ok(Minibatch { rows: selected, weights })
    }
}

impl Evaluator for Subset<'_> {
    fn layout(&self) -> &Layout {
        self.evaluator.layout()
    }

    fn observations(&self) -> usize {
        self.selection.rows.len()
    }

    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64> {
        self.evaluator.prior(theta, grad)
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        let selected = self.select(rows)?;
        self.evaluator.likelihood(theta, selected.as_rows()?, grad)
    }

    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64> {
        let selected = self.select(rows)?;
        self.evaluator.log_density(theta, selected.as_rows()?)
    }

    fn log_likelihood_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let selected = self.select(rows)?;
        self.evaluator.log_likelihood_per_observation(theta, Rows::list(&selected.rows), out)
    }

    fn gradient_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let selected = self.select(rows)?;
        self.evaluator.gradient_per_observation(theta, Rows::list(&selected.rows), out)
    }

    fn precision(&self) -> Precision {
        self.evaluator.precision()
    }

    fn set_threads(&mut self, threads: usize) {
        self.evaluator.set_threads(threads);
    }
}
