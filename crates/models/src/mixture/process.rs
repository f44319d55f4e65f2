//! The Dirichlet-process mixture and its settings.

use std::fmt;
use std::sync::Arc;

use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::minibatch::{BatchSize, WithoutReplacement};
use sgmcmc_gradient::{ChainRng, Result, settings};
use sgmcmc_samplers::chain::Chain;
use sgmcmc_samplers::run::ChainRun;

use super::concentration::Concentration;
use super::data::{Counts, Levels, Observations, Points};
use super::family::{Categorical, Family, Gaussian, Multinomial, NormalInverseWishart};
use super::fit::MixtureFit;
use super::record::{Record, RecordPlan};
use super::sampler::{Settings, SliceSampler};
use super::update::Update;

/// Creates the family of the data.
type MakeFamily<F> = dyn Fn(&<F as Family>::Data) -> Result<F> + Send + Sync;

/// A Dirichlet-process mixture, a mixture with an unknown number of components:
///
/// ```text
/// xᵢ | θ, zᵢ ~ F(θ_{zᵢ}),   P(zᵢ = j | w) = wⱼ,   wⱼ = vⱼ Π_{l<j} (1 − v_l),   vⱼ ~ Beta(1, α),   θⱼ ~ G₀
/// ```
///
/// [`SliceSampler`] describes the algorithm. Without settings, each step uses all observations and the draws are exact.
///
/// | setting | default | meaning |
/// |---|---|---|
/// | [`concentration`](Self::concentration) | Gamma(1, 1) | the concentration α or its prior |
/// | [`minibatch`](Self::minibatch) | all observations | observations per step |
/// | [`components`](Self::components), [`sticks`](Self::sticks) | Gibbs | updates of the components and the weights |
/// | [`initial_clusters`](Self::initial_clusters) | 20 | clusters of the random initial allocations |
/// | [`chains`](Self::chains), [`seed`](Self::seed) | 1, 0 | chains that run in parallel, and their seed |
/// | [`burn_in`](Self::burn_in), [`thin`](Self::thin) | 500, 1 | iterations before the first draw and per draw |
/// | [`mixture_every`](Self::mixture_every) | 10 | draws per mixture that is kept for predictions and partitions |
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Counts, DirichletProcess};
///
/// let data = Counts::new(2, [vec![(0, 9)], vec![(0, 8)], vec![(1, 9)], vec![(1, 7)]])?;
/// let fit = DirichletProcess::multinomial(0.5).seed(1).fit(&data, 500)?;
/// assert_eq!(fit.clusters()?.mode(), 2);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct DirichletProcess<F: Family> {
    family: Arc<MakeFamily<F>>,
    concentration: Concentration,
    components: Update,
    sticks: Update,
    minibatch: Option<WithoutReplacement>,
    initial_clusters: usize,
    chains: usize,
    seed: u64,
    burn_in: u64,
    thin: u64,
    mixture_every: u64,
    keeps_allocations: bool,
    configure: Option<Arc<dyn Fn(ChainRun) -> ChainRun + Send + Sync>>,
}

impl<F: Family> Clone for DirichletProcess<F> {
    fn clone(&self) -> Self {
        Self { family: self.family.clone(), configure: self.configure.clone(), ..*self }
    }
}

impl<F: Family> fmt::Debug for DirichletProcess<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirichletProcess")
            .field("concentration", &self.concentration)
            .field("components", &self.components)
            .field("sticks", &self.sticks)
            .field("minibatch", &self.minibatch)
            .field("initial_clusters", &self.initial_clusters)
            .finish_non_exhaustive()
    }
}

impl DirichletProcess<Multinomial> {
    /// Creates a mixture of multinomial distributions with the base distribution Dirichlet(a, …, a).
    pub fn multinomial(a: f64) -> Self {
        Self::new(move |data: &Counts| Multinomial::symmetric(data.categories(), a))
    }
}

