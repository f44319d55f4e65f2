//! Bayesian matrix factorization with normal noise.

mod fit;
mod gibbs;
mod model;
mod predictions;
mod sampler;
#[cfg(test)]
mod tests;

pub use fit::FactorizationFit;
pub use predictions::{Predictions, RunningPredictions};
pub use sampler::FactorizationSampler;

use std::sync::Arc;

use sgmcmc_fit::Fit;
use sgmcmc_gradient::{ChainRng, Layout, Result, settings};
use sgmcmc_samplers::chain::Chain;
use sgmcmc_samplers::run::ChainRun;

use self::model::Shape;
use super::entries::Entries;
use super::hyperprior::{GammaPrior, Hyperprior};
use super::kernel::Kernel;

/// The precision τ of the noise.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::{BayesianFactorization, GammaPrior, NoisePrecision};
///
/// let known = BayesianFactorization::new(10).noise(NoisePrecision::Fixed(3.0));
/// let learned = BayesianFactorization::new(10).noise(NoisePrecision::Gamma(GammaPrior { shape: 2.0, rate: 1.0 }));
/// # let _ = (known, learned);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoisePrecision {
    /// A known precision.
    Fixed(f64),
    /// A Gamma prior. The draw of τ reads all entries.
    Gamma(GammaPrior),
}

/// Bayesian matrix factorization: xᵢⱼ ~ N(m + aᵢ + bⱼ + Uᵢ·Vⱼ, 1/τ).
///
/// # Rule
///
/// The rows of U and V have the prior of the [`Hyperprior`], the biases are aᵢ ~ N(0, 1/λₐ), bⱼ ~ N(0, 1/λ_b) with a
/// [`GammaPrior`]. A step moves U, V, a and b, and then draws the hyperparameters given them. Without a
/// [`kernel`](Self::kernel), the factors are drawn by Gibbs, row by row, and the posterior is the exact stationary
/// distribution. With a kernel, they move by one step of any algorithm on a minibatch of entries.
///
/// # Source
///
/// Salakhutdinov & Mnih (2008): the Gaussian–Wishart prior and the Gibbs sampler. Chen, Fox & Guestrin (2014), appendix
/// H.2, and Baker (2019), 3.5.2: Gamma priors, biases, and SG-MCMC.
///
/// # Cost
///
/// With r the rank: a Gibbs sweep costs O(N r² + (I + J) r³), a step of a kernel O(n r) for a minibatch of n entries
/// plus O((I + J) r) for noise and prior. The draw of the hyperparameters costs O((I + J) r²) with the Gaussian–Wishart
/// and O((I + J) r) with the Gamma prior, see [`hyper_interval`](Self::hyper_interval).
///
/// # Settings
///
/// | setting | default | meaning |
/// |---|---|---|
/// | [`hyperprior`](Self::hyperprior) | Gaussian–Wishart, β = 2, W = I | prior of the factors |
/// | [`noise`](Self::noise) | 2 | precision τ, known or with a prior |
/// | [`biases`](Self::biases) | true | whether rows and columns have biases |
/// | [`bias_prior`](Self::bias_prior) | Gamma(1, 1) | prior of the precisions of the biases |
/// | [`offset`](Self::offset) | mean of the entries | the constant m |
/// | [`kernel`](Self::kernel) | none: Gibbs | algorithm for the factors |
/// | [`hyper_interval`](Self::hyper_interval) | 1 | steps of a kernel per draw of the hyperparameters |
/// | [`seed`](Self::seed), [`chains`](Self::chains), [`burn_in`](Self::burn_in), [`thin`](Self::thin) | 0, 1, 50, 1 | settings of [`fit`](Self::fit) |
///
/// # Bias
///
/// None with Gibbs, or with a kernel that has an acceptance step. O(h) in the step size h of other kernels.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Sghmc;
/// use sgmcmc::models::factorization::{BayesianFactorization, Entries, Kernel};
///
/// let (train, test) = Entries::simulate_ratings(30, 20, 300, 2, 1)?.split(0.9, 1)?;
/// let exact = BayesianFactorization::new(2).fit(&train, 50)?;
/// let kernel = Kernel::minibatch(Sghmc::default(), 1e-3, 50);
/// let stochastic = BayesianFactorization::new(2).kernel(kernel).burn_in(500).fit(&train, 500)?;
/// for fit in [exact, stochastic] {
///     println!("held-out rmse {:.3}", fit.predict(&test)?.rmse(&test)?);
/// }
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BayesianFactorization {
    rank: usize,
    hyperprior: Hyperprior,
    noise: NoisePrecision,
    biases: bool,
    bias_prior: GammaPrior,
    offset: Option<f64>,
    kernel: Option<Kernel>,
    hyper_interval: u64,
    parallel: bool,
    seed: u64,
    chains: usize,
    burn_in: u64,
    thin: u64,
}

