//! Observations drawn from the prior or posterior predictive distribution.

use rand::RngExt;
use rayon::prelude::*;
use sgmcmc_fit::{Fit, Predictive};
use sgmcmc_gradient::data::Rows;
use sgmcmc_gradient::error::{Error, Result};
use sgmcmc_gradient::rng::{ChainRng, StreamRng};
use sgmcmc_gradient::{Precision, settings};

use crate::array::default_device;
use crate::engine::Posterior;
use crate::model::leaf_names;
use crate::tree::{TensorTree, TreeLayout};

/// The purpose of the streams of predictive draws.
const PREDICTIVE: u64 = 3;

/// The number of replications that are drawn at a time.
const GROUP: usize = 64;

/// Settings of predictive draws.
///
/// # Examples
///
/// ```
/// use sgmcmc::predictive::PredictiveOptions;
///
/// let options = PredictiveOptions { draws: 1000, ..PredictiveOptions::default() };
/// assert_eq!(options.memory_limit, 1 << 30);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictiveOptions {
    /// The number of replicated data sets. The default is 400.
    pub draws: usize,
    /// The seed of the random number generators. The default is 0.
    pub seed: u64,
    /// The observed leaf. It is needed only if several leaves are observed.
    pub leaf: Option<String>,
    /// The largest size of the result in bytes. The default is 1 GiB.
    pub memory_limit: usize,
}

impl Default for PredictiveOptions {
    fn default() -> Self {
        Self { draws: 400, seed: 0, leaf: None, memory_limit: 1 << 30 }
    }
}

impl<P: TensorTree, D: TensorTree> Posterior<P, D> {
    /// Draws replicated observations: for each of `options.draws` draws of `fit`, spaced evenly and chosen by weight, one
    /// data set of the same size as the data.
    ///
    /// The fit is that of a run, for the posterior predictive distribution, or [`Model::sample_prior`](crate::Model),
    /// for the prior predictive distribution. The result compares the replications with the observed data: residuals,
    /// probability integral transforms, coverage of intervals. All threads are used, and the result does not depend on
    /// their number.
    ///
    /// # Errors
    ///
    /// Returns an error if the model does not describe its observations (see `Model::observe`), if `like` has other
    /// names or shapes than the fit, if the fit has no draws, or if the result exceeds the memory limit.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::predictive::PredictiveOptions;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::observe(|mean: Tensor<1>, _: Tensor<1>| Normal::new(mean, 1.0), |y: Tensor<1>| y);
    /// let data = Dataset::new(array((0..50).map(|i| f64::from(i % 5) * 0.7).collect(), [50])?)?;
    /// let start = zeros([1]);
    /// let posterior = model.with(&data);
    /// let fit = hmc(&model, &data, 0.02).seed(1).burn_in(100).sample(&start, 400)?;
    /// let predictive = posterior.predictive(&fit, &start, &PredictiveOptions::default())?;
    /// assert_eq!((predictive.replications().len(), predictive.observed().len()), (400, 50));
    /// assert!(predictive.p_value(|y| y.iter().sum()) > 0.05);
    /// println!("{predictive}");
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn predictive(&self, fit: &Fit, like: &P, options: &PredictiveOptions) -> Result<Predictive> {
        settings::at_least("the number of predictive draws", options.draws, 1, "draw at least 1 data set")?;
        let leaf = self.observed_leaf(options)?;
        let (model, data) = (self.model(), self.data());
        let observed = model.observed_values(like, data)?.swap_remove(leaf.position);
        let needed = observed.len().saturating_mul(options.draws).saturating_mul(size_of::<f64>());
        if needed > options.memory_limit {
            let what = format!("{} replications of {} observed values", options.draws, observed.len());
            let remedy = "draw fewer data sets, predict for a part of the data, or raise `memory_limit`";
            return Err(Error::memory(what, needed, options.memory_limit, remedy));
        }
        let layout = fit.parameters_like(&model.layout(like)?)?;
        let rows = fit.evenly_spaced(options.draws)?;
        let streams = ChainRng::streams(options.seed, PREDICTIVE, options.draws);
        let draw = |(row, mut rng): (&[f64], StreamRng)| {
            let params = layout.to_tree(like, &row[..layout.value_count()], Precision::Double, &default_device())?;
            let drawn = model.draw_observed(&params, data, &mut rng)?.swap_remove(leaf.position);
            let means = if leaf.only { model.mean_observed(&params, data)? } else { None };
            // The generator of the ranks of discrete values.
            Ok(Replication { drawn, means, ties: rng.random() })
        };
        let mut pairs = rows.into_iter().zip(streams);
        let (mut drawn, mut ties, mut means) = (Vec::with_capacity(options.draws), None, RunningMean::default());
        // The means of a replication are as many numbers as its values, so that only those of one group are kept.
        loop {
            let group: Vec<_> = pairs.by_ref().take(GROUP).collect();
            if group.is_empty() {
                break;
            }
            for replication in group.into_par_iter().map(draw).collect::<Result<Vec<Replication>>>()? {
                ties.get_or_insert(replication.ties);
                means.add(replication.means, options.draws);
                drawn.push(replication.drawn);
            }
        }
        let (means, ties) = (means.value(), ties.unwrap_or_default());
        Predictive::new(leaf.name, observed, drawn, means, ties)
    }

    /// Returns the leaf that `options` selects.
    fn observed_leaf(&self, options: &PredictiveOptions) -> Result<ObservedLeaf> {
        let first = self.data().batch(Rows::range(0..self.data().observations().min(1)), &default_device())?;
        let names = leaf_names(&first);
        let observed = self.model().observed_leaves(&first)?;
        let known: Vec<String> = observed.iter().filter_map(|leaf| names.get(*leaf).cloned()).collect();
        let only = observed.len() == 1;
        let position = match &options.leaf {
            None if only => Some(0),
            None => None,
            Some(name) => known.iter().position(|leaf| leaf == name),
        };
        let unknown = || Error::UnknownLeaf {
            leaf: options.leaf.clone().unwrap_or_default(),
            known: known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        };
        let position = position.ok_or_else(unknown)?;
        Ok(ObservedLeaf { position, name: known[position].clone(), only })
    }
}

/// The observed leaf of predictive draws.
struct ObservedLeaf {
    /// The position among the observed leaves.
    position: usize,
    name: String,
    /// True if no other leaf is observed.
    only: bool,
}

/// One replicated data set.
struct Replication {
    drawn: Vec<f64>,
    means: Option<Vec<f64>>,
    ties: u64,
}

/// The average of the means of the replications, if all are known.
#[derive(Default)]
struct RunningMean {
    total: Option<Vec<f64>>,
    unknown: bool,
}

impl RunningMean {
    /// Adds the means of one of `count` replications.
    fn add(&mut self, means: Option<Vec<f64>>, count: usize) {
        match means {
            Some(means) => {
                let total = self.total.get_or_insert_with(|| vec![0.0; means.len()]);
                total.iter_mut().zip(&means).for_each(|(total, mean)| *total += mean / count as f64);
            }
            None => self.unknown = true,
        }
    }

    fn value(self) -> Option<Vec<f64>> {
        if self.unknown { None } else { self.total }
    }
}
