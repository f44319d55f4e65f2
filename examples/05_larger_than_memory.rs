//! Data larger than memory: a mapped file, written in chunks and read one minibatch at a time.
//!
//! The file of `--observations` simulated lines is written once and used again. The operating system loads the pages that
//! a minibatch touches, so that a run needs little memory however large the file is. The exit code is 1 if an interval
//! misses the true coefficients by far, or if the check of the fit finds a problem.
//!
//! ```text
//! cargo run --release --example larger_than_memory
//! cargo run --release --example larger_than_memory -- --observations 1000000000    # 36 GB
//! ```

#[path = "shared/figure.rs"]
mod figure;
#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/verdict.rs"]
mod verdict;

use std::path::Path;
use std::process::ExitCode;

use flags::Flags;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::distributions::*;
use sgmcmc::functions::linear;
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;
use sgmcmc::storage::mapped::{self, MappedWriter};
use verdict::verdict;

const COVARIATES: usize = 8;
const CHUNK: usize = 100_000;
const TRUTH: [f32; COVARIATES] = [0.5, -1.0, 0.25, 0.0, 1.5, -0.75, 0.1, -0.2];

#[derive(TensorTree)]
struct Weights {
    #[tree(prior = Normal::new(0.0, 2.0))]
    beta: Tensor<1>,
}

#[derive(TensorTree)]
struct Observations {
    x: Tensor<2>,
    y: Tensor<1>,
}

fn main() -> sgmcmc::Result<ExitCode> {
    let mut flags = Flags::new("Data larger than memory: a mapped file and minibatches.");
    let observations = flags.get("observations", 2_000_000, "number of simulated observations");
    let file: String = flags.get("file", "target/observations.mapped".into(), "mapped file; used again if it exists");
    let draws = flags.get("draws", 4000, "draws of each of two chains");
    let figure = figure::path(&mut flags);
    let progress = flags.finish();

    if !Path::new(&file).exists() {
        println!("writing {observations} SIMULATED observations to {file} …");
        write(Path::new(&file), observations)?;
    }
    let columns = mapped::open(&file)?;
    println!("{file}: {} observations, {:.2} GB", columns.observations(), std::fs::metadata(&file)?.len() as f64 / 1e9);
    let template = Observations { x: zeros([1, COVARIATES]), y: zeros([1]) };
    let data = columns.into_dataset()?.typed(&template)?;

    let model =
        Model::observe(|w: Weights, o: Observations| BernoulliLogits::new(linear(o.x, w.beta)), |o: Observations| o.y);
    // The preconditioned step makes one update of each coefficient as long as its standard deviation, about 2/√N.
    let step = 0.5 / data.observations() as f64;
    let fit = sgldcv(&model, &data, step)
        .minibatch(1000)
        .chains(2)
        .burn_in(500)
        .progress(progress)
        .sample(&Weights { beta: zeros([COVARIATES]) }, draws)?;
    println!("{}\n{}", fit.summary(), fit.check());
    let summary = fit.summary();
    let far =
        summary.rows().iter().zip(TRUTH).filter(|(row, truth)| (row.mean - f64::from(*truth)).abs() > 4.0 * row.sd);
    let passed = far.count() == 0 && fit.check().passed();
    figure::write(&figure, || fit.plot().forest(&["beta"]))?;
    Ok(verdict(passed, "the check of the fit, and true coefficients within four standard deviations"))
}

/// Writes the file in chunks.
fn write(file: &Path, observations: usize) -> sgmcmc::Result<()> {
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let mut rng = StreamRng::seed_from_u64(5);
    let mut writer = MappedWriter::create(file)?;
    let mut left = observations;
    while left > 0 {
        let rows = left.min(CHUNK);
        let x: Vec<f32> = (0..rows * COVARIATES).map(|_| rng.sample(StandardNormal)).collect();
        let response = |row: &[f32]| {
            let logit: f32 = row.iter().zip(TRUTH).map(|(x, beta)| x * beta).sum();
            f32::from(rng.random_bool(f64::from(1.0 / (1.0 + (-logit).exp()))))
        };
        let y: Vec<f32> = x.chunks_exact(COVARIATES).map(response).collect();
        writer.append(Columns::new().leaf("x", x, [rows, COVARIATES])?.leaf("y", y, [rows])?.as_slice())?;
        left -= rows;
    }
    Ok(writer.finish()?)
}
