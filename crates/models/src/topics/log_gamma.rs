//! Logarithms of gamma variates.

use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_samplers::simplex::CirTransition;

/// A time after which the CIR process has forgotten its start, at the precision of `f64`.
const FORGOTTEN: f64 = 50.0;

/// Draws logarithms of Gamma(a, 1) variates, also for tiny shapes a, as the CIR process after a long time.
#[derive(Debug)]
pub(super) struct LogGamma(Option<CirTransition>);

impl LogGamma {
    pub(super) fn new() -> Self {
        // The time is positive and finite, so that there always is a transition.
        Self(CirTransition::new(FORGOTTEN).ok())
    }

    pub(super) fn draw(&self, shape: f64, rng: &mut StreamRng) -> f64 {
        self.0.map_or(0.0, |transition| transition.step(f64::MIN / 2.0, shape, rng))
    }

    /// Replaces every element by a draw with the shape of its index.
    pub(super) fn draw_all(&self, target: &mut [f64], shape: impl Fn(usize) -> f64, rng: &mut StreamRng) {
        target.iter_mut().enumerate().for_each(|(index, x)| *x = self.draw(shape(index), rng));
    }
}
