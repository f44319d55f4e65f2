//! Runs of all algorithms and sinks that are killed at random moments and resumed.
//!
//! Each run is a child process with two chains, checkpoints and all sinks that write files. It is killed at random
//! moments (mostly by SIGKILL, sometimes by SIGINT or SIGTERM) and restarted until it completes.
//!
//! Criterion: every sink has the same draws, bit for bit, as in an uninterrupted run.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::RngExt;
use serde_json::Value;
use sgmcmc::StepSize;
use sgmcmc::algorithms::Dynamics;
use sgmcmc::algorithms::{
    Badodab, Baoab, CyclicalSgld, DualAveraging, Hamcmc, Hmc, HmcBfgs, Mala, Metric, PreconditionedSgld, Psgld, Qnhmc,
    RiemannianMala, Sgfs, Sghmc, Sgld, Sgnht, Sgrld,
};
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::GradientEstimator;
use sgmcmc::gradient::{ControlVariate, FullGradient, MinibatchGradient, Saga, Svrg};
use sgmcmc::minibatch::{Epochs, WithoutReplacement};
use sgmcmc::prelude::*;
use sgmcmc::run::{CheckpointInterval, StopSignal};
use sgmcmc::schedule::{CyclicalCosine, Polynomial};
use sgmcmc::sink::{Memory, Moments, Quantiles, SecondMoments};
use sgmcmc::storage::FileCheckpoints;
use sgmcmc::storage::fits;
use sgmcmc::storage::fits::draws_csv::CsvDraws;
use sgmcmc::storage::fits::native::NativeDraws;
use sgmcmc::storage::fits::parquet::ParquetDraws;
use sgmcmc::storage::fits::stan_csv::StanCsvDraws;
use sgmcmc::storage::fits::zarr::ZarrFit;
use sgmcmc_testkit::models::gaussian::Gaussian;
use sgmcmc_testkit::rng;

use crate::Result;
use crate::suites::Outcome;

/// The default number of kills.
pub(crate) const DEFAULT_KILLS: u32 = 1000;

const OBSERVATIONS: usize = 50;
const DIMENSIONS: usize = 3;
const CHAINS: usize = 2;

/// Returns the number of draws of a run with checkpoints every `interval` iterations. Each checkpoint takes several
/// synchronizations with the disk, so that runs with many checkpoints are shorter.
fn draw_count(interval: u64) -> usize {
    6000.min(60 + 100 * interval as usize)
}

/// The numbers of iterations between checkpoints, used in rotation.
const INTERVALS: [u64; 4] = [1, 12, 500, 2000];

/// The names of the algorithms.
const ALGORITHMS: [&str; 18] = [
    "sgld",
    "sgld-saga",
    "sgld-svrg",
    "cyclical",
    "sghmc",
    "sgnht",
    "baoab",
    "badodab",
    "preconditioned",
    "psgld",
    "sgrld",
    "sgfs",
    "hamcmc",
    "mala",
    "hmc",
    "qnhmc",
    "hmc-bfgs",
    "corrected-langevin",
];

/// Kills and resumes runs until the number of kills is at least `kills`.
pub(crate) fn run(kills: u32, seed: u64) -> Result<Outcome> {
    let program = std::env::current_exe()?;
    let directory = std::env::temp_dir().join(format!("sgmcmc-kills-{}", std::process::id()));
    let mut rng = rng(seed);
    let (mut total, mut runs, mut failures) = (Kills::default(), 0, 0);
    while total.total() < kills {
        let algorithm = ALGORITHMS[runs % ALGORITHMS.len()];
        let every = INTERVALS[(runs / ALGORITHMS.len()) % INTERVALS.len()];
        let task = Task { program: &program, algorithm, every };
        let uninterrupted = empty_directory(&directory.join("whole"))?;
        let began = Instant::now();
        if !task.spawn(&uninterrupted)?.wait()?.success() {
            return Err(format!("{algorithm} does not run").into());
        }
        let duration = began.elapsed().as_secs_f64();
        let killed = empty_directory(&directory.join("killed"))?;
        let mut signals = Kills::default();
        loop {
            let mut child = task.spawn(&killed)?;
            std::thread::sleep(Duration::from_secs_f64(rng.random_range(0.0..0.12) * duration));
            let signal = ["KILL", "KILL", "KILL", "KILL", "INT", "TERM"][rng.random_range(0..6)];
            let running = child.try_wait()?.is_none();
            if running {
                // The process may end before the signal reaches it.
                let _ = Command::new("kill")
                    .args([&format!("-{signal}"), &child.id().to_string()])
                    .stderr(Stdio::null())
                    .status();
                signals.count(signal);
            }
            let status = child.wait()?;
            if status.success() && is_complete(&killed) {
                break;
            }
            if !running && !status.success() {
                return Err(format!("{algorithm} failed without a signal after {} kills", signals.total()).into());
            }
        }
        let same = files(&uninterrupted)? == files(&killed)?;
        println!(
            "{algorithm:<20} checkpoint every {every:>4} steps: {:>3} kills, {}",
            signals.total(),
            if same { "same" } else { "DIFFERENT" }
        );
        failures += usize::from(!same);
        total.add(&signals);
        runs += 1;
    }
    fs::remove_dir_all(&directory)?;
    println!(
        "{} kills (KILL {}, INT {}, TERM {}) in {runs} runs: {failures} runs differ",
        total.total(),
        total.kill,
        total.int,
        total.term
    );
    Ok(Outcome::from_failures(failures))
}

