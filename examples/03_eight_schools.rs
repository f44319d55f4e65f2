//! A hierarchical model by NUTS: the effects of coaching in eight schools (Rubin, 1981).
//!
//! The hierarchy is not centered. The schools have names, which stand in the summary and select values. Reference values are
//! those of posteriordb, `eight_schools_noncentered`. The exit code is 1 if the check finds a problem or a mean is wrong.
//!
//! ```text
//! cargo run --release --features nuts --example eight_schools
//! ```

#[path = "shared/figure.rs"]
mod figure;
#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/verdict.rs"]
mod verdict;

use std::process::ExitCode;

use flags::Flags;
use sgmcmc::Axis;
use sgmcmc::algorithms::Nuts;
use sgmcmc::distributions::*;
use sgmcmc::predictive::PredictiveOptions;
use sgmcmc::prelude::*;
use sgmcmc::run::ProgressOption;
use verdict::verdict;

/// The estimated effects and their standard errors.
const EFFECTS: [f64; 8] = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0];
const ERRORS: [f64; 8] = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];
const SCHOOLS: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];

#[derive(TensorTree)]
struct Schools {
    #[tree(prior = Normal::new(0.0, 5.0))]
    mu: Tensor<1>,
    #[tree(prior = HalfCauchy::new(5.0))]
    tau: Tensor<1>,
    #[tree(dims = "school", prior = Normal::new(0.0, 1.0))]
    eta: Tensor<1>,
}

#[derive(TensorTree)]
struct Observations {
    school: Tensor<1, Int>,
    effect: Tensor<1>,
    error: Tensor<1>,
}

fn main() -> sgmcmc::Result<ExitCode> {
    let mut flags = Flags::new("A hierarchical model by NUTS: eight schools.");
    let draws = flags.get("draws", 2000, "draws of each of four chains");
    let seed = flags.get("seed", 1, "seed of the random numbers");
    let file: String =
        flags.get("fit", String::new(), "file for draws, log-likelihoods, predictions and prior; empty: not written");
    let figure = figure::path(&mut flags);
    let quiet = matches!(flags.finish(), ProgressOption::Off);

    let data = Dataset::new(Observations {
        school: array((0..8_i64).collect(), [8])?,
        effect: array(EFFECTS.to_vec(), [8])?,
        error: array(ERRORS.to_vec(), [8])?,
    })?;
    let effects = |p: &Schools| p.mu.clone() + p.tau.clone() * p.eta.clone();
    let model = Model::observe(
        move |p: Schools, o: Observations| Normal::new(effects(&p).by(o.school), o.error),
        |o: Observations| o.effect,
    )
    .quantity("theta", move |p: Schools| effects(&p));
    let start = Schools { mu: zeros([1]), tau: full([1], 1.0), eta: zeros([8]) };
    let posterior = model.with(&data);
    if !quiet {
        eprintln!("sampling four chains by NUTS");
    }

    let fit = Nuts { seed, ..Nuts::default() }.sample(&posterior, &start, draws)?;
    let fit = fit.with_labels("eta", SCHOOLS)?;
    let fit = model.with_quantities(&fit, &start)?.with_axes("theta", [Axis::new("school").labels(SCHOOLS)])?;
    println!("{}\n{}", fit.select(&["~eta"])?.summary(), fit.check());
    println!("{}", posterior.predictive(&fit, &start, &PredictiveOptions::default())?);

    let best = fit.element("theta[A]")?.concat();
    let worst = fit.element("theta[C]")?.concat();
    let share = best.iter().zip(&worst).filter(|(a, c)| a > c).count() as f64 / best.len() as f64;
    println!("probability that coaching helps more in school A than in school C: {share:.2}");

    // Means and standard deviations of posteriordb's reference draws.
    let summary = fit.summary();
    let agrees = [("mu", 4.41, 3.31), ("tau", 3.59, 3.22)].iter().all(|(name, mean, sd)| {
        summary.row(name).is_some_and(|row| (row.mean - mean).abs() < 5.0 * row.mcse_mean + 0.02 * sd)
    });
    let passed = agrees && fit.check().passed();
    if !file.is_empty() {
        posterior.with_groups(fit.clone(), &start, seed)?.save(&file)?;
        println!("wrote {file}: try `sgmcmc predict {file}` and `sgmcmc plot pareto-k {file} -o k.svg`");
    }
    figure::write(&figure, || fit.plot().forest(&["mu", "theta"]))?;
    Ok(verdict(passed, "the check of the fit, and means of mu and tau like the reference"))
}
