//! Stochastic gradient Fisher scoring. See [`Sgfs`].

use serde::{Deserialize, Serialize};
use sgmcmc_core::minibatch::BatchWeights;
use sgmcmc_core::{Error, GradientEstimator, Minibatch, NoiseCovariance, Oracle, Result, Rows};
use sgmcmc_linalg::{Cholesky, vector};

use super::{Scratch, not_positive_definite};
use crate::dynamics::{Dynamics, fill_normals, positioned};
use crate::law::Direction;
use crate::metric::MetricShape;
use crate::step_size::Tick;

/// Stochastic gradient Fisher scoring.
///
/// θ += 2 (N Î + V̂/T + 4B/h)⁻¹ (ĝ(θ) + η),  η ~ N(0, 4BT/h),  B = b I.
///
/// Î is the running mean of the covariance of the gradients of single observations, V̂ the running mean of the covariance of the gradient
/// estimate, both over the minibatches of the run, full or diagonal. Where N Î is the precision of a normal posterior this chain has
/// exactly the right variance, whatever the step size and whatever the estimator: with short steps it is SGLD with M = I/b, with long steps the gradient's
/// own noise does the exploring.
///
/// **Source.** Ahn, Korattikara & Welling (2012), algorithm 1, with κₜ = 1/t. They write γ N Î for N Î + V̂ with γ = 1 + N/n, which holds for
/// minibatches with replacement. Without replacement γ is N/n, under control variates V̂ is small; V̂ is measured here, so that every scheme and
/// estimator has its own.
///
/// **Cost.** Per step one gradient estimate, the gradients of the observations of the minibatch for Î and the terms of the estimator for V̂, and
/// d³/3 + 2nd² (full) or 2nd (diagonal) operations.
///
/// **Bias.** Î stands for the curvature over N. It is not exact where the model is misspecified, the prior matters, or the posterior is not normal.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `shape` | dense | whether Î and V̂ are full or diagonal | |
/// | `b` | 1 | B = b I, the scale of the added noise | > 0 |
///
/// # Examples
///
/// ```
/// use sgmcmc_samplers::Sgfs;
///
/// let dense = Sgfs::default();
/// let cheap = Sgfs { b: 10.0, ..Sgfs::diagonal() };
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sgfs {
    /// Whether Î and V̂ are full or diagonal.
    pub shape: MetricShape,
    /// The scale b of the added noise.
    pub b: f64,
}

impl Default for Sgfs {
    fn default() -> Self {
        Self { shape: MetricShape::Dense, b: 1.0 }
    }
}

impl Sgfs {
    /// Creates the algorithm with the diagonals of Î and V̂ only.
    pub fn diagonal() -> Self {
        Self { shape: MetricShape::Diagonal, ..Self::default() }
    }
}

/// θ, Î, V̂ and the number of minibatches they are means of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    information: Vec<f64>,
    noise: Vec<f64>,
    t: u64,
    /// The number of observations, N.
    observations: usize,
    /// h/4 of each coordinate and T in the last step, for the matrix of the next.
    quarter_steps: Vec<f64>,
    temperature: f64,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    work: Work,
}

positioned!(State);

#[derive(Clone, Debug, Default)]
struct Work {
    batch: Minibatch,
    scores: Vec<f64>,
    mean: Vec<f64>,
    covariance: NoiseCovariance,
    matrix: Vec<f64>,
    factor: Option<Cholesky>,
    z: Vec<f64>,
}

/// Observations whose gradients are looked at one by one: all of the minibatch, or so many at the start of the data where there is none.
const MOST_ROWS: usize = 1000;

