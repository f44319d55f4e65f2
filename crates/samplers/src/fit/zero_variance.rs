//! Zero-variance post-processing: better estimates of posterior means from the draws and their gradients.

use std::fmt;

use rayon::prelude::*;
use sgmcmc_core::Result;
use sgmcmc_diagnostics::control::{self, Corrected, Polynomial, Run};
use sgmcmc_diagnostics::mcse_mean;

use super::Fit;
use super::stein::refused;
use crate::sink::ChainScores;

/// The mean of one value, as drawn and corrected.
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectedMean {
    /// The value.
    pub name: String,
    /// The mean of the draws.
    pub plain: f64,
    /// Its Monte Carlo standard error.
    pub plain_mcse: f64,
    /// The corrected mean.
    pub mean: f64,
    /// Its Monte Carlo standard error; weights play no part in either error.
    pub mcse: f64,
}

impl CorrectedMean {
    /// How many times smaller the variance of the corrected mean is: the ratio of the squared errors.
    ///
    /// The polynomial is fitted to the draws it corrects, so that chains of few effective draws overstate it: sixfold was seen with 300
    /// autocorrelated draws of six parameters.
    pub fn variance_reduction(&self) -> f64 {
        (self.plain_mcse / self.mcse).powi(2)
    }
}

/// The means of all values, as drawn and corrected.
#[derive(Clone, Debug, PartialEq)]
pub struct ZeroVariance {
    /// One for each value.
    pub means: Vec<CorrectedMean>,
}

impl Fit {
    /// Corrects the mean of every value with control variates made from the gradients in `scores`: see [`scores`](Self::scores), or the
    /// sink [`Scores`](crate::sink::Scores). The closer to normal the posterior, and the less noise in the gradients, the more is gained;
    /// gradients from plain minibatches of few observations gain little.
    ///
    /// The bias of a step size that is too large stays.
    ///
    /// # Errors
    ///
    /// If `scores` are not those of these draws, or there are fewer draws than coefficients: about d for a linear polynomial and d²/2 for
    /// a quadratic, d the number of coordinates.
    pub fn zero_variance(&self, scores: &[ChainScores], polynomial: Polynomial) -> Result<ZeroVariance> {
        let (draws, gradients, weights) = self.coordinates_and(scores)?;
        let run = self.control_run(&draws, &gradients, &weights);
        let one = |index: usize| {
            let chains: Vec<Vec<f64>> = self.chains.iter().map(|chain| chain.element(index)).collect();
            let corrected = control::zero_variance(run, &chains.concat(), polynomial).map_err(refused)?;
            Ok(CorrectedMean {
                name: self.layout.element(index),
                plain: corrected.plain,
                plain_mcse: mcse_mean(&chains),
                mean: corrected.estimate,
                mcse: mcse_mean(&self.by_chain(&corrected.values)),
            })
        };
        let means = (0..self.layout.value_count()).into_par_iter().map(one).collect::<Result<_>>()?;
        Ok(ZeroVariance { means })
    }

    /// As [`zero_variance`](Self::zero_variance), for the mean of any function of the flat values of a draw.
    ///
    /// # Errors
    ///
    /// As [`zero_variance`](Self::zero_variance), and if the function is not finite at a draw.
    pub fn zero_variance_of(
        &self,
        scores: &[ChainScores],
        polynomial: Polynomial,
        function: impl Fn(&[f64]) -> f64,
    ) -> Result<Corrected> {
        let (draws, gradients, weights) = self.coordinates_and(scores)?;
        let values: Vec<f64> = self.chains.iter().flat_map(|chain| chain.rows()).map(function).collect();
        control::zero_variance(self.control_run(&draws, &gradients, &weights), &values, polynomial).map_err(refused)
    }

    fn control_run<'a>(&self, draws: &'a [f64], gradients: &'a [f64], weights: &'a [f64]) -> Run<'a> {
        let weights = self.is_weighted().then_some(weights);
        Run { draws, gradients, dimension: self.layout.dim(), weights }
    }

    /// One number per draw, cut into chains.
    fn by_chain<'a>(&self, values: &'a [f64]) -> Vec<&'a [f64]> {
        let mut rest = values;
        self.chains
            .iter()
            .map(|chain| {
                let (own, others) = rest.split_at(chain.len().min(rest.len()));
                rest = others;
                own
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
