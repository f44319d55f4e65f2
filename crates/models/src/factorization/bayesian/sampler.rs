//! The sampler of a Bayesian matrix factorization.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sgmcmc_fit::codec::{decode, encode};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{ChainRng, Error, Layout, Result, settings};
use sgmcmc_samplers::chain::{Chain, Cost, GradientChain, StepInfo};

use super::super::entries::Entries;
use super::super::evaluator::{EntryEvaluator, Shared};
use super::super::hyperprior::FactorPrior;
use super::super::start::normal_start;
use super::gibbs::GibbsFactors;
use super::model::{FactorModel, Hyperparameters, Shape};
use super::predictions::PredictedDraw;
use super::{BayesianFactorization, NoisePrecision};

/// The standard deviation of the factors at the start.
const START_SD: f64 = 0.1;

/// The update of the factors.
#[derive(Debug)]
enum FactorUpdate {
    Gibbs { gibbs: GibbsFactors, theta: Vec<f64>, rng: Box<ChainRng> },
    Kernel(Box<dyn GradientChain>),
}

/// A chain of a [`BayesianFactorization`].
///
/// A step moves the factors and biases by one step of the kernel or one sweep of the Gibbs sampler, and then draws the
/// hyperparameters from their conditional distribution. The position consists of `U`, `V`, the biases `a` and `b`, and
/// the hyperparameters: `lambda_U`, `lambda_V` (or `mu_U`, `Lambda_U`, `mu_V`, `Lambda_V`), `lambda_a`, `lambda_b` and,
/// if it is not fixed, `tau`.
///
/// An algorithm that interleaves M Markov chains, such as HAMCMC, has M sets of hyperparameters, one per chain.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Chain;
/// use sgmcmc::models::factorization::{BayesianFactorization, Entries};
///
/// let entries = Entries::simulate_ratings(30, 20, 300, 2, 1)?;
/// let mut sampler = BayesianFactorization::new(2).sampler(&entries)?;
/// sampler.step()?;
/// assert_eq!(sampler.info().iterations, 1);
/// assert!(sampler.predict(0, 0)? > 0.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct FactorizationSampler {
    settings: BayesianFactorization,
    model: Shared<FactorModel>,
    shape: Shape,
    offset: f64,
    layout: Layout,
    update: FactorUpdate,
    /// The hyperparameters of each interleaved chain.
    hyper: Vec<Hyperparameters>,
    position: Vec<f64>,
    iterations: u64,
}

/// The serialized state of a sampler.
#[derive(Serialize, Deserialize)]
struct Saved {
    position: Vec<f64>,
    hyper: Vec<Hyperparameters>,
    iterations: u64,
    update: SavedUpdate,
}

/// The serialized state of the update of the factors.
#[derive(Serialize, Deserialize)]
enum SavedUpdate {
    Gibbs(Box<ChainRng>),
    Kernel(Vec<u8>),
}

impl FactorizationSampler {
    /// Creates a chain at random factors.
    pub(super) fn start(settings: &BayesianFactorization, entries: Arc<Entries>, mut rng: ChainRng) -> Result<Self> {
        settings.check()?;
        let shape = settings.shape(&entries);
        let offset = settings.offset.unwrap_or_else(|| entries.mean());
        let theta = normal_start(shape.dim(), START_SD, rng.noise());
        let noise = match settings.noise {
            NoisePrecision::Fixed(tau) => tau,
            NoisePrecision::Gamma(prior) => prior.mean(),
        };
        let factors = shape.split(&theta);
        let hyper = Hyperparameters {
            rows: settings.hyperprior.draw(factors.u, shape.rank, rng.noise())?,
            columns: settings.hyperprior.draw(factors.v, shape.rank, rng.noise())?,
            row_bias: settings.bias_prior.mean(),
            column_bias: settings.bias_prior.mean(),
            noise,
        };
        let model = FactorModel { entries, shape, offset, hyper: hyper.clone() };
        let layout = settings.layout(&shape)?;
        let (update, model, chains) = match &settings.kernel {
            None => {
                let gibbs = GibbsFactors::new(&model, settings.parallel);
                (FactorUpdate::Gibbs { gibbs, theta: theta.clone(), rng: Box::new(rng) }, Shared::new(model), 1)
            }
            Some(kernel) => {
                let model = Shared::new(model);
                let evaluator = EntryEvaluator::new(model.clone(), shape.layout()?);
                let chain = kernel.start(Box::new(evaluator), &theta, rng)?;
                let chains = chain.interleaved_chains().max(1);
                (FactorUpdate::Kernel(chain), model, chains)
            }
        };
        let settings = settings.clone();
        let position = theta;
        let hyper = vec![hyper; chains];
        let mut sampler = Self { settings, model, shape, offset, layout, update, hyper, position, iterations: 0 };
        sampler.write_position(0);
        Ok(sampler)
    }