/// The number of signals of each kind.
#[derive(Clone, Copy, Debug, Default)]
struct Kills {
    kill: u32,
    int: u32,
    term: u32,
}

impl Kills {
    /// Counts a signal.
    fn count(&mut self, signal: &str) {
        match signal {
            "INT" => self.int += 1,
            "TERM" => self.term += 1,
            _ => self.kill += 1,
        }
    }

    /// Adds the counts of `other`.
    fn add(&mut self, other: &Self) {
        self.kill += other.kill;
        self.int += other.int;
        self.term += other.term;
    }

    /// Returns the number of all signals.
    fn total(&self) -> u32 {
        self.kill + self.int + self.term
    }
}

/// A run that is killed.
struct Task<'a> {
    program: &'a Path,
    algorithm: &'a str,
    every: u64,
}

impl Task<'_> {
    /// Starts the run as a child process.
    fn spawn(&self, directory: &Path) -> Result<Child> {
        let mut command = Command::new(self.program);
        command.args(["kills-child", self.algorithm, &self.every.to_string()]).arg(directory);
        Ok(command.stdout(Stdio::null()).spawn()?)
    }
}

/// Creates an empty directory.
fn empty_directory(path: &Path) -> Result<PathBuf> {
    if path.exists() {
        fs::remove_dir_all(path)?;
    }
    fs::create_dir_all(path)?;
    Ok(path.to_owned())
}

/// Returns whether the run in `directory` is complete.
fn is_complete(directory: &Path) -> bool {
    directory.join("complete").exists()
}

/// The start of the names of temporary files that a killed process leaves. Nothing reads them.
const UNFINISHED: &str = ".unfinished-";

/// Returns the draws of all sinks in `directory`, by file name.
///
/// A run that is stopped by a signal flushes its sinks at that point, so that the blocks of the native and the Parquet format differ from
/// those of an uninterrupted run. These files are compared by the draws that are read from them, and all others by their bytes.
fn files(directory: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![directory.join("draws")];
    while let Some(next) = pending.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(UNFINISHED) {
                continue;
            }
            let relative = path.strip_prefix(directory)?.to_owned();
            if name.ends_with(".sgmcmc") || (name.ends_with(".parquet") && path.is_dir()) {
                found.insert(relative, serde_json::to_vec(fits::open(&path)?.chains())?);
            } else if path.is_dir() {
                pending.push(path);
            } else {
                found.insert(relative, content(&path)?);
            }
        }
    }
    Ok(found)
}

/// Reads a file, without the duration of the run and the time of its creation.
fn content(path: &Path) -> Result<Vec<u8>> {
    let bytes = fs::read(path)?;
    if path.ends_with("zarr.json") {
        let mut metadata: Value = serde_json::from_slice(&bytes)?;
        remove_creation_time(&mut metadata);
        return Ok(serde_json::to_vec(&metadata)?);
    }
    if path.extension().is_none_or(|extension| extension != "csv") {
        return Ok(bytes);
    }
    let text = String::from_utf8(bytes)?;
    let lines = text.lines().filter(|line| !(line.starts_with('#') && line.contains("seconds")));
    Ok(lines.collect::<Vec<_>>().join("\n").into_bytes())
}

/// Removes the time of creation from the metadata of a Zarr node and of the nodes that it consolidates.
fn remove_creation_time(metadata: &mut Value) {
    match metadata {
        Value::Object(members) => {
            members.remove("created_at");
            members.values_mut().for_each(remove_creation_time);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_creation_time),
        _ => {}
    }
}

