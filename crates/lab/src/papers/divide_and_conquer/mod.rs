//! Divide-and-conquer MCMC compared with SGLD and SGHMC.
//!
//! Consensus Monte Carlo, KDEMC and the Weierstrass sampler combine the draws of 20 shards. SGLD and SGHMC (L = 3) use
//! minibatches of 50 observations. Source: Baker (2019), §2.4.2, figures 2.4.1-2.4.4. The posteriors are the location
//! of a bivariate t distribution, the two centers of a mixture of bivariate normal distributions, a warped Gaussian, and
//! means of normal distributions in 2 to 20 dimensions.
//!
//! Each method is measured by the Kullback-Leibler divergence of its draws from the posterior, in ten runs on one data set. All
//! methods but consensus are tuned by this divergence in a separate run, as in the thesis. It is estimated by nearest
//! neighbors from draws of NUTS with the feature `nuts`, and from other draws without it: from grids, and for the mixture from Hamiltonian
//! Monte Carlo. The draws of the mixture are made symmetric. Normal posteriors are known exactly; the divergence is that of the moments of the draws, because
//! the estimate by nearest neighbors is far below zero in 10 and 20 dimensions.
//!
//! The thesis does not state the parameters of the simulated data. The mixture has 2000 observations by default instead
//! of 10 000, so that SGLD visits both modes in a reasonable time; `--mixture 10000 --iterations 5000000` is the size of
//! the thesis.
//!
//! Claims: NUTS agrees with the other draws; consensus is better than KDEMC on the t distribution; SGLD and SGHMC have a smaller median than each of the
//! three on the mixture and on the warped Gaussian; on normal posteriors no method is better than consensus by more than
//! two standard errors.
//!
//! ```text
//! cargo run --release -p lab --features nuts -- divide-and-conquer
//! ```

mod methods;
mod problems;

use rayon::prelude::*;

use crate::Result;
use crate::papers::figure::{self, Axis, Panel, Series};
use crate::papers::flags::Flags;
use crate::papers::stages::Stages;
use methods::{Lengths, Method, NAMES};
use problems::Problem;

/// The seed of the run that tunes.
const TUNING_SEED: u64 = 1000;
/// The largest divergence of draws of NUTS from other draws of the same posterior. That of two sets of 3000 independent draws is below
/// it.
const AGREEMENT: f64 = 0.1;
/// The dimensions of the normal posteriors.
const DIMENSIONS: [usize; 4] = [2, 5, 10, 20];

/// The divergences of a method in all runs, in ascending order.
struct Cell {
    method: Method,
    divergences: Vec<f64>,
}

impl Cell {
    /// Returns the quantile at `p`, between 0 and 1.
    fn quantile(&self, p: f64) -> f64 {
        sgmcmc::diagnostics::quantiles(&self.divergences, &[], &[p])[0]
    }

    /// Returns the standard error of the median, as for a normal distribution.
    fn standard_error(&self) -> f64 {
        let sd = (self.quantile(0.75) - self.quantile(0.25)) / 1.349;
        1.253 * sd / (self.divergences.len() as f64).sqrt()
    }
}

/// Runs the replication.
pub(super) fn run(arguments: &[String]) -> Result<()> {
    let mut flags = Flags::parse(arguments, "Divide-and-conquer MCMC, SGLD and SGHMC on four posteriors.")?;
    let runs: u64 = flags.get("runs", 10, "runs of each method")?;
    let lengths = Lengths {
        shards: flags.get("shards", 20, "shards")?,
        draws: flags.get("draws", 1000, "draws of each shard and of each method")?,
        iterations: flags.get(
            "iterations",
            600_000,
            "iterations of SGLD and SGHMC on the mixture and the warped Gaussian, a quarter elsewhere",
        )?,
        minibatch: flags.get("minibatch", 50, "observations of a minibatch")?,
    };
    let observations: usize = flags.get("observations", 800, "observations of all problems but the mixture")?;
    let mixture: usize = flags.get("mixture", 2000, "observations of the mixture")?;
    let figure = flags.get("figure", "target/divide_and_conquer.svg".to_owned(), "file of the figure")?;
    let stages = Stages::new(&flags.finish()?);
    println!("SIMULATED data; divergence from the posterior in {runs} runs\n");
    let shorter = Lengths { iterations: lengths.iterations / 4, ..lengths };
    let (mut panels, mut claims) = (Vec::new(), Vec::new());

    let student = problems::student(observations)?;
    claims.extend(agreement(&student));
    let cells = compare(&student, shorter, runs, stages, &mut panels)?;
    claims.push(smaller(&student.title, &cells, 0, 1));
    for problem in [problems::mixture(mixture)?, problems::warped(observations)?] {
        claims.extend(agreement(&problem));
        let cells = compare(&problem, lengths, runs, stages, &mut panels)?;
        let beats = |good: usize| [0, 1, 2].map(|other| smaller(&problem.title, &cells, good, other));
        claims.extend([3, 4].into_iter().flat_map(beats));
    }
    let mut by_dimension = Vec::new();
    for dim in DIMENSIONS {
        let cells = compare(&problems::gaussian(observations, dim)?, shorter, runs, stages, &mut panels)?;
        let consensus = &cells[0];
        for (name, cell) in NAMES.iter().zip(&cells).skip(1) {
            let error = consensus.standard_error().hypot(cell.standard_error());
            let (found, other) = (consensus.quantile(0.5), cell.quantile(0.5));
            let text =
                format!("Gaussian, d = {dim}: consensus {found:.3} is not above {name} {other:.3} + 2 · {error:.3}");
            claims.push((text, found <= other + 2.0 * error));
        }
        by_dimension.push(cells);
    }
    panels.push(dimensions(&by_dimension));
    figure::save(&figure, &panels)?;
    println!();
    let mut failed = 0;
    for (claim, holds) in claims {
        failed += usize::from(!holds);
        println!("{claim}: {}", if holds { "pass" } else { "FAIL" });
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} claims do not hold").into()) }
}

