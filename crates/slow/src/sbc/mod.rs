//! Simulation-based calibration of every preset (Talts et al. 2018).
//!
//! Parameters are drawn from the prior and data given them; a preset samples the posterior, and the rank of each true value among
//! posterior draws is noted. If the sampler draws from the posterior, ranks are uniform, whatever the model.
//!
//! | criterion | bound |
//! |---|---|
//! | uniformity of ranks | p-values of two Kolmogorov-Smirnov tests per parameter (shift and spread), all tests together with a false-alarm rate of 1 % by Bonferroni's rule |
//! | independence of draws | the effective sample size of each run is at least the number of draws that are ranked, in 95 % of the runs |
//! | runs | no chain fails |
//! | negative control | ULA at temperature 2.25 is found out |

mod models;
mod page;
mod presets;
mod ranks;
mod tuning;

use std::path::Path;

use rayon::prelude::*;
use sgmcmc::prelude::*;
use sgmcmc::run::Ending;
use sgmcmc::{ChainRng, Layout};

use crate::{Outcome, Result};
use models::{Hierarchical, Logistic, OrderedMixture, Simulator};
use presets::{Length, Plan, Preset};
use ranks::{DRAWS, Ranks, TESTS};
use tuning::Tuning;

/// Replications per model.
const REPLICATIONS: u64 = 300;

/// The probability that one of all tests fails although every sampler is right.
const FALSE_ALARM: f64 = 0.01;

/// Draws kept per run, of which [`DRAWS`] evenly spread ones are ranked.
const KEPT: usize = 8 * DRAWS;

/// Effective draws that runs are planned for, over those needed.
const SAFETY: f64 = 2.0;

/// How often a run that is too short is repeated at twice its length.
const REPEATS: u32 = 3;

/// The share of runs that may stay too short.
const SHORT: f64 = 0.05;

/// A preset on a model.
#[derive(Clone, Debug)]
struct Calibrated {
    preset: Preset,
    parameters: Vec<Ranks>,
    /// Runs whose effective size stayed below the number of ranked draws.
    short: usize,
    /// The first error of a chain.
    failure: Option<String>,
}

/// All presets on a model.
#[derive(Debug)]
struct Section {
    name: &'static str,
    about: &'static str,
    presets: Vec<Calibrated>,
}

/// What one run of a replication gives.
struct Ranked {
    /// The evenly spread draws, or the error of the chain.
    draws: std::result::Result<Vec<Vec<f64>>, String>,
    short: bool,
}

/// Calibrates all presets and writes the histograms to `page`.
pub(crate) fn run(page: &Path) -> Result<Outcome> {
    println!("{REPLICATIONS} replications per model, ranks among {DRAWS} draws");
    let sections =
        [calibrate::<Logistic>(true)?, calibrate::<Hierarchical>(false)?, calibrate::<OrderedMixture>(false)?];
    let parameters = |preset: &&Calibrated| preset.preset != Preset::Control;
    let presets = sections.iter().flat_map(|section| section.presets.iter().filter(parameters));
    let tests: usize = presets.map(|preset| TESTS * preset.parameters.len()).sum();
    let bound = FALSE_ALARM / tests as f64;
    println!(
        "{tests} tests; a p-value below {bound:.1e} is a false alarm of one of them in {:.0} % of all runs",
        100.0 * FALSE_ALARM
    );
    println!("{:<28} {:<24} {:>12} {:<10} {:>6}", "model", "preset", "least p", "of", "short");
    let mut failures = 0;
    for section in &sections {
        for preset in &section.presets {
            let complaint = preset.complaint(bound);
            failures += usize::from(complaint.is_some());
            let (name, p) = preset.least();
            println!(
                "{:<28} {:<24} {p:>12.2e} {name:<10} {:>6}  {}",
                section.name,
                preset.preset.name(),
                preset.short,
                complaint.map_or_else(|| "pass".to_owned(), |complaint| format!("FAIL: {complaint}"))
            );
        }
    }
    page::write(&sections, bound, page)?;
    println!("rank histograms: {}", page.display());
    Ok(Outcome::of(failures))
}

impl Calibrated {
    /// The parameter with the least p-value.
    fn least(&self) -> (&str, f64) {
        let p_values = self.parameters.iter().map(|ranks| (ranks.name.as_str(), ranks.p_values().least()));
        p_values.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(("", f64::NAN))
    }

