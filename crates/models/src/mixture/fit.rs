//! The result of a run of a Dirichlet-process mixture.

use std::sync::Arc;

use sgmcmc_fit::Fit;
use sgmcmc_gradient::{Error, Result};

use super::clusters::ClusterCount;
use super::data::Observations;
use super::draw::MixtureDraw;
use super::family::Family;
use super::partition::{CoClustering, Loss, Partition};
use super::predictive::{Evaluation, LogPredictive};

/// The draws of a Dirichlet-process mixture.
///
/// [`fit`](Self::fit) has the draws of the concentration, the number of clusters and the share of the largest cluster,
/// with summaries and diagnostics. The mixtures of some of the draws are the source of predictions and partitions.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Counts, DirichletProcess, Loss};
///
/// let data = Counts::new(2, [vec![(0, 9)], vec![(0, 8)], vec![(1, 9)], vec![(1, 7)]])?;
/// let fit = DirichletProcess::multinomial(0.5).seed(1).fit(&data, 500)?;
/// let partition = fit.partition(Loss::VariationOfInformation)?;
/// assert_eq!(partition.labels, [0, 0, 1, 1]);
///
/// let new = Counts::new(2, [vec![(0, 5)], vec![(1, 5)]])?;
/// let assignments = fit.assign(&partition, &new)?;
/// assert_eq!((assignments[0].cluster, assignments[1].cluster), (Some(0), Some(1)));
/// assert!(fit.log_predictive(&new)?.mean() < 0.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct MixtureFit<F: Family> {
    family: Arc<F>,
    fit: Fit,
    mixtures: Vec<Vec<MixtureDraw<F::Parameters>>>,
}

/// The cluster of a new observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The most probable cluster of the partition; `None` if a new cluster is more probable.
    pub cluster: Option<usize>,
    /// For each cluster of the partition, the probability that the observation shares its cluster with a random member.
    pub probabilities: Vec<f64>,
    /// The probability of a new cluster.
    pub new_cluster: f64,
}

impl<F: Family> MixtureFit<F> {
    pub(super) fn new(family: Arc<F>, fit: Fit, mixtures: Vec<Vec<MixtureDraw<F::Parameters>>>) -> Self {
        Self { family, fit, mixtures }
    }

    /// Returns the draws of the concentration and the number of clusters.
    pub fn fit(&self) -> &Fit {
        &self.fit
    }

    /// Returns the mixtures that were kept, of each chain.
    pub fn mixtures(&self) -> &[Vec<MixtureDraw<F::Parameters>>] {
        &self.mixtures
    }

    /// Returns the posterior distribution of the number of clusters.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no draw.
    pub fn clusters(&self) -> Result<ClusterCount> {
        ClusterCount::new(&self.fit.element("clusters")?)
    }

    /// Returns the log posterior predictive densities of new observations, averaged over the mixtures.
    ///
    /// # Errors
    ///
    /// Returns an error if no mixture was kept or the data do not match the family.
    pub fn log_predictive(&self, data: &F::Data) -> Result<LogPredictive> {
        let mut evaluation = Evaluation::new(&*self.family, data)?;
        for mixture in self.all()? {
            evaluation.add(mixture)?;
        }
        evaluation.finish()
    }

    /// Returns the posterior probabilities that two observations are in the same cluster.
    ///
    /// # Errors
    ///
    /// Returns an error if no allocations were kept or the matrix would be too large.
    pub fn co_clustering(&self) -> Result<CoClustering> {
        CoClustering::new(&self.allocations()?)
    }

    /// Returns the partition with the smallest posterior expected loss among those of the mixtures.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`co_clustering`](Self::co_clustering).
    pub fn partition(&self, loss: Loss) -> Result<Partition> {
        let allocations = self.allocations()?;
        Partition::best(&allocations, &CoClustering::new(&allocations)?, loss)
    }

    /// Assigns new observations to the clusters of a partition of the data of the fit.
    ///
    /// The probability of a cluster is the posterior probability that the observation is in the same cluster as one of
    /// its members, averaged over the members.
    ///
    /// # Errors
    ///
    /// Returns an error if no allocations were kept, the data do not match the family, or the partition is one of other
    /// data.
    pub fn assign(&self, partition: &Partition, data: &F::Data) -> Result<Vec<Assignment>> {
        let mixtures = self.all()?;
        let found = partition.labels.len();
        if let Some(mixture) = mixtures.iter().find(|mixture| mixture.allocations.len() != found) {
            let expected = mixture.allocations.len();
            return Err(Error::Length { what: "the partition of the data of the fit", expected, found });
        }
        let evaluation = Evaluation::new(&*self.family, data)?;
        let clusters = partition.sizes.len();
        let mut sums = vec![0.0; data.observations() * (clusters + 1)];
        for mixture in &mixtures {
            // shares[j][c] is the share of the members of cluster c that component j has.
            let mut shares = vec![vec![0.0; clusters]; mixture.components.len()];
            for (z, label) in mixture.allocations.iter().zip(&partition.labels) {
                shares[*z as usize][*label] += 1.0 / partition.sizes[*label] as f64;
            }
            for (observation, sums) in sums.chunks_exact_mut(clusters + 1).enumerate() {
                let probabilities = evaluation.component_probabilities(mixture, observation);
                let mut known = 0.0;
                for (probability, shares) in probabilities.iter().zip(&shares) {
                    let occupied = shares.iter().any(|share| *share > 0.0);
                    known += if occupied { *probability } else { 0.0 };
                    sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += probability * share);
                }
                sums[clusters] += 1.0 - known;
            }
        }
        let count = mixtures.len() as f64;
        Ok(sums.chunks_exact(clusters + 1).map(|sums| Assignment::new(sums, count)).collect())
    }

    /// Returns all mixtures.
    fn all(&self) -> Result<Vec<&MixtureDraw<F::Parameters>>> {
        let mixtures: Vec<_> = self.mixtures.iter().flatten().collect();
        if mixtures.is_empty() {
            let reason = "no mixture was kept; make more draws, or keep more of them with `mixture_every`".into();
            return Err(Error::Draws { reason });
        }
        Ok(mixtures)
    }

    /// Returns the allocations of all mixtures.
    fn allocations(&self) -> Result<Vec<&[u32]>> {
        let allocations: Vec<&[u32]> = self.all()?.into_iter().map(|mixture| mixture.allocations.as_slice()).collect();
        if allocations.iter().any(|allocations| allocations.is_empty()) {
            return Err(Error::Draws { reason: "the allocations were not kept; see `keep_allocations`".into() });
        }
        Ok(allocations)
    }
}

impl Assignment {
    /// Creates the assignment from sums over `count` mixtures: of each cluster, and of a new cluster.
    fn new(sums: &[f64], count: f64) -> Self {
        let mut probabilities: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
        let new_cluster = probabilities.pop().unwrap_or_default().clamp(0.0, 1.0);
        let best = (0..probabilities.len()).max_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
        let cluster = best.filter(|best| probabilities[*best] >= new_cluster);
        Self { cluster, probabilities, new_cluster }
    }
}
