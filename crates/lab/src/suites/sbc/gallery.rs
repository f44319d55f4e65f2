//! Calibration of the models of the gallery in the guide, sampled by Hamiltonian Monte Carlo with a warm-up.

use sgmcmc::algorithms::{Hmc, WarmUp};
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

/// Calibrates the models and returns the number of those whose ranks are not uniform.
pub(super) fn run() -> Result<usize> {
    let x: Vec<f64> = (0..200).map(|i| f64::from((i * 79) % 101) / 50.0 - 1.0).collect();
    let logistic = LogisticData { x: array(x, [100, 2])?, y: zeros([100]) };
    let schools = SchoolsData {
        school: array((0..8).collect(), [8])?,
        error: array(vec![15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0], [8])?,
        effect: zeros([8]),
    };
    let clusters = ClustersData { y: zeros([100]) };
    let passed = [
        calibrate("logistic regression", &Logistic::model(), logistic, &Logistic::start(2)?)?,
        calibrate("eight schools", &Schools::model(), schools, &Schools::start(8)?)?,
        calibrate("mixture", &Clusters::model(), clusters, &Clusters::start()?)?,
    ];
    Ok(passed.iter().filter(|passed| !**passed).count())
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
