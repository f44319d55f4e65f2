//! Posterior moments and draws as flat vectors.

use sgmcmc_diagnostics::{mean, quantiles, standard_deviation};
use sgmcmc_gradient::Result;

use super::Fit;

/// The draws of one parameter in all chains, as an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterDraws {
    /// The number of chains, the number of draws, and the shape of the parameter.
    pub shape: Vec<usize>,
    /// The values in row-major order.
    pub values: Vec<f64>,
}

impl Fit {
    /// Returns the draws of the parameter `name` (`beta`, not `beta[3]`) as an array of shape `[chain, draw, …]`. If
    /// chains differ in length, all are truncated to the shortest.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.025).chains(2).sample(&zeros([3]), 50)?;
    /// assert_eq!(fit.draws("theta")?.shape, [2, 50, 3]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn draws(&self, name: &str) -> Result<ParameterDraws> {
        let block = self.layout.block(name)?;
        let draws = self.chains.iter().map(|chain| chain.len()).min().unwrap_or(0);
        let shape = [self.chains.len(), draws].into_iter().chain(block.shape.iter().copied()).collect();
        let rows = self.chains.iter().flat_map(|chain| chain.rows().take(draws));
        Ok(ParameterDraws { shape, values: rows.flat_map(|row| &row[block.values.clone()]).copied().collect() })
    }

    /// Returns the posterior mean of every value, in the order of the layout.
    pub fn mean_values(&self) -> Vec<f64> {
        self.each_value(mean)
    }

    /// Returns the posterior standard deviation of every value, in the order of the layout.
    pub fn sd_values(&self) -> Vec<f64> {
        self.each_value(standard_deviation)
    }

    /// Returns the posterior quantile at `p` of every value, in the order of the layout.
    pub fn quantile_values(&self, p: f64) -> Vec<f64> {
        self.each_value(|draws, weights| quantiles(draws, weights, &[p])[0])
    }

    /// Returns `statistic` of the draws and weights of each value, over all chains.
    fn each_value(&self, statistic: impl Fn(&[f64], &[f64]) -> f64) -> Vec<f64> {
        let weights: Vec<f64> = self.chains.iter().flat_map(|chain| chain.weights()).copied().collect();
        let evaluate = |index| {
            let draws: Vec<f64> = self.chains.iter().flat_map(|chain| chain.element(index)).collect();
            statistic(&draws, &weights)
        };
        (0..self.layout.value_count()).map(evaluate).collect()
    }
}
