//! An arm of a search: a chain, its draws and its cost.

use sgmcmc_gradient::{Error, Result};

use super::ArmResult;
use super::score::{Center, Sample, SteinScorer};
use crate::chain::GradientChain;

/// A chain with its evenly thinned draws, its cost and its last score.
#[derive(Debug)]
pub(super) struct Arm {
    pub(super) index: usize,
    chain: Option<Box<dyn GradientChain>>,
    draws: ThinnedDraws,
    /// The number of gradients of single observations so far.
    pub(super) cost: u64,
    /// The number of gradient estimates that `cost` contains.
    counted: u64,
    /// The cost of the last step.
    step_cost: u64,
    pub(super) error: Option<Error>,
    /// The draws of the last round with their gradients.
    pub(super) sample: Option<Sample>,
    pub(super) score: f64,
    /// The number of draws that could be scored in the last round.
    scored: usize,
}

impl Arm {
    /// Creates an arm that scores `draws` draws.
    pub(super) fn new(index: usize, chain: Result<Box<dyn GradientChain>>, draws: usize) -> Self {
        let (chain, error) = match chain {
            Ok(chain) => (Some(chain), None),
            Err(error) => (None, Some(error)),
        };
        let dim = chain.as_ref().map_or(0, |chain| chain.position().len());
        let mut arm = Self {
            index,
            chain,
            draws: ThinnedDraws::new(dim, draws.saturating_mul(4)),
            cost: 0,
            counted: 0,
            step_cost: 0,
            error,
            sample: None,
            score: f64::INFINITY,
            scored: 0,
        };
        // Some algorithms evaluate gradients at the start.
        arm.count();
        arm
    }

    /// Adds the gradient estimates since the last call to the cost. Returns what they cost.
    fn count(&mut self) -> u64 {
        let Some(chain) = &mut self.chain else { return 0 };
        let cost = chain.cost();
        let per_gradient = if cost.minibatch > 0 { cost.minibatch } else { chain.evaluator().observations().max(1) };
        let added = cost.gradients.saturating_sub(self.counted).saturating_mul(per_gradient as u64);
        self.counted = cost.gradients;
        self.cost = self.cost.saturating_add(added);
        added
    }

    /// Returns the number of observations of the model, if the chain has started.
    pub(super) fn observations(&mut self) -> Option<usize> {
        self.chain.as_mut().map(|chain| chain.evaluator().observations())
    }

    /// Removes the score of the last round.
    pub(super) fn forget_score(&mut self) {
        (self.sample, self.score, self.scored) = (None, f64::INFINITY, 0);
    }

    /// Performs steps that cost at most `allowance`. The first step of a chain is always taken.
    pub(super) fn advance(&mut self, allowance: u64) {
        let limit = self.cost.saturating_add(allowance);
        while self.error.is_none() && self.cost.saturating_add(self.step_cost) <= limit {
            let Some(chain) = &mut self.chain else { return };
            let stepped = chain.step();
            let info = chain.info();
            match stepped {
                Ok(()) if info.keeps_draw => self.draws.push(chain.position(), info.step_size),
                Ok(()) => {}
                Err(error) => self.error = Some(error),
            }
            // A step without a gradient must not make the loop infinite.
            let added = self.count();
            self.cost += u64::from(added == 0);
            self.step_cost = added.max(1);
        }
    }

    /// Returns the number of draws in the second half.
    pub(super) fn available(&self) -> usize {
        self.draws.len() - self.draws.len() / 2
    }

    /// Returns `count` draws at even distances from the second half, and their weights.
    pub(super) fn selected(&self, count: usize) -> (Vec<f64>, Vec<f64>) {
        let (available, first) = (self.available(), self.draws.len() / 2);
        let dim = self.draws.dim;
        let places = (1..=count).map(|k| first + k * available / count - 1);
        places.map(|place| (&self.draws.positions[place * dim..(place + 1) * dim], self.draws.weights[place])).fold(
            (Vec::with_capacity(count * dim), Vec::with_capacity(count)),
            |(mut positions, mut weights), (position, weight)| {
                positions.extend_from_slice(position);
                weights.push(weight);
                (positions, weights)
            },
        )
    }

