//! A banana: x ~ N(0, 1), y | x ~ N(b x², 1), as one observation without a prior. u = x and v = y − b x² are independent standard normal.

use sgmcmc::prelude::*;

/// b.
pub const BEND: f64 = 0.5;

/// The density of a banana.
#[derive(Clone, Copy, Debug)]
pub struct Banana;

impl Banana {
    /// Something to sample.
    pub fn target(self) -> Analytic<Tensor<1>> {
        Analytic::new(self)
    }

    /// (u, v) of a point.
    pub fn straightened(theta: &[f64]) -> [f64; 2] {
        [theta[0], theta[1] - BEND * theta[0] * theta[0]]
    }
}

impl AnalyticModel for Banana {
    fn observations(&self) -> usize {
        1
    }

    fn dim(&self) -> usize {
        2
    }

    fn observation(&self, theta: &[f64], _row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let [u, v] = Self::straightened(theta);
        grad[0] += weight * (2.0 * BEND * u * v - u);
        grad[1] -= weight * v;
        -0.5 * (u * u + v * v)
    }
}
