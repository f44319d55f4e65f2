//! The sampler of an α-stable factorization.

use std::sync::Arc;

use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use sgmcmc_fit::codec::{decode, encode};
use sgmcmc_gradient::{ChainRng, Error, Layout, Result, settings};
use sgmcmc_samplers::chain::{Chain, Cost, GradientChain, StepInfo};

use super::super::evaluator::{EntryEvaluator, Shared};
use super::collapsed::CollapsedGibbs;
use super::model::{Latents, Shape, StableModel, draw_phi};
use super::{PositiveStable, StableData, StableFactorization};

/// The standard deviation of the logarithms of the factors at the start.
const START_SD: f64 = 0.3;
/// The number of updates of all Φ before the first step.
const FIRST_SWEEPS: usize = 20;

/// The update of W, H and the latent variables.
#[derive(Debug)]
enum Update {
    Collapsed {
        gibbs: CollapsedGibbs,
        rng: Box<ChainRng>,
    },
    /// The latent variables of each interleaved chain. Between the steps, those of the model are empty.
    Kernel {
        chain: Box<dyn GradientChain>,
        latents: Vec<Latents>,
    },
}

/// A chain of a [`StableFactorization`]. The position consists of `W`, unless it is known, and `H`, with one row per
/// column of the matrix.
///
/// A step with a kernel moves W and H, replaces them by their absolute values, and updates Φ of as many entries as the
/// last minibatch had, in turn. The Φ of all entries are part of the saved state. An algorithm that interleaves M Markov
/// chains, such as HAMCMC, has M sets of Φ.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::{StableData, StableFactorization};
///
/// let model = StableFactorization::new(1.2, 2);
/// let data = StableData::complex(8, 6, &model.simulate(8, 6, 1)?.x)?;
/// let mut sampler = model.sampler(&data)?;
/// sampler.step()?;
/// assert!(sampler.dispersion(0, 0)? > 0.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct StableSampler {
    model: Shared<StableModel>,
    stable: PositiveStable,
    shape: Shape,
    layout: Layout,
    update: Update,
    latents_per_step: Option<usize>,
    /// W and H.
    position: Vec<f64>,
    iterations: u64,
    /// The share of accepted proposals of Φ in the last step.
    acceptance: f64,
}

/// The serialized state of a sampler.
#[derive(Serialize, Deserialize)]
struct Saved {
    position: Vec<f64>,
    iterations: u64,
    acceptance: f64,
    update: SavedUpdate,
}

/// The serialized state of the update.
#[derive(Serialize, Deserialize)]
enum SavedUpdate {
    Collapsed(CollapsedGibbs, Box<ChainRng>),
    Kernel(Vec<u8>, Vec<Latents>),
}

impl StableSampler {
    /// Creates a chain at random factors of the scale of the data.
    pub(super) fn start(settings: &StableFactorization, data: Arc<StableData>, mut rng: ChainRng) -> Result<Self> {
        let shape = settings.shape(data.powers())?;
        let [w_prior, h_prior] = settings.priors()?;
        let stable = PositiveStable::new(0.5 * settings.alpha)?;
        let dispersion = data.median()?.powf(settings.alpha);
        let level = match &shape.known_w {
            Some(w) => dispersion * shape.rows as f64 / w.iter().sum::<f64>().max(f64::MIN_POSITIVE),
            None => (dispersion / shape.rank as f64).sqrt(),
        };
        let mut normal = || rng.noise().sample::<f64, _>(StandardNormal);
        let position: Vec<f64> = (0..shape.dim()).map(|_| level * (START_SD * normal()).exp()).collect();
        let (alpha, support, latents) = (settings.alpha, settings.support, Latents::default());
        let mut model = StableModel { data, shape: shape.clone(), alpha, w_prior, h_prior, support, latents };
        let layout = shape.layout()?;
        let (model, update) = match &settings.kernel {
            None => {
                let gibbs = CollapsedGibbs::new(&model, &stable, rng.noise());
                (Shared::new(model), Update::Collapsed { gibbs, rng: Box::new(rng) })
            }
            Some(kernel) => {
                let count = model.data.powers().len();
                model.latents.phi = (0..count).map(|_| draw_phi(&stable, rng.noise())).collect();
                for _ in 0..FIRST_SWEEPS {
                    model.update_latents(&position, count, &stable, rng.noise());
                }
                let model = Shared::new(model);
                let evaluator = EntryEvaluator::new(model.clone(), layout.clone());
                let theta = support.coordinates(&position);
                let chain = kernel.start(Box::new(evaluator), &theta, rng)?;
                let first = std::mem::take(&mut model.write().latents);
                let latents = vec![first; chain.interleaved_chains().max(1)];
                (model, Update::Kernel { chain, latents })
            }
        };
        let latents_per_step = settings.latents_per_step;
        Ok(Self { model, stable, shape, layout, update, latents_per_step, position, iterations: 0, acceptance: 0.0 })
    }

