//! Distributions of series: densities against closed forms, the engines against each other, and draws against laws.

use sgmcmc::data::Rows;
use sgmcmc::diagnostics::distance::ks_one_sample;
use sgmcmc::distributions::{Generative, MultivariateNormal, Normal, Poisson};
use sgmcmc::functions::rows_dot;
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;
use sgmcmc::sequence::{HiddenMarkov, TimeSeries};
use sgmcmc::{Engine, TreeLayout};
use sgmcmc_testkit::differences::central_differences;

use super::close;

model! {
    Level
    data { y: Tensor<2> }
    step ~ HalfNormal(1);
    noise ~ HalfNormal(1);
    y ~ TimeSeries(
        (step.zeros_like(), step.ones_like() * 4.0),
        |(mean, variance)| Normal(mean, (variance + noise.square()).sqrt()),
        |(mean, variance), y| {
            let gain = variance / (variance + noise.square());
            (mean + gain * (y - mean), variance * (1.0 - gain) + step.square())
        },
    );
}

model! {
    Regimes
    data { y: Tensor<2> }
    start[2] ~ Dirichlet::symmetric(1.0);
    transition[2, 2] ~ Dirichlet::symmetric(2.0);
    ordered mu[2] ~ Normal(0, 4);
    sigma ~ LogNormal(0, 0.5);
    y ~ HiddenMarkov(start, transition, Normal(mu, sigma));
}

fn normal_cdf(x: f64) -> f64 {
    sgmcmc::special::normal_cdf(full([1], x)).into_scalar::<f64>()
}

/// A random walk that is observed with noise has the covariance 4 + step² min(s, t) + noise² δ.
#[test]
fn the_filter_has_the_density_of_the_process() {
    let (step, noise, steps) = (0.6, 0.4, 7);
    let y = array(super::series(2 * steps, 5), [2, steps]).unwrap();
    let covariance = (0..steps * steps).map(|at| {
        let (s, t) = (at / steps, at % steps);
        4.0 + step * step * s.min(t) as f64 + if s == t { noise * noise } else { 0.0 }
    });
    let covariance = array(covariance.collect(), [steps, steps]).unwrap();
    let expected: Vec<f64> =
        MultivariateNormal::covariance(0.0, covariance).log_prob(y.clone()).into_data().iter::<f64>().collect();
    let data = Dataset::new(LevelData { y }).unwrap();
    let at = Level { step: full([1], step), noise: full([1], noise) };
    for engine in [Engine::Eager, Engine::Compiled] {
        let mut evaluator = Level::model().with(&data).engine(engine).evaluator(&at).unwrap();
        let theta = [step.ln(), noise.ln()];
        let mut found = [0.0; 2];
        evaluator.log_likelihood_per_observation(&theta, Rows::range(0..2), &mut found).unwrap();
        close(&found, &expected, 1e-11, "filter");
        let mut gradient = vec![0.0; 2];
        evaluator.posterior(&theta, Rows::range(0..2), &mut gradient).unwrap();
        close(&gradient, &central_differences(&mut *evaluator, &theta, Rows::range(0..2)).unwrap(), 1e-6, "gradient");
    }
}

#[test]
fn draws_of_a_filter_are_those_of_the_process() {
    let (step, noise) = (0.6_f64, 0.4_f64);
    let like = zeros([4000, 5]);
    let series = TimeSeries::new(
        (zeros([1]), full([1], 4.0)),
        move |(mean, variance): (Tensor<1>, Tensor<1>)| Normal::new(mean, (variance + noise * noise).sqrt()),
        move |(mean, variance): (Tensor<1>, Tensor<1>), y: Tensor<1>| {
            let gain = variance.clone() / (variance.clone() + noise * noise);
            (mean.clone() + gain.clone() * (y - mean), variance * (1.0 - gain) + step * step)
        },
    );
    let drawn: Vec<f64> = series.draw(&like, ChainRng::new(3, 0).noise()).into_data().iter::<f64>().collect();
    let at = |row: usize, t: usize| drawn[row * 5 + t];
    let last: Vec<f64> = (0..4000).map(|row| at(row, 4) / (4.0 + 4.0 * step * step + noise * noise).sqrt()).collect();
    assert!(ks_one_sample(&last, normal_cdf).p_value > 1e-3);
    // y₅ − y₂ ~ N(0, 3 step² + 2 noise²).
    let sd = (3.0 * step * step + 2.0 * noise * noise).sqrt();
    let change: Vec<f64> = (0..4000).map(|row| (at(row, 4) - at(row, 1)) / sd).collect();
    assert!(ks_one_sample(&change, normal_cdf).p_value > 1e-3);
}

