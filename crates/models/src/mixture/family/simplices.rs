//! Several probability vectors with Dirichlet priors, the parameters of multinomial and categorical components.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Result, settings};
use statrs::function::gamma::ln_gamma;

use crate::mixture::update::{Evidence, Update, draw_dirichlet};

/// The probabilities of a component, in log space: components of sparse data have probabilities below 10⁻³⁰⁸.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probabilities {
    log_probabilities: Vec<f64>,
    /// The log of the sum of the expanded parameters of each probability vector.
    log_totals: Vec<f64>,
}

impl Probabilities {
    /// Returns the logarithms of the probabilities, of all variables one after the other.
    pub fn log_probabilities(&self) -> &[f64] {
        &self.log_probabilities
    }
}

/// The number of observations of each category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CategoryCounts {
    pub(super) counts: Vec<f64>,
}

/// Independent Dirichlet priors of probability vectors that are stored one after the other.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Simplices {
    prior: Vec<f64>,
    blocks: Vec<Range<usize>>,
}

impl Simplices {
    /// Creates the priors of vectors of these sizes.
    pub(super) fn new(prior: Vec<f64>, sizes: &[usize]) -> Result<Self> {
        prior.iter().try_for_each(|a| settings::positive("a parameter of the Dirichlet prior", *a).map(drop))?;
        let mut start = 0;
        let mut block = |size: &usize| {
            start += size;
            start - size..start
        };
        Ok(Self { blocks: sizes.iter().map(&mut block).collect(), prior })
    }

    /// Returns the number of probabilities.
    pub(super) fn len(&self) -> usize {
        self.prior.len()
    }

    /// Returns the number of probabilities of each vector.
    pub(super) fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.blocks.iter().map(Range::len)
    }

    pub(super) fn no_statistics(&self) -> CategoryCounts {
        CategoryCounts { counts: vec![0.0; self.prior.len()] }
    }

    /// Draws probabilities given counts.
    pub(super) fn draw(&self, statistics: &CategoryCounts, rng: &mut StreamRng) -> Probabilities {
        let mut log_probabilities = vec![0.0; self.prior.len()];
        let log_totals = self.blocks.iter().map(|block| {
            let counts = &statistics.counts[block.clone()];
            let shapes = self.prior[block.clone()].iter().zip(counts).map(|(a, count)| a + count);
            draw_dirichlet(shapes, &mut log_probabilities[block.clone()], rng)
        });
        let log_totals = log_totals.collect();
        Probabilities { log_probabilities, log_totals }
    }

    /// Moves probabilities by `update`.
    pub(super) fn update(
        &self,
        update: Update,
        parameters: &mut Probabilities,
        estimate: &CategoryCounts,
        stored: &CategoryCounts,
        rng: &mut StreamRng,
    ) -> Result<()> {
        for (block, log_total) in self.blocks.iter().zip(&mut parameters.log_totals) {
            let evidence = Evidence {
                prior: &self.prior[block.clone()],
                estimate: &estimate.counts[block.clone()],
                stored: &stored.counts[block.clone()],
            };
            update.apply(&mut parameters.log_probabilities[block.clone()], log_total, evidence, rng)?;
        }
        Ok(())
    }

    /// Returns the log probability of a sequence of categories with these counts.
    pub(super) fn log_marginal(&self, statistics: &CategoryCounts) -> f64 {
        let mut sum = 0.0;
        for block in &self.blocks {
            let (mut prior_total, mut total) = (0.0, 0.0);
            for (a, count) in self.prior[block.clone()].iter().zip(&statistics.counts[block.clone()]) {
                prior_total += a;
                total += count;
                if *count > 0.0 {
                    sum += ln_gamma(a + count) - ln_gamma(*a);
                }
            }
            sum += ln_gamma(prior_total) - ln_gamma(prior_total + total);
        }
        sum
    }
}
