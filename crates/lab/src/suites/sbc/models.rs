//! The models of the calibration, with simulation of parameters and data.

use sgmcmc::distributions::{BernoulliLogits, Beta, LogNormal, Mixture, Normal};
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;

use crate::Result;

/// A model whose parameters and data can be simulated.
pub(super) trait Simulator: Sync {
    type Params: TensorTree;
    type Data: TensorTree;

    /// The name of the model.
    const NAME: &'static str;

    /// A description of prior and likelihood.
    const ABOUT: &'static str;

    /// Returns the model as closures.
    fn model() -> Model<Self::Params, Self::Data>;

    /// Returns the start of the mode search.
    fn start() -> Result<Self::Params>;

    /// Draws parameters from the prior, and data given the parameters.
    fn simulate(rng: &mut StreamRng) -> Result<(Self::Params, Self::Data)>;
}

/// Returns the first number of a vector.
fn scalar(tensor: &Tensor<1>) -> f64 {
    tensor.to_data().iter::<f64>().next().unwrap_or(f64::NAN)
}

/// Returns the numbers of a vector.
fn numbers(tensor: &Tensor<1>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

/// y ~ Bernoulli(logit⁻¹(Xβ)), β ~ N(0, 1).
pub(super) struct Logistic;

const LOGISTIC_OBSERVATIONS: usize = 100;
const LOGISTIC_COVARIATES: usize = 3;

#[derive(TensorTree)]
pub(super) struct Coefficients {
    beta: Tensor<1>,
}

#[derive(TensorTree)]
pub(super) struct Responses {
    x: Tensor<2>,
    y: Tensor<1>,
}

impl Simulator for Logistic {
    type Params = Coefficients;
    type Data = Responses;

    const NAME: &'static str = "logistic regression";
    const ABOUT: &'static str =
        "y ~ Bernoulli(logit⁻¹(Xβ)), 100 observations of an intercept and two standard normal covariates; β ~ N(0, 1)";

    fn model() -> Model<Coefficients, Responses> {
        Model::new(|p: Coefficients, r: Responses| {
            BernoulliLogits::new(r.x.matmul(p.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1)).log_prob(r.y)
        })
        .prior(|p: Coefficients| Normal::new(0.0, 1.0).log_prob(p.beta).sum())
    }

    fn start() -> Result<Coefficients> {
        Ok(Coefficients { beta: zeros([LOGISTIC_COVARIATES]) })
    }

    fn simulate(rng: &mut StreamRng) -> Result<(Coefficients, Responses)> {
        let beta = Normal::new(0.0, 1.0).sample([LOGISTIC_COVARIATES], rng);
        let slopes = Normal::new(0.0, 1.0).sample([LOGISTIC_OBSERVATIONS, LOGISTIC_COVARIATES - 1], rng);
        let x = Tensor::cat(vec![ones([LOGISTIC_OBSERVATIONS, 1]), slopes], 1);
        let logits = x.clone().matmul(beta.clone().unsqueeze_dim(1)).squeeze_dim::<1>(1);
        let y = BernoulliLogits::new(logits).sample([LOGISTIC_OBSERVATIONS], rng);
        Ok((Coefficients { beta }, Responses { x, y }))
    }
}

/// y ~ N(θ_group, σ), θ ~ N(μ, τ), μ ~ N(0, 1), τ and σ log-normal.
pub(super) struct Hierarchical;

const GROUPS: usize = 5;
const PER_GROUP: usize = 20;
/// The prior standard deviation of log τ.
const TAU: f64 = 0.5;
/// The prior standard deviation of log σ.
const SIGMA: f64 = 0.25;

#[derive(TensorTree)]
pub(super) struct Levels {
    mu: Tensor<1>,
    #[tree(positive)]
    tau: Tensor<1>,
    #[tree(positive)]
    sigma: Tensor<1>,
    theta: Tensor<1>,
}

#[derive(TensorTree)]
pub(super) struct Grouped {
    group: Tensor<1, Int>,
    y: Tensor<1>,
}

impl Simulator for Hierarchical {
    type Params = Levels;
    type Data = Grouped;

    const NAME: &'static str = "hierarchical normal";
    const ABOUT: &'static str =
        "y ~ N(θⱼ, σ), 5 groups of 20; θⱼ ~ N(μ, τ), μ ~ N(0, 1), log τ ~ N(0, 0.5), log σ ~ N(0, 0.25)";

    fn model() -> Model<Levels, Grouped> {
        Model::new(|p: Levels, r: Grouped| Normal::new(p.theta.select(0, r.group), p.sigma).log_prob(r.y)).prior(
            |p: Levels| {
                Normal::new(p.mu.clone(), p.tau.clone()).log_prob(p.theta).sum()
                    + Normal::new(0.0, 1.0).log_prob(p.mu)
                    + LogNormal::new(0.0, TAU).log_prob(p.tau)
                    + LogNormal::new(0.0, SIGMA).log_prob(p.sigma)
            },
        )
    }

    fn start() -> Result<Levels> {
        Ok(Levels { mu: zeros([1]), tau: ones([1]), sigma: ones([1]), theta: zeros([GROUPS]) })
    }

    fn simulate(rng: &mut StreamRng) -> Result<(Levels, Grouped)> {
        let mu = Normal::new(0.0, 1.0).sample([1], rng);
        let tau = LogNormal::new(0.0, TAU).sample([1], rng);
        let sigma = LogNormal::new(0.0, SIGMA).sample([1], rng);
        let theta = Normal::new(scalar(&mu), scalar(&tau)).sample([GROUPS], rng);
        let groups: Vec<i64> = (0..GROUPS as i64).flat_map(|group| [group; PER_GROUP]).collect();
        let group = array(groups, [GROUPS * PER_GROUP])?;
        let y = Normal::new(theta.clone().select(0, group.clone()), scalar(&sigma)).sample([GROUPS * PER_GROUP], rng);
        Ok((Levels { mu, tau, sigma, theta }, Grouped { group, y }))
    }
}

/// y ~ w N(μ₁, 1) + (1 − w) N(μ₂, 1), μ₁ < μ₂.
pub(super) struct OrderedMixture;

const MIXTURE_OBSERVATIONS: usize = 100;

#[derive(TensorTree)]
pub(super) struct Components {
    #[tree(ordered)]
    mu: Tensor<1>,
    #[tree(unit_interval)]
    weight: Tensor<1>,
}

impl Simulator for OrderedMixture {
    type Params = Components;
    type Data = Tensor<1>;

    const NAME: &'static str = "mixture with ordered means";
    const ABOUT: &'static str = "y ~ w N(μ₁, 1) + (1 − w) N(μ₂, 1), 100 observations; μ₁ ~ N(−2, 1), μ₂ ~ N(2, 1) given μ₁ < μ₂, w ~ Beta(5, 5)";

    fn model() -> Model<Components, Tensor<1>> {
        Model::new(|p: Components, y: Tensor<1>| {
            let component = |k: usize| Normal::new(p.mu.clone().narrow(0, k, 1), 1.0).log_prob(y.clone());
            let first = component(0) + p.weight.clone().log();
            let second = component(1) + (p.weight.clone() * -1.0 + 1.0).log();
            let largest = first.clone().max_pair(second.clone());
            largest.clone() + ((first - largest.clone()).exp() + (second - largest).exp()).log()
        })
        .prior(|p: Components| {
            Normal::new(-2.0, 1.0).log_prob(p.mu.clone().narrow(0, 0, 1))
                + Normal::new(2.0, 1.0).log_prob(p.mu.narrow(0, 1, 1))
                + Beta::new(5.0, 5.0).log_prob(p.weight)
        })
    }

    fn start() -> Result<Components> {
        Ok(Components { mu: array(vec![-2.0, 2.0], [2])?, weight: full([1], 0.5) })
    }

    fn simulate(rng: &mut StreamRng) -> Result<(Components, Tensor<1>)> {
        // The prior is restricted to ordered means, by rejection.
        let mu = loop {
            let first: Tensor<1> = Normal::new(-2.0, 1.0).sample([1], rng);
            let second: Tensor<1> = Normal::new(2.0, 1.0).sample([1], rng);
            if scalar(&first) < scalar(&second) {
                break Tensor::cat(vec![first, second], 0);
            }
        };
        let weight: Tensor<1> = Beta::new(5.0, 5.0).sample([1], rng);
        let (means, share) = (numbers(&mu), scalar(&weight));
        let components = Mixture::weights(&[share, 1.0 - share])
            .with(Normal::<1>::new(means[0], 1.0))
            .with(Normal::<1>::new(means[1], 1.0));
        let y = components.sample([MIXTURE_OBSERVATIONS], rng);
        Ok((Components { mu, weight }, y))
    }
}
