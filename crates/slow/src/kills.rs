//! Runs that are killed at random moments and resumed, over all algorithms and sinks.
//!
//! Each run is a child process with two chains, checkpoints and every sink that writes files. It is killed at random moments
//! (SIGKILL mostly, now and then SIGINT or SIGTERM) and started again until it comes to its end.
//!
//! Criterion: every sink then has the same draws, bit for bit, as in a run that was never interrupted.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::RngExt;
use sgmcmc::prelude::*;
use sgmcmc::run::{Ending, Every, StopSignal};
use sgmcmc::sink::{Memory, Moments, Quantiles, Spread};
use sgmcmc::storage::fits::{self, native::NativeDraws, parquet::ParquetDraws, stan_csv::StanCsvDraws, zarr::ZarrFit};
use sgmcmc::storage::{CsvDraws, FileCheckpoints};
use sgmcmc::{Dynamics, GradientEstimator, StepSize};
use sgmcmc_testkit::models::gaussian::Gaussian;
use sgmcmc_testkit::rng;

use crate::{Outcome, Result};

/// Kills of a run of the suite, unless told otherwise.
pub(crate) const KILLS: u32 = 1000;

const OBSERVATIONS: usize = 50;
const DIMENSIONS: usize = 3;
const CHAINS: usize = 2;

/// Draws of a run with checkpoints every so many iterations. Runs with many checkpoints have fewer: each costs several
/// synchronizations with the disk.
fn draw_count(every: u64) -> usize {
    6000.min(60 + 100 * every as usize)
}

/// Iterations between checkpoints; each run has another of these.
const EVERY: [u64; 4] = [1, 12, 500, 2000];

/// The algorithms by name.
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

/// Kills runs until there were `kills` kills.
pub(crate) fn run(kills: u32, seed: u64) -> Result<Outcome> {
    let program = std::env::current_exe()?;
    let place = std::env::temp_dir().join(format!("sgmcmc-kills-{}", std::process::id()));
    let mut rng = rng(seed);
    let (mut total, mut runs, mut failures) = (Kills::default(), 0, 0);
    while total.all() < kills {
        let algorithm = ALGORITHMS[runs % ALGORITHMS.len()];
        let every = EVERY[(runs / ALGORITHMS.len()) % EVERY.len()];
        let task = Task { program: &program, algorithm, every };
        let whole = fresh(&place.join("whole"))?;
        let began = Instant::now();
        if !task.spawn(&whole)?.wait()?.success() {
            return Err(format!("{algorithm} does not run").into());
        }
        let duration = began.elapsed().as_secs_f64();
        let killed = fresh(&place.join("killed"))?;
        let mut own = Kills::default();
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
                own.count(signal);
            }
            let status = child.wait()?;
            if status.success() && is_complete(&killed) {
                break;
            }
            if !running && !status.success() {
                return Err(format!("{algorithm} failed by itself after {} kills", own.all()).into());
            }
        }
        let same = files(&whole)? == files(&killed)?;
        println!(
            "{algorithm:<20} checkpoint every {every:>4} steps: {:>3} kills, {}",
            own.all(),
            if same { "same" } else { "DIFFERENT" }
        );
        failures += usize::from(!same);
        total.add(&own);
        runs += 1;
    }
    fs::remove_dir_all(&place)?;
    println!(
        "{} kills (KILL {}, INT {}, TERM {}) in {runs} runs: {failures} runs differ",
        total.all(),
        total.kill,
        total.int,
        total.term
    );
    Ok(Outcome::of(failures))
}

/// How often which signal was sent.
#[derive(Clone, Copy, Debug, Default)]
struct Kills {
    kill: u32,
    int: u32,
    term: u32,
}

impl Kills {
    fn count(&mut self, signal: &str) {
        match signal {
            "INT" => self.int += 1,
            "TERM" => self.term += 1,
            _ => self.kill += 1,
        }
    }

    fn add(&mut self, other: &Self) {
        self.kill += other.kill;
        self.int += other.int;
        self.term += other.term;
    }

    fn all(&self) -> u32 {
        self.kill + self.int + self.term
    }
}

/// A run to be killed.
struct Task<'a> {
    program: &'a Path,
    algorithm: &'a str,
    every: u64,
}

impl Task<'_> {
    fn spawn(&self, directory: &Path) -> Result<Child> {
        let mut command = Command::new(self.program);
        command.args(["kills-child", self.algorithm, &self.every.to_string()]).arg(directory);
        Ok(command.stdout(Stdio::null()).spawn()?)
    }
}

/// An empty directory.
fn fresh(path: &Path) -> Result<PathBuf> {
    if path.exists() {
        fs::remove_dir_all(path)?;
    }
    fs::create_dir_all(path)?;
    Ok(path.to_owned())
}

/// Whether the run in `directory` came to its end, and not only to a stop.
fn is_complete(directory: &Path) -> bool {
    directory.join("complete").exists()
}

/// The beginning of the names of files that a killed process has not finished. Nothing reads them.
const UNFINISHED: &str = ".unfinished-";

/// The draws of all sinks below `directory`, by name.
///
/// A run that is asked to stop flushes its sinks where it stands, so that blocks of the native and the Parquet format begin and end
/// elsewhere than in a run that is not. Those files are compared by what is read from them, all others by their bytes.
fn files(directory: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.join("draws")];
    while let Some(next) = open.pop() {
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
                open.push(path);
            } else {
                found.insert(relative, content(&path)?);
            }
        }
    }
    Ok(found)
}

