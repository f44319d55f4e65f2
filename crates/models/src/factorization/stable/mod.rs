//! α-stable matrix factorization.

mod collapsed;
mod data;
mod distributions;
mod fit;
mod generalized_gamma;
mod model;
mod sampler;
mod support;
#[cfg(test)]
mod tests;

pub use data::StableData;
pub use distributions::{Complex, PositiveStable, SymmetricStable};
pub use fit::{Dispersions, StableFit};
pub use generalized_gamma::GeneralizedGamma;
pub use sampler::StableSampler;
pub use support::FactorCoordinates;

use std::sync::Arc;

use rand::SeedableRng;
use sgmcmc_fit::Fit;
use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{ChainRng, Error, Result, settings};
use sgmcmc_samplers::chain::Chain;
use sgmcmc_samplers::run::ChainRun;

use self::model::Shape;
use super::entries::Entries;
use super::hyperprior::GammaPrior;
use super::kernel::Kernel;

/// α-stable matrix factorization: xᵢⱼ ~ SαS((Σₖ Wᵢₖ Hₖⱼ)^{1/α}) with positive W and H.
///
/// # Rule
///
/// The characteristic function of an entry is exp(−λᵢⱼ |t|^α) with λᵢⱼ = Σₖ Wᵢₖ Hₖⱼ; entries are real, or complex and
/// isotropic. The priors are Wᵢₖ, Hₖⱼ ~ GG(a, b, −2/α), see [`GeneralizedGamma`]: W^{−2/α} ~ Gamma(a, b).
///
/// Given Φᵢⱼ, twice a positive stable variable of index α/2, each real component of xᵢⱼ is N(0, Φᵢⱼ λᵢⱼ^{2/α}). With a
/// [`kernel`](Self::kernel), a step moves W and H by one step of any algorithm on a minibatch of entries, mirrors them
/// (see [`FactorCoordinates`]), and updates Φ by a Metropolis step whose proposal is the prior. Without a kernel, a partially
/// collapsed Gibbs sampler draws all variables, which is exact.
///
/// # Source
///
/// Şimşekli et al. (2016), section 4.2, eq. (14) and (15). The scale of Φ is printed there as 2 (cos(πα)/4)^{2/α}; it
/// is 2 (cos(πα/4))^{2/α}. The two equations agree if the complex normal distribution of (15) has the stated variance
/// in each real component, as here. The partially collapsed Gibbs sampler is by Şimşekli, Liutkus & Cemgil (2015).
///
/// # Cost
///
/// A step of a kernel: O(n r) for a minibatch of n entries and rank r, for the gradient and again for Φ, plus
/// O((I + J) r) for noise and prior. A sweep of the Gibbs sampler: O(N r²); memory O(N r).
///
/// # Settings
///
/// | setting | default | meaning |
/// |---|---|---|
/// | [`w_prior`](Self::w_prior), [`h_prior`](Self::h_prior) | Gamma(2, 1) | prior of W^{−2/α} and H^{−2/α} |
/// | [`kernel`](Self::kernel) | none: Gibbs | algorithm for W and H |
/// | [`support`](Self::support) | mirrored | coordinates of the kernel |
/// | [`latents_per_step`](Self::latents_per_step) | size of the minibatch | entries whose Φ is updated in a step |
/// | [`known_w`](Self::known_w) | none | W, if it is known |
/// | [`seed`](Self::seed), [`chains`](Self::chains), [`burn_in`](Self::burn_in), [`thin`](Self::thin) | 0, 1, 100, 1 | settings of [`fit`](Self::fit) |
///
/// # Bias
///
/// None with Gibbs, or with a kernel that has an acceptance step. O(h) in the step size h of other kernels.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Sgld;
/// use sgmcmc::models::factorization::{Kernel, StableData, StableFactorization, FactorCoordinates};
///
/// let model = StableFactorization::new(1.2, 2);
/// let data = StableData::complex(8, 6, &model.simulate(8, 6, 1)?.x)?;
/// let exact = model.clone().fit(&data, 200)?;
/// let kernel = Kernel::minibatch(Sgld, 1e-2, 10);
/// let stochastic = model.kernel(kernel).support(FactorCoordinates::Log).fit(&data, 200)?;
/// println!("{:?} {:?}", exact.dispersions()?.log_mean[0], stochastic.dispersions()?.log_mean[0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StableFactorization {
    alpha: f64,
    rank: usize,
    w_prior: GammaPrior,
    h_prior: GammaPrior,
    kernel: Option<Kernel>,
    support: FactorCoordinates,
    latents_per_step: Option<usize>,
    known_w: Option<Arc<Vec<f64>>>,
    seed: u64,
    chains: usize,
    burn_in: u64,
    thin: u64,
}

