//! Gradients at draws, and how far draws are from the law whose gradients these are.

use std::sync::Arc;

use rayon::prelude::*;
use sgmcmc_core::{Error, GradientEstimator, Result, Target};
use sgmcmc_diagnostics::ksd::{self, Discrepancy, Imq, Kernel, Points};

use super::Fit;
use crate::sink::{ChainScores, Scores};

/// The kernel Stein discrepancy of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockDiscrepancy {
    /// The parameter.
    pub name: String,
    /// Its squared discrepancy.
    pub discrepancy: Discrepancy,
}

/// The kernel Stein discrepancies of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct SteinDiscrepancies {
    /// Of all coordinates together.
    pub whole: Discrepancy,
    /// Of each parameter.
    pub blocks: Vec<BlockDiscrepancy>,
}

impl Fit {
    /// The gradient of the log posterior at every draw, by `estimator`: [`FullGradient`](sgmcmc_core::FullGradient) for exact ones, or from
    /// minibatches with [`ControlVariate`](sgmcmc_core::ControlVariate) or plainly. Chains are worked through side by side.
    ///
    /// # Errors
    ///
    /// If `like` has other names or shapes than the fit, a draw is outside its constraints, or as estimator and model do.
    pub fn scores<T: Target, G: GradientEstimator + Clone>(
        &self,
        target: &T,
        like: &T::Params,
        estimator: &G,
        seed: u64,
    ) -> Result<Vec<ChainScores>> {
        self.layout.check_like(like)?;
        let estimator = Arc::new(estimator.clone());
        let chain = |(number, chain): (usize, &super::ChainDraws)| {
            let seed = seed.wrapping_add(number as u64);
            let mut scores = Scores::new(estimator.clone(), target.evaluator(like)?, seed);
            chain.rows().try_for_each(|row| scores.take(row))?;
            Ok(crate::sink::Sink::finish(scores))
        };
        self.chains.par_iter().enumerate().map(chain).collect()
    }

    /// The squared kernel Stein discrepancy of the draws from the law whose gradients `scores` are, with the inverse multiquadric kernel:
    /// of all coordinates and of each parameter. Time grows with the square of the draws: thin, or use [`fssd`](Self::fssd).
    ///
    /// With gradients from minibatches look at the U-statistic, which their noise does not move.
    ///
    /// # Errors
    ///
    /// If `scores` are not those of these draws, or there are too few.
    pub fn ksd(&self, scores: &[ChainScores], kernel: Imq) -> Result<SteinDiscrepancies> {
        self.discrepancies(scores, |points| ksd::imq(points, kernel))
    }

    /// As [`ksd`](Self::ksd) in time linear in the draws: the finite-set discrepancy at `locations` places drawn near the draws with `seed`.
    ///
    /// # Errors
    ///
    /// As [`ksd`](Self::ksd), and if a coordinate depends on others.
    pub fn fssd(
        &self,
        scores: &[ChainScores],
        kernel: Kernel,
        (locations, seed): (usize, u64),
    ) -> Result<SteinDiscrepancies> {
        self.discrepancies(scores, |points| ksd::fssd(points, kernel, &ksd::locations(points, locations, seed)?))
    }

    fn discrepancies(
        &self,
        scores: &[ChainScores],
        of: impl Fn(&Points) -> std::result::Result<Discrepancy, sgmcmc_diagnostics::Error>,
    ) -> Result<SteinDiscrepancies> {
        let (draws, scores, weights) = self.coordinates_and(scores)?;
        let points = Points::new(&draws, &scores, self.layout.dim()).map_err(refused)?;
        let points = if self.is_weighted() { points.weights(&weights).map_err(refused)? } else { points };
        let whole = of(&points).map_err(refused)?;
        let block = |block: &sgmcmc_core::Block| {
            let discrepancy = of(&points.columns(block.range.clone())?)?;
            Ok(BlockDiscrepancy { name: block.name.clone(), discrepancy })
        };
        let blocks = self.layout.blocks().iter().filter(|block| !block.range.is_empty()).map(block);
        Ok(SteinDiscrepancies { whole, blocks: blocks.collect::<std::result::Result<_, _>>().map_err(refused)? })
    }

    /// The coordinates of all draws, their gradients, and their weights; an error unless there is one gradient per draw.
    pub(super) fn coordinates_and(&self, scores: &[ChainScores]) -> Result<(Vec<f64>, Vec<f64>, Vec<f64>)> {
        let check = |what, expected, found| {
            if expected == found { Ok(()) } else { Err(Error::Length { what, expected, found }) }
        };
        check("the list of gradients (one per chain)", self.chains.len(), scores.len())?;
        let mut coordinates = Vec::new();
        for (chain, scores) in self.chains.iter().zip(scores) {
            check("the gradients of a chain (one per draw)", chain.len(), scores.len())?;
            check("a gradient", self.layout.dim(), scores.width())?;
            for row in chain.rows() {
                coordinates.extend(self.layout.coordinates(row)?);
            }
        }
        let scores = scores.iter().flat_map(|scores| scores.values()).copied().collect();
        let weights = self.chains.iter().flat_map(|chain| chain.weights()).copied().collect();
        Ok((coordinates, scores, weights))
    }
}

/// An error of the diagnostics as one of the library.
pub(super) fn refused(error: sgmcmc_diagnostics::Error) -> Error {
    Error::Draws { reason: error.to_string() }
}
