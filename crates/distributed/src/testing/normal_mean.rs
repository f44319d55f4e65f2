//! A normal mean in two dimensions, on shards with different means.

use sgmcmc_gradient::{Analytic, AnalyticModel};

/// Observations xᵢ ~ N(θ, I) in two dimensions, with the prior N(0, 10 I).
#[derive(Clone, Debug)]
pub(crate) struct NormalMean(pub(crate) Vec<[f64; 2]>);

pub(crate) const PRIOR_PRECISION: f64 = 0.1;

impl AnalyticModel for NormalMean {
    fn observations(&self) -> usize {
        self.0.len()
    }

    fn dim(&self) -> usize {
        2
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let residual = [self.0[row][0] - theta[0], self.0[row][1] - theta[1]];
        grad.iter_mut().zip(residual).for_each(|(g, r)| *g += weight * r);
        -0.5 * (residual[0] * residual[0] + residual[1] * residual[1])
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        grad.iter_mut().zip(theta).for_each(|(g, theta)| *g -= PRIOR_PRECISION * theta);
        -0.5 * PRIOR_PRECISION * (theta[0] * theta[0] + theta[1] * theta[1])
    }
}

/// The shards of a data set of 20, 40, 60, … observations with different means.
pub(crate) fn shard(index: usize) -> Vec<[f64; 2]> {
    let count = 20 * (index + 1);
    let shift = [[-1.0, 0.5], [1.5, -0.5], [0.0, 1.0], [-0.5, -1.0]][index % 4];
    let noise = |k: usize, salt: f64| ((k as f64 + 1.0) * salt).sin();
    (0..count).map(|k| [shift[0] + noise(k, 12.9898), shift[1] + noise(k, 78.233)]).collect()
}

/// Returns the observations of the first `count` shards.
pub(crate) fn all_shards(count: usize) -> Vec<[f64; 2]> {
    (0..count).flat_map(shard).collect()
}

pub(crate) fn target(observations: Vec<[f64; 2]>) -> Analytic {
    Analytic::new(NormalMean(observations))
}
