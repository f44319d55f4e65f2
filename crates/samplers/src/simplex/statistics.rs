//! Counts of observations, the statistics of a model on the simplex.

use std::cell::OnceCell;
use std::fmt;

use rand::SeedableRng;
use sgmcmc_gradient::Fingerprint;
use sgmcmc_gradient::rng::StreamRng;

/// The counts zᵢ of the observations. Given them, the posterior of the simplexes is Dirichlet(α + Σᵢ zᵢ).
///
/// The counts may depend on the simplexes and on random numbers, for instance if they are those of latent variables that
/// are drawn given ω. [`Counts`](super::Counts) are constant counts and [`StatisticsFn`] is a closure.
///
/// # Examples
///
/// See [`StatisticsFn`].
pub trait Statistics: Send + Sync + 'static {
    /// Returns the number N of observations.
    fn observations(&self) -> usize;

    /// Adds the weight of `observation` times its counts to `counts`, which has one entry per value of the simplexes.
    fn add(&self, observation: &Observation<'_>, counts: &mut [f64]);

    /// Returns the number of counts of an observation, or `None` if it fits any number of values.
    fn width(&self) -> Option<usize> {
        None
    }

    /// Returns a fingerprint of the data, or `None` if there is none.
    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }
}

/// An observation whose counts are computed.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    /// The index of the observation.
    pub row: usize,
    /// The factor of its counts.
    pub weight: f64,
    /// The values of all simplexes.
    pub omega: &'a [f64],
    pub(super) log_theta: &'a [f64],
    pub(super) hash: &'a OnceCell<u64>,
}

impl Observation<'_> {
    /// Returns a random number generator for latent variables of this observation.
    ///
    /// Its seed is a function of the coordinates of the chain and of the index of the observation. Counts are therefore
    /// reproducible: at the same coordinates an observation has the same latent variables, which control variates rely
    /// on, and a resumed chain repeats them. The coordinates of a chain change in every step, and with them all latent
    /// variables.
    pub fn rng(&self) -> StreamRng {
        let hash = *self.hash.get_or_init(|| {
            // FNV-1a over words, which does not depend on the version of Rust.
            let fold = |hash: u64, x: &f64| (hash ^ x.to_bits()).wrapping_mul(0x0100_0000_01b3);
            self.log_theta.iter().fold(0xcbf2_9ce4_8422_2325, fold)
        });
        StreamRng::seed_from_u64(hash ^ (self.row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

/// Statistics that are computed by a closure.
///
/// # Examples
///
/// The weights of a mixture with known components. The component of an observation is drawn given the weights:
///
/// ```
/// use rand::RngExt;
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::simplex::{Scir, SimplexTarget, StatisticsFn};
/// use sgmcmc::Builder;
///
/// // The densities of both components at three observations.
/// let densities = [[0.9, 0.1], [0.8, 0.3], [0.2, 0.7]];
/// let statistics = StatisticsFn::new(3, move |observation, counts| {
///     let [first, second] = densities[observation.row];
///     let (first, second) = (observation.omega[0] * first, observation.omega[1] * second);
///     let component = usize::from(observation.rng().random::<f64>() * (first + second) > first);
///     counts[component] += observation.weight;
/// });
/// let target = SimplexTarget::new(vec![1.0, 1.0], statistics)?;
/// let gradient = MinibatchGradient::new(WithoutReplacement::new(2));
/// let fit = Builder::new(target, Scir, gradient, 0.1).seed(1).sample(&vec![0.5, 0.5], 200)?;
/// assert_eq!(fit.chains()[0].len(), 200);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone)]
pub struct StatisticsFn<F> {
    observations: usize,
    add: F,
}

impl<F> StatisticsFn<F>
where
    F: Fn(&Observation<'_>, &mut [f64]) + Send + Sync + 'static,
{
    /// Creates the statistics of `observations` observations. The closure adds the weight of an observation times its
    /// counts to the slice.
    pub fn new(observations: usize, add: F) -> Self {
        Self { observations, add }
    }
}

impl<F> fmt::Debug for StatisticsFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatisticsFn").field("observations", &self.observations).finish_non_exhaustive()
    }
}

impl<F> Statistics for StatisticsFn<F>
where
    F: Fn(&Observation<'_>, &mut [f64]) + Send + Sync + 'static,
{
    fn observations(&self) -> usize {
        self.observations
    }

    fn add(&self, observation: &Observation<'_>, counts: &mut [f64]) {
        (self.add)(observation, counts);
    }
}