/// A simulated factorization: the factors and the entries, all in row-major order.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::StableFactorization;
///
/// let simulated = StableFactorization::new(1.2, 3).simulate(4, 5, 1)?;
/// assert_eq!((simulated.w.len(), simulated.h.len(), simulated.x.len()), (12, 15, 20));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// W, a row per row of the matrix.
    pub w: Vec<f64>,
    /// H, a row per column of the matrix.
    pub h: Vec<f64>,
    /// The dispersions λᵢⱼ = Σₖ Wᵢₖ Hₖⱼ.
    pub dispersions: Vec<f64>,
    /// The complex entries. Their real parts are the entries of a real factorization.
    pub x: Vec<Complex>,
}

impl StableFactorization {
    /// Creates a factorization with the index α and `rank` components.
    pub fn new(alpha: f64, rank: usize) -> Self {
        let prior = GammaPrior { shape: 2.0, rate: 1.0 };
        Self {
            alpha,
            rank,
            w_prior: prior,
            h_prior: prior,
            kernel: None,
            support: FactorCoordinates::default(),
            latents_per_step: None,
            known_w: None,
            seed: 0,
            chains: 1,
            burn_in: 100,
            thin: 1,
        }
    }

    /// Sets the prior of W^{−2/α}.
    #[must_use]
    pub fn w_prior(self, w_prior: GammaPrior) -> Self {
        Self { w_prior, ..self }
    }

    /// Sets the prior of H^{−2/α}.
    #[must_use]
    pub fn h_prior(self, h_prior: GammaPrior) -> Self {
        Self { h_prior, ..self }
    }

    /// Moves W and H by a gradient kernel instead of Gibbs draws.
    #[must_use]
    pub fn kernel(self, kernel: Kernel) -> Self {
        Self { kernel: Some(kernel), ..self }
    }

    /// Sets the coordinates in which the kernel moves W and H.
    #[must_use]
    pub fn support(self, support: FactorCoordinates) -> Self {
        Self { support, ..self }
    }

    /// Sets the number of entries whose Φ is updated in a step of a kernel.
    #[must_use]
    pub fn latents_per_step(self, entries: usize) -> Self {
        Self { latents_per_step: Some(entries), ..self }
    }

