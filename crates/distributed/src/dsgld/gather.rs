//! The draws of all ranks as a fit.

use std::fmt::Debug;

use sgmcmc_fit::{Bias, Fit, RunInfo};
use sgmcmc_gradient::{GradientEstimator, Target};
use sgmcmc_samplers::dynamics::Dynamics;

use super::Dsgld;
use super::rank::Rank;
use super::segment::Segment;
use crate::collective::{Result, numbers};

impl<T, D, G> Dsgld<T, D, G>
where
    T: Target,
    G: GradientEstimator + Debug,
    D: Dynamics<G> + Debug,
{
    /// Gathers the draws of all ranks on rank 0.
    pub(super) fn gather(&self, rank: &Rank<D, G>, draws: usize, seconds: f64) -> Result<Option<Fit>> {
        let counts = [rank.traveler.chain as f64, rank.traveler.iteration as f64, rank.traveler.gradients as f64];
        let counts = self.ranks.gather(0, bytemuck::cast_slice(&counts))?;
        let observations = {
            let mut total = [rank.oracle.observations() as f64];
            self.ranks.all_reduce_sum(&mut total)?;
            total[0] as usize
        };
        let communication = self.ranks.communication_of_all()?;
        let parts = self.ranks.gather(0, rank.segment.since(0))?;
        let (Some(counts), Some(parts)) = (counts, parts) else { return Ok(None) };
        let layout = rank.oracle.layout().clone();
        let stats = self.dynamics.stat_names(&layout);
        let interleaved = self.dynamics.interleaved_chains().max(1);
        let chains = self.ranks.size() * interleaved;
        let mut all = Segment::new(stats.len(), layout.value_count());
        parts.iter().for_each(|part| all.extend(part));
        let recorded = all.chains(chains, draws / interleaved, &layout, &stats)?;
        let mut cost = vec![[0; 2]; self.ranks.size()];
        for counts in counts.iter().map(|bytes| numbers(bytes)) {
            if let [chain, iterations, gradients] = counts[..] {
                cost[chain as usize] = [iterations as u64, gradients as u64];
            }
        }
        let of_chains = |which: usize| -> Vec<u64> {
            cost.iter().flat_map(|cost| vec![cost[which] / interleaved as u64; interleaved]).collect()
        };
        let minibatch = rank.oracle.state().batch.rows.len();
        let info = RunInfo {
            algorithm: format!("{:?}", self.dynamics),
            gradient: format!("{:?}", self.gradient),
            step_size: format!("{:?} at temperature 1", self.step_size),
            observations,
            minibatch: (minibatch > 0).then_some(minibatch as f64),
            seed: self.seed,
            burn_in: self.burn_in,
            thin: self.thin,
            interleaved,
            iterations: of_chains(0),
            gradients: of_chains(1),
            undefined: vec![0; chains],
            seconds: vec![seconds / interleaved as f64; chains],
            bias: Bias::NotExamined("the bias of chains that visit shards is not predicted".into()),
            communication: (self.ranks.size() > 1).then_some(communication),
            version: env!("CARGO_PKG_VERSION").into(),
            ..RunInfo::default()
        };
        Ok(Some(Fit::new(layout, recorded)?.with_info(info)))
    }
}
