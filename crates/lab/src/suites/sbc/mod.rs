//! Simulation-based calibration of every preset (Talts et al. 2018).
//!
//! Each replication draws parameters from the prior and data given these parameters. A preset samples the posterior,
//! and the rank of each true value among the posterior draws is recorded. If the sampler draws from the posterior, the
//! ranks are uniform for any model.
//!
//! | criterion | bound |
//! |---|---|
//! | uniformity of ranks | p-values of two Kolmogorov-Smirnov tests per parameter (shift and spread), with a false-alarm rate of 1 % over all tests (Bonferroni) |
//! | independence of draws | the effective sample size is at least the number of ranked draws, in 95 % of the runs |
//! | runs | no chain fails |
//! | negative control | the tests detect ULA at temperature 2.25 |

mod gallery;
mod models;
mod page;
mod presets;
mod ranks;
mod tuning;

use sgmcmc::TreeLayout;
use std::path::Path;

use rayon::prelude::*;
use sgmcmc::Layout;
use sgmcmc::default_device;
use sgmcmc::fit::ChainOutcome;
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;

use crate::Result;
use crate::suites::Outcome;
use models::{Hierarchical, Logistic, OrderedMixture, Simulator};
use presets::{Length, Plan, Preset, Problem};
use ranks::{DRAWS, Ranks, TESTS};
use tuning::Tuning;

/// The number of replications per model.
const REPLICATIONS: u64 = 300;

/// The probability that at least one test fails if all samplers are correct.
const FALSE_ALARM: f64 = 0.01;

/// The number of draws of a run, of which [`DRAWS`] evenly spaced ones are ranked.
const RUN_DRAWS: usize = 8 * DRAWS;

/// The planned effective sample size, as a multiple of the required one.
const SAFETY: f64 = 2.0;

/// The largest number of repetitions of a run that is too short, each twice as long.
const REPEATS: u32 = 3;

/// The allowed fraction of runs that stay too short.
const MAX_SHORT: f64 = 0.05;

/// The results of a preset on a model.
#[derive(Clone, Debug)]
struct Calibrated {
    preset: Preset,
    parameters: Vec<Ranks>,
    /// The number of runs whose effective sample size stays below the number of ranked draws.
    short: usize,
    /// The first error of a chain.
    failure: Option<String>,
}

/// The results of all presets on a model.
#[derive(Debug)]
struct Section {
    name: &'static str,
    about: &'static str,
    presets: Vec<Calibrated>,
}

/// The result of one run of a replication.
struct Ranked {
    /// The evenly spaced draws, or the error of the chain.
    draws: std::result::Result<Vec<Vec<f64>>, String>,
    /// True if the effective sample size is too small.
    short: bool,
}

/// Calibrates all presets and the models of the gallery, and writes the histograms to `page`.
pub(crate) fn run(page: &Path) -> Result<Outcome> {
    println!("{REPLICATIONS} replications per model, ranks among {DRAWS} draws");
    let sections =
        [calibrate::<Logistic>(true)?, calibrate::<Hierarchical>(false)?, calibrate::<OrderedMixture>(false)?];
    let parameters = |preset: &&Calibrated| preset.preset != Preset::Control;
    let presets = sections.iter().flat_map(|section| section.presets.iter().filter(parameters));
    let tests: usize = presets.map(|preset| TESTS * preset.parameters.len()).sum();
    let bound = FALSE_ALARM / tests as f64;
    println!(
        "{tests} tests; a p-value below {bound:.1e} is an alarm; the false-alarm rate over all tests is {:.0} %",
        100.0 * FALSE_ALARM
    );
    println!("{:<28} {:<24} {:>12} {:<10} {:>6}", "model", "preset", "smallest p", "of", "short");
    let mut failures = 0;
    for section in &sections {
        for preset in &section.presets {
            let failure = preset.failure_reason(bound);
            failures += usize::from(failure.is_some());
            let (name, p) = preset.smallest_p_value();
            println!(
                "{:<28} {:<24} {p:>12.2e} {name:<10} {:>6}  {}",
                section.name,
                preset.preset.name(),
                preset.short,
                failure.map_or_else(|| "pass".to_owned(), |reason| format!("FAIL: {reason}"))
            );
        }
    }
    page::write(&sections, bound, page)?;
    println!("rank histograms: {}", page.display());
    failures += gallery::run(&[])?;
    Ok(Outcome::from_failures(failures))
}

/// Calibrates the models of the gallery whose names contain one of `names`, or all.
pub(crate) fn run_gallery(names: &[&str]) -> Result<Outcome> {
    Ok(Outcome::from_failures(gallery::run(names)?))
}

impl Calibrated {
    /// Returns the parameter with the smallest p-value, and this p-value.
    fn smallest_p_value(&self) -> (&str, f64) {
        let p_values = self.parameters.iter().map(|ranks| (ranks.name.as_str(), ranks.p_values().smallest()));
        p_values.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(("", f64::NAN))
    }