impl State {
    /// Adds the covariances of the current minibatch to their running means.
    fn measure<G: GradientEstimator>(&mut self, shape: MetricShape, oracle: &mut Oracle<G>) -> Result<()> {
        self.t += 1;
        let kappa = 1.0 / self.t as f64;
        vector::scale(&mut self.information, 1.0 - kappa);
        vector::scale(&mut self.noise, 1.0 - kappa);
        self.work.add_information(&self.theta, kappa, shape, &mut self.information, oracle)?;
        let covariance = &mut self.work.covariance;
        oracle.batch_noise(&self.theta, covariance)?;
        match shape {
            MetricShape::Diagonal => covariance.add_variances(kappa, &mut self.noise),
            MetricShape::Dense => covariance.add_lower(kappa, &mut self.noise),
        }
        Ok(())
    }

    /// Writes N Î + V̂/T + 4B/h, of which only the lower triangle is set if it is dense, into the work space.
    fn assemble(&mut self, sgfs: &Sgfs) {
        let Self { information, noise, observations, quarter_steps, temperature, work, .. } = self;
        let (all, cold) = (*observations as f64, temperature.recip());
        // At temperature zero there is no noise to balance.
        let cold = if cold.is_finite() { cold } else { 0.0 };
        work.matrix.clear();
        work.matrix.extend(information.iter().zip(&*noise).map(|(entry, noise)| all * entry + cold * noise));
        let stride = if sgfs.shape == MetricShape::Dense { quarter_steps.len() + 1 } else { 1 };
        let diagonal = work.matrix.iter_mut().step_by(stride);
        diagonal.zip(quarter_steps).for_each(|(entry, quarter)| *entry += sgfs.b / *quarter);
    }

    /// Returns the Cholesky factor of the assembled matrix.
    fn factorize(&mut self) -> Result<&Cholesky> {
        let Work { matrix, factor, .. } = &mut self.work;
        let refused = |error| not_positive_definite("the matrix of Fisher scoring", &error);
        match factor {
            Some(factor) => {
                factor.refactor(matrix).map_err(refused)?;
                Ok(factor)
            }
            None => Ok(factor.insert(Cholesky::new(matrix, self.theta.len()).map_err(refused)?)),
        }
    }

    fn set_steps(&mut self, tick: Tick<'_>) {
        self.quarter_steps.resize(self.theta.len(), 0.0);
        for piece in tick.pieces {
            self.quarter_steps[piece.range.clone()].fill(0.25 * piece.h);
        }
        self.temperature = tick.temperature;
    }
}

impl Work {
    /// Adds `share` times the covariance of the gradients of single observations to `information`. In a minibatch with a weight for each
    /// observation it is their weighted second moment, which estimates the Fisher information over all observations without bias: a
    /// mean that was estimated from few unequal weights would bias a covariance.
    fn add_information<G: GradientEstimator>(
        &mut self,
        theta: &[f64],
        share: f64,
        shape: MetricShape,
        information: &mut [f64],
        oracle: &mut Oracle<G>,
    ) -> Result<()> {
        let dim = theta.len();
        self.batch.clone_from(&oracle.state().batch);
        let evaluator = oracle.evaluator();
        let all = evaluator.observations() as f64;
        if self.batch.rows.is_empty() {
            self.batch.rows.extend(0..evaluator.observations().min(MOST_ROWS));
        }
        let n = self.batch.rows.len();
        if n < 2 {
            let expected = "Fisher scoring needs minibatches of at least 2 observations";
            return Err(Error::Setting { name: "the minibatch", value: n.to_string(), expected });
        }
        self.scores.resize(n * dim, 0.0);
        evaluator.per_datum(theta, Rows::list(&self.batch.rows), &mut self.scores)?;
        let weighted = matches!(self.batch.weights, BatchWeights::Each(_));
        self.mean.clear();
        self.mean.resize(dim, 0.0);
        if !weighted {
            self.scores.chunks_exact(dim).for_each(|score| vector::add_scaled(&mut self.mean, 1.0 / n as f64, score));
        }
        for (i, score) in self.scores.chunks_exact_mut(dim).enumerate() {
            vector::add_scaled(score, -1.0, &self.mean);
            let share = if weighted { share * self.batch.weight(i) / all } else { share / (n - 1) as f64 };
            match shape {
                MetricShape::Diagonal => {
                    information.iter_mut().zip(&*score).for_each(|(entry, score)| *entry += share * score * score);
                }
                MetricShape::Dense => {
                    let rows = information.chunks_exact_mut(dim).enumerate();
                    rows.for_each(|(i, row)| vector::add_scaled(&mut row[..=i], share * score[i], &score[..=i]));
                }
            }
        }
        Ok(())
    }
}

