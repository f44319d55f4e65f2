//! Calibration of the models of the gallery in the guide, sampled by Hamiltonian Monte Carlo with a warm-up.

use sgmcmc::algorithms::{Hmc, WarmUp};
use sgmcmc::functions::rows_dot;
use sgmcmc::kernels::{Kernel, SquaredExponential};
use sgmcmc::predictive::{SbcOptions, Simulated};
use sgmcmc::prelude::*;

use crate::Result;

model! {
    Logistic(covariates)
    data { x: Tensor<2>, y: Tensor<1> }
    alpha ~ Normal(0, 2.5);
    beta[covariates] ~ Normal(0, 2.5);
    y ~ BernoulliLogits(linear(x, beta) + alpha);
}

model! {
    Schools(schools)
    data { school: Tensor<1, Int>, error: Tensor<1>, effect: Tensor<1> }
    mu ~ Normal(0, 5);
    tau ~ HalfCauchy(5);
    eta[schools] ~ Normal(0, 1);
    let theta = mu + tau * eta;
    effect ~ Normal(theta.by(school), error);
}

model! {
    Clusters
    data { y: Tensor<1> }
    weights[2] ~ Dirichlet::symmetric(5.0);
    ordered mu[2] ~ Normal(0, 4);
    sigma ~ LogNormal(0, 0.5);
    y ~ Mixture::logits(weights.log()).with(Normal(mu.at(0), sigma)).with(Normal(mu.at(1), sigma));
}

