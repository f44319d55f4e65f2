//! Plain stochastic gradient ascent: θ += ε ĝ(θ). The search of the R package.

use super::Optimiser;

/// Plain stochastic gradient ascent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sgd {
    /// ε; R's `optStepsize`.
    pub step_size: f64,
}

impl Optimiser for Sgd {
    type State = ();

    fn init(&self, _dim: usize) {}

    fn step(&self, _state: &mut (), rate: f64, theta: &mut [f64], g: &[f64]) {
        let epsilon = rate * self.step_size;
        theta.iter_mut().zip(g).for_each(|(theta, g)| *theta += epsilon * g);
    }
}
