//! Adam, uphill: m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², θ += ε m̂ / (√v̂ + δ), m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ).
//!
//! Source: Kingma & Ba (2015), algorithm 1. Steps do not depend on the scale of the gradient, so that one default serves
//! data sets of all sizes.

use serde::{Deserialize, Serialize};

use super::Optimiser;

/// Adam.
///
/// | setting | default | purpose |
/// |---|---|---|
/// | `step_size` | 0.05 | ε, about the most an element moves per step |
/// | `beta1` | 0.9 | memory of the gradient |
/// | `beta2` | 0.999 | memory of its square |
/// | `delta` | 1e-8 | keeps the division finite |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// ε.
    pub step_size: f64,
    /// β₁.
    pub beta1: f64,
    /// β₂.
    pub beta2: f64,
    /// δ.
    pub delta: f64,
}

impl Default for Adam {
    fn default() -> Self {
        Self { step_size: 0.05, beta1: 0.9, beta2: 0.999, delta: 1e-8 }
    }
}

/// m, v and t.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    m: Vec<f64>,
    v: Vec<f64>,
    t: i32,
}

impl Optimiser for Adam {
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