/// Runs `algorithm`; the entry point of the child process.
pub(crate) fn child(algorithm: &str, every: &str, directory: &str) -> Result<Outcome> {
    let model = Gaussian::simulate(OBSERVATIONS, DIMENSIONS, 1);
    let run = Run { model: &model, every: every.parse()?, directory: Path::new(directory) };
    let scheme = WithoutReplacement::new(10);
    let minibatch = MinibatchGradient::new(scheme);
    let h = 1e-3;
    match algorithm {
        "sgld" => run.sample(Sgld, minibatch, h),
        "sgld-saga" => run.sample(Sgld, Saga::new(scheme), h),
        "sgld-svrg" => run.sample(Sgld, Svrg::new(scheme, 10), Polynomial { a: 2e-3, b: 1.0, gamma: 0.6 }),
        "cyclical" => run.sample(CyclicalSgld::new(50), ControlVariate::new(scheme), CyclicalCosine { h, period: 50 }),
        "sghmc" => run.sample(Sghmc::default(), MinibatchGradient::new(Epochs::new(10)), h),
        "sgnht" => run.sample(Sgnht::default(), minibatch, 0.3 * h),
        "baoab" => run.sample(Baoab { alpha: 0.2, ..Baoab::default() }, minibatch, h),
        "badodab" => run.sample(Badodab::default(), minibatch, h),
        "preconditioned" => {
            run.sample(PreconditionedSgld::from_precision(&model.posterior_precision(), DIMENSIONS)?, minibatch, 0.1)
        }
        "psgld" => run.sample(Psgld::default(), minibatch, h),
        "sgrld" => run.sample(Sgrld::new(metric()), minibatch, h),
        "sgfs" => run.sample(Sgfs::default(), minibatch, 0.05),
        "hamcmc" => run.sample(Hamcmc::default(), Svrg::new(scheme, 10), 0.01),
        "mala" => run.sample(Mala::default(), FullGradient, h),
        "hmc" => run.sample(Hmc { adapt: Some(DualAveraging::new(500)), ..Hmc::default() }, FullGradient, h),
        "qnhmc" => run.sample(Qnhmc::default(), FullGradient, h),
        "hmc-bfgs" => run.sample(HmcBfgs { steps: 2, ..HmcBfgs::default() }, FullGradient, h),
        "corrected-langevin" => run.sample(RiemannianMala::new(metric()), FullGradient, h),
        other => Err(format!("there is no algorithm {other}").into()),
    }
}

/// Returns a diagonal metric that depends on θ.
fn metric() -> Metric {
    Metric::diagonal(|theta: &[f64], m: &mut [f64]| {
        m.iter_mut().zip(theta).for_each(|(m, theta)| *m = 1.0 + 0.1 * theta.sin());
    })
}

/// The settings of a run in the child process.
struct Run<'a> {
    model: &'a Gaussian,
    every: u64,
    directory: &'a Path,
}

impl Run<'_> {
    /// Runs an algorithm until it completes or is stopped.
    fn sample<D, G>(&self, dynamics: D, gradient: G, step_size: impl Into<StepSize>) -> Result<Outcome>
    where
        D: Dynamics<G> + Clone + Debug + 'static,
        G: GradientEstimator + Clone + Debug + 'static,
    {
        let draws = self.directory.join("draws");
        fs::create_dir_all(&draws)?;
        let file = |name: &str, chain: usize, extension: &str| draws.join(format!("{name}-{chain}.{extension}"));
        let signal = StopSignal::on_ctrl_c()?;
        let store = FileCheckpoints::new(self.directory.join("checkpoints"))?;
        let start = array(self.model.posterior_mean(), [DIMENSIONS])?;
        let run = Builder::new(self.model.target(), dynamics, gradient, step_size).seed(7).chains(CHAINS).burn_in(100);
        let run = run.checkpoint(store, CheckpointInterval::Steps(self.every)).stop_on(&signal);
        let zarr = ZarrFit::new(draws.join("fit.zarr"))?;
        let sink = |chain| {
            let text = (CsvDraws::new(file("text", chain, "csv")), StanCsvDraws::new(file("stan", chain, "csv")));
            let binary = (
                NativeDraws::new(file("native", chain, "sgmcmc")),
                ParquetDraws::new(file("parquet", chain, "parquet")),
            );
            let zarr = zarr.chain();
            let memory = (Memory::default(), (Moments::new(SecondMoments::Covariance), Quantiles::new()));
            (memory, ((text, binary), zarr))
        };
        let outcome = run.sample_into(&start, draw_count(self.every), sink)?;
        let mut complete = true;
        for (chain, (((memory, (moments, quantiles)), _), chain_outcome)) in outcome.iter().enumerate() {
            match chain_outcome {
                ChainOutcome::Complete => {}
                ChainOutcome::Stopped => complete = false,
                ChainOutcome::Failed(error) => return Err(error.to_string().into()),
            }
            fs::write(file("memory", chain, "txt"), serde_json::to_string(&(memory, moments, quantiles))?)?;
        }
        if complete {
            fs::write(self.directory.join("complete"), "")?;
        }
        Ok(Outcome::Passed)
    }
}