    /// Evaluates the gradient of all observations at the center of `draws`, for `cost` gradients of single observations.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    pub(super) fn center(&mut self, draws: &[Vec<f64>], cost: u64) -> Result<Center> {
        let Some(chain) = &mut self.chain else { return Err(Error::EmptyModel) };
        self.cost = self.cost.saturating_add(cost);
        Center::new(draws, chain.evaluator())
    }

    /// Evaluates the gradients at `count` draws, for `per_draw` gradients of single observations each, if there are at
    /// least `least` draws.
    pub(super) fn measure(
        &mut self,
        count: usize,
        least: usize,
        scorer: &SteinScorer,
        center: Option<&Center>,
        per_draw: u64,
    ) {
        self.scored = self.available().min(count);
        if self.error.is_some() || self.available() < least {
            return;
        }
        let (draws, weights) = self.selected(count);
        let Some(chain) = &mut self.chain else { return };
        self.cost = self.cost.saturating_add(per_draw.saturating_mul(count as u64));
        match scorer.gradients(chain.as_mut(), &draws, center) {
            Ok(gradients) => self.sample = Some(Sample { dim: self.draws.dim, draws, weights, gradients }),
            Err(error) => self.error = Some(error),
        }
    }

    /// Returns the result of the arm after round `round`.
    pub(super) fn result(&self, round: usize) -> ArmResult {
        ArmResult {
            arm: self.index,
            score: self.score,
            round,
            draws: self.scored,
            cost: self.cost,
            position: self.chain.as_ref().map_or_else(Vec::new, |chain| chain.position().to_vec()),
            elimination: None,
            error: self.error.clone(),
        }
    }
}

/// The draws of a chain at even distances. The distance doubles whenever `limit` draws are stored, which must be even.
#[derive(Debug)]
struct ThinnedDraws {
    dim: usize,
    limit: usize,
    stride: u64,
    seen: u64,
    positions: Vec<f64>,
    weights: Vec<f64>,
}

impl ThinnedDraws {
    fn new(dim: usize, limit: usize) -> Self {
        Self { dim, limit, stride: 1, seen: 0, positions: Vec::new(), weights: Vec::new() }
    }

    fn len(&self) -> usize {
        self.weights.len()
    }

    fn push(&mut self, position: &[f64], weight: f64) {
        if self.len() == self.limit {
            self.halve();
        }
        if self.seen.is_multiple_of(self.stride) {
            self.positions.extend_from_slice(position);
            self.weights.push(weight);
        }
        self.seen += 1;
    }

    /// Removes every other draw.
    fn halve(&mut self) {
        let kept = self.len() / 2;
        for k in 0..kept {
            self.weights[k] = self.weights[2 * k];
            self.positions.copy_within(2 * k * self.dim..(2 * k + 1) * self.dim, k * self.dim);
        }
        self.weights.truncate(kept);
        self.positions.truncate(kept * self.dim);
        self.stride *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_kept_at_even_distances() {
        let mut draws = ThinnedDraws::new(2, 8);
        for k in 0..100 {
            draws.push(&[f64::from(k), f64::from(-k)], f64::from(k));
            let gaps = draws.weights.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(draws.len() <= 8 && gaps.into_iter().all(|gap| (gap - draws.stride as f64).abs() < 1e-12));
        }
        assert_eq!(draws.weights, [0.0, 16.0, 32.0, 48.0, 64.0, 80.0, 96.0]);
        assert_eq!(draws.positions[4..6], [32.0, -32.0]);
    }

    #[test]
    fn selected_draws_are_in_the_second_half() {
        let mut arm = Arm::new(0, Err(Error::EmptyModel), 4);
        arm.draws = ThinnedDraws::new(1, 16);
        (0..9).for_each(|k| arm.draws.push(&[f64::from(k)], 1.0));
        assert_eq!(arm.available(), 5);
        assert_eq!(arm.selected(5).0, [4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(arm.selected(2).0, [5.0, 8.0]);
    }
}