impl BayesianFactorization {
    /// Creates a factorization of rank `rank`.
    pub fn new(rank: usize) -> Self {
        Self {
            rank,
            hyperprior: Hyperprior::default(),
            noise: NoisePrecision::Fixed(2.0),
            biases: true,
            bias_prior: GammaPrior { shape: 1.0, rate: 1.0 },
            offset: None,
            kernel: None,
            hyper_interval: 1,
            parallel: false,
            seed: 0,
            chains: 1,
            burn_in: 50,
            thin: 1,
        }
    }

    /// Sets the prior of the factors.
    #[must_use]
    pub fn hyperprior(self, hyperprior: Hyperprior) -> Self {
        Self { hyperprior, ..self }
    }

    /// Sets the precision of the noise, known or with a prior.
    #[must_use]
    pub fn noise(self, noise: NoisePrecision) -> Self {
        Self { noise, ..self }
    }

    /// Sets whether rows and columns have biases.
    #[must_use]
    pub fn biases(self, biases: bool) -> Self {
        Self { biases, ..self }
    }

    /// Sets the prior of the precisions of the biases.
    #[must_use]
    pub fn bias_prior(self, bias_prior: GammaPrior) -> Self {
        Self { bias_prior, ..self }
    }

    /// Sets the constant m. The default is the mean of the entries.
    #[must_use]
    pub fn offset(self, offset: f64) -> Self {
        Self { offset: Some(offset), ..self }
    }

    /// Moves the factors by a gradient kernel instead of Gibbs draws.
    #[must_use]
    pub fn kernel(self, kernel: Kernel) -> Self {
        Self { kernel: Some(kernel), ..self }
    }

    /// Sets the number of steps of a kernel per draw of the hyperparameters.
    #[must_use]
    pub fn hyper_interval(self, steps: u64) -> Self {
        Self { hyper_interval: steps, ..self }
    }

    /// Sets whether a sweep of the Gibbs sampler uses the threads of the current rayon pool. The draws do not depend on
    /// it.
    #[must_use]
    pub fn parallel(self, parallel: bool) -> Self {
        Self { parallel, ..self }
    }

    /// Sets the seed of [`fit`](Self::fit) and [`sampler`](Self::sampler).
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the number of chains of [`fit`](Self::fit), which run in parallel.
    #[must_use]
    pub fn chains(self, chains: usize) -> Self {
        Self { chains, ..self }
    }

    /// Sets the number of steps of [`fit`](Self::fit) before the first draw.
    #[must_use]
    pub fn burn_in(self, steps: u64) -> Self {
        Self { burn_in: steps, ..self }
    }

    /// Sets the number of steps per draw of [`fit`](Self::fit).
    #[must_use]
    pub fn thin(self, steps: u64) -> Self {
        Self { thin: steps, ..self }
    }

    /// Makes `draws` draws per chain from the posterior given `entries`.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range or the draws exceed the memory limit of a run. A chain that fails
    /// later keeps its draws, see [`Fit::outcomes`].
    pub fn fit(&self, entries: &Entries, draws: usize) -> Result<FactorizationFit> {
        self.with_draws(entries, self.run(entries)?.sample(draws)?)
    }