impl DirichletProcess<Categorical> {
    /// Creates a mixture of products of categorical distributions with the base distribution Dirichlet(a, …, a) of each
    /// variable. Variables of two levels are Bernoulli variables.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::models::mixture::{DirichletProcess, Levels};
    ///
    /// let data = Levels::new(vec![2, 3], vec![0, 2, 1, 1, 0, 2, 1, 0])?;
    /// let fit = DirichletProcess::categorical(1.0).seed(1).fit(&data, 100)?;
    /// assert!(fit.clusters()?.mean() >= 1.0);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn categorical(a: f64) -> Self {
        Self::new(move |data: &Levels| Categorical::symmetric(data.sizes(), a))
    }
}

impl DirichletProcess<Gaussian> {
    /// Creates a mixture of Gaussian distributions with full covariance matrices and the weak base distribution
    /// [`Gaussian::around`] the data.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::models::mixture::{DirichletProcess, Points};
    ///
    /// let data = Points::new(vec![0.0, 0.1, 0.2, -0.1, 5.0, 5.1, 5.2, 4.9], 1)?;
    /// let fit = DirichletProcess::gaussian().seed(1).fit(&data, 500)?;
    /// assert!(fit.clusters()?.mean() > 1.5);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn gaussian() -> Self {
        Self::new(Gaussian::around as fn(&Points) -> Result<Gaussian>)
    }

    /// Creates a mixture of Gaussian distributions with the base distribution `prior`.
    pub fn gaussian_with(prior: NormalInverseWishart) -> Self {
        Self::new(move |_: &Points| Gaussian::new(prior.clone()))
    }
}

impl<F: Family> DirichletProcess<F> {
    /// Creates a mixture of the distributions of the family that `family` creates for the data.
    pub fn new(family: impl Fn(&F::Data) -> Result<F> + Send + Sync + 'static) -> Self {
        Self {
            family: Arc::new(family),
            concentration: Concentration::default(),
            components: Update::Gibbs,
            sticks: Update::Gibbs,
            minibatch: None,
            initial_clusters: 20,
            chains: 1,
            seed: 0,
            burn_in: 500,
            thin: 1,
            mixture_every: 10,
            keeps_allocations: true,
            configure: None,
        }
    }

    /// Sets the concentration or its prior.
    #[must_use]
    pub fn concentration(self, concentration: Concentration) -> Self {
        Self { concentration, ..self }
    }

    /// Sets the number of observations per step. An integer is a count, and a float is a proportion.
    #[must_use]
    pub fn minibatch(self, size: impl Into<BatchSize>) -> Self {
        Self { minibatch: Some(WithoutReplacement::new(size)), ..self }
    }

    /// Sets the update of the components.
    #[must_use]
    pub fn components(self, components: Update) -> Self {
        Self { components, ..self }
    }

    /// Sets the update of the stick breaks, which give the weights of the components.
    #[must_use]
    pub fn sticks(self, sticks: Update) -> Self {
        Self { sticks, ..self }
    }

    /// Sets both updates to [`Update::Scir`] with the step size `h`.
    #[must_use]
    pub fn scir(self, h: f64) -> Self {
        self.components(Update::Scir(h)).sticks(Update::Scir(h))
    }

    /// Sets both updates to [`Update::Sgrld`] with the step size `h`.
    #[must_use]
    pub fn sgrld(self, h: f64) -> Self {
        self.components(Update::Sgrld(h)).sticks(Update::Sgrld(h))
    }

    /// Sets the number of clusters of the random initial allocations.
    #[must_use]
    pub fn initial_clusters(self, clusters: usize) -> Self {
        Self { initial_clusters: clusters, ..self }
    }

    /// Sets the number of chains, which run in parallel.
    #[must_use]
    pub fn chains(self, chains: usize) -> Self {
        Self { chains, ..self }
    }

    /// Sets the seed of all random number generators.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the number of iterations before the first draw.
    #[must_use]
    pub fn burn_in(self, iterations: u64) -> Self {
        Self { burn_in: iterations, ..self }
    }

    /// Sets the number of iterations per draw.
    #[must_use]
    pub fn thin(self, iterations: u64) -> Self {
        Self { thin: iterations, ..self }
    }