impl<G: GradientEstimator> Dynamics<G> for Sgfs {
    type State = State;

    fn check(&self) -> Result<()> {
        if !(self.b.is_finite() && self.b > 0.0) {
            let (value, expected) = (self.b.to_string(), "it must be a positive number");
            return Err(Error::Setting { name: "b", value, expected });
        }
        Ok(())
    }

    /// Î, V̂, their sum and its factor.
    fn workspace(&self, dim: usize) -> usize {
        self.shape.dense_bytes(dim, 4)
    }

    fn init(&self, theta: &[f64], tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let size = if self.shape == MetricShape::Dense { theta.len() * theta.len() } else { theta.len() };
        let mut state = State {
            theta: theta.to_vec(),
            information: vec![0.0; size],
            noise: vec![0.0; size],
            t: 0,
            observations: oracle.evaluator().observations(),
            quarter_steps: Vec::new(),
            temperature: tick.temperature,
            scratch: Scratch::default(),
            work: Work::default(),
        };
        state.set_steps(tick);
        Ok(state)
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let dim = state.theta.len();
        let log_posterior = oracle.fresh(&state.theta, state.scratch.gradient(dim))?;
        state.measure(self.shape, oracle)?;
        state.set_steps(tick);
        state.assemble(self);
        state.work.z.resize(dim, 0.0);
        fill_normals(oracle.noise(), &mut state.work.z);
        let mut g = std::mem::take(&mut state.scratch.g);
        for ((g, z), quarter) in g.iter_mut().zip(&state.work.z).zip(&state.quarter_steps) {
            *g += (self.b * tick.temperature / quarter).sqrt() * z;
        }
        match self.shape {
            MetricShape::Diagonal => g.iter_mut().zip(&state.work.matrix).for_each(|(g, m)| *g /= m),
            MetricShape::Dense => state.factorize()?.solve(&mut g),
        }
        vector::add_scaled(&mut state.theta, 2.0, &g);
        state.scratch.g = g;
        Ok(log_posterior)
    }

    fn is_preconditioned(&self) -> bool {
        true
    }

    /// M = (4/h) (N Î + V̂/T + 4B/h)⁻¹, so that F = √(4/h) L⁻ᵀ with L the Cholesky factor.
    fn apply_root(&self, state: &mut State, v: &mut [f64], transpose: bool) -> Result<()> {
        state.assemble(self);
        let scales: Vec<f64> = state.quarter_steps.iter().map(|quarter| quarter.recip().sqrt()).collect();
        let scale = |v: &mut [f64]| v.iter_mut().zip(&scales).for_each(|(v, scale)| *v *= scale);
        if transpose {
            scale(v);
        }
        match self.shape {
            MetricShape::Diagonal => v.iter_mut().zip(&state.work.matrix).for_each(|(v, m)| *v /= m.sqrt()),
            MetricShape::Dense => {
                let factor = state.factorize()?;
                if transpose { factor.solve_lower(v) } else { factor.solve_upper(v) }
            }
        }
        if !transpose {
            scale(v);
        }
        Ok(())
    }

    /// The noise added has variance κhM with κ = b|Fu|² along u, less than hM where the gradient's own noise does the exploring.
    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(direction.langevin_ratio(self.b * vector::dot(direction.vector, direction.vector)))
    }
}