    /// Fixes W, in row-major order with one row per row of the matrix. Only H is then sampled.
    #[must_use]
    pub fn known_w(self, w: Vec<f64>) -> Self {
        Self { known_w: Some(Arc::new(w)), ..self }
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

    /// Makes `draws` draws per chain from the posterior given `data`.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range or the draws exceed the memory limit of a run. A chain that fails
    /// later keeps its draws, see [`Fit::outcomes`].
    pub fn fit(&self, data: &StableData, draws: usize) -> Result<StableFit> {
        self.with_draws(data, self.run(data)?.sample(draws)?)
    }

    /// Returns the run of the chains, for sinks, checkpoints and progress reports.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range.
    pub fn run(&self, data: &StableData) -> Result<ChainRun> {
        self.shape(data.powers())?;
        let (settings, shared) = (self.clone(), Arc::new(data.clone()));
        let make = move |_: usize, rng: ChainRng| {
            Ok(Box::new(StableSampler::start(&settings, shared.clone(), rng)?) as Box<dyn Chain>)
        };
        let run = ChainRun::new(self.identity(data), make);
        Ok(run.seed(self.seed).chains(self.chains).burn_in(self.burn_in).thin(self.thin))
    }

    /// Creates a chain to step by hand.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range.
    pub fn sampler(&self, data: &StableData) -> Result<StableSampler> {
        StableSampler::start(self, Arc::new(data.clone()), ChainRng::new(self.seed, 0))
    }

    /// Combines draws of a [`run`](Self::run) with this model, for averages of dispersions.
    ///
    /// # Errors
    ///
    /// Returns an error if the draws are not those of this model and the shape of `data`.
    pub fn with_draws(&self, data: &StableData, draws: Fit) -> Result<StableFit> {
        let shape = self.shape(data.powers())?;
        shape.layout()?.check_same(draws.layout())?;
        Ok(StableFit::new(draws, shape))
    }

    /// Draws W, unless it is known, H and complex entries of a matrix from the model.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range.
    pub fn simulate(&self, rows: usize, columns: usize, seed: u64) -> Result<Simulated> {
        let [w_prior, h_prior] = self.priors()?;
        let (rank, stable) = (self.rank, SymmetricStable::new(self.alpha)?);
        let mut rng = StreamRng::seed_from_u64(seed);
        let w: Vec<f64> = match &self.known_w {
            Some(w) => w.to_vec(),
            None => (0..rows * rank).map(|_| w_prior.draw(&mut rng)).collect::<Result<_>>()?,
        };
        check_w(&w, rows * rank)?;
        let h: Vec<f64> = (0..columns * rank).map(|_| h_prior.draw(&mut rng)).collect::<Result<_>>()?;
        let shape = Shape { rows, columns, rank, known_w: Some(Arc::new(w.clone())) };
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| [row, column]));
        let dispersions: Vec<f64> = cells.map(|[row, column]| shape.dispersion(&h, row, column)).collect();
        let mut draw = |lambda: &f64| {
            let (scale, x) = (lambda.powf(1.0 / self.alpha), stable.sample_complex(&mut rng));
            Complex { re: scale * x.re, im: scale * x.im }
        };
        let x = dispersions.iter().map(&mut draw).collect();
        Ok(Simulated { w, h, dispersions, x })
    }

    /// Returns the priors of W and H.
    fn priors(&self) -> Result<[GeneralizedGamma; 2]> {
        settings::positive("alpha", self.alpha)?;
        settings::within("alpha", self.alpha, 0.0..=2.0, "it must be at most 2")?;
        settings::at_least("the rank", self.rank, 1, "it must be at least 1")?;
        let law = |prior: GammaPrior| GeneralizedGamma::new(prior.shape, prior.rate, -2.0 / self.alpha);
        Ok([law(self.w_prior)?, law(self.h_prior)?])
    }

    /// Returns the shape of the factors.
    fn shape(&self, entries: &Entries) -> Result<Shape> {
        self.priors()?;
        if let Some(count) = self.latents_per_step {
            settings::at_least("the number of latent variables per step", count, 1, "it must be at least 1")?;
        }
        let (rows, columns, rank) = (entries.rows(), entries.columns(), self.rank);
        if let Some(w) = &self.known_w {
            check_w(w, rows * rank)?;
        }
        Ok(Shape { rows, columns, rank, known_w: self.known_w.clone() })
    }

    /// Returns the settings that the draws depend on, and fingerprints of the data and of a known W.
    fn identity(&self, data: &StableData) -> String {
        let Self { alpha, rank, w_prior, h_prior, kernel, support, latents_per_step, known_w, .. } = self;
        let kernel = kernel.as_ref().map_or("partially collapsed Gibbs", Kernel::description);
        let w = known_w.as_ref().map(|w| {
            let mut hasher = Fingerprinter::new();
            hasher.numbers(w);
            hasher.finish()
        });
        format!(
            "stable factorization of index {alpha} and rank {rank}, {w_prior:?}, {h_prior:?}, {support:?}, latents per \
             step {latents_per_step:?}, W {w:?}, {kernel}, {} components, entries {}",
            data.components(),
            data.powers().fingerprint()
        )
    }
}

/// Checks a known W.
fn check_w(w: &[f64], expected: usize) -> Result<()> {
    if w.len() != expected {
        return Err(Error::Length { what: "the known W", expected, found: w.len() });
    }
    w.iter().try_for_each(|w| settings::positive("an element of the known W", *w).map(|_| ()))
}