    /// Performs one step.
    ///
    /// # Errors
    ///
    /// Returns an error if a coordinate is not finite. The chain then keeps its previous position.
    pub fn step(&mut self) -> Result<()> {
        match &mut self.update {
            Update::Collapsed { gibbs, rng } => {
                let sweep = gibbs.update(&self.model.read(), &mut self.position, &self.stable, rng.noise())?;
                self.acceptance = sweep.accepted as f64 / sweep.proposals as f64;
            }
            Update::Kernel { chain, latents } => {
                let slot = (self.iterations % latents.len() as u64) as usize;
                std::mem::swap(&mut self.model.write().latents, &mut latents[slot]);
                let moved =
                    move_factors(chain.as_mut(), &self.model, &self.stable, self.latents_per_step, &mut self.position);
                std::mem::swap(&mut self.model.write().latents, &mut latents[slot]);
                self.acceptance = moved?;
            }
        }
        self.iterations += 1;
        Ok(())
    }

    /// Returns the dispersion λᵢⱼ = Σₖ Wᵢₖ Hₖⱼ of an entry at the current draw.
    ///
    /// # Errors
    ///
    /// Returns an error if the matrix has no such entry.
    pub fn dispersion(&self, row: usize, column: usize) -> Result<f64> {
        let Shape { rows, columns, .. } = self.shape;
        settings::within("the row", row, 0..rows, "it must be below the number of rows")?;
        settings::within("the column", column, 0..columns, "it must be below the number of columns")?;
        Ok(self.shape.dispersion(&self.position, row, column))
    }

    /// Returns the share of accepted proposals of the latent variables in the last step.
    pub fn latent_acceptance(&self) -> f64 {
        self.acceptance
    }

    /// Returns the shape of the factors.
    #[cfg(test)]
    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Replaces W, H and Φ of the chain of a kernel, and the data.
    #[cfg(test)]
    pub(super) fn set_state(&mut self, values: &[f64], phi: &[f64], powers: &[f64]) {
        let support = self.model.read().support;
        Arc::make_mut(&mut self.model.write().data).set_powers(powers);
        self.position.copy_from_slice(values);
        if let Update::Kernel { chain, latents } = &mut self.update {
            latents[0].phi.copy_from_slice(phi);
            std::mem::swap(&mut self.model.write().latents, &mut latents[0]);
            chain.relocate(&support.coordinates(values)).unwrap();
            std::mem::swap(&mut self.model.write().latents, &mut latents[0]);
        }
    }

    /// Returns Φ of the first chain of a kernel, or φ of the Gibbs sampler.
    #[cfg(test)]
    pub(super) fn phi(&self) -> &[f64] {
        match &self.update {
            Update::Kernel { latents, .. } => &latents[0].phi,
            Update::Collapsed { gibbs, .. } => gibbs.phi(),
        }
    }
}

