//! Matrix factorization of MovieLens-1M in blocks, on several ranks: DSGLD, PSGLD and HAMCMC.
//!
//! The model is rating ~ N(Wᵢ·Hⱼ, 1) with standard normal priors and 10 factors; a tenth of the ratings is the test set; the step
//! sizes are constant; the first 50 iterations are burn-in; HAMCMC has M = 2. Source: Şimşekli et al. (2016), §4.3, figure 5. The
//! paper does not state its step sizes. Those here were chosen on a coarse grid by the error after 200 iterations; with
//! twice as large ones DSGLD and PSGLD on 4 × 4 blocks have a larger error than on one block.
//!
//! The matrix has 4 × 4 blocks. The draws do not depend on the number of ranks, so that figures over iterations are those of any number. Seconds
//! are those of 4 ranks, without predictions. The run on a single machine has one block: each of its gradients takes all ratings.
//!
//! Claims: HAMCMC reaches the last error of DSGLD in fewer iterations than DSGLD; 2 ranks make at least 1.7 times as many iterations
//! per second as 1; the last error of each algorithm is at most 0.005 above that of the run on a single machine.
//!
//! ```text
//! cargo run --release -p lab --features mpi -- movielens
//! ```

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use sgmcmc::algorithms::InitialScale;
use sgmcmc::distributed::collective::{self, Collective};
use sgmcmc::distributed::factorization::{
    BlockAlgorithm, BlockPredictions, BlockSampler, BlockedEntries, BlockedFactorization, GaussianEntries, Grid,
};
use sgmcmc::models::factorization::Entry;

use crate::Result;
use crate::papers::data_directory;
use crate::papers::figure::{self, Axis, Panel, Series};
use crate::papers::flags::Flags;
use crate::papers::ratings;
use crate::papers::stages::Stages;
use crate::ranks::Transport;

/// The names of the algorithms.
const NAMES: [&str; 3] = ["DSGLD", "PSGLD", "HAMCMC"];
/// The number of iterations before predictions are averaged.
const BURN_IN: u64 = 50;
/// The number of iterations before the seconds of the throughput are counted.
const WARM_UP: u64 = 20;
/// The number of ranks of the run with the errors.
const RANKS: usize = 4;
/// The least throughput of 2 ranks, in that of 1.
const LEAST_SPEED_UP: f64 = 1.7;
/// The most by which an error may be above that of the single machine.
const MARGIN: f64 = 0.005;

/// The settings of a run.
struct Settings {
    iterations: u64,
    every: u64,
    factors: usize,
    blocks: usize,
    /// True if no predictions are made.
    throughput: bool,
    /// The step sizes of the algorithms.
    steps: [f64; 3],
    lambda: f64,
    gamma: f64,
    psgld_lambda: f64,
    algorithm: String,
    directory: String,
}

impl Settings {
    fn read(flags: &mut Flags) -> Result<Self> {
        Ok(Self {
            iterations: flags.get("iterations", 1000, "iterations")?,
            every: flags.get("every", 10, "iterations between two errors")?,
            factors: flags.get("factors", 10, "length of the factors")?,
            blocks: flags.get("blocks", 4, "blocks of rows, and of columns")?,
            throughput: flags.get("throughput", false, "true: only the iterations per second of 1 and 2 ranks")?,
            steps: [
                flags.get("dsgld", 3e-4, "step size of DSGLD")?,
                flags.get("psgld", 3e-4, "step size of PSGLD")?,
                flags.get("hamcmc", 1e-1, "step size of HAMCMC")?,
            ],
            lambda: flags.get("lambda", 1e4, "regularization of HAMCMC")?,
            gamma: flags.get("gamma", 5e-3, "scale of the matrix of HAMCMC")?,
            psgld_lambda: flags.get("psgld-lambda", 1.0, "regularization of PSGLD")?,
            algorithm: flags.get("algorithm", "all".to_owned(), "DSGLD, PSGLD, HAMCMC or all")?,
            directory: data_directory(flags)?,
        })
    }

    fn algorithm(&self, index: usize) -> BlockAlgorithm {
        let Self { lambda, gamma, psgld_lambda, .. } = *self;
        match index {
            0 => BlockAlgorithm::Sgld,
            1 => BlockAlgorithm::Psgld { alpha: 0.99, lambda: psgld_lambda },
            _ => BlockAlgorithm::Hamcmc { memory: 2, lambda, gamma: InitialScale::Fixed(gamma) },
        }
    }

    /// Returns the indices of the algorithms to run.
    fn chosen(&self) -> impl Iterator<Item = usize> + '_ {
        (0..NAMES.len()).filter(|index| self.algorithm == "all" || self.algorithm == NAMES[*index])
    }
}

/// The errors of one algorithm.
#[derive(Clone, Default)]
struct Trace {
    /// Iterations, seconds, the error of the last draw, and that of the mean prediction.
    rows: Vec<[f64; 4]>,
}

impl Trace {
    fn last(&self) -> f64 {
        self.rows.last().map_or(f64::NAN, |row| row[3])
    }