/// Returns the claim that NUTS agrees with other draws of the posterior, if there are draws of NUTS.
fn agreement(problem: &Problem) -> Option<(String, bool)> {
    let divergence = problem.nuts?;
    let text = format!("{}: the divergence of NUTS from other draws is {divergence:.3}", problem.title);
    Some((format!("{text}, below {AGREEMENT}"), divergence.abs() < AGREEMENT))
}

/// Returns the claim that the median of method `good` is smaller than that of method `other`.
fn smaller(problem: &str, cells: &[Cell], good: usize, other: usize) -> (String, bool) {
    let (found, more) = (cells[good].quantile(0.5), cells[other].quantile(0.5));
    (format!("{problem}: {} {found:.3} is below {} {more:.3}", NAMES[good], NAMES[other]), found < more)
}

/// Tunes all methods, runs them, and prints their quartiles.
fn compare(
    problem: &Problem,
    lengths: Lengths,
    runs: u64,
    stages: Stages,
    panels: &mut Vec<Panel>,
) -> Result<Vec<Cell>> {
    println!("{}: {} observations, {} shards", problem.title, problem.observations, lengths.shards);
    println!("{:<12} {:>9} {:>9} {:>9}   setting", "method", "25 %", "median", "75 %");
    stages.begin(&format!("{}: runs of the shards", problem.title));
    let tuning = methods::shards(problem, lengths, TUNING_SEED)?;
    let fits = (1..=runs).map(|seed| methods::shards(problem, lengths, seed)).collect::<Result<Vec<_>>>()?;
    let mut cells = Vec::new();
    for (index, name) in NAMES.iter().enumerate() {
        stages.begin(&format!("{}: {name}", problem.title));
        let mut candidates = Method::candidates(index, problem);
        if candidates.len() > 1 {
            let scored = candidates.into_par_iter().map(|method| {
                let divergence = method.divergence(problem, &tuning, lengths, TUNING_SEED);
                divergence.map(|divergence| (method, divergence)).map_err(|error| error.to_string())
            });
            let mut scored = scored.collect::<std::result::Result<Vec<_>, String>>()?;
            scored.sort_by(|one, other| one.1.total_cmp(&other.1));
            candidates = scored.into_iter().map(|(method, _)| method).collect();
        }
        let method = candidates[0];
        let divergences = fits.par_iter().enumerate().map(|(index, shards)| {
            method.divergence(problem, shards, lengths, index as u64 + 1).map_err(|error| error.to_string())
        });
        let mut divergences = divergences.collect::<std::result::Result<Vec<_>, String>>()?;
        divergences.sort_by(f64::total_cmp);
        let cell = Cell { method, divergences };
        let [low, median, high] = [0.25, 0.5, 0.75].map(|p| cell.quantile(p));
        println!("{name:<12} {low:>9.3} {median:>9.3} {high:>9.3}   {:?}", cell.method);
        cells.push(cell);
    }
    println!();
    panels.push(boxes(problem, &cells));
    Ok(cells)
}

/// Returns box plots of the divergences.
fn boxes(problem: &Problem, cells: &[Cell]) -> Panel {
    let one = |(index, (name, cell)): (usize, (&&str, &Cell))| {
        let x = index as f64 + 1.0;
        let [least, low, median, high, most] = [0.0, 0.25, 0.5, 0.75, 1.0].map(|p| cell.quantile(p));
        // One line draws the lower whisker, the box with its median, and the upper whisker.
        let corners = [
            (0.0, least),
            (0.0, low),
            (-0.3, low),
            (-0.3, median),
            (0.3, median),
            (0.3, low),
            (0.0, low),
            (0.3, low),
            (0.3, high),
            (-0.3, high),
            (-0.3, median),
            (-0.3, high),
            (0.0, high),
            (0.0, most),
        ];
        let points = corners.into_iter().map(|(shift, y)| (x + shift, y)).collect();
        Series { name: (*name).to_owned(), color: index, dots: false, points }
    };
    Panel {
        title: problem.title.clone(),
        x: Axis { label: "method", log: false },
        y: Axis { label: "KL divergence", log: false },
        series: NAMES.iter().zip(cells).enumerate().map(one).collect(),
    }
}

/// Returns the medians on normal posteriors over the dimension.
fn dimensions(cells: &[Vec<Cell>]) -> Panel {
    let line = |(index, name): (usize, &&str)| {
        let points = DIMENSIONS.iter().zip(cells).map(|(dim, cells)| (*dim as f64, cells[index].quantile(0.5)));
        Series { name: (*name).to_owned(), color: index, dots: false, points: points.collect() }
    };
    Panel {
        title: "Gaussian".into(),
        x: Axis { label: "dimension", log: false },
        y: Axis { label: "median KL divergence", log: false },
        series: NAMES.iter().enumerate().map(line).collect(),
    }
}
