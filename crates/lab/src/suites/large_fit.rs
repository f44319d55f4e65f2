//! The cost of what users do with a large fit: 301 parameters and 4 chains of 10 000 draws. And the cost of a checkpoint,
//! which must not depend on the number of draws that are stored.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::fit::ChainDraws;
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;
use sgmcmc::run::{CheckpointInterval, Progress, ProgressOption};
use sgmcmc::sink::Draw;
use sgmcmc::storage::FileCheckpoints;
use sgmcmc::{Fit, Layout};

use super::Outcome;
use crate::Result;

const PARAMETERS: usize = 301;
const CHAINS: usize = 4;
const DRAWS: usize = 10_000;

/// The number of steps between two checkpoints.
const INTERVAL: u64 = 250;
/// The number of draws of the run with checkpoints.
const CHECKPOINTED: u64 = 40_000;

/// Measures all costs and compares them with their limits.
///
/// # Errors
///
/// Returns an error if a file cannot be written or read.
pub(super) fn run() -> Result<Outcome> {
    let directory = std::env::temp_dir().join(format!("sgmcmc-large-fit-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let result = measure(&directory);
    std::fs::remove_dir_all(&directory)?;
    Ok(Outcome::from_failures(result?.iter().filter(|holds| !**holds).count()))
}

/// Measures all costs. Returns which criteria hold.
fn measure(directory: &Path) -> Result<Vec<bool>> {
    println!("{PARAMETERS} parameters, {CHAINS} chains of {DRAWS} draws");
    let (path, page) = (directory.join("fit.sgmcmc"), directory.join("report.html"));
    let (_, save) = timed(|| Ok(simulate()?.save(&path)?))?;
    println!("  simulate and save: {save:.2} s");
    let (fit, open) = timed(|| Ok(Fit::open(&path)?))?;
    let (text, summary) = timed(|| Ok(fit.summary().to_string()))?;
    println!("  open: {open:.2} s; the table has {} lines", text.lines().count());
    let ((), report) = timed(|| Ok(fit.report(&page)?))?;
    let megabytes = std::fs::metadata(&page)?.len() as f64 / 1e6;
    Ok(vec![
        judge("report, s", report, 3.0),
        judge("report, MB", megabytes, 5.0),
        judge("open and summary, s", open + summary, 0.5),
        judge("checkpoints: seconds per step, last against second tenth of the draws", checkpoints(directory)?, 1.5),
    ])
}

/// Returns the result of `call` and the seconds that it took.
fn timed<T>(call: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let begin = Instant::now();
    let result = call()?;
    Ok((result, begin.elapsed().as_secs_f64()))
}

/// Prints a number and its limit. Returns whether it is below.
fn judge(name: &str, found: f64, limit: f64) -> bool {
    let holds = found < limit;
    println!("  {name}: {found:.2}, limit {limit}: {}", if holds { "pass" } else { "FAIL" });
    holds
}

/// Simulates autoregressive chains.
fn simulate() -> Result<Fit> {
    let layout = Layout::new([("bias".to_owned(), vec![1], None), ("beta".to_owned(), vec![PARAMETERS - 1], None)])?;
    let chain = |number: usize| -> Result<ChainDraws> {
        let mut rng = StreamRng::seed_from_u64(number as u64);
        let mut draws = ChainDraws::new(PARAMETERS, vec![]);
        let mut state = vec![0.0; PARAMETERS];
        for iteration in 1..=DRAWS as u64 {
            state.iter_mut().for_each(|x| *x = 0.5 * *x + rng.sample::<f64, _>(StandardNormal));
            let log_posterior = -0.5 * state.iter().map(|x| x * x).sum::<f64>();
            draws.push(&Draw { iteration, values: &state, weight: 1.0, log_posterior, stats: &[] })?;
        }
        Ok(draws)
    };
    Ok(Fit::new(layout, (0..CHAINS).map(chain).collect::<Result<_>>()?)?)
}

/// A look at a run.
#[derive(Clone, Copy, Debug)]
struct Look {
    iteration: u64,
    seconds: f64,
}

/// Returns the seconds per step in the last tenth of a run with checkpoints, relative to those in the second tenth.
fn checkpoints(directory: &Path) -> Result<f64> {
    let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    let looks: Arc<Mutex<Vec<Look>>> = Arc::default();
    let (begin, seen) = (Instant::now(), Arc::clone(&looks));
    let progress = ProgressOption::by(move |progress: &Progress| {
        if let Ok(mut looks) = seen.lock() {
            looks.push(Look { iteration: progress.iteration, seconds: begin.elapsed().as_secs_f64() });
        }
    });
    let store = FileCheckpoints::new(directory.join("checkpoints"))?;
    let fit = ula(&model, &Dataset::none(), 0.1)
        .progress(progress)
        .checkpoint(store, CheckpointInterval::Steps(INTERVAL))
        .sample(&zeros([PARAMETERS]), CHECKPOINTED as usize)?;
    let looks = looks.lock().map_err(|_| "the reporter panicked")?;
    let rate = |from: u64, to: u64| -> Result<f64> {
        let first = looks.iter().find(|look| look.iteration >= from).ok_or("the run was not observed")?;
        let last = looks.iter().rfind(|look| look.iteration <= to).ok_or("the run was not observed")?;
        let steps = last.iteration.checked_sub(first.iteration).filter(|steps| *steps > 0);
        Ok((last.seconds - first.seconds) / steps.ok_or("the run was too fast to be observed")? as f64)
    };
    let tenth = CHECKPOINTED / 10;
    let (early, late) = (rate(tenth, 2 * tenth)?, rate(CHECKPOINTED - tenth, CHECKPOINTED)?);
    println!(
        "  {} draws of {PARAMETERS} values with a checkpoint every {INTERVAL} steps: {:.1} µs per step, then {:.1} µs",
        fit.chains()[0].len(),
        1e6 * early,
        1e6 * late
    );
    Ok(late / early)
}
