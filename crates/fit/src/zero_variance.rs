//! Zero-variance post-processing: control variates for posterior means, built from the gradients at the draws.

use std::fmt;

use rayon::prelude::*;
use sgmcmc_diagnostics::control::{self, CorrectedEstimate, Polynomial, Run};
use sgmcmc_diagnostics::mcse_mean;
use sgmcmc_gradient::Result;

use super::Fit;
use super::stein::{ScoredDraws, draws_error};
use crate::sink::ChainScores;

/// The plain and the corrected mean of one value.
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectedMean {
    /// The name of the value.
    pub name: String,
    /// The mean of the draws.
    pub plain: f64,
    /// The Monte Carlo standard error of the mean of the draws. It ignores weights.
    pub plain_mcse: f64,
    /// The corrected mean.
    pub mean: f64,
    /// The Monte Carlo standard error of the corrected mean. It ignores weights.
    pub mcse: f64,
}

impl CorrectedMean {
    /// Returns the ratio of the variances of the plain and the corrected mean, computed from the squared Monte Carlo
    /// errors.
    ///
    /// The polynomial is fitted to the same draws that it corrects. With few effective draws, the ratio is
    /// overestimated: by a factor of six for 300 autocorrelated draws of six parameters.
    pub fn variance_reduction(&self) -> f64 {
        (self.plain_mcse / self.mcse).powi(2)
    }
}

/// The plain and the corrected means of all values.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::control::Polynomial;
/// use sgmcmc::gradient::FullGradient;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let (data, start) = (Dataset::none(), zeros([1]));
/// let fit = hmc(&model, &data, 0.025).seed(1).sample(&start, 200)?;
/// let scores = fit.scores(&model.with(&data), &start, &FullGradient, 0)?;
/// // The posterior is normal. A linear polynomial removes all of the variance.
/// let corrected = fit.zero_variance(&scores, Polynomial::Linear)?;
/// assert!(corrected.means[0].mean.abs() < 1e-4);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ZeroVariance {
    /// The means, one per value.
    pub means: Vec<CorrectedMean>,
}

impl Fit {
    /// Reduces the variance of the posterior mean of every value with control variates.
    ///
    /// The control variates are built from the gradients in `scores`, which [`scores`](Self::scores) or the sink
    /// [`Scores`](crate::sink::Scores) computes. The variance reduction is largest for posteriors close to normal and
    /// for exact gradients. It is small for gradients from small minibatches. The correction does not remove the bias
    /// of a large step size.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not one gradient per draw, or if there are fewer draws than coefficients. With d
    /// coordinates, a linear polynomial has d coefficients, and a quadratic one about d²/2.
    pub fn zero_variance(&self, scores: &[ChainScores], polynomial: Polynomial) -> Result<ZeroVariance> {
        let scored = self.scored_draws(scores)?;
        let run = self.control_run(&scored);
        let corrected_mean = |index: usize| {
            let chains: Vec<Vec<f64>> = self.chains.iter().map(|chain| chain.element(index)).collect();
            let corrected = control::zero_variance(run, &chains.concat(), polynomial).map_err(draws_error)?;
            Ok(CorrectedMean {
                name: self.layout.value_name(index),
                plain: corrected.plain,
                plain_mcse: mcse_mean(&chains),
                mean: corrected.estimate,
                mcse: mcse_mean(&self.split_by_chain(&corrected.values)),
            })
        };
        let means = (0..self.layout.value_count()).into_par_iter().map(corrected_mean).collect::<Result<_>>()?;
        Ok(ZeroVariance { means })
    }

    /// Reduces the variance of the posterior mean of `function`, which takes the flat values of a draw.
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`zero_variance`](Self::zero_variance), or if the function is not
    /// finite at a draw.
    pub fn zero_variance_of(
        &self,
        scores: &[ChainScores],
        polynomial: Polynomial,
        function: impl Fn(&[f64]) -> f64,
    ) -> Result<CorrectedEstimate> {
        let scored = self.scored_draws(scores)?;
        let values: Vec<f64> = self.chains.iter().flat_map(|chain| chain.rows()).map(function).collect();
        control::zero_variance(self.control_run(&scored), &values, polynomial).map_err(draws_error)
    }

    /// Returns the arguments of the correction. Equal weights are omitted.
    fn control_run<'a>(&self, scored: &'a ScoredDraws) -> Run<'a> {
        let ScoredDraws { parameters, coordinates, gradients, weights } = scored;
        let weights = self.is_weighted().then_some(&weights[..]);
        Run { draws: coordinates, gradients, dimension: parameters.dim(), weights }
    }

    /// Splits a vector with one number per draw into chains.
    fn split_by_chain<'a>(&self, values: &'a [f64]) -> Vec<&'a [f64]> {
        let mut rest = values;
        self.chains
            .iter()
            .map(|chain| {
                let (head, tail) = rest.split_at(chain.len().min(rest.len()));
                rest = tail;
                head
            })
            .collect()
    }
}

impl fmt::Display for ZeroVariance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.means.iter().map(|mean| mean.name.chars().count()).max().unwrap_or(0).max("value".len());
        write!(
            f,
            "{:<width$} {:>14} {:>11} {:>14} {:>11} {:>10}",
            "value", "mean", "mcse", "corrected", "mcse", "reduction"
        )?;
        for row in &self.means {
            let CorrectedMean { name, plain, plain_mcse, mean, mcse } = row;
            let reduction = row.variance_reduction();
            write!(
                f,
                "\n{name:<width$} {plain:>14.6} {plain_mcse:>11.2e} {mean:>14.6} {mcse:>11.2e} {reduction:>10.1}"
            )?;
        }
        Ok(())
    }
}
