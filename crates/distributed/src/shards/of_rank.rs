//! Shards that are the data of a rank: see [`Shard::of_rank`].

use sgmcmc_fit::{ShardInfo, Tempering};

use super::Shard;
use crate::collective::{Collective, Error, Result, agree};

impl Shard {
    /// Returns the shard of this rank, if each rank has observations of its own: all `observations` of them, one of as many
    /// shards as there are ranks. All ranks must call it.
    ///
    /// Its [`model`](Self::model) and its [`target`](Self::target) take the data of this rank alone. Nothing needs the whole
    /// data set. [`gather_combined`](crate::chains::gather_combined) combines the fits of all ranks.
    ///
    /// # Errors
    ///
    /// Returns an error that names the rank if a rank has no observations, or if the ranks have different `tempering`.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributed::chains::gather_combined;
    /// use sgmcmc::distributed::collective::on_threads;
    /// use sgmcmc::distributed::combine::{CombineOptions, Consensus};
    /// use sgmcmc::distributed::shards::Shard;
    /// use sgmcmc::fit::Tempering;
    /// use sgmcmc::prelude::*;
    ///
    /// let fits = on_threads(2, |ranks| {
    ///     let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| (x - mean).square() * -0.5);
    ///     // Each rank reads its own observations.
    ///     let x: Vec<f32> = (0..50).map(|k| (k % 10 + ranks.rank()) as f32).collect();
    ///     let data = Dataset::new(array(x, [50])?)?;
    ///     let shard = Shard::of_rank(&*ranks, data.observations(), Tempering::default())?;
    ///     let fit = shard.run(|shard| hmc(&shard.model(&model), &data, 0.005).seed(shard.seed(1)).sample(&zeros([1]), 500))?;
    ///     gather_combined(&*ranks, fit, &Consensus::default(), CombineOptions::default())
    /// })?;
    /// let means: Vec<f64> = fits.iter().flatten().flat_map(|fit| fit.mean_values()).collect();
    /// assert!(means.len() == 1 && (means[0] - 5.0).abs() < 0.1);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn of_rank(ranks: &dyn Collective, observations: usize, tempering: Tempering) -> Result<Self> {
        crate::collective::check_same(ranks, "the powers of prior and likelihood", &tempering.to_string())?;
        let expected = "give every rank at least one";
        let checked = match observations {
            0 => Err(Error::Setting { name: "the number of observations of a rank", value: "0".into(), expected }),
            _ => Ok(()),
        };
        agree(ranks, checked)?;
        let mut total = [observations as f64];
        ranks.all_reduce_sum(&mut total)?;
        let info = ShardInfo { index: ranks.rank(), count: ranks.size(), observations: total[0] as usize, tempering };
        Ok(Self::new(info, (0..observations).collect(), observations))
    }
}