/// Moves W and H by one step of `chain`, mirrors them, and updates Φ. Returns the share of accepted proposals.
fn move_factors(
    chain: &mut dyn GradientChain,
    model: &Shared<StableModel>,
    stable: &PositiveStable,
    latents_per_step: Option<usize>,
    position: &mut [f64],
) -> Result<f64> {
    chain.step()?;
    let support = model.read().support;
    position.iter_mut().zip(chain.position()).for_each(|(value, theta)| *value = support.value(*theta));
    let minibatch = chain.cost().minibatch;
    let count = latents_per_step.unwrap_or(if minibatch > 0 { minibatch } else { usize::MAX });
    let count = count.min(model.read().data.powers().len());
    let accepted = model.write().update_latents(position, count, stable, chain.noise());
    // The gradients that a kernel keeps belong to the old Φ.
    let theta = support.mirrored(chain.position());
    chain.relocate(&theta)?;
    Ok(accepted as f64 / count as f64)
}

impl Chain for StableSampler {
    fn step(&mut self) -> Result<()> {
        Self::step(self)
    }

    fn position(&self) -> &[f64] {
        &self.position
    }

    fn info(&self) -> StepInfo {
        match &self.update {
            Update::Collapsed { .. } => StepInfo::new(self.iterations),
            Update::Kernel { chain, .. } => chain.info(),
        }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn interleaved_chains(&self) -> usize {
        match &self.update {
            Update::Collapsed { .. } => 1,
            Update::Kernel { latents, .. } => latents.len(),
        }
    }

    fn stat_names(&self) -> Vec<String> {
        let mut names = vec!["phi_acceptance".to_owned()];
        if let Update::Kernel { chain, .. } = &self.update {
            names.extend(chain.stat_names());
        }
        names
    }

    fn stats(&self, out: &mut [f64]) {
        if let Some((first, rest)) = out.split_first_mut() {
            *first = self.acceptance;
            if let Update::Kernel { chain, .. } = &self.update {
                chain.stats(rest);
            }
        }
    }

    fn cost(&self) -> Cost {
        match &self.update {
            Update::Collapsed { .. } => Cost::default(),
            Update::Kernel { chain, .. } => chain.cost(),
        }
    }

    fn observations(&self) -> usize {
        self.model.read().data.powers().len()
    }

    fn is_exact(&self) -> bool {
        match &self.update {
            Update::Collapsed { .. } => true,
            Update::Kernel { chain, .. } => chain.is_exact(),
        }
    }

    fn save(&self) -> Result<Vec<u8>> {
        let update = match &self.update {
            Update::Collapsed { gibbs, rng } => SavedUpdate::Collapsed(gibbs.clone(), rng.clone()),
            Update::Kernel { chain, latents } => SavedUpdate::Kernel(chain.save()?, latents.clone()),
        };
        let (position, iterations, acceptance) = (self.position.clone(), self.iterations, self.acceptance);
        encode(&Saved { position, iterations, acceptance, update })
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let other = || Error::Checkpoint { reason: "it belongs to another kernel or another matrix".into() };
        let Saved { position, iterations, acceptance, update } = decode(saved)?;
        self.layout.check_length(&position)?;
        let entries = self.model.read().data.powers().len();
        match (&mut self.update, update) {
            (Update::Collapsed { gibbs, rng }, SavedUpdate::Collapsed(saved_gibbs, saved_rng)) => {
                if saved_gibbs.len() != gibbs.len() {
                    return Err(other());
                }
                (*gibbs, *rng) = (saved_gibbs, saved_rng);
            }
            (Update::Kernel { chain, latents }, SavedUpdate::Kernel(saved_chain, saved_latents)) => {
                let fits = |latents: &Latents| latents.phi.len() == entries && latents.next < entries;
                if saved_latents.len() != latents.len() || !saved_latents.iter().all(fits) {
                    return Err(other());
                }
                chain.restore(&saved_chain)?;
                *latents = saved_latents;
            }
            _ => return Err(other()),
        }
        (self.position, self.iterations, self.acceptance) = (position, iterations, acceptance);
        Ok(())
    }
}
