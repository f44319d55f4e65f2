//! A few observations that alone determine a coefficient.

use rand::RngExt;
use sgmcmc::distributions::{BernoulliLogits, Normal};
use sgmcmc::prelude::*;
use sgmcmc::tuning::Goal;
use sgmcmc_testkit::rng;

use super::{Moments, decisions, wrong_values};

const OBSERVATIONS: usize = 100_000;
/// Every such observation has the rare feature: ten of all.
const EVERY: usize = OBSERVATIONS / 10;

fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

/// Returns the responses of y ~ Bernoulli(σ(−1 + 2x)), where x is 1 in ten observations and 0 otherwise.
fn responses(seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    let probability = |row: usize| if row.is_multiple_of(EVERY) { sigmoid(1.0) } else { sigmoid(-1.0) };
    (0..OBSERVATIONS).map(|row| f64::from(u8::from(rng.random_bool(probability(row))))).collect()
}

/// Returns the moments of the intercept and the coefficient, by quadrature on a grid.
fn quadrature(y: &[f64]) -> [Moments; 2] {
    let rare: f64 = y.iter().step_by(EVERY).sum();
    let common = y.iter().sum::<f64>() - rare;
    let others = (OBSERVATIONS - 10) as f64;
    let log_density = |a: f64, b: f64| {
        let log_sigmoid = |z: f64| -(-z).exp().ln_1p();
        common * log_sigmoid(a)
            + (others - common) * log_sigmoid(-a)
            + rare * log_sigmoid(a + b)
            + (10.0 - rare) * log_sigmoid(-a - b)
            - 0.5 * (a * a + b * b) / 9.0
    };
    let share = common / others;
    let (center, width) = ((share / (1.0 - share)).ln(), 1.0 / (others * share * (1.0 - share)).sqrt());
    let intercepts: Vec<f64> = (-40..=40).map(|k| center + width * 0.2 * f64::from(k)).collect();
    let coefficients: Vec<f64> = (-600..=600).map(|k| 0.02 * f64::from(k)).collect();
    let top = log_density(center, 0.0);
    let (mut mass, mut first, mut second) = (0.0, [0.0; 2], [0.0; 2]);
    for a in &intercepts {
        for b in &coefficients {
            let weight = (log_density(*a, *b) - top).exp();
            mass += weight;
            for (k, value) in [a - center, *b].into_iter().enumerate() {
                first[k] += weight * value;
                second[k] += weight * value * value;
            }
        }
    }
    [0, 1].map(|k| {
        let mean = first[k] / mass;
        (mean + if k == 0 { center } else { 0.0 }, (second[k] / mass - mean * mean).sqrt())
    })
}

#[test]
fn a_rare_feature_is_estimated_from_its_observations() {
    let model = Model::new(|theta: Tensor<1>, row: Named| {
        let (x, y) = (row.get::<1>("x"), row.get::<1>("y"));
        let logits = x * theta.clone().slice(1..2) + theta.slice(0..1);
        BernoulliLogits::new(logits).log_prob(y)
    })
    .prior(|theta: Tensor<1>| Normal::new(0.0, 3.0).log_prob(theta).sum());
    for seed in [1, 2] {
        let y = responses(seed);
        let exact = quadrature(&y);
        let x: Vec<f64> = (0..OBSERVATIONS).map(|row| f64::from(u8::from(row.is_multiple_of(EVERY)))).collect();
        let rows =
            Named::new().with("x", array(x, [OBSERVATIONS]).unwrap()).with("y", array(y, [OBSERVATIONS]).unwrap());
        let goal = Goal { effective_draws: 1000.0, ..Goal::default() };
        let run = auto(&model, &Dataset::new(rows).unwrap()).seed(seed).goal(goal);
        let tuned = run.tune(&zeros([2])).unwrap();
        assert!(tuned.choice().is_some(), "{tuned}");
        let weights = tuned.weights().unwrap();
        let average = weights.iter().sum::<f64>() / weights.len() as f64;
        assert!(weights.iter().step_by(EVERY).all(|weight| *weight > 10.0 * average), "{tuned}");
        let fit = run.sample(&zeros([2])).unwrap();
        assert!(fit.check().passed(), "{}\n{}", fit.check(), decisions(&fit));
        assert_eq!(wrong_values(&fit, &exact), [""; 0], "{}", decisions(&fit));
    }
}
