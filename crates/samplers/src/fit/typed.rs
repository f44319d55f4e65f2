//! Draws and moments as the model's own parameters.
//!
//! A fit does not know the type of the parameters, only names and shapes. Whoever asks shows a tree of that type, usually the start of the
//! run; it is compared with the names and shapes of the fit, and its numbers do not matter.

use sgmcmc_core::{Precision, Result, TensorTree, default_device};
use sgmcmc_diagnostics::{mean, quantiles, standard_deviation};

use super::Fit;

/// The draws of one parameter in all chains.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockDraws {
    /// Chains, draws, and the shape of the parameter.
    pub shape: Vec<usize>,
    /// The numbers, row-major.
    pub values: Vec<f64>,
}

impl Fit {
    /// The posterior mean, structured as `like`, in double precision.
    ///
    /// # Errors
    ///
    /// If `like` has other names or shapes than the fit.
    pub fn mean<P: TensorTree>(&self, like: &P) -> Result<P> {
        self.tree(like, &self.each_value(mean))
    }

    /// The posterior standard deviation of every value, structured as `like`.
    ///
    /// # Errors
    ///
    /// As [`mean`](Self::mean).
    pub fn sd<P: TensorTree>(&self, like: &P) -> Result<P> {
        self.tree(like, &self.each_value(standard_deviation))
    }

    /// The posterior quantile at `p` of every value, structured as `like`.
    ///
    /// # Errors
    ///
    /// As [`mean`](Self::mean).
    pub fn quantile<P: TensorTree>(&self, like: &P, p: f64) -> Result<P> {
        self.tree(like, &self.each_value(|draws, weights| quantiles(draws, weights, &[p])[0]))
    }

    /// Every draw, structured as `like`, chain after chain.
    ///
    /// # Errors
    ///
    /// As [`mean`](Self::mean).
    pub fn params<'a, P: TensorTree>(&'a self, like: &'a P) -> Result<impl Iterator<Item = P> + 'a> {
        self.layout.check_like(like)?;
        let rows = self.chains.iter().flat_map(|chain| chain.rows());
        // Of the right shape, as was checked: no draw fails.
        Ok(rows.filter_map(|row| self.tree(like, row).ok()))
    }

    /// The draws of the parameter `name` (`beta`, not `beta[3]`) as an array of shape `[chain, draw, …]`. Where chains differ in length,
    /// all are cut to the shortest.
    ///
    /// # Errors
    ///
    /// If there is no such parameter.
    pub fn draws(&self, name: &str) -> Result<BlockDraws> {
        let block = self.layout.block(name)?;
        let draws = self.chains.iter().map(|chain| chain.len()).min().unwrap_or(0);
        let shape = [self.chains.len(), draws].into_iter().chain(block.shape.iter().copied()).collect();
        let rows = self.chains.iter().flat_map(|chain| chain.rows().take(draws));
        Ok(BlockDraws { shape, values: rows.flat_map(|row| &row[block.values.clone()]).copied().collect() })
    }

    /// The weighted mean of every value, flat.
    pub(crate) fn mean_values(&self) -> Vec<f64> {
        self.each_value(mean)
    }

    /// `statistic` of the draws and weights of each value, over all chains.
    fn each_value(&self, statistic: impl Fn(&[f64], &[f64]) -> f64) -> Vec<f64> {
        let weights: Vec<f64> = self.chains.iter().flat_map(|chain| chain.weights()).copied().collect();
        let of = |index| {
            let draws: Vec<f64> = self.chains.iter().flat_map(|chain| chain.element(index)).collect();
            statistic(&draws, &weights)
        };
        (0..self.layout.value_count()).map(of).collect()
    }

    fn tree<P: TensorTree>(&self, like: &P, values: &[f64]) -> Result<P> {
        self.layout.tree(like, values, Precision::Double, &default_device())
    }
}
