//! Densities without data and with a known map of their draws to independent standard normal numbers. The map allows
//! tests of every marginal distribution of a sampler.

use sgmcmc::AnalyticTree;
use sgmcmc::gradient::AnalyticModel;
use sgmcmc::prelude::*;

/// A density with a map to standard normal numbers.
#[derive(Clone, Debug)]
pub enum Curved {
    /// N(0, L Lᵀ) in two dimensions: θ₀ = 2 u₀, θ₁ = 1.5 u₀ + 0.5 u₁.
    Correlated,
    /// A banana-shaped density: θ₀ = u₀, θ₁ = u₁/2 + (u₀² − 1)/2.
    Banana,
    /// A funnel: θ₀ = u₀, θ₁ = e^{θ₀/2} u₁, θ₂ = e^{θ₀/2} u₂. The scale of θ₁ and θ₂ varies by a factor of 20.
    Funnel,
}

impl Curved {
    /// Returns the density as a target.
    pub fn target(&self) -> AnalyticTree<Tensor<1>> {
        AnalyticTree::new(self.clone())
    }

    /// Returns the numbers u, which are independent and standard normal if θ has this density.
    pub fn standard(&self, theta: &[f64]) -> Vec<f64> {
        match self {
            Self::Correlated => vec![theta[0] / 2.0, (theta[1] - 0.75 * theta[0]) / 0.5],
            Self::Banana => vec![theta[0], (theta[1] - 0.5 * (theta[0].powi(2) - 1.0)) / 0.5],
            Self::Funnel => {
                let shrink = (-0.5 * theta[0]).exp();
                vec![theta[0], theta[1] * shrink, theta[2] * shrink]
            }
        }
    }
}

impl AnalyticModel for Curved {
    fn observations(&self) -> usize {
        0
    }

    fn dim(&self) -> usize {
        match self {
            Self::Correlated | Self::Banana => 2,
            Self::Funnel => 3,
        }
    }

    fn observation(&self, _theta: &[f64], _row: usize, _weight: f64, _grad: &mut [f64]) -> f64 {
        0.0
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        let u = self.standard(theta);
        let value = -0.5 * u.iter().map(|u| u * u).sum::<f64>();
        match self {
            Self::Correlated => {
                grad[0] += -u[0] / 2.0 + 1.5 * u[1];
                grad[1] -= 2.0 * u[1];
                value
            }
            Self::Banana => {
                grad[0] += -u[0] + 2.0 * u[1] * theta[0];
                grad[1] -= 2.0 * u[1];
                value
            }
            Self::Funnel => {
                // The determinant of the map has a factor of e^{−θ₀/2} for each of θ₁ and θ₂.
                grad[0] += -u[0] + 0.5 * (u[1] * u[1] + u[2] * u[2]) - 1.0;
                let shrink = (-0.5 * theta[0]).exp();
                grad[1] -= u[1] * shrink;
                grad[2] -= u[2] * shrink;
                value - theta[0]
            }
        }
    }
}