    /// Returns the first iteration whose error is at most `error`.
    fn reaches(&self, error: f64) -> Option<f64> {
        self.rows.iter().find(|row| row[3] <= error).map(|row| row[0])
    }
}

/// Runs the replication.
pub(super) fn run(arguments: &[String]) -> Result<()> {
    let mut flags = Flags::parse(arguments, "Matrix factorization of MovieLens-1M in blocks, on several ranks.")?;
    let settings = Settings::read(&mut flags)?;
    let figure = flags.get("figure", "target/movielens.svg".to_owned(), "file of the figure")?;
    let stages = Stages::new(&flags.finish()?);
    let transport = Transport::best();
    let ratings = ratings::read("ml-1m", &settings.directory)?;
    ratings.print_note();
    let (rows, columns, count) = (ratings.entries.rows(), ratings.entries.columns(), ratings.entries.len());
    println!("{rows} users, {columns} films, {count} ratings; {} factors; ranks over {transport}\n", settings.factors);
    let mut claims = Vec::new();
    if !settings.throughput {
        claims.extend(errors(&settings, transport, arguments, &figure, stages)?);
    }
    claims.extend(throughput(&settings, transport, arguments, stages)?);
    println!();
    let mut failed = 0;
    for (claim, holds) in claims {
        failed += usize::from(!holds);
        println!("{claim}: {}", if holds { "pass" } else { "FAIL" });
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} claims do not hold").into()) }
}

/// Compares the errors of the algorithms with each other and with those of a single machine.
fn errors(
    settings: &Settings,
    transport: Transport,
    arguments: &[String],
    figure: &str,
    stages: Stages,
) -> Result<Vec<(String, bool)>> {
    stages.begin(&format!("all algorithms on {RANKS} ranks"));
    let several = traces(&transport.run(RANKS, "movielens", arguments)?)?;
    stages.begin("all algorithms on one machine");
    let single = traces(&Transport::Threads.run(1, "movielens", &with_flag("blocks", "1", arguments))?)?;
    println!(
        "{:<8} {:>10} {:>9} {:>14} {:>16} {:>15}",
        "", "iterations", "seconds", "rmse of a draw", "rmse of the mean", "single machine"
    );
    for index in settings.chosen() {
        if let Some([iterations, seconds, draw, mean]) = several[index].rows.last() {
            let alone = single[index].last();
            println!("{:<8} {iterations:>10} {seconds:>9.1} {draw:>14.4} {mean:>16.4} {alone:>15.4}", NAMES[index]);
        }
    }
    figure::save(figure, &panels(&several, &single))?;
    let mut claims = Vec::new();
    if settings.algorithm == "all" {
        let (target, end) = (several[0].last(), several[0].rows.last().map_or(0.0, |row| row[0]));
        let reached = several[2].reaches(target);
        let found = reached.map_or("never".to_owned(), |iteration| format!("after {iteration} iterations"));
        let text = format!("HAMCMC reaches the last error of DSGLD, {target:.4} after {end} iterations, {found}");
        claims.push((text, reached.is_some_and(|iteration| iteration < end)));
    }
    for index in settings.chosen() {
        let (found, alone) = (several[index].last(), single[index].last());
        let text =
            format!("{}: {found:.4} on {RANKS} ranks is at most {alone:.4} + {MARGIN} of one machine", NAMES[index]);
        claims.push((text, found <= alone + MARGIN));
    }
    Ok(claims)
}

/// Returns the arguments with `--name value` before them. The first value of a flag counts.
fn with_flag(name: &str, value: &str, arguments: &[String]) -> Vec<String> {
    [&[format!("--{name}"), value.to_owned()], arguments].concat()
}

/// Measures the iterations per second of 1 and 2 ranks.
fn throughput(
    settings: &Settings,
    transport: Transport,
    arguments: &[String],
    stages: Stages,
) -> Result<Vec<(String, bool)>> {
    let arguments = with_flag("throughput", "true", arguments);
    let mut rates = Vec::new();
    for ranks in [1, 2] {
        stages.begin(&format!("iterations per second of {ranks} rank(s)"));
        let found = traces(&transport.run(ranks, "movielens", &arguments)?)?;
        let rate = |trace: &Trace| trace.rows.last().map_or(f64::NAN, |row| row[0] / row[1]);
        rates.push(found.iter().map(rate).collect::<Vec<_>>());
    }
    println!("\n{:<8} {:>24} {:>24}", "", "iterations/s of 1 rank", "of 2 ranks");
    let mut claims = Vec::new();
    for index in settings.chosen() {
        let (one, two) = (rates[0][index], rates[1][index]);
        println!("{:<8} {one:>24.1} {two:>24.1}", NAMES[index]);
        let text = format!(
            "{}: 2 ranks make {:.2} times the iterations of 1, at least {LEAST_SPEED_UP}",
            NAMES[index],
            two / one
        );
        claims.push((text, two >= LEAST_SPEED_UP * one));
    }
    Ok(claims)
}

