//! Reference posteriors: every model of a list is sampled in full, with its constraints, and the posterior mean and standard
//! deviation of every parameter are held against the reference draws of posteriordb.
//!
//! | criterion | bound |
//! |---|---|
//! | mean | at most 0.1 reference standard deviations off |
//! | standard deviation | at most 10 % off |
//! | law of methods that accept or reject | p-value of a Kolmogorov-Smirnov test against the reference draws at least 1e-4 |

mod autoregression;
mod diamonds;
mod eight_schools;
mod exact;
mod regression;

use sgmcmc::Fit;
use sgmcmc::run::Ending;
use sgmcmc::sink::RunningMoments;

use crate::posteriordb::{PosteriorDb, Reference};
use crate::{Outcome, Result};

/// How far a mean may be off, in reference standard deviations.
const MEAN_TOLERANCE: f64 = 0.1;

/// How far the ratio of standard deviations may be from one.
const SD_TOLERANCE: f64 = 0.1;

/// Chains per run.
const CHAINS: usize = 4;

/// Checks all posteriors, or only the one called `only`.
pub(crate) fn run(only: Option<&str>) -> Result<Outcome> {
    let Some(db) = PosteriorDb::find() else { return Ok(Outcome::NotRun) };
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let (mut failures, mut checked) = (0, 0);
    for posterior in regression::all(&db)?.iter().filter(|posterior| wanted(posterior.name())) {
        failures += posterior.check(&db)?;
        checked += 1;
    }
    if wanted(eight_schools::NAME) {
        failures += eight_schools::check(&db)?;
        checked += 1;
    }
    if wanted(autoregression::NAME) {
        failures += autoregression::check(&db)?;
        checked += 1;
    }
    if wanted(diamonds::NAME) {
        failures += diamonds::check(&db)?;
        checked += 1;
    }
    if checked == 0 { Err("there is no such posterior".into()) } else { Ok(Outcome::of(failures)) }
}

/// Prints a line per reference parameter, and says how many criteria fail. `parameters` are the names of what `report` makes of
/// the values of a draw.
fn compare(
    title: &str,
    reference: &[Reference],
    fit: &Fit,
    parameters: &[String],
    report: impl Fn(&[f64]) -> Vec<f64>,
) -> Result<usize> {
    let mut moments = RunningMoments::new();
    for values in fit.chains().iter().flat_map(|chain| chain.rows()) {
        moments.push(&report(values), 1.0)?;
    }
    let ess = fit.summary().rows().iter().map(|row| row.ess_bulk).fold(f64::INFINITY, f64::min);
    println!("{title}: {} draws, effective sample size at least {ess:.0}", moments.count());
    println!(
        "  {:<10} {:>12} {:>12} {:>12} {:>12} {:>10} {:>9}",
        "parameter", "ref. mean", "ref. sd", "mean", "sd", "diff./sd", "sd ratio"
    );
    let mut failures = 0;
    for ending in fit.endings().iter().filter(|ending| **ending != Ending::Complete) {
        println!("  a chain did not end well: {ending:?}  FAIL");
        failures += 1;
    }
    let variances = moments.variances();
    for Reference { parameter, mean, sd, .. } in reference {
        let Some(index) = parameters.iter().position(|name| name == parameter) else {
            return Err(format!("{title} does not report `{parameter}`").into());
        };
        let (our_mean, our_sd) = (moments.mean()[index], variances[index].sqrt());
        let (difference, ratio) = ((our_mean - mean) / sd, our_sd / sd);
        // Written so that NaN fails.
        let passed = difference.abs() <= MEAN_TOLERANCE && (ratio - 1.0).abs() <= SD_TOLERANCE;
        failures += usize::from(!passed);
        println!(
            "  {parameter:<10} {mean:>12.5} {sd:>12.5} {our_mean:>12.5} {our_sd:>12.5} {difference:>10.4} {ratio:>9.4}  {}",
            if passed { "pass" } else { "FAIL" }
        );
    }
    println!();
    Ok(failures)
}

/// `beta[1]`, `beta[2]`, …: elements as the reference counts them.
fn numbered(name: &str, count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(move |index| format!("{name}[{index}]"))
}
