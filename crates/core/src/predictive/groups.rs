//! The groups of arrays of a fit that a model which describes its observations can compute.

use rayon::prelude::*;
use sgmcmc_fit::{Fit, Predictions};
use sgmcmc_gradient::Precision;
use sgmcmc_gradient::data::{Column, Rows};
use sgmcmc_gradient::error::{Error, Result};
use sgmcmc_gradient::rng::{ChainRng, StreamRng};

use crate::array::default_device;
use crate::engine::Posterior;
use crate::tree::{TensorTree, TreeLayout};

/// The purpose of the streams of predictive draws.
const GROUPS: u64 = 5;

/// The number of draws of the prior.
const PRIOR_DRAWS: usize = 1000;

/// The largest size in bytes of the predictive draws.
const MEMORY_LIMIT: usize = 1 << 30;

/// The name of the log-likelihood of several observed leaves.
const JOINT: &str = "observations";

impl<P: TensorTree, D: TensorTree> Posterior<P, D> {
    /// Returns `fit` with all groups of arrays that this model can compute, which files keep:
    ///
    /// | group | content |
    /// |---|---|
    /// | `observed_data` | the observed leaves of the data |
    /// | `log_likelihood` | the log-likelihood of every observation at every draw, under the name of the observed leaf, or `observations` if there are several |
    /// | `posterior_predictive` | a data set of the same size per draw |
    /// | `prior` | 1000 draws of the prior, if the model can draw from it |
    ///
    /// LOO, `sgmcmc compare`, `sgmcmc predict` and the plots of predictive checks use them, and ArviZ reads them. `like`
    /// has the shapes of the parameters; its values are not used. The draws depend on `seed`, and not on the number of
    /// threads.
    ///
    /// # Errors
    ///
    /// Returns an error if the model does not describe its observations (see `Model::observe`), if `like` has other names
    /// or shapes than the fit, if the model fails at a draw, or if the log-likelihoods or the predictive draws exceed
    /// 1 GiB. Thin the fit with [`Fit::thinned`], or use a part of the data.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    ///
    /// #[derive(TensorTree)]
    /// struct Mean {
    ///     #[tree(prior = Normal::new(0.0, 3.0))]
    ///     mean: Tensor<1>,
    /// }
    /// #[derive(TensorTree)]
    /// struct Rows {
    ///     y: Tensor<1>,
    /// }
    ///
    /// let model = Model::observe(|p: Mean, _: Rows| Normal::new(p.mean, 1.0), |r: Rows| r.y);
    /// let data = Dataset::new(Rows { y: array(vec![0.5, 1.5, 1.0, 2.0], [4])? })?;
    /// let start = Mean { mean: zeros([1]) };
    /// let fit = hmc(&model, &data, 0.3).seed(1).chains(2).sample(&start, 200)?;
    /// let fit = model.with(&data).with_groups(fit, &start, 1)?;
    /// let names: Vec<&str> = fit.groups().iter().map(|group| group.name.as_str()).collect();
    /// assert_eq!(names, ["observed_data", "log_likelihood", "posterior_predictive", "prior"]);
    /// assert_eq!(fit.loo_pit("y")?.len(), 4);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn with_groups(&self, fit: Fit, like: &P, seed: u64) -> Result<Fit> {
        let (model, data) = (self.model(), self.data());
        let first = data.batch(Rows::range(0..data.observations().min(1)), &default_device())?;
        let leaves = model.observed_leaves(&first)?;
        let observed: Vec<&Column> = leaves.iter().filter_map(|leaf| data.columns().get(*leaf)).collect();
        let drawn = self.draw_for_each(&fit, like, seed)?;
        let pointwise = fit.pointwise_log_likelihood(self, like)?;
        let name = if let [only] = &observed[..] { only.name() } else { JOINT };
        let draws: usize = fit.chains().iter().map(|chain| chain.len()).sum();

        let mut fit = fit;
        for column in &observed {
            let values: Vec<f64> = column.numbers().collect();
            fit = fit.with_observed_data(column.name(), &values, &shape(data.observations(), column))?;
        }
        fit = fit.with_log_likelihood(name, &pointwise)?;
        for (column, values) in observed.iter().zip(drawn) {
            let shape = [vec![draws], shape(data.observations(), column)].concat();
            fit = fit.with_posterior_predictive(column.name(), &Predictions { shape, values })?;
        }
        let prior = match model.sample_prior(like, PRIOR_DRAWS, seed) {
            Ok(prior) => prior,
            // Its prior is a density only.
            Err(Error::NotGenerative { .. }) => return Ok(fit),
            Err(error) => return Err(error),
        };
        for block in prior.layout().blocks() {
            let rows = prior.chains().iter().flat_map(|chain| chain.rows());
            let values: Vec<f64> = rows.flat_map(|row| row[block.values.clone()].iter().copied()).collect();
            fit = fit.with_prior(&block.name, &values)?;
        }
        Ok(fit)
    }

    /// Draws the observed values at every draw of `fit`. Returns the values of each observed leaf.
    fn draw_for_each(&self, fit: &Fit, like: &P, seed: u64) -> Result<Vec<Vec<f64>>> {
        let (model, data) = (self.model(), self.data());
        let layout = fit.parameters_like(&model.layout(like)?)?;
        let rows: Vec<&[f64]> = fit.chains().iter().flat_map(|chain| chain.rows()).collect();
        let width: usize = model.observed_values(like, data)?.iter().map(Vec::len).sum();
        let needed = width.saturating_mul(rows.len()).saturating_mul(size_of::<f64>());
        if needed > MEMORY_LIMIT {
            let what = format!("predictive draws of {width} observed values at {} draws", rows.len());
            let remedy = "use `fit.thinned(…)` first, or the posterior of a part of the data";
            return Err(Error::memory(what, needed, MEMORY_LIMIT, remedy));
        }
        let streams = ChainRng::streams(seed, GROUPS, rows.len());
        let draw = |(row, mut rng): (&[f64], StreamRng)| {
            let params = layout.to_tree(like, &row[..layout.value_count()], Precision::Double, &default_device())?;
            model.draw_observed(&params, data, &mut rng)
        };
        let pairs: Vec<(&[f64], StreamRng)> = rows.into_iter().zip(streams).collect();
        let drawn = pairs.into_par_iter().map(draw).collect::<Result<Vec<Vec<Vec<f64>>>>>()?;
        let mut leaves = Vec::new();
        for replication in drawn {
            leaves.resize_with(replication.len(), Vec::new);
            leaves.iter_mut().zip(replication).for_each(|(all, values): (&mut Vec<f64>, _)| all.extend(values));
        }
        Ok(leaves)
    }
}

/// Returns the shape of the values of a leaf of all observations.
fn shape(observations: usize, column: &Column) -> Vec<usize> {
    [&[observations], column.row_shape()].concat()
}
