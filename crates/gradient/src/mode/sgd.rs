//! Plain stochastic gradient ascent.

use super::Optimizer;

/// Plain stochastic gradient ascent θ += ε ĝ(θ), the optimizer of the R package.
///
/// # Examples
///
/// ```
/// use sgmcmc::mode::{Optimizer, Sgd};
///
/// let optimizer = Sgd { step_size: 0.1 };
/// let mut theta = [1.0];
/// optimizer.step(&mut optimizer.init(1), 1.0, &mut theta, &[10.0]);
/// assert_eq!(theta, [2.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sgd {
    /// The step size ε. `optStepsize` in R.
    pub step_size: f64,
}

impl Optimizer for Sgd {
    type State = ();

    fn init(&self, _dim: usize) {}

    fn step(&self, _state: &mut (), rate: f64, theta: &mut [f64], g: &[f64]) {
        let epsilon = rate * self.step_size;
        theta.iter_mut().zip(g).for_each(|(theta, g)| *theta += epsilon * g);
    }
}