    /// Sets the number of draws per mixture that is kept for predictions and partitions. Every draw has the
    /// concentration and the number of clusters; mixtures need much more memory.
    #[must_use]
    pub fn mixture_every(self, draws: u64) -> Self {
        Self { mixture_every: draws, ..self }
    }

    /// Sets whether mixtures are kept with the allocations of all observations, which partitions need. Each takes four
    /// bytes per observation.
    #[must_use]
    pub fn keep_allocations(self, keeps_allocations: bool) -> Self {
        Self { keeps_allocations, ..self }
    }

    /// Sets further settings of the run, such as progress reports, a stop signal and checkpoints.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::models::mixture::{Counts, DirichletProcess};
    /// use sgmcmc::run::{CheckpointInterval, InMemoryCheckpoints};
    ///
    /// let data = Counts::new(2, [vec![(0, 9)], vec![(1, 7)]])?;
    /// let store = InMemoryCheckpoints::default();
    /// let process = DirichletProcess::multinomial(0.5)
    ///     .burn_in(10)
    ///     .run_with(move |run| run.checkpoint(store.clone(), CheckpointInterval::Steps(50)));
    /// let first = process.fit(&data, 100)?;
    /// // The second run resumes from the end of the first.
    /// assert_eq!(process.fit(&data, 200)?.fit().chains()[0].len(), 200);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn run_with(self, configure: impl Fn(ChainRun) -> ChainRun + Send + Sync + 'static) -> Self {
        Self { configure: Some(Arc::new(configure)), ..self }
    }

    /// Creates the sampler of the first chain of [`fit`](Self::fit), to make steps one by one.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range or does not match the data.
    pub fn sampler(&self, data: &F::Data) -> Result<SliceSampler<F>> {
        let rng = ChainRng::new(self.seed, 0);
        let family = Arc::new((self.family)(data)?);
        let settings = self.settings(RecordPlan::NONE);
        SliceSampler::start(family, Arc::new(data.clone()), settings, rng, Record::default())
    }

    /// Makes `draws` draws of every chain.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range or does not match the data. A chain that fails later keeps its
    /// draws and has the error as its outcome, see [`Fit::outcomes`](sgmcmc_fit::Fit::outcomes).
    pub fn fit(&self, data: &F::Data, draws: usize) -> Result<MixtureFit<F>> {
        settings::at_least("the number of draws per mixture", self.mixture_every, 1, "it must be at least 1")?;
        let family = Arc::new((self.family)(data)?);
        let data = Arc::new(data.clone());
        let burn_in = self.burn_in;
        let every = self.thin.saturating_mul(self.mixture_every);
        let settings = self.settings(RecordPlan { burn_in, every, allocations: self.keeps_allocations });
        settings.check()?;
        let mut hasher = Fingerprinter::new();
        hasher.text(&format!("{family:?}"));
        data.fingerprint(&mut hasher);
        let identity = format!("{settings:?} of model and data {}", hasher.finish());
        let records: Vec<Record<F::Parameters>> = (0..self.chains).map(|_| Record::default()).collect();
        let (model, shared) = (family.clone(), records.clone());
        let make = move |chain: usize, rng: ChainRng| {
            let record = shared.get(chain).cloned().unwrap_or_default();
            let sampler = SliceSampler::start(model.clone(), data.clone(), settings.clone(), rng, record)?;
            Ok(Box::new(sampler) as Box<dyn Chain>)
        };
        let run = ChainRun::new(identity, make).seed(self.seed).chains(self.chains).burn_in(burn_in).thin(self.thin);
        let run = match &self.configure {
            Some(configure) => configure(run),
            None => run,
        };
        let fit = run.sample(draws)?;
        Ok(MixtureFit::new(family, fit, records.iter().map(Record::draws).collect()))
    }

    /// Returns the settings of the samplers.
    fn settings(&self, record: RecordPlan) -> Settings {
        Settings {
            concentration: self.concentration,
            components: self.components,
            sticks: self.sticks,
            minibatch: self.minibatch,
            initial_clusters: self.initial_clusters,
            record,
        }
    }
}
