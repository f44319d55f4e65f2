//! Earnings against height, neither of them scaled: y = b₀ + b₁ x + noise with flat priors.

use sgmcmc::distributions::Normal;
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::normals;

#[derive(TensorTree)]
pub struct Line {
    pub beta: Tensor<1>,
    #[tree(positive)]
    pub sigma: Tensor<1>,
}

#[derive(TensorTree)]
pub struct Points {
    pub x: Tensor<1>,
    pub y: Tensor<1>,
}

pub fn start() -> Line {
    Line { beta: zeros([2]), sigma: ones([1]) }
}

/// The posterior of simulated data, and its exact mode in coordinates.
pub fn earnings(n: usize, seed: u64) -> (Posterior<Line, Points>, [f64; 3]) {
    let x: Vec<f64> = normals(n, seed).iter().map(|z| (66.0 + 3.8 * z).round()).collect();
    let noise = normals(n, seed + 1000);
    let y: Vec<f64> = x.iter().zip(noise).map(|(x, z)| -61_000.0 + 1260.0 * x + 19_000.0 * z).collect();
    let model = Model::new(|p: Line, r: Points| {
        let (intercept, slope) = (p.beta.clone().slice(0..1), p.beta.slice(1..2));
        Normal::new(r.x * slope + intercept, p.sigma).log_prob(r.y)
    });
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n as f64, y.iter().sum::<f64>() / n as f64);
    let sxx: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
    let sxy: f64 = x.iter().zip(&y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let slope = sxy / sxx;
    let intercept = mean_y - slope * mean_x;
    let squares: f64 = x.iter().zip(&y).map(|(x, y)| (y - intercept - slope * x).powi(2)).sum();
    // The coordinate is log σ, whose Jacobian adds one log σ to the density.
    let log_sigma = 0.5 * (squares / (n as f64 - 1.0)).ln();
    let data = Dataset::new(Points { x: array(x, [n]).unwrap(), y: array(y, [n]).unwrap() }).unwrap();
    (model.with(&data), [intercept, slope, log_sigma])
}
