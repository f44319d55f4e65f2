//! Clusters without a fixed number of them: a Dirichlet-process mixture of the visits to a web site.
//!
//! Each user visits some of 294 areas. Users of a cluster have the same probabilities of the areas, and the number of
//! clusters is inferred. Steps use minibatches of users; allocations of the others stay in a store, so that the draws
//! are exact. The second part finds clusters of points with Gaussian components, and assigns new points to them. Model
//! of the visits: Baker (2019), section 5.5.2. The exit code is 1 if the clusters of points are not those of the
//! simulation.
//!
//! ```text
//! cargo run --release --features datasets,models --example clusters
//! cargo run --release --features datasets,models --example clusters -- --draws 2000 --minibatch 5000
//! ```

#[path = "shared/data.rs"]
mod data;
#[path = "shared/figure.rs"]
mod figure;
#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/verdict.rs"]
mod verdict;

use std::process::ExitCode;

use data::or_synthetic;
use flags::Flags;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::datasets;
use sgmcmc::models::mixture::{Counts, DirichletProcess, Loss, MixtureFit, Multinomial, Points};
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;
use sgmcmc::run::ProgressOption;
use verdict::verdict;

fn main() -> sgmcmc::Result<ExitCode> {
    let mut flags = Flags::new("Dirichlet-process mixtures of visits and of points.");
    let draws = flags.get("draws", 500, "draws of the visits");
    let burn_in = flags.get("burn-in", 500, "iterations before the first draw");
    let minibatch = flags.get("minibatch", 1000, "users per step");
    let dir = data::directory(&mut flags);
    let figure = figure::path(&mut flags);
    let progress = flags.finish();

    let msweb = or_synthetic(datasets::msweb(dir), || datasets::msweb_like(32_711, 1))?;
    let train = Counts::from_column(&msweb.train.columns()[0])?;
    let test = Counts::from_column(&msweb.test.columns()[0])?;
    let fit = DirichletProcess::multinomial(0.5)
        .minibatch(minibatch)
        .seed(1)
        .burn_in(burn_in)
        .run_with({
            let progress = progress.clone();
            move |run| run.progress(progress.clone())
        })
        .fit(&train, draws)?;
    let clusters = fit.clusters()?;
    println!("{}", fit.fit().summary());
    println!("{} clusters (90 % interval {} to {})", clusters.mode(), clusters.quantile(0.05), clusters.quantile(0.95));
    let scores = fit.log_predictive(&test)?;
    println!("log predictive density of a test user: {:.3} ± {:.3}\n", scores.mean(), scores.standard_error());
    print_areas(&fit, &msweb.areas);
    figure::write(&figure, || {
        let names = fit.fit().layout().value_names();
        fit.fit().plot().trace(names.first().map_or("", String::as_str))
    })?;
    Ok(verdict(points(progress)?, "three clusters of points are found, and a distant point belongs to none of them"))
}

/// Prints the most probable areas of the largest components of the last mixture.
fn print_areas(fit: &MixtureFit<Multinomial>, areas: &[String]) {
    let Some(mixture) = fit.mixtures()[0].last() else { return };
    let mut order: Vec<usize> = (0..mixture.components.len()).collect();
    order.sort_by(|a, b| mixture.log_weights[*b].total_cmp(&mixture.log_weights[*a]));
    for component in order.into_iter().take(5) {
        let log_probabilities = mixture.components[component].log_probabilities();
        let mut best: Vec<usize> = (0..areas.len()).collect();
        best.sort_by(|a, b| log_probabilities[*b].total_cmp(&log_probabilities[*a]));
        let titles: Vec<&str> = best.iter().take(4).map(|area| areas[*area].as_str()).collect();
        println!("{:>5.1} % of users: {}", 100.0 * mixture.log_weights[component].exp(), titles.join(", "));
    }
}

/// Finds clusters of simulated points and assigns new points to them. Returns whether they are those of the simulation.
fn points(progress: ProgressOption) -> sgmcmc::Result<bool> {
    let mut rng = StreamRng::seed_from_u64(1);
    let centers = [[0.0, 0.0], [4.0, 1.0], [1.0, 5.0]];
    let mut values = Vec::new();
    for index in 0..300 {
        let center: [f64; 2] = centers[index % 3];
        values.extend(center.map(|x| x + 0.8 * rng.sample::<f64, _>(StandardNormal)));
    }
    println!("\n300 SIMULATED points around {centers:?}");
    let process = DirichletProcess::gaussian().chains(2).seed(1);
    let process = process.run_with(move |run| run.progress(progress.clone()));
    let fit = process.fit(&Points::new(values, 2)?, 1000)?;
    let partition = fit.partition(Loss::VariationOfInformation)?;
    println!("clusters of sizes {:?}; P(3 clusters) = {:.2}", partition.sizes, fit.clusters()?.probability(3));
    let new = Points::new(vec![0.2, -0.3, 3.5, 1.2, 20.0, 20.0], 2)?;
    let mut of_clusters = Vec::new();
    for (assignment, point) in fit.assign(&partition, &new)?.into_iter().zip([(0.2, -0.3), (3.5, 1.2), (20.0, 20.0)]) {
        of_clusters.push(assignment.cluster.is_some());
        match assignment.cluster {
            Some(cluster) => {
                println!("{point:?} is in cluster {cluster}, p = {:.2}", assignment.probabilities[cluster])
            }
            None => println!("{point:?} is in a new cluster, p = {:.2}", assignment.new_cluster),
        }
    }
    Ok(partition.sizes.len() == 3 && of_clusters == [true, true, false])
}