/// The sum over all paths of the states.
#[test]
fn hidden_states_are_summed() {
    let (start, moves, means) = ([0.3, 0.7], [0.8, 0.2, 0.4, 0.6], [-1.0, 1.5]);
    let y = [0.2, 1.1, -0.7, 0.4, 1.9];
    let density =
        |y: f64, mean: f64| (-0.5 * (y - mean) * (y - mean) / 0.81).exp() / (0.9 * std::f64::consts::TAU.sqrt());
    let mut sum = 0.0;
    for path in 0..1_usize << y.len() {
        let state = |t: usize| path >> t & 1;
        let mut product = start[state(0)];
        for (t, y) in y.iter().enumerate() {
            product *= density(*y, means[state(t)]);
            if t > 0 {
                product *= moves[2 * state(t - 1) + state(t)];
            }
        }
        sum += product;
    }
    let at = Regimes {
        start: array(start.to_vec(), [2]).unwrap(),
        transition: array(moves.to_vec(), [2, 2]).unwrap(),
        mu: array(means.to_vec(), [2]).unwrap(),
        sigma: full([1], 0.9),
    };
    let data = Dataset::new(RegimesData { y: array(y.to_vec(), [1, 5]).unwrap() }).unwrap();
    for engine in [Engine::Eager, Engine::Compiled] {
        let posterior = Regimes::model().with(&data).engine(engine);
        let mut evaluator = posterior.evaluator(&at).unwrap();
        let theta = evaluator.layout().flatten(&at).unwrap();
        let mut found = [0.0];
        evaluator.log_likelihood_per_observation(&theta, Rows::range(0..1), &mut found).unwrap();
        close(&found, &[sum.ln()], 1e-12, "sum over paths");
        let mut gradient = vec![0.0; theta.len()];
        evaluator.posterior(&theta, Rows::range(0..1), &mut gradient).unwrap();
        close(&gradient, &central_differences(&mut *evaluator, &theta, Rows::range(0..1)).unwrap(), 1e-6, "gradient");
    }
}

/// Counts of a chain that stays with probability 0.9 in the state with rate 1 and with 0.7 in the one with rate 50.
#[test]
fn draws_of_a_hidden_chain_have_its_law() {
    let start = array(vec![0.0, 1.0], [2]).unwrap();
    let transition = array(vec![0.9, 0.1, 0.3, 0.7], [2, 2]).unwrap();
    let chain = HiddenMarkov::new(start, transition, Poisson::new(array(vec![1.0, 50.0], [2]).unwrap()));
    let (rows, steps) = (20, 500);
    let drawn: Vec<f64> =
        chain.draw(&zeros([rows, steps]), ChainRng::new(8, 0).noise()).into_data().iter::<f64>().collect();
    let high = |index: usize| drawn[index] > 15.0;
    assert!((0..rows).all(|row| high(row * steps)), "all chains start in the second state");
    let pairs = (0..rows * steps).filter(|index| index % steps + 1 < steps);
    let (mut from_high, mut both) = (0.0, 0.0);
    for index in pairs {
        from_high += f64::from(u8::from(high(index)));
        both += f64::from(u8::from(high(index) && high(index + 1)));
    }
    assert!((both / from_high - 0.7_f64).abs() < 0.03, "{both} of {from_high}");
    // The stationary probability of the second state is 0.1/(0.1 + 0.3).
    assert!((from_high / (rows * steps) as f64 - 0.25).abs() < 0.03);
}

#[test]
fn mistakes_have_messages() {
    let refused = |states: usize| {
        let model = Model::observe(
            move |means: Tensor<1>, _: Tensor<2>| {
                let transition = means.zeros_like().unsqueeze_dim::<2>(0).repeat_dim(0, states) + 0.5;
                HiddenMarkov::new(means.zeros_like() + 0.5, transition, Normal::new(means, 1.0))
            },
            |y: Tensor<2>| y,
        );
        let data = Dataset::new(zeros([1, 4])).unwrap();
        model.with(&data).evaluator(&zeros([2])).err().map(|error| error.to_string())
    };
    assert_eq!(refused(2), None);
    let message = refused(3).unwrap();
    assert!(message.contains("HiddenMarkov: transition must be [2, 2] for 2 states, not [3, 2]"), "{message}");
    let model = Model::new(|beta: Tensor<2>, x: Tensor<2>| rows_dot(x, beta));
    let data = Dataset::new(zeros([4, 2])).unwrap();
    let message = model.with(&data).evaluator(&zeros([4, 3])).err().unwrap().to_string();
    assert!(message.contains("rows_dot: the rows must have the same number of entries, not 2 and 3"), "{message}");
}