    /// Returns the run of the chains, for sinks, checkpoints and progress reports.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::models::factorization::{BayesianFactorization, Entries};
    ///
    /// let entries = Entries::simulate_ratings(30, 20, 300, 2, 1)?;
    /// let model = BayesianFactorization::new(2);
    /// let fit = model.run(&entries)?.chains(2).sample(20)?;
    /// let fit = model.with_draws(&entries, fit)?;
    /// assert_eq!(fit.draws().chains().len(), 2);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn run(&self, entries: &Entries) -> Result<ChainRun> {
        self.check()?;
        let (settings, shared) = (self.clone(), Arc::new(entries.clone()));
        let make = move |_: usize, rng: ChainRng| {
            Ok(Box::new(FactorizationSampler::start(&settings, shared.clone(), rng)?) as Box<dyn Chain>)
        };
        let run = ChainRun::new(self.identity(entries), make);
        Ok(run.seed(self.seed).chains(self.chains).burn_in(self.burn_in).thin(self.thin))
    }

    /// Creates a chain to step by hand.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range.
    pub fn sampler(&self, entries: &Entries) -> Result<FactorizationSampler> {
        FactorizationSampler::start(self, Arc::new(entries.clone()), ChainRng::new(self.seed, 0))
    }

    /// Combines draws of a [`run`](Self::run) with this model, to predict entries from them.
    ///
    /// # Errors
    ///
    /// Returns an error if the draws are not those of this model and the shape of `entries`.
    pub fn with_draws(&self, entries: &Entries, draws: Fit) -> Result<FactorizationFit> {
        let shape = self.shape(entries);
        self.layout(&shape)?.check_same(draws.layout())?;
        let noise = match self.noise {
            NoisePrecision::Fixed(tau) => Some(tau),
            NoisePrecision::Gamma(_) => None,
        };
        Ok(FactorizationFit::new(draws, shape, self.offset.unwrap_or_else(|| entries.mean()), noise))
    }

    /// Returns the settings that the draws depend on, and a fingerprint of the entries.
    fn identity(&self, entries: &Entries) -> String {
        let Self { rank, hyperprior, noise, biases, bias_prior, offset, kernel, hyper_interval, .. } = self;
        let kernel = kernel.as_ref().map_or("Gibbs", Kernel::description);
        format!(
            "Bayesian factorization of rank {rank}, {hyperprior:?}, noise {noise:?}, biases {biases} {bias_prior:?}, \
             offset {offset:?}, hyperparameters every {hyper_interval}, {kernel}, entries {}",
            entries.fingerprint()
        )
    }

    /// Returns the shape of the factors.
    fn shape(&self, entries: &Entries) -> Shape {
        Shape { rows: entries.rows(), columns: entries.columns(), rank: self.rank, biases: self.biases }
    }

    /// Returns the layout of the position of a chain: the factors and the hyperparameters.
    fn layout(&self, shape: &Shape) -> Result<Layout> {
        let mut leaves = shape.leaves();
        for side in ["U", "V"] {
            match self.hyperprior {
                Hyperprior::GaussianWishart { .. } => {
                    leaves.push((format!("mu_{side}"), vec![self.rank]));
                    leaves.push((format!("Lambda_{side}"), vec![self.rank, self.rank]));
                }
                Hyperprior::Gamma(_) => leaves.push((format!("lambda_{side}"), vec![self.rank])),
            }
        }
        if self.biases {
            leaves.extend([("lambda_a".to_owned(), vec![1]), ("lambda_b".to_owned(), vec![1])]);
        }
        if matches!(self.noise, NoisePrecision::Gamma(_)) {
            leaves.push(("tau".to_owned(), vec![1]));
        }
        Layout::new(leaves.into_iter().map(|(name, shape)| (name, shape, None)))
    }

    /// Checks the settings.
    fn check(&self) -> Result<()> {
        settings::at_least("the rank", self.rank, 1, "it must be at least 1")?;
        settings::at_least("the interval of the hyperparameters", self.hyper_interval, 1, "it must be at least 1")?;
        self.hyperprior.check(self.rank)?;
        self.bias_prior.check()?;
        self.offset.map_or(Ok(0.0), |offset| settings::finite("the offset", offset))?;
        match self.noise {
            NoisePrecision::Fixed(tau) => settings::positive("the precision of the noise", tau).map(|_| ()),
            NoisePrecision::Gamma(prior) => prior.check(),
        }
    }
}