/// A file without the lines that have the time the run took.
fn content(path: &Path) -> Result<Vec<u8>> {
    let bytes = fs::read(path)?;
    if path.extension().is_none_or(|ending| ending != "csv") {
        return Ok(bytes);
    }
    let text = String::from_utf8(bytes)?;
    let timeless = text.lines().filter(|line| !(line.starts_with('#') && line.contains("seconds")));
    Ok(timeless.collect::<Vec<_>>().join("\n").into_bytes())
}

/// The run itself, in a process of its own.
pub(crate) fn child(algorithm: &str, every: &str, directory: &str) -> Result<Outcome> {
    let model = Gaussian::simulate(OBSERVATIONS, DIMENSIONS, 1);
    let run = Run { model: &model, every: every.parse()?, directory: Path::new(directory) };
    let scheme = WithoutReplacement::new(10);
    let minibatch = MinibatchGradient::new(scheme);
    let h = 1e-3;
    match algorithm {
        "sgld" => run.with(Sgld, minibatch, h),
        "sgld-saga" => run.with(Sgld, Saga::new(scheme), h),
        "sgld-svrg" => run.with(Sgld, Svrg::new(scheme, 10), Polynomial { a: 2e-3, b: 1.0, gamma: 0.6 }),
        "cyclical" => run.with(CyclicalSgld::new(50), ControlVariate::new(scheme), CyclicalCosine { h, period: 50 }),
        "sghmc" => run.with(Sghmc::default(), MinibatchGradient::new(Epochs::new(10)), h),
        "sgnht" => run.with(Sgnht::default(), minibatch, 0.3 * h),
        "baoab" => run.with(Baoab { alpha: 0.2 }, minibatch, h),
        "badodab" => run.with(Badodab::default(), minibatch, h),
        "preconditioned" => {
            run.with(Preconditioned::inverse_of(&model.posterior_precision(), DIMENSIONS)?, minibatch, 0.1)
        }
        "psgld" => run.with(Psgld::default(), minibatch, h),
        "sgrld" => run.with(Sgrld::new(metric()), minibatch, h),
        "sgfs" => run.with(Sgfs::default(), minibatch, 0.05),
        "hamcmc" => run.with(Hamcmc::default(), Svrg::new(scheme, 10), 0.01),
        "mala" => run.with(Mala::default(), FullGradient, h),
        "hmc" => run.with(Hmc { adapt: Some(DualAveraging::new(500)), ..Hmc::default() }, FullGradient, h),
        "qnhmc" => run.with(Qnhmc::default(), FullGradient, h),
        "hmc-bfgs" => run.with(HmcBfgs { steps: 2, ..HmcBfgs::default() }, FullGradient, h),
        "corrected-langevin" => run.with(CorrectedLangevin::new(metric()), FullGradient, h),
        other => Err(format!("there is no algorithm {other}").into()),
    }
}

/// A diagonal metric that depends on θ.
fn metric() -> Metric {
    Metric::diagonal(|theta: &[f64], m: &mut [f64]| {
        m.iter_mut().zip(theta).for_each(|(m, theta)| *m = 1.0 + 0.1 * theta.sin());
    })
}

struct Run<'a> {
    model: &'a Gaussian,
    every: u64,
    directory: &'a Path,
}

impl Run<'_> {
    fn with<D, G>(&self, dynamics: D, gradient: G, step_size: impl Into<StepSize>) -> Result<Outcome>
    where
        D: Dynamics<G> + Clone + Debug + 'static,
        G: GradientEstimator + Clone + Debug + 'static,
    {
        let draws = self.directory.join("draws");
        fs::create_dir_all(&draws)?;
        let file = |name: &str, chain: usize, ending: &str| draws.join(format!("{name}-{chain}.{ending}"));
        let signal = StopSignal::on_ctrl_c()?;
        let store = FileCheckpoints::new(self.directory.join("checkpoints"))?;
        let start = array(self.model.posterior_mean(), [DIMENSIONS])?;
        let run = Builder::new(self.model.target(), dynamics, gradient, step_size).seed(7).chains(CHAINS).burn_in(100);
        let run = run.checkpoint(store, Every::Steps(self.every)).stop_on(&signal);
        let zarr = ZarrFit::new(draws.join("fit.zarr"))?;
        let sink = |chain| {
            let text = (CsvDraws::new(file("text", chain, "csv")), StanCsvDraws::new(file("stan", chain, "csv")));
            let binary = (
                NativeDraws::new(file("native", chain, "sgmcmc")),
                ParquetDraws::new(file("parquet", chain, "parquet")),
            );
            let zarr = zarr.chain();
            let memory = (Memory::default(), (Moments::new(Spread::Covariance), Quantiles::new()));
            (memory, ((text, binary), zarr))
        };
        let outcome = run.sample_into(&start, draw_count(self.every), sink)?;
        let mut complete = true;
        for (chain, (((memory, (moments, quantiles)), _), ending)) in outcome.iter().enumerate() {
            match ending {
                Ending::Complete => {}
                Ending::Stopped => complete = false,
                Ending::Failed(error) => return Err(error.to_string().into()),
            }
            fs::write(file("memory", chain, "txt"), serde_json::to_string(&(memory, moments, quantiles))?)?;
        }
        if complete {
            fs::write(self.directory.join("complete"), "")?;
        }
        Ok(Outcome::Passed)
    }
}
