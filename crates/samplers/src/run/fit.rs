//! The result of a run.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, Layout, Mode, Result, memory};

use super::Summary;
use crate::sink::Draw;

/// The draws of one chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChainDraws {
    width: usize,
    values: Vec<f64>,
    weights: Vec<f64>,
    log_posterior: Vec<f64>,
    iterations: Vec<u64>,
    alphas: Vec<f64>,
}

impl ChainDraws {
    pub(crate) fn with_capacity(draws: usize, width: usize) -> Self {
        Self {
            width,
            values: memory::with_capacity(draws * width),
            weights: Vec::with_capacity(draws),
            log_posterior: Vec::with_capacity(draws),
            iterations: Vec::with_capacity(draws),
            alphas: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, draw: &Draw<'_>) {
        self.values.extend_from_slice(draw.values);
        self.weights.push(draw.weight);
        self.log_posterior.push(draw.log_posterior);
        self.iterations.push(draw.iteration);
        self.alphas.extend(draw.alpha);
    }

    /// How many draws there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is no draw.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// One draw after another, each the flat values of the parameters.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.width.max(1))
    }

    /// One value along the chain.
    pub fn element(&self, index: usize) -> Vec<f64> {
        self.rows().map(|row| row[index]).collect()
    }

    /// The weight of each draw.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The estimate of log p(θ|x) that came with each draw.
    pub fn log_posterior(&self) -> &[f64] {
        &self.log_posterior
    }

    /// αₜ of the sampling threshold at each draw; empty where it was not measured.
    pub fn alphas(&self) -> &[f64] {
        &self.alphas
    }

    /// The iteration each draw was made in, counted from 1.
    pub fn iterations(&self) -> &[u64] {
        &self.iterations
    }
}

/// How a chain ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// All draws were made.
    Complete,
    /// It was asked to stop; the draws up to there are kept.
    Stopped,
    /// It failed; the draws up to there are kept.
    Failed(Error),
}

/// The result of a run: draws of every chain, how each ended, and the mode they started at.
#[derive(Clone, Debug)]
pub struct Fit {
    pub(super) layout: Layout,
    pub(super) chains: Vec<ChainDraws>,
    pub(super) endings: Vec<Ending>,
    pub(super) mode: Option<Mode>,
}

impl Fit {
    /// Names, shapes and places of the values.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The draws of each chain.
    pub fn chains(&self) -> &[ChainDraws] {
        &self.chains
    }

    /// How each chain ended.
    pub fn endings(&self) -> &[Ending] {
        &self.endings
    }

    /// The posterior mode the chains started at, if one was looked for.
    pub fn mode(&self) -> Option<&Mode> {
        self.mode.as_ref()
    }

    /// The draws of one value (`beta[3]`), chain after chain.
    ///
    /// # Errors
    ///
    /// If there is no such value.
    pub fn element(&self, name: &str) -> Result<Vec<Vec<f64>>> {
        let index = self.layout.index(name)?;
        Ok(self.chains.iter().map(|chain| chain.element(index)).collect())
    }

    /// Mean, standard deviation, quantiles and effective sample size of every value.
    pub fn summary(&self) -> Summary {
        Summary::of(self)
    }
}
