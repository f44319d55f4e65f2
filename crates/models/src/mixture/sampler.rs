//! The slice sampler.

use std::sync::Arc;

use rand::RngExt;
use serde::{Deserialize, Serialize};
use sgmcmc_gradient::minibatch::{Minibatch, Scheme, WithoutReplacement};
use sgmcmc_gradient::rng::ChainRng;
use sgmcmc_gradient::{Layout, Result, settings};

use super::concentration::Concentration;
use super::data::Observations;
use super::draw::MixtureDraw;
use super::family::Family;
use super::record::{Record, RecordPlan};
use super::sticks::{self, Stick, tails};
use super::update::Update;

/// The settings of a sampler. Its debug text names the algorithm in fits and checkpoints.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    pub(super) concentration: Concentration,
    pub(super) components: Update,
    pub(super) sticks: Update,
    /// The minibatches, or `None` if each step uses all observations.
    pub(super) minibatch: Option<WithoutReplacement>,
    pub(super) initial_clusters: usize,
    pub(super) record: RecordPlan,
}

impl Settings {
    /// Returns an error if a setting is out of range.
    pub(super) fn check(&self) -> Result<()> {
        self.concentration.check()?;
        self.components.check()?;
        self.sticks.check()?;
        settings::at_least("the number of initial clusters", self.initial_clusters, 1, "it must be at least 1")
            .map(drop)
    }
}

/// The state of a sampler, with the allocations of all observations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct State<P, S> {
    pub(super) allocations: Vec<u32>,
    /// The number of observations of every component.
    pub(super) counts: Vec<f64>,
    pub(super) sticks: Vec<Stick>,
    pub(super) components: Vec<P>,
    /// The sufficient statistics of the observations of every component.
    pub(super) statistics: Vec<S>,
    pub(super) concentration: f64,
    pub(super) log_likelihood: f64,
    pub(super) iterations: u64,
    pub(super) rng: ChainRng,
    pub(super) scheme: Option<<WithoutReplacement as Scheme>::State>,
}

/// A sampler of a Dirichlet-process mixture: the slice sampler of Walker (2007) with the improvements of
/// Papaspiliopoulos (2008) and Kalli, Griffin & Walker (2011), with or without minibatches.
///
/// One step, with the minibatch S, or all observations:
///
/// 1. the concentration α,
/// 2. the breaks vⱼ of the sticks up to the last occupied component, mⱼ being the number of observations of component j:
///    from Beta(mⱼ, α + Σ_{l>j} m_l), the posterior process without labels, with [`Update::Gibbs`], or else by the
///    [`Update`] of Beta(1 + mⱼ, α + Σ_{l>j} m_l),
/// 3. the components θⱼ, by an [`Update`],
/// 4. slices uᵢ ~ U(0, w_{zᵢ}) for i ∈ S,
/// 5. further sticks and components from the prior, until the remaining weight is below minᵢ uᵢ,
/// 6. allocations zᵢ for i ∈ S with probabilities ∝ 1(wⱼ > uᵢ) f(xᵢ|θⱼ).
///
/// Without [`Update::Gibbs`] for the sticks, labels are exchanged once per pass over the data, so that the order of the
/// components mixes. The truncation is not
/// an approximation. Allocations outside the minibatch stay as they are, and the statistics of all allocations are
/// kept up to date. With [`Update::Gibbs`] the posterior is invariant for every minibatch, and so it is with
/// [`Update::Scir`] if the minibatch has all observations. With smaller minibatches the error of [`Update::Scir`] is
/// of the order of its step size.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Counts, DirichletProcess};
///
/// let data = Counts::new(2, [vec![(0, 9)], vec![(0, 8)], vec![(1, 9)], vec![(1, 7)]])?;
/// let mut sampler = DirichletProcess::multinomial(0.5).minibatch(2).seed(1).sampler(&data)?;
/// for _ in 0..200 {
///     sampler.step()?;
/// }
/// assert_eq!(sampler.allocations().len(), 4);
/// assert!(sampler.clusters() >= 1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct SliceSampler<F: Family> {
    pub(super) family: Arc<F>,
    pub(super) data: Arc<F::Data>,
    pub(super) settings: Settings,
    pub(super) state: State<F::Parameters, F::Statistics>,
    pub(super) record: Record<F::Parameters>,
    pub(super) layout: Layout,
    /// The quantities that draws consist of: see [`PARAMETERS`].
    pub(super) position: Vec<f64>,
    pub(super) batch: Minibatch,
    pub(super) scratch: Scratch,
}

