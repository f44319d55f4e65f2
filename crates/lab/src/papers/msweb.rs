//! Dirichlet-process mixture of visits to a web site: SCIR against SGRLD.
//!
//! The model is xᵢ ~ Multinomial(nᵢ, θ_{zᵢ}), θ, z ~ DP(Dirichlet(a), α), sampled by the stochastic slice sampler with
//! minibatches of 1000 users. Source: Baker (2019), section 5.5.2, figure 5.5.1b and table B.5.3. The score is the
//! negative mean log predictive density of the test users. A sampler with the same minibatches and exact conditional
//! distributions of the weights and components, which the thesis does not have, is shown for comparison.
//!
//! Claims: SCIR has the lower test score with each seed, and its scores vary less between seeds. SGRLD proposes more
//! clusters than are needed.
//!
//! ```text
//! cargo run --release -p lab -- msweb
//! cargo run --release -p lab -- msweb --seeds 2 --iterations 200
//! ```

use std::time::Instant;

use rayon::prelude::*;
use sgmcmc::datasets;
use sgmcmc::models::mixture::{Concentration, Counts, DirichletProcess, Evaluation, Multinomial, Update};

use crate::Result;
use crate::papers::data_directory;
use crate::papers::data_files::or_synthetic;
use crate::papers::figure::{self, Axis, Panel, Series};
use crate::papers::flags::Flags;
use crate::papers::stages::Stages;

const MINIBATCH: usize = 1000;
/// The number of users of the data set, for synthetic data.
const USERS: usize = 32_711;

/// A row of table B.5.3.
struct Method {
    name: &'static str,
    /// The parameter a of the Dirichlet base distribution.
    base: f64,
    initial_clusters: usize,
    components: Update,
    sticks: Update,
}

const SCIR: Method =
    Method { name: "SCIR", base: 0.5, initial_clusters: 20, components: Update::Scir(0.1), sticks: Update::Scir(0.1) };
const SGRLD: Method = Method {
    name: "SGRLD",
    base: 0.001,
    initial_clusters: 30,
    components: Update::Sgrld(0.001),
    sticks: Update::Sgrld(0.005),
};
const GIBBS: Method =
    Method { name: "Gibbs", base: 0.5, initial_clusters: 20, components: Update::Gibbs, sticks: Update::Gibbs };

/// The course of a run.
struct Course {
    /// The iterations and scores of single mixtures.
    scores: Vec<(f64, f64)>,
    /// The score of the mean predictive density of the second half.
    averaged: f64,
    /// The number of clusters and the number of components up to the last occupied one at the end.
    clusters: usize,
    components: usize,
    seconds: f64,
}

impl Course {
    /// Returns the mean score of the last fifth of the run.
    fn last(&self) -> f64 {
        let tail = &self.scores[self.scores.len() - self.scores.len().div_ceil(5)..];
        tail.iter().map(|(_, score)| score).sum::<f64>() / tail.len() as f64
    }
}

/// Runs the replication.
pub(super) fn run(arguments: &[String]) -> Result<()> {
    let mut flags = Flags::parse(arguments, "Dirichlet-process mixture of visits to a web site.")?;
    let seeds: u64 = flags.get("seeds", 5, "runs of each method")?;
    let iterations: u64 = flags.get("iterations", 1000, "iterations of each run")?;
    let every: u64 = flags.get("every", 10, "iterations per evaluation of the score")?;
    let dir = data_directory(&mut flags)?;
    let figure = flags.get("figure", "target/msweb.svg".to_owned(), "file of the figure")?;
    let stages = Stages::new(&flags.finish()?);
    if seeds == 0 || every == 0 || iterations < every {
        return Err("use at least one seed, and at least one evaluation".into());
    }
    let data = or_synthetic(datasets::msweb(&dir), || datasets::msweb_like(USERS, 1))?;
    let (train, test) = (Counts::from_column(&data.train.columns()[0])?, Counts::from_column(&data.test.columns()[0])?);

    let methods = [SCIR, SGRLD, GIBBS];
    let mut courses = Vec::new();
    println!(
        "{:<7} {:>5} {:>11} {:>15} {:>9} {:>11} {:>8}",
        "method", "seed", "test score", "posterior mean", "clusters", "components", "seconds"
    );
    for method in &methods {
        stages.begin(&format!("{}: {seeds} runs of {iterations} iterations", method.name));
        let runs: Vec<Course> = (1..=seeds)
            .into_par_iter()
            .map(|seed| course(method, &train, &test, seed, iterations, every).map_err(|error| error.to_string()))
            .collect::<std::result::Result<_, String>>()?;
        for (seed, run) in (1..).zip(&runs) {
            println!(
                "{:<7} {seed:>5} {:>11.4} {:>15.4} {:>9} {:>11} {:>8.1}",
                method.name,
                run.last(),
                run.averaged,
                run.clusters,
                run.components,
                run.seconds
            );
        }
        courses.push(runs);
    }
    figure::save(&figure, &[panel(&methods, &courses)])?;
    verdict(&courses[0], &courses[1])
}

