//! The optimizer Adam.

use serde::{Deserialize, Serialize};

use super::Optimizer;

/// Adam for ascent.
///
/// m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ += ε m̂ / (√v̂ + δ), with m̂ = m/(1−β₁ᵗ) and v̂ = v/(1−β₂ᵗ). Steps do not
/// depend on the scale of the gradient, so that the default settings are suitable for data sets of all sizes.
///
/// | setting | default | purpose |
/// |---|---|---|
/// | `step_size` | 0.05 | the step size ε, about the largest change of a coordinate per step |
/// | `beta1` | 0.9 | the decay rate β₁ of the mean of the gradient |
/// | `beta2` | 0.999 | the decay rate β₂ of the mean of its square |
/// | `delta` | 1e-8 | the constant δ that keeps the division finite |
///
/// Source: Kingma & Ba (2015), algorithm 1.
///
/// # Examples
///
/// ```
/// use sgmcmc::mode::{Adam, Optimizer};
///
/// let optimizer = Adam { step_size: 0.1, ..Adam::default() };
/// let mut theta = [1.0, 2.0];
/// optimizer.step(&mut optimizer.init(2), 1.0, &mut theta, &[10.0, -0.5]);
/// // The first step has length ε in every coordinate.
/// assert!((theta[0] - 1.1).abs() < 1e-6 && (theta[1] - 1.9).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// The step size ε.
    pub step_size: f64,
    /// The decay rate β₁ of the mean of the gradient.
    pub beta1: f64,
    /// The decay rate β₂ of the mean of the squared gradient.
    pub beta2: f64,
    /// The constant δ that keeps the division finite.
    pub delta: f64,
}

impl Default for Adam {
    fn default() -> Self {
        Self { step_size: 0.05, beta1: 0.9, beta2: 0.999, delta: 1e-8 }
    }
}

/// The state of [`Adam`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    /// The running mean m of the gradient.
    m: Vec<f64>,
    /// The running mean v of the squared gradient.
    v: Vec<f64>,
    /// The number t of steps.
    t: i32,
}

impl Optimizer for Adam {
    type State = State;

    fn init(&self, dim: usize) -> State {
        State { m: vec![0.0; dim], v: vec![0.0; dim], t: 0 }
    }

    fn step(&self, State { m, v, t }: &mut State, rate: f64, theta: &mut [f64], g: &[f64]) {
        let Self { step_size, beta1, beta2, delta } = *self;
        *t = t.saturating_add(1);
        let (unbias1, unbias2) = (1.0 - beta1.powi(*t), 1.0 - beta2.powi(*t));
        for (((theta, g), m), v) in theta.iter_mut().zip(g).zip(m).zip(v) {
            *m = beta1 * *m + (1.0 - beta1) * g;
            *v = beta2 * *v + (1.0 - beta2) * g * g;
            *theta += rate * step_size * (*m / unbias1) / ((*v / unbias2).sqrt() + delta);
        }
    }
}
