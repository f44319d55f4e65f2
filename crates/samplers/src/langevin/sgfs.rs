//! Stochastic gradient Fisher scoring: θ += 2 (γ N Î + 4B/h)⁻¹ (ĝ(θ) + η), η ~ N(0, 4BT/h), B = b I, γ = 1 + N/n.
//!
//! Î is the running mean of the covariance of the scores ∇ log p(xᵢ|θ) of each minibatch (divisor n−1), full or its diagonal. Source: Ahn,
//! Korattikara & Welling (2012), algorithm 1, with κₜ = 1/t. With short steps this is SGLD with M = I/b. With long steps the gradient's own noise,
//! of covariance about (N²/n) Î, does the exploring, and is exactly what a normal posterior of covariance (N Î)⁻¹ needs.
//!
//! Cost per step: one gradient estimate, the n gradients of the minibatch one by one, and d³/3 + nd² (full) or nd (diagonal). γ is right for plain
//! minibatches and, with γ = 1, for the full gradient; on estimators with less noise long steps give too narrow a law.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, GradientEstimator, Oracle, Result, Rows};
use sgmcmc_linalg::{Cholesky, vector};

use super::{Scratch, not_positive_definite};
use crate::dynamics::{Dynamics, fill_normals, positioned};
use crate::metric::MetricShape;
use crate::step_size::Tick;

/// Stochastic gradient Fisher scoring.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `shape` | dense | whether Î is full or diagonal | |
/// | `b` | 1 | B = b I: the noise that is added | > 0 |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sgfs {
    /// Whether Î is full or diagonal.
    pub shape: MetricShape,
    /// b.
    pub b: f64,
}

impl Default for Sgfs {
    fn default() -> Self {
        Self { shape: MetricShape::Dense, b: 1.0 }
    }
}

impl Sgfs {
    /// With the diagonal of Î only.
    pub fn diagonal() -> Self {
        Self { shape: MetricShape::Diagonal, ..Self::default() }
    }
}

/// θ, Î and t.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    information: Vec<f64>,
    t: u64,
    #[serde(skip)]
    scratch: Scratch,
    #[serde(skip)]
    work: Work,
}

positioned!(State);

#[derive(Clone, Debug, Default)]
struct Work {
    rows: Vec<usize>,
    scores: Vec<f64>,
    mean: Vec<f64>,
    matrix: Vec<f64>,
    factor: Option<Cholesky>,
    z: Vec<f64>,
}

/// Observations whose gradients are looked at one by one: all of the minibatch, or so many at the start of the data where there is none.
const MOST_ROWS: usize = 1000;

impl Work {
    /// The covariance of the scores of the current minibatch joins the running mean; returns γ.
    fn look<G: GradientEstimator>(
        &mut self,
        state: (&[f64], &mut [f64], u64),
        shape: MetricShape,
        oracle: &mut Oracle<G>,
    ) -> Result<f64> {
        let (theta, information, t) = state;
        let dim = theta.len();
        self.rows.clone_from(&oracle.state().batch.rows);
        let evaluator = oracle.evaluator();
        let all = evaluator.observations();
        let exact = self.rows.is_empty();
        let rows = if exact { Rows::range(0..all.min(MOST_ROWS)) } else { Rows::list(&self.rows) };
        let n = rows.len();
        if n < 2 {
            let expected = "Fisher scoring needs minibatches of at least 2 observations";
            return Err(Error::Setting { name: "the minibatch", value: n.to_string(), expected });
        }
        self.scores.resize(n * dim, 0.0);
        evaluator.per_datum(theta, rows, &mut self.scores)?;
        self.mean.clear();
        self.mean.resize(dim, 0.0);
        self.scores.chunks_exact(dim).for_each(|score| vector::add_scaled(&mut self.mean, 1.0 / n as f64, score));
        let kappa = 1.0 / t as f64;
        vector::scale(information, 1.0 - kappa);
        let share = kappa / (n - 1) as f64;
        for score in self.scores.chunks_exact_mut(dim) {
            vector::add_scaled(score, -1.0, &self.mean);
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
        Ok(if exact { 1.0 } else { 1.0 + all as f64 / n as f64 })
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

    fn init(&self, theta: &[f64], _tick: Tick<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
        let size = if self.shape == MetricShape::Dense { theta.len() * theta.len() } else { theta.len() };
        let (scratch, work) = (Scratch::default(), Work::default());
        Ok(State { theta: theta.to_vec(), information: vec![0.0; size], t: 0, scratch, work })
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        let State { theta, information, t, scratch, work } = state;
        let dim = theta.len();
        let log_posterior = oracle.fresh(theta, scratch.gradient(dim))?;
        *t += 1;
        let gamma = work.look((theta, information, *t), self.shape, oracle)?;
        let scale = gamma * oracle.evaluator().observations() as f64;
        let Work { matrix, factor, z, .. } = work;
        matrix.clear();
        matrix.extend(information.iter().map(|entry| scale * entry));
        z.resize(dim, 0.0);
        fill_normals(oracle.noise(), z);
        let g = &mut scratch.g;
        let stride = if self.shape == MetricShape::Dense { dim + 1 } else { 1 };
        for piece in tick.pieces {
            let added = 4.0 * self.b / piece.h;
            let sd = (added * tick.temperature).sqrt();
            for i in piece.range.clone() {
                matrix[i * stride] += added;
                g[i] += sd * z[i];
            }
        }
        match self.shape {
            MetricShape::Diagonal => g.iter_mut().zip(&*matrix).for_each(|(g, m)| *g /= m),
            MetricShape::Dense => {
                let refused = |error| not_positive_definite("the matrix of Fisher scoring", &error);
                match factor {
                    Some(factor) => factor.refactor(matrix).map_err(refused)?,
                    None => *factor = Some(Cholesky::new(matrix, dim).map_err(refused)?),
                }
                factor.iter().for_each(|factor| factor.solve(g));
            }
        }
        vector::add_scaled(theta, 2.0, g);
        Ok(log_posterior)
    }
}