/// Runs a method with one seed.
fn course(
    method: &Method,
    train: &Counts,
    test: &Counts,
    seed: u64,
    iterations: u64,
    every: u64,
) -> sgmcmc::Result<Course> {
    let start = Instant::now();
    let base = method.base;
    let family = Multinomial::symmetric(train.categories(), base)?;
    let mut sampler = DirichletProcess::multinomial(base)
        .concentration(Concentration::Gamma { shape: 1.0, rate: 1.0 })
        .minibatch(MINIBATCH)
        .initial_clusters(method.initial_clusters)
        .components(method.components)
        .sticks(method.sticks)
        .seed(seed)
        .sampler(train)?;
    let (mut all, mut second_half) = (Evaluation::new(&family, test)?, Evaluation::new(&family, test)?);
    let mut scores = Vec::new();
    for iteration in 1..=iterations {
        sampler.step()?;
        if iteration % every == 0 {
            let mixture = sampler.mixture();
            scores.push((iteration as f64, -all.add(&mixture)?));
            if 2 * iteration > iterations {
                second_half.add(&mixture)?;
            }
        }
    }
    let averaged = -second_half.finish()?.mean();
    let components = sampler.mixture().components.len();
    Ok(Course { scores, averaged, clusters: sampler.clusters(), components, seconds: start.elapsed().as_secs_f64() })
}

/// Returns the panel of figure 5.5.1b.
fn panel(methods: &[Method], courses: &[Vec<Course>]) -> Panel {
    let mut series = Vec::new();
    for (color, (method, runs)) in methods.iter().zip(courses).enumerate() {
        for (index, run) in runs.iter().enumerate() {
            let name = if index == 0 { method.name.to_owned() } else { String::new() };
            series.push(Series { name, color, dots: false, points: run.scores.clone() });
        }
    }
    let (x, y) = (Axis { label: "iterations", log: false }, Axis { label: "test score", log: false });
    Panel { title: "msweb, figure 5.5.1b".into(), x, y, series }
}

/// Prints the claims.
fn verdict(scir: &[Course], sgrld: &[Course]) -> Result<()> {
    let mut failed = 0;
    let mut claim = |claim: String, holds: bool| {
        failed += usize::from(!holds);
        println!("{claim}: {}", if holds { "pass" } else { "FAIL" });
    };
    let count = |better: &dyn Fn(&Course, &Course) -> bool| {
        scir.iter().zip(sgrld).filter(|(scir, sgrld)| better(scir, sgrld)).count()
    };
    let seeds = scir.len();
    let last = count(&|scir, sgrld| scir.last() < sgrld.last());
    claim(format!("\nSCIR's test score is below SGRLD's with {last} of {seeds} seeds"), last == seeds);
    let averaged = count(&|scir, sgrld| scir.averaged < sgrld.averaged);
    claim(format!("SCIR's posterior mean score is below SGRLD's with {averaged} of {seeds} seeds"), averaged == seeds);
    let spread = |runs: &[Course]| {
        let mean = runs.iter().map(Course::last).sum::<f64>() / runs.len() as f64;
        (runs.iter().map(|run| (run.last() - mean).powi(2)).sum::<f64>() / runs.len() as f64).sqrt()
    };
    if seeds > 1 {
        let (ours, theirs) = (spread(scir), spread(sgrld));
        claim(format!("SCIR's scores have sd {ours:.4} between seeds, SGRLD's {theirs:.4}"), ours < theirs);
    }
    let clusters = |runs: &[Course]| runs.iter().map(|run| run.components as f64).sum::<f64>() / runs.len() as f64;
    let (ours, theirs) = (clusters(scir), clusters(sgrld));
    claim(format!("SGRLD has {theirs:.0} components on average, SCIR {ours:.0}"), theirs > ours);
    if failed == 0 { Ok(()) } else { Err(format!("{failed} claims do not hold").into()) }
}