    /// Performs one step.
    ///
    /// # Errors
    ///
    /// Returns an error if a coordinate is not finite. The chain then keeps its previous position.
    pub fn step(&mut self) -> Result<()> {
        let chains = self.hyper.len() as u64;
        let slot = (self.iterations % chains) as usize;
        if chains > 1 {
            self.model.write().hyper.clone_from(&self.hyper[slot]);
        }
        match &mut self.update {
            FactorUpdate::Gibbs { gibbs, theta, rng } => {
                gibbs.update(&self.model.read(), theta, rng.noise())?;
                let hyper = self.settings.draw_hyperparameters(&self.model.read(), theta, rng.noise())?;
                self.hyper[slot] = hyper;
                self.model.write().hyper.clone_from(&self.hyper[slot]);
            }
            FactorUpdate::Kernel(chain) => {
                chain.step()?;
                if (self.iterations / chains).is_multiple_of(self.settings.hyper_interval) {
                    let theta = chain.position().to_vec();
                    let hyper = self.settings.draw_hyperparameters(&self.model.read(), &theta, chain.noise())?;
                    self.hyper[slot] = hyper;
                    self.model.write().hyper.clone_from(&self.hyper[slot]);
                    // The gradients that a kernel keeps belong to the old hyperparameters.
                    chain.relocate(&theta)?;
                }
            }
        }
        self.iterations += 1;
        self.write_position(slot);
        Ok(())
    }

    /// Returns the expectation m + aᵢ + bⱼ + Uᵢ·Vⱼ of an entry at the current draw.
    ///
    /// # Errors
    ///
    /// Returns an error if the matrix has no such entry.
    pub fn predict(&self, row: usize, column: usize) -> Result<f64> {
        let Shape { rows, columns, rank, .. } = self.shape;
        settings::within("the row", row, 0..rows, "it must be below the number of rows")?;
        settings::within("the column", column, 0..columns, "it must be below the number of columns")?;
        Ok(self.offset + self.shape.split(&self.position).score(row, column, rank))
    }

    /// Returns the precision τ of the noise at the current draw.
    pub fn noise_precision(&self) -> f64 {
        self.model.read().hyper.noise
    }

    /// Returns the current draw for predictions.
    pub(super) fn predicted_draw(&self) -> PredictedDraw<'_> {
        let (shape, offset, noise) = (self.shape, self.offset, self.noise_precision());
        PredictedDraw { shape, offset, values: &self.position, noise, weight: self.info().step_size }
    }

    /// Copies the factors and the hyperparameters of chain `slot` to the position.
    fn write_position(&mut self, slot: usize) {
        let theta = match &self.update {
            FactorUpdate::Gibbs { theta, .. } => theta,
            FactorUpdate::Kernel(chain) => chain.position(),
        };
        self.position.clear();
        self.position.extend_from_slice(theta);
        let hyper = &self.hyper[slot];
        hyper.rows.append_to(&mut self.position);
        hyper.columns.append_to(&mut self.position);
        if self.shape.biases {
            self.position.extend([hyper.row_bias, hyper.column_bias]);
        }
        if matches!(self.settings.noise, NoisePrecision::Gamma(_)) {
            self.position.push(hyper.noise);
        }
    }

    /// Returns the coordinates and the generator for tests that simulate data.
    #[cfg(test)]
    pub(super) fn model(&self) -> &Shared<FactorModel> {
        &self.model
    }

    /// Replaces the state by simulated factors and hyperparameters.
    #[cfg(test)]
    pub(super) fn set_state(&mut self, factors: &[f64], hyper: &Hyperparameters) {
        self.model.write().hyper = hyper.clone();
        self.hyper.fill(hyper.clone());
        match &mut self.update {
            FactorUpdate::Gibbs { theta, .. } => theta.copy_from_slice(factors),
            FactorUpdate::Kernel(chain) => chain.relocate(factors).unwrap(),
        }
        self.write_position(0);
    }
}

