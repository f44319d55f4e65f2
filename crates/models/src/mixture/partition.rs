//! Summaries of partitions.

use sgmcmc_gradient::{Error, Result};

/// The largest size of a co-clustering matrix in bytes.
const MAX_MATRIX: usize = 1 << 30;

/// The posterior probabilities that two observations are in the same cluster.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::CoClustering;
///
/// let matrix = CoClustering::new(&[&[0, 0, 1][..], &[5, 5, 5][..]])?;
/// assert_eq!((matrix.probability(0, 1), matrix.probability(0, 2)), (1.0, 0.5));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CoClustering {
    observations: usize,
    probabilities: Vec<f32>,
}

impl CoClustering {
    /// Creates the matrix from the allocations of several draws.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no draw, the draws have different lengths, or the matrix would exceed 1 GiB.
    pub fn new(allocations: &[&[u32]]) -> Result<Self> {
        let Some(first) = allocations.first() else {
            return Err(Error::Draws { reason: "there are no allocations".into() });
        };
        let n = first.len();
        let bytes = n.saturating_mul(n).saturating_mul(size_of::<f32>());
        if bytes > MAX_MATRIX {
            let what = format!("the co-clustering matrix of {n} observations");
            return Err(Error::memory(what, bytes, MAX_MATRIX, "use a subset of the observations"));
        }
        let mut probabilities = vec![0.0_f32; n * n];
        for z in allocations {
            if z.len() != n {
                return Err(Error::Length { what: "the allocations of a draw", expected: n, found: z.len() });
            }
            for (row, own) in probabilities.chunks_exact_mut(n.max(1)).zip(*z) {
                row.iter_mut().zip(*z).for_each(|(entry, other)| *entry += if own == other { 1.0 } else { 0.0 });
            }
        }
        let draws = allocations.len() as f32;
        probabilities.iter_mut().for_each(|entry| *entry /= draws);
        Ok(Self { observations: n, probabilities })
    }

    /// Returns the number of observations.
    pub fn observations(&self) -> usize {
        self.observations
    }

    /// Returns the probability that two observations are in the same cluster.
    ///
    /// # Panics
    ///
    /// Panics if `first` or `second` is not below the number of observations.
    pub fn probability(&self, first: usize, second: usize) -> f64 {
        f64::from(self.row(first)[second])
    }

    fn row(&self, observation: usize) -> &[f32] {
        &self.probabilities[observation * self.observations..(observation + 1) * self.observations]
    }
}

/// A loss between partitions, whose posterior expectation a point estimate minimizes.
///
/// # Examples
///
/// See [`Partition::best`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loss {
    /// Binder's loss: the proportion of pairs of observations that only one of the partitions separates.
    Binder,
    /// The variation of information in nats, by the lower bound of Wade & Ghahramani (2018), eq. (14), which needs only
    /// the co-clustering probabilities. It prefers fewer clusters than Binder's loss.
    #[default]
    VariationOfInformation,
}

/// A partition of the observations.
///
/// # Examples
///
/// See [`best`](Self::best).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Partition {
    /// The cluster of every observation. Clusters are numbered in the order of their first observations.
    pub labels: Vec<usize>,
    /// The number of observations of every cluster.
    pub sizes: Vec<usize>,
    /// The posterior expected loss. For the variation of information it is that of the bound, up to a constant.
    pub expected_loss: f64,
}

impl Partition {
    /// Returns the partition with the smallest expected loss among `candidates`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no candidate or one has a different length than the matrix.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::models::mixture::{CoClustering, Loss, Partition};
    ///
    /// let draws = [&[0, 0, 1][..], &[4, 4, 2], &[0, 1, 2]];
    /// let partition = Partition::best(&draws, &CoClustering::new(&draws)?, Loss::Binder)?;
    /// assert_eq!(partition.labels, [0, 0, 1]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn best(candidates: &[&[u32]], matrix: &CoClustering, loss: Loss) -> Result<Self> {
        let mut best: Option<Self> = None;
        for candidate in candidates {
            if candidate.len() != matrix.observations {
                let (expected, found) = (matrix.observations, candidate.len());
                return Err(Error::Length { what: "a partition", expected, found });
            }
            let partition = Self::of(candidate, matrix, loss);
            if best.as_ref().is_none_or(|best| partition.expected_loss < best.expected_loss) {
                best = Some(partition);
            }
        }
        best.ok_or_else(|| Error::Draws { reason: "there are no partitions".into() })
    }

    /// Creates the partition of allocations.
    fn of(allocations: &[u32], matrix: &CoClustering, loss: Loss) -> Self {
        let mut numbers = std::collections::HashMap::new();
        let labels: Vec<usize> = allocations
            .iter()
            .map(|z| {
                let next = numbers.len();
                *numbers.entry(*z).or_insert(next)
            })
            .collect();
        let mut members = vec![Vec::new(); numbers.len()];
        labels.iter().enumerate().for_each(|(observation, label)| members[*label].push(observation));
        let sizes: Vec<usize> = members.iter().map(Vec::len).collect();
        let expected_loss = match loss {
            Loss::Binder => binder(&labels, matrix),
            Loss::VariationOfInformation => variation_of_information(&labels, &members, matrix),
        };
        Self { labels, sizes, expected_loss }
    }
}

/// Returns Σ_{i<j} |1(cᵢ = cⱼ) − pᵢⱼ| / (N choose 2), the expectation of Binder's loss.
fn binder(labels: &[usize], matrix: &CoClustering) -> f64 {
    let n = labels.len();
    let mut sum = 0.0;
    for i in 0..n {
        for (j, probability) in matrix.row(i).iter().enumerate().skip(i + 1) {
            let probability = f64::from(*probability);
            sum += if labels[i] == labels[j] { 1.0 - probability } else { probability };
        }
    }
    sum / (n * n.saturating_sub(1) / 2).max(1) as f64
}

/// Returns (1/N) Σᵢ [log |C(i)| − 2 log Σ_{j∈C(i)} pᵢⱼ], where C(i) is the cluster of i.
fn variation_of_information(labels: &[usize], members: &[Vec<usize>], matrix: &CoClustering) -> f64 {
    let term = |(i, label): (usize, &usize)| {
        let cluster = &members[*label];
        let shared: f64 = cluster.iter().map(|j| f64::from(matrix.row(i)[*j])).sum();
        (cluster.len() as f64).ln() - 2.0 * shared.ln()
    };
    labels.iter().enumerate().map(term).sum::<f64>() / labels.len().max(1) as f64
}