/// Buffers of a step.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) log_weights: Vec<f64>,
    pub(super) log_slices: Vec<f64>,
    pub(super) candidates: Vec<usize>,
    pub(super) log_probabilities: Vec<f64>,
}

/// The parameters of the draws of a run.
pub(super) const PARAMETERS: [&str; 3] = ["concentration", "clusters", "largest_share"];

impl<F: Family> SliceSampler<F> {
    /// Creates a sampler that starts with random allocations to `settings.initial_clusters` clusters.
    pub(super) fn start(
        family: Arc<F>,
        data: Arc<F::Data>,
        settings: Settings,
        mut rng: ChainRng,
        record: Record<F::Parameters>,
    ) -> Result<Self> {
        settings.check()?;
        family.check(&data)?;
        let n = data.observations();
        let clusters = settings.initial_clusters.min(n);
        let allocations: Vec<u32> = (0..n).map(|_| rng.noise().random_range(0..clusters) as u32).collect();
        let scheme = settings.minibatch.map(|minibatch| minibatch.init(n)).transpose()?;
        let batch = match scheme {
            Some(_) => Minibatch::default(),
            None => Minibatch { rows: (0..n).collect(), ..Minibatch::default() },
        };
        let state = State {
            allocations,
            counts: Vec::new(),
            sticks: Vec::new(),
            components: Vec::new(),
            statistics: Vec::new(),
            concentration: settings.concentration.start(),
            log_likelihood: 0.0,
            iterations: 0,
            rng,
            scheme,
        };
        let layout = Layout::new(PARAMETERS.map(|name| (name.to_owned(), Vec::new(), None)))?;
        let (position, scratch) = (vec![0.0; PARAMETERS.len()], Scratch::default());
        let mut sampler = Self { family, data, settings, state, record, layout, position, batch, scratch };
        sampler.count(clusters);
        sampler.first_components()?;
        sampler.truncate();
        sampler.locate();
        Ok(sampler)
    }

    /// Draws the sticks and components given the initial allocations.
    fn first_components(&mut self) -> Result<()> {
        let State { counts, sticks, components, statistics, concentration, rng, .. } = &mut self.state;
        for (tail, statistics) in tails(counts).into_iter().zip(statistics) {
            sticks.push(Stick::draw(*concentration, tail, rng.noise()));
            components.push(self.family.draw(statistics, rng.noise())?);
        }
        Ok(())
    }

    /// Counts the observations of `components` components and computes their statistics.
    pub(super) fn count(&mut self, components: usize) {
        let State { allocations, counts, statistics, .. } = &mut self.state;
        counts.clear();
        counts.resize(components, 0.0);
        statistics.clear();
        statistics.resize(components, self.family.no_statistics());
        for (row, z) in allocations.iter().enumerate() {
            counts[*z as usize] += 1.0;
            self.family.add(&mut statistics[*z as usize], &self.data, row, 1.0);
        }
    }

    /// Removes the components after the last occupied one. They have their prior distribution.
    pub(super) fn truncate(&mut self) {
        let State { counts, sticks, components, statistics, .. } = &mut self.state;
        let length = counts.iter().rposition(|count| *count > 0.0).map_or(0, |last| last + 1);
        counts.truncate(length);
        sticks.truncate(length);
        components.truncate(length);
        statistics.truncate(length);
    }

    /// Writes the quantities that draws consist of into the position.
    pub(super) fn locate(&mut self) {
        let State { allocations, counts, concentration, .. } = &self.state;
        let clusters = counts.iter().filter(|count| **count > 0.0).count();
        let largest = counts.iter().copied().fold(0.0, f64::max);
        self.position.copy_from_slice(&[*concentration, clusters as f64, largest / allocations.len() as f64]);
    }

    /// Returns the current mixture.
    pub fn mixture(&self) -> MixtureDraw<F::Parameters> {
        let State { allocations, sticks, components, concentration, iterations, .. } = &self.state;
        let mut log_weights = Vec::new();
        let log_remaining_weight = sticks::log_weights(sticks, &mut log_weights);
        MixtureDraw {
            iteration: *iterations,
            concentration: *concentration,
            log_weights,
            log_remaining_weight,
            components: components.clone(),
            allocations: allocations.clone(),
        }
    }

    /// Returns the component of every observation.
    pub fn allocations(&self) -> &[u32] {
        &self.state.allocations
    }

    /// Returns the number of clusters: of components with at least one observation.
    pub fn clusters(&self) -> usize {
        self.state.counts.iter().filter(|count| **count > 0.0).count()
    }

    /// Returns the concentration α.
    pub fn concentration(&self) -> f64 {
        self.state.concentration
    }
}
