//! Stochastic gradient Fisher scoring: see [`Sgfs`].

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::minibatch::BatchWeights;
use sgmcmc_gradient::{Error, GradientEstimator, Minibatch, NoiseCovariance, Oracle, Result, Rows, settings};
use sgmcmc_numerics::{Cholesky, vector};

use super::{Scratch, not_positive_definite};
use crate::dynamics::{Dynamics, fill_normals, impl_has_position};
use crate::law::Direction;
use crate::metric::MetricShape;
use crate::step_size::StepContext;

/// Stochastic gradient Fisher scoring (SGFS).
///
/// # Rule
///
/// θ += 2 (N Î + V̂/T + 4B/h)⁻¹ (ĝ(θ) + η),  η ~ N(0, 4BT/h),  B = b I.
///
/// Î is the running mean of the covariance of the gradients of single observations. V̂ is the running mean of the
/// covariance of the gradient estimate. Both are means over the minibatches of the run, dense or diagonal. With short
/// steps the algorithm is SGLD with M = I/b. With long steps the noise of the gradient explores the posterior.
///
/// # Source
///
/// Ahn, Korattikara & Welling (2012), algorithm 1, with κₜ = 1/t. They write γ N Î for N Î + V̂ with γ = 1 + N/n, which
/// holds for minibatches with replacement. Without replacement γ is N/n, and with control variates V̂ is small. Here V̂
/// is measured, so that the rule holds for every scheme and estimator.
///
/// # Cost
///
/// Per step one gradient estimate, the gradients of the n observations of the minibatch for Î, the terms of the
/// estimator for V̂, and d³/3 + 2nd² (dense) or 2nd (diagonal) operations. With the full gradient Î is estimated from
/// the first 1000 observations.
///
/// # Settings
///
/// | setting | default | meaning | range |
/// |---|---|---|---|
/// | `shape` | dense | whether Î and V̂ are dense or diagonal | |
/// | `b` | 1 | scale of the injected noise, B = b I; the matrix of short steps is I/b | > 0 |
///
/// # Bias
///
/// If N Î is the precision of a normal posterior, the variance is exact for every step size and estimator. N Î
/// approximates the curvature. The approximation is not exact if the model is misspecified, the prior is not
/// negligible, or the posterior is not normal.
///
/// # When to use it
///
/// For posteriors that are close to normal, with gradients of single observations, and minibatches of at least 2
/// observations.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Sgfs;
/// use sgmcmc::distributions::*;
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
///
/// let dynamics = Sgfs { b: 10.0, ..Sgfs::diagonal() };
/// let gradient = MinibatchGradient::new(WithoutReplacement::new(2));
/// let run = Builder::new(model.with(&data), dynamics, gradient, 0.1).seed(1);
/// let fit = run.sample(&zeros([1]), 500)?;
/// assert_eq!(fit.chains()[0].len(), 500);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sgfs {
    /// The shape of Î and V̂, dense or diagonal.
    pub shape: MetricShape,
    /// The scale b of the injected noise.
    pub b: f64,
}

impl Default for Sgfs {
    fn default() -> Self {
        Self { shape: MetricShape::Dense, b: 1.0 }
    }
}

impl Sgfs {
    /// Creates the algorithm with diagonal Î and V̂.
    pub fn diagonal() -> Self {
        Self { shape: MetricShape::Diagonal, ..Self::default() }
    }
}

/// The position θ, the running means Î and V̂, and the number of minibatches in them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    information: Vec<f64>,
    noise: Vec<f64>,
    t: u64,
    /// The number N of observations.
    observations: usize,
    /// h/4 of each coordinate in the last step. With `temperature` it defines the matrix of the next step.
    quarter_steps: Vec<f64>,
    temperature: f64,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    work: Work,
}

impl_has_position!(State);

/// The buffers of a step.
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

/// The number of observations, from the start of the data, that estimate Î under the full gradient. Minibatch
/// estimators use their minibatch.
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
        let invalid = |error| not_positive_definite("the matrix of Fisher scoring", &error);
        match factor {
            Some(factor) => {
                factor.refactor(matrix).map_err(invalid)?;
                Ok(factor)
            }
            None => Ok(factor.insert(Cholesky::new(matrix, self.theta.len()).map_err(invalid)?)),
        }
    }

    /// Stores the step sizes and the temperature.
    fn set_steps(&mut self, context: StepContext<'_>) {
        self.quarter_steps.resize(self.theta.len(), 0.0);
        for block in context.blocks {
            self.quarter_steps[block.range.clone()].fill(0.25 * block.h);
        }
        self.temperature = context.temperature;
    }
}

impl Work {
    /// Adds `share` times the covariance of the gradients of single observations to `information`.
    ///
    /// If the observations of the minibatch have individual weights, adds the weighted second moment instead. It
    /// estimates the Fisher information over all observations without bias. A mean estimated from few unequal weights
    /// would bias a covariance.
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
        evaluator.gradient_per_observation(theta, Rows::list(&self.batch.rows), &mut self.scores)?;
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
        settings::positive("b", self.b)?;
        Ok(())
    }

    /// Counts Î, V̂, their sum and its factor.
    fn workspace(&self, dim: usize) -> usize {
        self.shape.dense_bytes(dim, 4)
    }

    fn init(&self, theta: &[f64], context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let size = if self.shape == MetricShape::Dense { theta.len() * theta.len() } else { theta.len() };
        let mut state = State {
            theta: theta.to_vec(),
            information: vec![0.0; size],
            noise: vec![0.0; size],
            t: 0,
            observations: oracle.evaluator().observations(),
            quarter_steps: Vec::new(),
            temperature: context.temperature,
            scratch: Scratch::default(),
            work: Work::default(),
        };
        state.set_steps(context);
        Ok(state)
    }

    fn step(&self, state: &mut State, context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let dim = state.theta.len();
        let log_posterior = oracle.gradient(&state.theta, state.scratch.gradient(dim))?;
        state.measure(self.shape, oracle)?;
        state.set_steps(context);
        state.assemble(self);
        state.work.z.resize(dim, 0.0);
        fill_normals(oracle.noise(), &mut state.work.z);
        let mut g = std::mem::take(&mut state.scratch.g);
        for ((g, z), quarter) in g.iter_mut().zip(&state.work.z).zip(&state.quarter_steps) {
            *g += (self.b * context.temperature / quarter).sqrt() * z;
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

    /// The injected noise has variance κhM with κ = b|Fu|² along u. It is less than hM where the gradient noise
    /// supplies the rest.
    fn variance_ratio(&self, _state: &State, direction: &Direction<'_>) -> Option<f64> {
        Some(direction.langevin_ratio(self.b * vector::dot(direction.vector, direction.vector)))
    }
}
