//! The variance of the gradient with and without control variates, for growing data sets.
//!
//! The gradients are measured about one posterior standard deviation away from the mode, where a chain spends its time.
//! The ratio of the variances grows linearly in the number of observations N, so the cost of a given accuracy does not
//! depend on N (Baker 2019, §3.3.2). The exit code is 1 if it does not.
//!
//! ```text
//! cargo run --release --example control_variates
//! ```

#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/verdict.rs"]
mod verdict;

use std::process::ExitCode;

use flags::Flags;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rand_distr::StandardNormal;
use sgmcmc::burn::activation::log_sigmoid;
use sgmcmc::gradient::{ControlVariate, GradientNoise, MinibatchGradient, Svrg};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::mode::ModeSearch;
use sgmcmc::prelude::*;
use sgmcmc::run::ProgressOption;
use verdict::verdict;

const COEFFICIENTS: [f64; 6] = [0.3, 1.0, -0.5, 0.25, 0.0, -1.0];

#[derive(TensorTree)]
struct Observations {
    x: Tensor<2>,
    y: Tensor<1>,
}

/// Returns `n` standard normal numbers, a function of the seed.
fn normals(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..n).map(|_| rng.sample(StandardNormal)).collect()
}

/// Returns a logistic regression on `n` simulated observations, with a Laplace prior.
fn posterior(n: usize, seed: u64) -> sgmcmc::Result<Posterior<Tensor<1>, Observations>> {
    let d = COEFFICIENTS.len();
    let x = normals(n * d, seed);
    let mut rng = StdRng::seed_from_u64(seed + 1);
    let y = x.chunks_exact(d).map(|row| {
        let z: f64 = row.iter().zip(COEFFICIENTS).map(|(x, beta)| x * beta).sum();
        f64::from(u8::from(rng.random_bool(1.0 / (1.0 + (-z).exp()))))
    });
    let y: Vec<f64> = y.collect();
    let data = Dataset::new(Observations { x: array(x, [n, d])?, y: array(y, [n])? })?;
    let model = Model::new(|beta: Tensor<1>, r: Observations| {
        let logits = r.x.matmul(beta.unsqueeze_dim(1)).squeeze_dim::<1>(1);
        log_sigmoid(logits * (r.y * 2.0 - 1.0))
    });
    Ok(model.prior(|beta: Tensor<1>| beta.abs().sum().neg()).with(&data))
}

fn main() -> sgmcmc::Result<ExitCode> {
    let mut flags = Flags::new("The variance of the gradient with and without control variates, for growing N.");
    let minibatch = flags.get("minibatch", 100, "observations per gradient");
    let draws = flags.get("draws", 2000, "gradients that measure a variance");
    let quiet = matches!(flags.finish(), ProgressOption::Off);

    println!("logistic regression, minibatches of {minibatch}, at one posterior standard deviation from the mode\n");
    println!("{:>9} {:>16} {:>16} {:>12} {:>12}", "N", "var(minibatch)", "var(CV)", "ratio", "ratio/N");
    let mut ratios = Vec::new();
    for n in [1_000, 10_000, 100_000, 1_000_000] {
        if !quiet {
            eprintln!("{n} observations: searching the mode, then measuring two variances");
        }
        let posterior = posterior(n, 1)?;
        let start = zeros([COEFFICIENTS.len()]);
        let plain = MinibatchGradient::new(WithoutReplacement::new(minibatch));
        let search = Svrg::new(WithoutReplacement::new(minibatch), (n / minibatch) as u64);
        let mode = ModeSearch::default().run(search, posterior.evaluator(&start)?, &[0.0; COEFFICIENTS.len()])?;
        let theta: Vec<f64> = mode
            .theta
            .iter()
            .zip(normals(COEFFICIENTS.len(), 2))
            .map(|(theta, z)| theta + 2.0 * z / (n as f64).sqrt())
            .collect();
        let mut evaluator = posterior.evaluator(&start)?;
        let controlled = ControlVariate::new(WithoutReplacement::new(minibatch)).with_center(mode.theta);
        let plain = GradientNoise::measure(&plain, evaluator.as_mut(), &theta, draws, 1)?;
        let controlled = GradientNoise::measure(&controlled, evaluator.as_mut(), &theta, draws, 2)?;
        let ratio = controlled.reduction_from(&plain).total;
        let (plain, controlled) = (plain.total_variance(), controlled.total_variance());
        println!("{n:>9} {plain:>16.4e} {controlled:>16.4e} {ratio:>12.1} {:>12.4}", ratio / n as f64);
        ratios.push(ratio);
    }
    let slope = (ratios[3] / ratios[0]).log10() / 3.0;
    println!("\nslope of log ratio against log N: {slope:.3}");
    Ok(verdict(
        (slope - 1.0).abs() < 0.1,
        "the ratio of the variances grows in proportion to N, with a slope between 0.9 and 1.1",
    ))
}
