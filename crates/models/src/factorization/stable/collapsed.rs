//! The partially collapsed Gibbs sampler of an α-stable factorization.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use sgmcmc_gradient::Result;

use super::PositiveStable;
use super::model::{StableModel, draw_phi};

/// Draws of all variables of the model with one source per component: xᵢⱼ = Σₖ sᵢⱼₖ, where each real component of sᵢⱼₖ
/// is N(0, φᵢⱼₖ (Wᵢₖ Hₖⱼ)^{2/α}) and φᵢⱼₖ has the law of Φ.
///
/// A sweep consists of
///
/// 1. φ given x, W and H, with s integrated out: Metropolis steps whose proposal is the prior,
/// 2. s given all others: normal with the given sum,
/// 3. W and then H given all others: W^{−2/α} is Gamma distributed, because the prior GG(a, b, −2/α) is conjugate.
///
/// The stationary distribution of W and H is the exact posterior of the model without s and φ. Source: Şimşekli,
/// Liutkus & Cemgil (2015), of which the HAMCMC paper states the idea; the conditionals follow from the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CollapsedGibbs {
    /// φ, a row of components per entry.
    phi: Vec<f64>,
    /// |s|²/(2φ), a row of components per entry.
    #[serde(skip)]
    energy: Vec<f64>,
}

/// The outcome of a sweep.
pub(super) struct Sweep {
    pub(super) accepted: usize,
    pub(super) proposals: usize,
}

impl CollapsedGibbs {
    /// Draws φ from the prior.
    pub(super) fn new<R: Rng + ?Sized>(model: &StableModel, stable: &PositiveStable, rng: &mut R) -> Self {
        let count = model.data.powers().len() * model.shape.rank;
        Self { phi: (0..count).map(|_| draw_phi(stable, rng)).collect(), energy: Vec::new() }
    }

    /// Returns the number of latent variables.
    pub(super) fn len(&self) -> usize {
        self.phi.len()
    }

    /// Returns the latent variables.
    #[cfg(test)]
    pub(super) fn phi(&self) -> &[f64] {
        &self.phi
    }

    /// Performs a sweep. `values` are W, unless it is known, and H.
    pub(super) fn update<R: Rng + ?Sized>(
        &mut self,
        model: &StableModel,
        values: &mut [f64],
        stable: &PositiveStable,
        rng: &mut R,
    ) -> Result<Sweep> {
        let accepted = self.update_sources(model, values, stable, rng);
        let (rank, split, power) = (model.shape.rank, model.shape.w_len(), 2.0 / model.alpha);
        let half = 0.5 * model.data.components();
        if model.shape.known_w.is_none() {
            let (w, h) = values.split_at_mut(split);
            let (mut counts, mut sums) = (vec![0.0; model.shape.rows], vec![0.0; w.len()]);
            for (entry, energy) in model.data.powers().iter().zip(self.energy.chunks_exact(rank)) {
                counts[entry.row] += half;
                for ((sum, h), energy) in sums[entry.row * rank..].iter_mut().zip(&h[entry.column * rank..]).zip(energy)
                {
                    *sum += energy / h.powf(power);
                }
            }
            for (index, (w, sum)) in w.iter_mut().zip(&sums).enumerate() {
                *w = model.w_prior.draw_given(counts[index / rank], *sum, rng)?;
            }
        }
        let (mut counts, mut sums) = (vec![0.0; model.shape.columns], vec![0.0; values.len() - split]);
        let [w, _] = model.shape.split(values);
        for (entry, energy) in model.data.powers().iter().zip(self.energy.chunks_exact(rank)) {
            counts[entry.column] += half;
            for ((sum, w), energy) in sums[entry.column * rank..].iter_mut().zip(&w[entry.row * rank..]).zip(energy) {
                *sum += energy / w.powf(power);
            }
        }
        for (index, (h, sum)) in values[split..].iter_mut().zip(&sums).enumerate() {
            *h = model.h_prior.draw_given(counts[index / rank], *sum, rng)?;
        }
        Ok(Sweep { accepted, proposals: self.phi.len() })
    }

    /// Draws φ with s integrated out, and the energies of s given φ. Returns the number of accepted proposals.
    fn update_sources<R: Rng + ?Sized>(
        &mut self,
        model: &StableModel,
        values: &[f64],
        stable: &PositiveStable,
        rng: &mut R,
    ) -> usize {
        let (rank, power) = (model.shape.rank, 2.0 / model.alpha);
        let components = model.data.components() as usize;
        self.energy.resize(self.phi.len(), 0.0);
        let [w, h] = model.shape.split(values);
        let (mut scales, mut sources) = (vec![0.0; rank], vec![0.0; rank]);
        let mut accepted = 0;
        let rows = self.phi.chunks_exact_mut(rank).zip(self.energy.chunks_exact_mut(rank));
        for (entry, (phi, energy)) in model.data.powers().iter().zip(rows) {
            let pairs = w[entry.row * rank..].iter().zip(&h[entry.column * rank..]);
            scales
                .iter_mut()
                .zip(pairs)
                .for_each(|(scale, (w, h))| *scale = (w * h).powf(power).max(f64::MIN_POSITIVE));
            for k in 0..rank {
                // The sum is computed anew: a difference would cancel, because one term often dominates.
                let others = (0..rank).filter(|other| *other != k).map(|other| phi[other] * scales[other]).sum::<f64>();
                let proposal = 2.0 * stable.sample(rng);
                let new = model.log_normal(entry.value, others + proposal * scales[k]);
                let log_ratio = new - model.log_normal(entry.value, others + phi[k] * scales[k]);
                if log_ratio >= 0.0 || rng.random::<f64>() < log_ratio.exp() {
                    phi[k] = proposal;
                    accepted += 1;
                }
            }
            let total: f64 = phi.iter().zip(&scales).map(|(phi, scale)| phi * scale).sum();
            energy.fill(0.0);
            // The law of |s|² does not depend on the argument of x, which is taken as real and positive.
            for component in 0..components {
                let x = if component == 0 { entry.value.sqrt() } else { 0.0 };
                for ((source, phi), scale) in sources.iter_mut().zip(&*phi).zip(&scales) {
                    *source = (phi * scale).sqrt() * rng.sample::<f64, _>(StandardNormal);
                }
                let excess = (x - sources.iter().sum::<f64>()) / total;
                for ((energy, source), (phi, scale)) in energy.iter_mut().zip(&sources).zip(phi.iter().zip(&scales)) {
                    let source = source + phi * scale * excess;
                    *energy += source * source / (2.0 * phi);
                }
            }
        }
        accepted
    }
}
