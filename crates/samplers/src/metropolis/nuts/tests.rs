//! Tests of starts with zero gradients.

use super::*;
use sgmcmc_gradient::{Analytic, AnalyticModel, Layout};

/// The density −x²/2 − `slope` y²/2, which does not depend on y if `slope` is zero.
#[derive(Debug)]
struct Stationary {
    slope: f64,
}

impl AnalyticModel for Stationary {
    fn observations(&self) -> usize {
        0
    }

    fn dim(&self) -> usize {
        2
    }

    fn observation(&self, _theta: &[f64], _row: usize, _weight: f64, _grad: &mut [f64]) -> f64 {
        0.0
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        grad[0] -= theta[0];
        grad[1] -= self.slope * theta[1];
        -0.5 * (theta[0].powi(2) + self.slope * theta[1].powi(2))
    }
}

fn sample(slope: f64) -> Result<Fit> {
    let layout = Layout::new([("x".into(), vec![1], None), ("y".into(), vec![1], None)])?;
    let target = Analytic::with_layout(Stationary { slope }, layout)?;
    Nuts { chains: 1, warm_up: 200, ..Nuts::default() }.sample(&target, &vec![0.0; 2], 500)
}

#[test]
fn the_start_leaves_stationary_coordinates() {
    let fit = sample(4.0).unwrap();
    let sd = |k: usize| {
        let draws = fit.chains()[0].element(k);
        (draws.iter().map(|x| x * x).sum::<f64>() / draws.len() as f64).sqrt()
    };
    assert!((0.8..1.2).contains(&sd(0)) && (0.4..0.6).contains(&sd(1)), "{} {}", sd(0), sd(1));
}

#[test]
fn a_parameter_without_effect_is_named() {
    let message = sample(0.0).unwrap_err().to_string();
    assert!(message.contains("0 for y"), "{message}");
}