model! {
    Garch
    data { r: Tensor<2> }
    mu ~ Normal(0, 1);
    omega ~ Gamma(4, 8);
    alpha ~ Beta(2, 6);
    share ~ Uniform(0, 1);
    let beta = share * (1.0 - alpha);
    r ~ TimeSeries(omega, |h| Normal(mu, h.sqrt()), |h, r| omega + alpha * (r - mu).square() + beta * h);
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

model! {
    Process
    data { x: Tensor<3>, y: Tensor<2> }
    length ~ InverseGamma(5, 5);
    scale ~ HalfNormal(1);
    noise ~ HalfNormal(0.5);
    let covariance = SquaredExponential(scale, length).covariance(x, noise.square() + 1e-9);
    y ~ MultivariateNormal::covariance(0.0, covariance);
}

model! {
    Ordinal(covariates)
    data { x: Tensor<2>, y: Tensor<1, Int> }
    beta[covariates] ~ Normal(0, 2);
    ordered cuts[3] ~ Normal(0, 3);
    y ~ OrderedLogistic(linear(x, beta), cuts);
}

model! {
    Groups(covariates, groups)
    data { group: Tensor<1, Int>, x: Tensor<2>, y: Tensor<1> }
    gamma[covariates] ~ Normal(0, 2);
    tau[covariates] ~ HalfNormal(1);
    correlation[covariates, covariates] ~ LkjCholesky(2);
    z[groups, covariates] ~ Normal(0, 1);
    sigma ~ HalfNormal(1);
    let factor = correlation * tau.unsqueeze_dim(1);
    let beta = z.matmul(factor.transpose()) + gamma.unsqueeze_dim(0);
    y ~ Normal(rows_dot(beta.by(group), x), sigma);
}

model! {
    Survival(covariates)
    data { x: Tensor<2>, limit: Tensor<1>, time: Tensor<1> }
    shape ~ Gamma(6, 4);
    alpha ~ Normal(0, 1);
    beta[covariates] ~ Normal(0, 1);
    let scale = (linear(x, beta) + alpha).exp();
    time ~ Censored(Weibull(shape, scale)).right(limit);
}

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

/// The number of steps of a series.
const STEPS: usize = 60;

/// Calibrates the models whose names contain one of `names`, or all, and returns the number of those whose ranks are not
/// uniform.
pub(super) fn run(names: &[&str]) -> Result<usize> {
    let mut failures = 0;
    for (name, calibrate) in MODELS {
        if names.is_empty() || names.iter().any(|wanted| name.contains(wanted)) {
            failures += usize::from(!calibrate(name)?);
        }
    }
    Ok(failures)
}

/// A function that calibrates the model of this name, and returns whether its ranks are uniform.
type Calibrate = fn(&str) -> Result<bool>;

/// The models by the names of their pages.
const MODELS: [(&str, Calibrate); 10] = [
    ("logistic-regression", |name| {
        let data = LogisticData { x: covariates(100, 2)?, y: zeros([100]) };
        calibrate(name, &Logistic::model(), data, &Logistic::start(2)?)
    }),
    ("eight-schools", |name| {
        let data = SchoolsData {
            school: array((0..8).collect(), [8])?,
            error: array(vec![15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0], [8])?,
            effect: zeros([8]),
        };
        calibrate(name, &Schools::model(), data, &Schools::start(8)?)
    }),
    ("mixture", |name| calibrate(name, &Clusters::model(), ClustersData { y: zeros([100]) }, &Clusters::start()?)),
    ("garch", |name| calibrate(name, &Garch::model(), GarchData { r: zeros([1, STEPS]) }, &Garch::start()?)),
    ("hidden-markov", |name| {
        calibrate(name, &Regimes::model(), RegimesData { y: zeros([1, STEPS]) }, &Regimes::start()?)
    }),
    ("gaussian-process", |name| {
        let x = array((0..20).map(|i| 0.25 * f64::from(i)).collect(), [1, 20, 1])?;
        calibrate(name, &Process::model(), ProcessData { x, y: zeros([1, 20]) }, &Process::start()?)
    }),
    ("ordinal-regression", |name| {
        let data = OrdinalData { x: covariates(100, 2)?, y: array(vec![0; 100], [100])? };
        calibrate(name, &Ordinal::model(), data, &Ordinal::start(2)?)
    }),
    ("correlated-effects", |name| {
        let group = array((0..80_i64).map(|i| i % 8).collect(), [80])?;
        let data = GroupsData { group, x: covariates(80, 2)?, y: zeros([80]) };
        calibrate(name, &Groups::model(), data, &Groups::start(2, 8)?)
    }),
    ("survival", |name| {
        let limit = array((0..100).map(|i| 1.0 + f64::from(i % 5)).collect(), [100])?;
        let data = SurvivalData { x: covariates(100, 2)?, limit, time: ones([100]) };
        calibrate(name, &Survival::model(), data, &Survival::start(2)?)
    }),
    ("state-space", |name| calibrate(name, &Level::model(), LevelData { y: zeros([1, STEPS]) }, &Level::start()?)),
];

/// Returns covariates between −1 and 1.
fn covariates(rows: usize, columns: usize) -> Result<Tensor<2>> {
    let values = (0..rows * columns).map(|i| ((i * 79) % 101) as f64 / 50.0 - 1.0).collect();
    Ok(array(values, [rows, columns])?)
}

/// Calibrates a model, prints the result, and returns whether the ranks are uniform.
fn calibrate<P: TensorTree, D: TensorTree>(name: &str, model: &Model<P, D>, data: D, start: &P) -> Result<bool> {
    let options = SbcOptions { simulations: 300, ..SbcOptions::default() };
    let calibration = model.sbc(&Dataset::new(data)?, start, &options, |simulated: &Simulated<'_, P, D>| {
        let dynamics = Hmc { steps: 20, jitter: 0.5, warm_up: Some(WarmUp::diagonal(1000)), ..Hmc::default() };
        hmc(model, simulated.posterior.data(), 0.1)
            .dynamics(dynamics)
            .seed(simulated.seed)
            .burn_in(1000)
            .thin(5)
            .sample(simulated.start, 400)
    })?;
    println!("gallery: {name}\n{calibration}");
    Ok(calibration.passed())
}
