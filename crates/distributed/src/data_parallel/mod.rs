//! One model on data that are divided among ranks: see [`DataParallel`].

mod evaluator;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sgmcmc_fit::{Fit, RunInfo};
use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::{Evaluator, Fingerprint, Result, Target};

use crate::collective::{Collective, agree};
pub use evaluator::DataParallelEvaluator;

/// A density whose observations are divided among ranks.
///
/// Each rank creates it from the density of its own observations. Values and gradients are those of all observations:
/// every rank evaluates its own, and the results are added by [`Collective::all_reduce_sum`]. The prior is evaluated once
/// per rank and counted once. Observations are numbered rank by rank.
///
/// Everything that works on a [`Target`] works on it without change: mode searches, control variates, HMC, MALA,
/// minibatches. All ranks run the same program with the same seed, so that they draw the same minibatches and hold
/// the same chain, and each has the complete result. The draws are the same on all ranks, bit for bit. On another number of ranks,
/// sums are added in another order and differ by rounding.
///
/// A call costs one all-reduce of d + 3 numbers for d coordinates. It is worth it if the gradient of the observations
/// of one rank takes longer than that: full gradients and large minibatches. The guide on scaling has the cost model.
///
/// Ranks that evaluate different chains at the same time, or the same chain at different points, are an error. Chains of a run are
/// therefore run one after another, see [`in_order`](crate::chains::in_order). [`with_communication`] adds the cost of the
/// communication to the fit. A [stop signal](sgmcmc_samplers::run::StopSignal) reaches the ranks at different iterations and ends the run with an error. Use checkpoints
/// ([`RootCheckpoints`](crate::checkpoint::RootCheckpoints)) to stop and to continue a run.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Hmc;
/// use sgmcmc::distributed::collective::{Error, on_threads};
/// use sgmcmc::distributed::data_parallel::DataParallel;
/// use sgmcmc::gradient::FullGradient;
/// use sgmcmc::prelude::*;
///
/// let fits = on_threads(2, |ranks| {
///     let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| (x - mean).square() * -0.5);
///     // Each rank has observations of its own.
///     let x = if ranks.rank() == 0 { vec![0.5_f32, 1.5] } else { vec![1.0, 2.0, 2.5] };
///     let n = x.len();
///     let data = Dataset::new(array(x, [n])?)?;
///     let target = DataParallel::new(model.with(&data), ranks);
///     Ok::<_, Error>(Builder::new(target, Hmc::default(), FullGradient, 0.05).sample(&zeros([1]), 100)?)
/// })?;
/// assert_eq!(fits[0].info().observations, 5);
/// assert_eq!(fits[0].chains(), fits[1].chains());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct DataParallel<T> {
    local: T,
    ranks: Arc<dyn Collective>,
    evaluators: AtomicU64,
}

impl<T: Target> DataParallel<T> {
    /// Creates the density of the observations of all ranks from that of the observations of this rank.
    pub fn new(local: T, ranks: Arc<dyn Collective>) -> Self {
        Self { local, ranks, evaluators: AtomicU64::new(0) }
    }

    /// Returns the density of the observations of this rank.
    pub fn local(&self) -> &T {
        &self.local
    }
}

impl<T: Target> Target for DataParallel<T> {
    type Params = T::Params;

    fn evaluator(&self, start: &T::Params) -> Result<Box<dyn Evaluator>> {
        let local = agree(&*self.ranks, self.local.evaluator(start))?;
        let number = self.evaluators.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(DataParallelEvaluator::new(local, self.ranks.clone(), number)?))
    }

    crate::evaluator::same_parameters!(local);

    /// Returns the fingerprint of the fingerprints of all ranks. All ranks must call it.
    fn fingerprint(&self) -> Option<Fingerprint> {
        let own = self.local.fingerprint().map_or_else(Vec::new, |fingerprint| fingerprint.to_le_bytes().to_vec());
        // An error of the communication shows again in the next operation.
        let all = self.ranks.all_gather(&own).ok()?;
        if all.iter().any(Vec::is_empty) {
            return None;
        }
        let mut hasher = Fingerprinter::new();
        all.iter().for_each(|bytes| hasher.bytes(bytes));
        Some(hasher.finish())
    }
}

/// Returns the fit of a data-parallel run with the cost of the communication of all ranks since they were started, for its
/// report. All ranks must call it. The fit is unchanged if there is one rank.
///
/// # Errors
///
/// Returns the errors of [`Collective::communication_of_all`].
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Hmc;
/// use sgmcmc::distributed::collective::on_threads;
/// use sgmcmc::distributed::data_parallel::{DataParallel, with_communication};
/// use sgmcmc::gradient::FullGradient;
/// use sgmcmc::prelude::*;
///
/// let fits = on_threads(2, |ranks| {
///     let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| (x - mean).square() * -0.5);
///     let data = Dataset::new(array(vec![0.5_f32, 1.0 + ranks.rank() as f32], [2])?)?;
///     let target = DataParallel::new(model.with(&data), ranks.clone());
///     let fit = Builder::new(target, Hmc::default(), FullGradient, 0.3).sample(&zeros([1]), 100)?;
///     with_communication(fit, &*ranks)
/// })?;
/// assert!(fits[0].info().communication.is_some_and(|cost| cost.ranks == 2 && cost.bytes > 0));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn with_communication(fit: Fit, ranks: &dyn Collective) -> crate::collective::Result<Fit> {
    let cost = ranks.communication_of_all()?;
    if ranks.size() == 1 {
        return Ok(fit);
    }
    let info = RunInfo { communication: Some(cost), ..fit.info().clone() };
    Ok(fit.with_info(info))
}
