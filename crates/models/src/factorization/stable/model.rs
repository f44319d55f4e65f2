//! The density of the factors of an α-stable factorization given the latent variables Φ.

use std::sync::Arc;

use rand::{Rng, RngExt};
use rand_distr::Distribution;
use sgmcmc_gradient::{Layout, Result};

use super::super::evaluator::EntryModel;
use super::{FactorCoordinates, GeneralizedGamma, PositiveStable, StableData};

/// The numbers of rows, columns and components, and W if it is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shape {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) rank: usize,
    pub(super) known_w: Option<Arc<Vec<f64>>>,
}

impl Shape {
    /// Returns the number of coordinates of W, which is zero if W is known.
    pub(super) fn w_len(&self) -> usize {
        if self.known_w.is_some() { 0 } else { self.rows * self.rank }
    }

    /// Returns the number of coordinates.
    pub(super) fn dim(&self) -> usize {
        self.w_len() + self.columns * self.rank
    }

    /// Returns the layout: W, a row per row of the matrix, and H, a row per column of the matrix.
    pub(super) fn layout(&self) -> Result<Layout> {
        let w = ("W".to_owned(), vec![self.rows, self.rank], None);
        let h = ("H".to_owned(), vec![self.columns, self.rank], None);
        Layout::new(self.known_w.is_none().then_some(w).into_iter().chain([h]))
    }

    /// Splits values into W and H.
    pub(super) fn split<'a>(&'a self, values: &'a [f64]) -> [&'a [f64]; 2] {
        let (w, h) = values.split_at(self.w_len());
        [self.known_w.as_ref().map_or(w, |known| known), h]
    }

    /// Returns the dispersion Σₖ Wᵢₖ Hₖⱼ of an entry.
    #[inline]
    pub(super) fn dispersion(&self, values: &[f64], row: usize, column: usize) -> f64 {
        let [w, h] = self.split(values);
        let pairs = w[row * self.rank..][..self.rank].iter().zip(&h[column * self.rank..][..self.rank]);
        pairs.map(|(w, h)| w * h).sum()
    }
}

/// The latent variables Φ of all entries, and the entry at which their next update begins.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Latents {
    pub(super) phi: Vec<f64>,
    pub(super) next: usize,
}

/// The model given Φ: each real component of xᵢⱼ is N(0, Φᵢⱼ λᵢⱼ^{2/α}) with λᵢⱼ = Σₖ Wᵢₖ Hₖⱼ.
#[derive(Clone, Debug)]
pub(super) struct StableModel {
    pub(super) data: Arc<StableData>,
    pub(super) shape: Shape,
    pub(super) alpha: f64,
    pub(super) w_prior: GeneralizedGamma,
    pub(super) h_prior: GeneralizedGamma,
    pub(super) support: FactorCoordinates,
    pub(super) latents: Latents,
}

/// The law of Φ: twice the positive stable distribution with index α/2.
pub(super) fn draw_phi<R: Rng + ?Sized>(stable: &PositiveStable, rng: &mut R) -> f64 {
    2.0 * stable.sample(rng)
}

impl StableModel {
    /// Returns the log density of Φ-dependent terms of an entry with squared absolute value `power`, where `variance`
    /// is the variance of each component.
    #[inline]
    pub(super) fn log_normal(&self, power: f64, variance: f64) -> f64 {
        -0.5 * self.data.components() * variance.ln() - power / (2.0 * variance)
    }

    /// Returns λ^{2/α} at the values W and H.
    #[inline]
    fn scale(&self, values: &[f64], row: usize, column: usize) -> f64 {
        self.shape.dispersion(values, row, column).max(f64::MIN_POSITIVE).powf(2.0 / self.alpha)
    }

    /// Updates Φ of the next `count` entries by a Metropolis step whose proposal is the prior. Returns the number of
    /// accepted proposals.
    pub(super) fn update_latents<R: Rng + ?Sized>(
        &mut self,
        values: &[f64],
        count: usize,
        stable: &PositiveStable,
        rng: &mut R,
    ) -> usize {
        let total = self.latents.phi.len();
        let mut accepted = 0;
        for _ in 0..count.min(total) {
            let index = self.latents.next;
            self.latents.next = (index + 1) % total;
            let entry = self.data.powers().entry(index);
            let scale = self.scale(values, entry.row, entry.column);
            let (old, proposal) = (self.latents.phi[index], draw_phi(stable, rng));
            let log_ratio = self.log_normal(entry.value, proposal * scale) - self.log_normal(entry.value, old * scale);
            if log_ratio >= 0.0 || rng.random::<f64>() < log_ratio.exp() {
                self.latents.phi[index] = proposal;
                accepted += 1;
            }
        }
        accepted
    }
}

impl EntryModel for StableModel {
    fn observations(&self) -> usize {
        self.data.powers().len()
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        let split = self.shape.w_len();
        let mut total = 0.0;
        for (index, (theta, grad)) in theta.iter().zip(grad).enumerate() {
            let prior = if index < split { &self.w_prior } else { &self.h_prior };
            let (x, slope) = (self.support.value(*theta), self.support.slope(*theta));
            total += prior.log_density(x);
            *grad += prior.log_density_gradient(x) * slope;
            if self.support == FactorCoordinates::Log {
                // The logarithm of the Jacobian of the exponential.
                total += theta;
                *grad += 1.0;
            }
        }
        total
    }

    #[inline]
    fn entry(&self, theta: &[f64], index: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let (entry, rank, split) = (self.data.powers().entry(index), self.shape.rank, self.shape.w_len());
        let components = self.data.components();
        let (support, row, column) = (self.support, entry.row * rank, entry.column * rank);
        let (w, h) = theta.split_at(split);
        let h = &h[column..column + rank];
        let known = self.shape.known_w.as_ref().map(|known| &known[row..row + rank]);
        let value_w = |k: usize| match known {
            Some(known) => known[k],
            None => support.value(w[row + k]),
        };
        let lambda = (0..rank).map(|k| value_w(k) * support.value(h[k])).sum::<f64>().max(f64::MIN_POSITIVE);
        let variance = self.latents.phi[index] * lambda.powf(2.0 / self.alpha);
        let quadratic = entry.value / (2.0 * variance);
        let slope = weight * 2.0 / (self.alpha * lambda) * (quadratic - 0.5 * components);
        let (grad_w, grad_h) = grad.split_at_mut(split);
        for k in 0..rank {
            let (x_w, x_h) = (value_w(k), support.value(h[k]));
            if known.is_none() {
                grad_w[row + k] += slope * x_h * support.slope(w[row + k]);
            }
            grad_h[column + k] += slope * x_w * support.slope(h[k]);
        }
        -0.5 * components * (std::f64::consts::TAU * variance).ln() - quadratic
    }
}
