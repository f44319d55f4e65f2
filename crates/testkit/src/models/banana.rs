//! A banana-shaped density: x ~ N(0, 1), y | x ~ N(b x², 1), as one observation without a prior. u = x and v = y − b x²
//! are independent standard normal numbers.

use sgmcmc::AnalyticTree;
use sgmcmc::gradient::AnalyticModel;
use sgmcmc::prelude::*;

/// The coefficient b.
pub const BEND: f64 = 0.5;

/// The banana-shaped density.
#[derive(Clone, Copy, Debug)]
pub struct Banana;

impl Banana {
    /// Returns the density as a target.
    pub fn target(self) -> AnalyticTree<Tensor<1>> {
        AnalyticTree::new(self)
    }

    /// Returns (u, v) at a point.
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