impl BayesianFactorization {
    /// Draws the hyperparameters given the factors `theta`.
    pub(super) fn draw_hyperparameters(
        &self,
        model: &FactorModel,
        theta: &[f64],
        rng: &mut StreamRng,
    ) -> Result<Hyperparameters> {
        let factors = model.shape.split(theta);
        let rank = model.shape.rank;
        let squares = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let rows = self.hyperprior.draw(factors.u, rank, rng)?;
        let columns = self.hyperprior.draw(factors.v, rank, rng)?;
        let (mut row_bias, mut column_bias) = (model.hyper.row_bias, model.hyper.column_bias);
        if self.biases {
            row_bias = self.bias_prior.draw_given(factors.a.len(), squares(factors.a), rng)?;
            column_bias = self.bias_prior.draw_given(factors.b.len(), squares(factors.b), rng)?;
        }
        let noise = match self.noise {
            NoisePrecision::Fixed(tau) => tau,
            NoisePrecision::Gamma(prior) => prior.draw_given(model.entries.len(), model.squares(theta), rng)?,
        };
        Ok(Hyperparameters { rows, columns, row_bias, column_bias, noise })
    }
}

impl Chain for FactorizationSampler {
    fn step(&mut self) -> Result<()> {
        Self::step(self)
    }

    fn position(&self) -> &[f64] {
        &self.position
    }

    fn info(&self) -> StepInfo {
        match &self.update {
            FactorUpdate::Gibbs { theta, .. } => {
                let model = self.model.read();
                let (count, tau) = (model.entries.len() as f64, model.hyper.noise);
                let log_posterior = 0.5 * count * (tau / std::f64::consts::TAU).ln() - 0.5 * tau * model.squares(theta);
                StepInfo { log_posterior, ..StepInfo::new(self.iterations) }
            }
            FactorUpdate::Kernel(chain) => chain.info(),
        }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn interleaved_chains(&self) -> usize {
        self.hyper.len()
    }

    fn stat_names(&self) -> Vec<String> {
        match &self.update {
            FactorUpdate::Gibbs { .. } => Vec::new(),
            FactorUpdate::Kernel(chain) => chain.stat_names(),
        }
    }

    fn stats(&self, out: &mut [f64]) {
        if let FactorUpdate::Kernel(chain) = &self.update {
            chain.stats(out);
        }
    }

    fn cost(&self) -> Cost {
        match &self.update {
            FactorUpdate::Gibbs { .. } => Cost::default(),
            FactorUpdate::Kernel(chain) => chain.cost(),
        }
    }

    fn observations(&self) -> usize {
        self.model.read().entries.len()
    }

    fn is_exact(&self) -> bool {
        match &self.update {
            FactorUpdate::Gibbs { .. } => true,
            FactorUpdate::Kernel(chain) => chain.is_exact(),
        }
    }

    fn save(&self) -> Result<Vec<u8>> {
        let update = match &self.update {
            FactorUpdate::Gibbs { rng, .. } => SavedUpdate::Gibbs(rng.clone()),
            FactorUpdate::Kernel(chain) => SavedUpdate::Kernel(chain.save()?),
        };
        let (position, hyper) = (self.position.clone(), self.hyper.clone());
        encode(&Saved { position, hyper, iterations: self.iterations, update })
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let Saved { position, hyper, iterations, update } = decode(saved)?;
        self.layout.check_length(&position)?;
        let fits =
            |prior: &FactorPrior, of: fn(&Hyperparameters) -> &FactorPrior| prior.has_shape_of(of(&self.hyper[0]));
        let valid = hyper.len() == self.hyper.len()
            && hyper.iter().all(|hyper| fits(&hyper.rows, |h| &h.rows) && fits(&hyper.columns, |h| &h.columns));
        if !valid {
            return Err(Error::Checkpoint { reason: "it belongs to another prior or kernel".into() });
        }
        match (&mut self.update, update) {
            (FactorUpdate::Gibbs { theta, rng, .. }, SavedUpdate::Gibbs(saved)) => {
                theta.copy_from_slice(&position[..self.shape.dim()]);
                *rng = saved;
            }
            (FactorUpdate::Kernel(chain), SavedUpdate::Kernel(saved)) => chain.restore(&saved)?,
            _ => return Err(Error::Checkpoint { reason: "it belongs to another kernel".into() }),
        }
        let chains = hyper.len() as u64;
        let last = (iterations.max(1) - 1) % chains;
        self.model.write().hyper.clone_from(&hyper[last as usize]);
        (self.position, self.hyper, self.iterations) = (position, hyper, iterations);
        Ok(())
    }
}
