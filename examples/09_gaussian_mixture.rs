//! Six algorithms on a mixture of two Gaussians, compared with a long run with the exact gradient.
//!
//! The model is x ~ ½ N(θ₁, I) + ½ N(θ₂, I) in two dimensions. The true centers are so close that the data determine
//! their mean well and their difference poorly. Data, minibatches, iterations and step sizes are those of Baker (2019),
//! §4.6.1, except for `sgldcv`: its step size is halved, because h = 0.01 is unstable here (4/h must exceed the largest
//! curvature, N/2).
//!
//! Without control variates, the noise of the gradient makes the draws of `sgld` and `sghmc` too wide. Those of `sgnht`
//! are too narrow: most of the noise is along θ₁ + θ₂, and the thermostat, which acts on all directions alike, cools θ₁
//! − θ₂ too much. Control variates reduce the error of all three. Smaller steps (`--factor 0.2`) are more accurate and
//! explore less. The posterior is symmetric in the two components, so it has two modes, and the estimates of a short
//! run depend on how often it switches between them. The last columns compare the standard deviations with those of the
//! reference. The exit code is 1 if control variates do not reduce the error of one of the algorithms.
//!
//! ```text
//! cargo run --release --example gaussian_mixture
//! cargo run --release --example gaussian_mixture -- --factor 0.2
//! ```

#[path = "shared/figure.rs"]
mod figure;
#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/verdict.rs"]
mod verdict;

use std::process::ExitCode;
use std::time::Instant;

use flags::Flags;
use rand::SeedableRng;
use sgmcmc::algorithms::Baoab;
use sgmcmc::distributions::{Mixture, MultivariateNormal, Normal};
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::FullGradient;
use sgmcmc::prelude::*;
use sgmcmc::report::plot::{self, Frame, Interval};
use sgmcmc::rng::StreamRng;
use verdict::verdict;

const MINIBATCH: usize = 100;
const SEED: u64 = 2;

#[derive(TensorTree)]
struct Centers {
    theta1: Tensor<1>,
    theta2: Tensor<1>,
}

/// The estimates of a method.
struct Estimates {
    name: String,
    means: [f64; 2],
    sds: [f64; 2],
    doubtful: bool,
}