    /// Returns the criterion that fails, if any.
    fn failure_reason(&self, bound: f64) -> Option<String> {
        let (name, p) = self.smallest_p_value();
        let alarm = p.is_nan() || p < bound;
        if let Some(failure) = &self.failure {
            return Some(failure.clone());
        }
        if self.short as f64 > MAX_SHORT * REPLICATIONS as f64 {
            return Some(format!("{} of {REPLICATIONS} runs are too short", self.short));
        }
        match (self.preset == Preset::Control, alarm) {
            (false, true) => Some(format!("ranks of `{name}` are not uniform")),
            (true, false) => Some("the tests do not detect the negative control".to_owned()),
            _ => None,
        }
    }
}

/// Runs all presets on one model, and the negative control if `control` is set.
fn calibrate<S: Simulator>(control: bool) -> Result<Section> {
    let presets: Vec<Preset> = Preset::ALL.into_iter().chain(control.then_some(Preset::Control)).collect();
    let runs = (0..REPLICATIONS).into_par_iter().map(|number| replicate::<S>(&presets, number)).collect::<Vec<_>>();
    let runs = runs.into_iter().collect::<std::result::Result<Vec<_>, String>>()?;
    let names = Layout::from_tree(&S::start()?)?.value_names();
    let calibrated = presets.iter().enumerate().map(|(index, preset)| {
        let mut calibrated = Calibrated {
            preset: *preset,
            parameters: names.iter().cloned().map(Ranks::new).collect(),
            short: 0,
            failure: None,
        };
        for (number, (truth, ranked)) in runs.iter().enumerate() {
            let Ranked { draws, short } = &ranked[index];
            calibrated.short += usize::from(*short);
            let mut rng = ChainRng::before_start(number as u64, index as u64);
            match draws {
                Ok(draws) => calibrated.parameters.iter_mut().enumerate().for_each(|(k, ranks)| {
                    ranks.push(truth[k], draws.iter().map(|draw| draw[k]), &mut rng);
                }),
                Err(error) => calibrated.failure = calibrated.failure.or_else(|| Some(error.clone())),
            }
        }
        calibrated
    });
    println!("{}: done", S::NAME);
    Ok(Section { name: S::NAME, about: S::ABOUT, presets: calibrated.collect() })
}

/// Returns the true values of one replication, and the result of each preset on its data.
fn replicate<S: Simulator>(presets: &[Preset], number: u64) -> std::result::Result<(Vec<f64>, Vec<Ranked>), String> {
    let replication = || -> Result<(Vec<f64>, Vec<Ranked>)> {
        let mut rng = ChainRng::new(SEED, number);
        let (truth, data) = S::simulate(rng.noise())?;
        let (model, data) = (S::model(), Dataset::new(data)?);
        let start = S::start()?;
        let evaluator = model.with(&data).evaluator(&start)?;
        let layout = evaluator.layout().clone();
        let tuning = Tuning::new(evaluator, &layout.flatten(&start)?, &mut rng)?;
        let truth = layout.values(&layout.flatten(&truth)?)?;
        let start = layout.unflatten(&start, &tuning.mode.theta, &default_device())?;
        let ranked = presets.iter().map(|preset| {
            let plan = Plan::new(*preset, &tuning);
            rank(
                &plan,
                |length| {
                    plan.run(*preset, &Problem { model: &model, data: &data, start: &start, tuning: &tuning }, length)
                },
                number,
            )
        });
        Ok((truth, ranked.collect::<Result<Vec<_>>>()?))
    };
    replication().map_err(|error| format!("{}, replication {number}: {error}", S::NAME))
}

const SEED: u64 = 30;

/// Runs a preset until the ranked draws are approximately independent.
fn rank(plan: &Plan, run: impl Fn(Length) -> Result<Fit>, seed: u64) -> Result<Ranked> {
    let mut thin = (SAFETY * DRAWS as f64 * plan.time / RUN_DRAWS as f64).ceil().max(1.0) as u64;
    for repeat in 0..=REPEATS {
        let fit = run(Length { burn_in: 10 * plan.time.ceil() as u64, thin, draws: RUN_DRAWS, seed })?;
        if let Some(ChainOutcome::Failed(error)) =
            fit.outcomes().iter().find(|outcome| **outcome != ChainOutcome::Complete)
        {
            return Ok(Ranked { draws: Err(error.to_string()), short: false });
        }
        let summary = fit.summary();
        let sizes = summary.rows().iter().map(|row| row.ess_bulk.min(row.ess_tail));
        let enough = sizes.fold(f64::INFINITY, f64::min) >= DRAWS as f64;
        if enough || repeat == REPEATS {
            let draws: Vec<&[f64]> = fit.chains().iter().flat_map(|chain| chain.rows()).collect();
            let spaced = (0..DRAWS).map(|k| draws[(2 * k + 1) * draws.len() / (2 * DRAWS)].to_vec());
            return Ok(Ranked { draws: Ok(spaced.collect()), short: !enough });
        }
        thin *= 2;
    }
    Err("a run ended without draws".into())
}