    /// The criterion that does not hold.
    fn complaint(&self, bound: f64) -> Option<String> {
        let (name, p) = self.least();
        let alarm = p.is_nan() || p < bound;
        if let Some(failure) = &self.failure {
            return Some(failure.clone());
        }
        if self.short as f64 > SHORT * REPLICATIONS as f64 {
            return Some(format!("{} of {REPLICATIONS} runs are too short", self.short));
        }
        match (self.preset == Preset::Control, alarm) {
            (false, true) => Some(format!("ranks of `{name}` are not uniform")),
            (true, false) => Some("the tests do not find the negative control out".to_owned()),
            _ => None,
        }
    }
}

/// All presets on one model, and the negative control, if it is wanted.
fn calibrate<S: Simulator>(control: bool) -> Result<Section> {
    let presets: Vec<Preset> = Preset::ALL.into_iter().chain(control.then_some(Preset::Control)).collect();
    let runs = (0..REPLICATIONS).into_par_iter().map(|number| replicate::<S>(&presets, number)).collect::<Vec<_>>();
    let runs = runs.into_iter().collect::<std::result::Result<Vec<_>, String>>()?;
    let names = Layout::of(&S::start()?)?.elements();
    let calibrated = presets.iter().enumerate().map(|(place, preset)| {
        let mut calibrated = Calibrated {
            preset: *preset,
            parameters: names.iter().cloned().map(Ranks::of).collect(),
            short: 0,
            failure: None,
        };
        for (number, (truth, ranked)) in runs.iter().enumerate() {
            let Ranked { draws, short } = &ranked[place];
            calibrated.short += usize::from(*short);
            let mut rng = ChainRng::before_start(number as u64, place as u64);
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

/// The true values of one replication, and what each preset makes of its data.
fn replicate<S: Simulator>(presets: &[Preset], number: u64) -> std::result::Result<(Vec<f64>, Vec<Ranked>), String> {
    let replication = || -> Result<(Vec<f64>, Vec<Ranked>)> {
        let mut rng = ChainRng::new(SEED, number);
        let (truth, data) = S::simulate(rng.noise())?;
        let (model, data) = (S::model(), Dataset::new(data)?);
        let start = S::start()?;
        let evaluator = model.with(&data).evaluator(&start)?;
        let layout = evaluator.layout().clone();
        let tuning = Tuning::of(evaluator, &layout.flatten(&start)?, &mut rng)?;
        let truth = layout.values(&layout.flatten(&truth)?)?;
        let start = layout.unflatten(&start, &tuning.mode.theta, &default_device())?;
        let ranked = presets.iter().map(|preset| {
            let plan = Plan::of(*preset, &tuning);
            rank(&plan, |length| plan.run(*preset, (&model, &data), &start, &tuning, length), number)
        });
        Ok((truth, ranked.collect::<Result<Vec<_>>>()?))
    };
    replication().map_err(|error| format!("{}, replication {number}: {error}", S::NAME))
}

const SEED: u64 = 30;

/// Runs until the draws that are ranked are about independent.
fn rank(plan: &Plan, run: impl Fn(Length) -> Result<Fit>, seed: u64) -> Result<Ranked> {
    let mut thin = (SAFETY * DRAWS as f64 * plan.time / KEPT as f64).ceil().max(1.0) as u64;
    for repeat in 0..=REPEATS {
        let fit = run(Length { burn_in: 10 * plan.time.ceil() as u64, thin, draws: KEPT, seed })?;
        if let Some(Ending::Failed(error)) = fit.endings().iter().find(|ending| **ending != Ending::Complete) {
            return Ok(Ranked { draws: Err(error.to_string()), short: false });
        }
        let summary = fit.summary();
        let sizes = summary.rows().iter().map(|row| row.ess_bulk.min(row.ess_tail));
        let enough = sizes.fold(f64::INFINITY, f64::min) >= DRAWS as f64;
        if enough || repeat == REPEATS {
            let rows: Vec<&[f64]> = fit.chains().iter().flat_map(|chain| chain.rows()).collect();
            let spread = (0..DRAWS).map(|k| rows[(2 * k + 1) * rows.len() / (2 * DRAWS)].to_vec());
            return Ok(Ranked { draws: Ok(spread.collect()), short: !enough });
        }
        thin *= 2;
    }
    Err("a run ended without draws".into())
}
