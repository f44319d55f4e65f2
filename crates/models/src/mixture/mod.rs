//! Dirichlet-process mixtures: clusters without a fixed number of them.
//!
//! ```
//! use sgmcmc::models::mixture::{Counts, DirichletProcess, Loss};
//!
//! let data = Counts::new(2, [vec![(0, 9)], vec![(0, 8)], vec![(1, 9)], vec![(1, 7)]])?;
//! let fit = DirichletProcess::multinomial(0.5).chains(2).seed(1).fit(&data, 500)?;
//! println!("{} clusters, {:?}", fit.clusters()?.mode(), fit.partition(Loss::Binder)?.labels);
//! # Ok::<(), sgmcmc::Error>(())
//! ```
//!
//! | step | type |
//! |---|---|
//! | observations | [`Counts`], [`Levels`], [`Points`] |
//! | model and settings | [`DirichletProcess`], [`Concentration`], [`Update`] |
//! | component distributions | [`Multinomial`], [`Categorical`], [`Gaussian`], or any [`Family`] |
//! | one step at a time | [`SliceSampler`] |
//! | results | [`MixtureFit`], [`ClusterCount`], [`CoClustering`], [`Partition`], [`LogPredictive`] |
//!
//! Source: Baker (2019), section 5.5.2 and appendix B.4.

mod chain;
mod clusters;
mod concentration;
mod data;
mod draw;
mod family;
mod fit;
mod partition;
mod predictive;
mod process;
mod random;
mod record;
mod sampler;
mod step;
mod sticks;
#[cfg(test)]
mod tests;
mod update;

pub use clusters::ClusterCount;
pub use concentration::Concentration;
pub use data::{Counts, Levels, Observations, Points};
pub use draw::MixtureDraw;
pub use family::{
    Categorical, CategoryCounts, Family, Gaussian, GaussianComponent, GaussianStatistics, Multinomial,
    NormalInverseWishart, Probabilities,
};
pub use fit::{Assignment, MixtureFit};
pub use partition::{CoClustering, Loss, Partition};
pub use predictive::{Evaluation, LogPredictive};
pub use process::DirichletProcess;
pub use sampler::SliceSampler;
pub use update::Update;