fn main() -> sgmcmc::Result<ExitCode> {
    let mut flags = Flags::new("Six algorithms on a mixture of two Gaussians.");
    let n = flags.get("observations", 1000, "simulated observations");
    let draws = flags.get("draws", 10_000, "draws of each method; a fifth of them for sghmc and sghmccv");
    let factor = flags.get("factor", 1.0, "factor of all step sizes");
    let figure = figure::path(&mut flags);
    let progress = flags.finish();

    println!("{n} SIMULATED observations of a mixture with centers (0, 0) and (0.1, 0.1)\n");
    let mut rng = StreamRng::seed_from_u64(SEED);
    let truth = mixture(&array(vec![0.0, 0.0], [2])?, &array(vec![0.1, 0.1], [2])?);
    let data = Dataset::new(truth.sample([n, 2], &mut rng))?;

    let model = Model::new(|p: Centers, x: Tensor<2>| mixture(&p.theta1, &p.theta2).log_prob(x)).prior(|p: Centers| {
        let prior = Normal::new(0.0, 10.0); // the standard deviation in the code of the source
        prior.log_prob(p.theta1).sum() + prior.log_prob(p.theta2).sum()
    });
    let draw = |rng: &mut StreamRng| Normal::new(0.0, 1.0).sample([2], rng);
    let start = Centers { theta1: draw(&mut rng), theta2: draw(&mut rng) };

    println!(
        "{:<10} {:>9} {:>10} {:>8} {:>10} {:>8} {:>9} {:>6} {:>8}",
        "method", "h", "θ₁[0] mean", "sd", "θ₁[1] mean", "sd", "sd error", "ess", "seconds"
    );
    let exact = Builder::new(model.with(&data), Baoab::default(), FullGradient, 5e-4).seed(SEED);
    let mut rows = Vec::new();
    row(&mut rows, "reference", 5e-4, || exact.burn_in(2000).progress(progress.clone()).sample(&start, 2 * draws))?;

    // Draws and burn-in are those of the source. SGHMC takes five gradients per iteration. Chains with control variates
    // start at the mode and have no burn-in.
    let (few, burn_in) = (draws / 5, draws as u64);
    let h = 5e-3 * factor;
    row(&mut rows, "sgld", h, || {
        sgld(&model, &data, h)
            .minibatch(MINIBATCH)
            .seed(SEED)
            .progress(progress.clone())
            .burn_in(burn_in)
            .sample(&start, draws)
    })?;
    let h = 5e-4 * factor;
    row(&mut rows, "sghmc", h, || {
        sghmc(&model, &data, h)
            .minibatch(MINIBATCH)
            .seed(SEED)
            .progress(progress.clone())
            .burn_in(few as u64)
            .sample(&start, few)
    })?;
    let h = 3e-4 * factor;
    row(&mut rows, "sgnht", h, || {
        sgnht(&model, &data, h)
            .minibatch(MINIBATCH)
            .seed(SEED)
            .progress(progress.clone())
            .burn_in(burn_in)
            .sample(&start, draws)
    })?;
    let h = 5e-3 * factor;
    row(&mut rows, "sgldcv", h, || {
        sgldcv(&model, &data, h).minibatch(MINIBATCH).seed(SEED).progress(progress.clone()).sample(&start, draws)
    })?;
    let h = 1.5e-3 * factor;
    row(&mut rows, "sghmccv", h, || {
        sghmccv(&model, &data, h).minibatch(MINIBATCH).seed(SEED).progress(progress.clone()).sample(&start, few)
    })?;
    let h = 3e-3 * factor;
    row(&mut rows, "sgnhtcv", h, || {
        sgnhtcv(&model, &data, h).minibatch(MINIBATCH).seed(SEED).progress(progress.clone()).sample(&start, draws)
    })?;
    figure::write(&figure, || {
        let interval = |row: &Estimates| {
            let (mean, sd) = (row.means[0], row.sds[0]);
            let around = |width: f64| (mean - width * sd, mean + width * sd);
            Interval { name: row.name.clone(), mean, outer: around(1.6), inner: around(0.67), doubtful: row.doubtful }
        };
        plot::forest(&rows.iter().map(interval).collect::<Vec<_>>(), &Frame::new("θ₁[0]: mean and normal intervals"))
    })?;
    let error = |name: &str| {
        rows.iter().find(|row| row.name == name).map_or(f64::INFINITY, |row| sd_error(row, rows.first().unwrap_or(row)))
    };
    let passed = ["sgld", "sghmc", "sgnht"].iter().all(|name| error(&format!("{name}cv")) < error(name));
    Ok(verdict(passed, "control variates reduce the error of the standard deviations of all three algorithms"))
}

/// Returns the mixture ½ N(θ₁, I) + ½ N(θ₂, I).
fn mixture(theta1: &Tensor<1>, theta2: &Tensor<1>) -> Mixture<2, 1> {
    let component = |center: &Tensor<1>| MultivariateNormal::diagonal(center.clone().unsqueeze_dim::<2>(0), 1.0);
    Mixture::weights(&[0.5, 0.5]).with(component(theta1)).with(component(theta2))
}

/// Returns the mean relative error of the standard deviations: 0.1 stands for 10 %.
fn sd_error(row: &Estimates, reference: &Estimates) -> f64 {
    row.sds.iter().zip(&reference.sds).map(|(sd, exact)| (sd / exact).ln().abs()).sum::<f64>() / 2.0
}

/// Runs a method, prints its estimates of θ₁ and adds them to `rows`, whose first one is the reference.
fn row(
    rows: &mut Vec<Estimates>,
    name: &str,
    h: f64,
    run: impl FnOnce() -> sgmcmc::gradient::Result<Fit>,
) -> sgmcmc::Result<()> {
    let began = Instant::now();
    let fit = run()?;
    let (summary, seconds) = (fit.summary(), began.elapsed().as_secs_f64());
    print!("{name:<10} {h:>9.1e}");
    if let [ChainOutcome::Failed(error)] = fit.outcomes() {
        println!(" {error}");
        return Ok(());
    }
    let [first, second] = ["theta1[0]", "theta1[1]"].map(|value| summary.row(value));
    let (Some(first), Some(second)) = (first, second) else { return Ok(()) };
    let found = Estimates {
        name: name.to_owned(),
        means: [first.mean, second.mean],
        sds: [first.sd, second.sd],
        doubtful: first.ess_bulk < 100.0,
    };
    for (mean, sd) in found.means.iter().zip(found.sds) {
        print!(" {mean:>10.4} {sd:>8.4}");
    }
    let error = sd_error(&found, rows.first().unwrap_or(&found));
    println!(" {:>7.0} % {:>6.0} {seconds:>8.1}", 100.0 * error, first.ess_bulk);
    rows.push(found);
    Ok(())
}
