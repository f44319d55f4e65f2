//! What control variates bring: the variance of both gradient estimators at the posterior's scale, for growing N.
//!
//! Baker (2019), §3.3.2: the ratio grows linearly in N, so that the cost of a given accuracy does not depend on N.
//!
//! ```text
//! cargo run --release --example control_variates
//! ```

#[path = "shared/flags.rs"]
mod flags;

use sgmcmc::prelude::*;
use sgmcmc_testkit::models::logistic::Logistic;
use sgmcmc_testkit::models::{Case, normals};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut flags = flags::Flags::read("What control variates bring, for growing N.")?;
    let minibatch = flags.get("minibatch", 100, "observations per gradient")?;
    let draws = flags.get("draws", 2000, "gradients that measure a variance")?;
    let quiet = matches!(flags.finish()?, Watch::Off);

    println!("logistic regression, minibatches of {minibatch}, at one posterior standard deviation from the mode\n");
    println!("{:>9} {:>16} {:>16} {:>12} {:>12}", "N", "var(minibatch)", "var(CV)", "ratio", "ratio/N");
    let mut ratios = Vec::new();
    for n in [1_000, 10_000, 100_000, 1_000_000] {
        if !quiet {
            eprintln!("{n} observations: looking for the mode, then measuring two variances");
        }
        let simulated = Logistic::simulate(n, 1);
        let plain = MinibatchGradient::new(WithoutReplacement::new(minibatch));
        let search = Svrg::new(WithoutReplacement::new(minibatch), (n / minibatch) as u64);
        let mode = ModeSearch::default().run(search, simulated.by_hand.evaluator(&simulated.start)?, &[0.0; 6])?;
        let theta: Vec<f64> =
            mode.theta.iter().zip(normals(6, 2)).map(|(theta, z)| theta + 2.0 * z / (n as f64).sqrt()).collect();
        let mut evaluator = simulated.by_hand.evaluator(&simulated.start)?;
        let controlled = ControlVariate::new(WithoutReplacement::new(minibatch)).at(mode.theta);
        let plain = GradientNoise::measure(&plain, evaluator.as_mut(), &theta, draws, 1)?;
        let controlled = GradientNoise::measure(&controlled, evaluator.as_mut(), &theta, draws, 2)?;
        let ratio = controlled.reduction_from(&plain).total;
        let (plain, controlled) = (plain.total_variance(), controlled.total_variance());
        println!("{n:>9} {plain:>16.4e} {controlled:>16.4e} {ratio:>12.1} {:>12.4}", ratio / n as f64);
        ratios.push(ratio);
    }
    println!("\nslope of log ratio against log N: {:.3}", (ratios[3] / ratios[0]).log10() / 3.0);
    Ok(())
}