/// Returns the panels over iterations and over seconds.
fn panels(several: &[Trace], single: &[Trace]) -> Vec<Panel> {
    let panel = |label: &'static str, x: usize, traces: &[Trace], title: &str| {
        let line = |(color, (name, trace)): (usize, (&&str, &Trace))| {
            let points = trace.rows.iter().map(|row| (row[x], row[3])).collect();
            Series { name: (*name).to_owned(), color, dots: false, points }
        };
        Panel {
            title: title.into(),
            x: Axis { label, log: false },
            y: Axis { label: "RMSE of the mean prediction", log: false },
            series: NAMES.iter().zip(traces).enumerate().map(line).collect(),
        }
    };
    vec![
        panel("iterations", 0, several, "4 ranks"),
        panel("seconds", 1, several, "4 ranks"),
        panel("iterations", 0, single, "one machine, all ratings per gradient"),
    ]
}

/// Reads the text of [`sample`].
fn traces(text: &str) -> Result<Vec<Trace>> {
    let mut traces = vec![Trace::default(); NAMES.len()];
    for line in text.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let Some((name, numbers)) = fields.split_first() else { continue };
        let index = NAMES.iter().position(|known| known == name).ok_or_else(|| format!("`{line}` is not a result"))?;
        let numbers = numbers.iter().map(|number| number.parse()).collect::<std::result::Result<Vec<f64>, _>>()?;
        let row = <[f64; 4]>::try_from(numbers).map_err(|_| format!("`{line}` is not a result"))?;
        traces[index].rows.push(row);
    }
    Ok(traces)
}

/// Runs the algorithms on this rank. Returns a line per error: the name, the iteration, the seconds and two errors.
pub(crate) fn sample(ranks: &Arc<dyn Collective>, arguments: &[String]) -> collective::Result<String> {
    let failed = |error: Box<dyn std::error::Error>| collective::Error::Launch { reason: error.to_string() };
    let settings = || -> Result<Settings> { Settings::read(&mut Flags::parse(arguments, "One rank.")?) };
    let settings = settings().map_err(failed)?;
    let ratings = ratings::read("ml-1m", &settings.directory).map_err(failed)?.entries;
    let (train, test) = ratings.split(0.9, 1)?;
    let grid = Arc::new(Grid::new(ratings.rows(), ratings.columns(), settings.blocks, 1)?);
    // Each rank hands in some of the ratings, as if it had read a part of the file.
    let own = |entries: &sgmcmc::models::factorization::Entries| -> collective::Result<BlockedEntries> {
        let own: Vec<Entry> = entries.iter().skip(ranks.rank()).step_by(ranks.size()).collect();
        BlockedEntries::distribute(ranks.clone(), grid.clone(), own)
    };
    let (train, test) = (own(&train)?, own(&test)?);
    let mut text = String::new();
    for index in settings.chosen() {
        let model = BlockedFactorization::new(settings.factors).algorithm(settings.algorithm(index));
        let mut sampler = model.step_size(settings.steps[index]).start_scale(0.5).seed(1).sampler(train.clone())?;
        let rows = if settings.throughput {
            vec![timed(ranks, &mut sampler, settings.iterations)?]
        } else {
            traced(ranks, &mut sampler, BlockPredictions::new(test.clone()), &settings)?
        };
        for [iteration, seconds, draw, mean] in rows {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{} {iteration} {seconds} {draw} {mean}", NAMES[index]);
        }
    }
    Ok(text)
}

/// Returns the seconds of `iterations` iterations.
fn timed(
    ranks: &Arc<dyn Collective>,
    sampler: &mut BlockSampler<GaussianEntries>,
    iterations: u64,
) -> collective::Result<[f64; 4]> {
    (0..WARM_UP).try_for_each(|_| sampler.step())?;
    ranks.barrier()?;
    let began = Instant::now();
    (0..iterations).try_for_each(|_| sampler.step())?;
    ranks.barrier()?;
    Ok([iterations as f64, began.elapsed().as_secs_f64(), f64::NAN, f64::NAN])
}

/// Returns the errors of a run. The first iterations have no mean prediction, and the error of the draw in its place.
fn traced(
    ranks: &Arc<dyn Collective>,
    sampler: &mut BlockSampler<GaussianEntries>,
    mut predictions: BlockPredictions,
    settings: &Settings,
) -> collective::Result<Vec<[f64; 4]>> {
    let (mut rows, mut seconds) = (Vec::new(), 0.0);
    while sampler.iteration() < settings.iterations {
        ranks.barrier()?;
        let began = Instant::now();
        sampler.step()?;
        seconds += began.elapsed().as_secs_f64();
        let t = sampler.iteration();
        if t > BURN_IN {
            predictions.push(sampler)?;
        } else if t.is_multiple_of(settings.every) {
            predictions.predict(sampler)?;
        }
        if t.is_multiple_of(settings.every) {
            let errors = predictions.rmse()?;
            let mean = if t > BURN_IN { errors.of_mean } else { errors.of_draw };
            rows.push([t as f64, seconds, errors.of_draw, mean]);
        }
    }
    Ok(rows)
}
