//! A long run: watch it, end it with Ctrl-C, continue it, and extend it by asking for more draws.
//!
//! ```text
//! cargo run --release --example long_run                         # Ctrl-C at any time
//! sgmcmc watch target/long_run                                   # in another terminal, while it runs
//! cargo run --release --example long_run                         # continues where it was
//! cargo run --release --example long_run -- --draws 400000       # a finished run becomes longer
//! ```
//!
//! The draws are those of a run without interruption. Four chains on fewer threads take turns, so that they have about as
//! many draws each whenever the run is ended. The exit code is 0 if the run is complete, 3 if it was interrupted, and 1
//! if the check of the complete fit finds a problem.

#[path = "shared/figure.rs"]
mod figure;
#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/verdict.rs"]
mod verdict;

use std::process::ExitCode;
use std::time::Duration;

use flags::Flags;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::distributions::*;
use sgmcmc::fit::ChainOutcome;
use sgmcmc::functions::linear;
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;
use sgmcmc::run::{CheckpointInterval, StopSignal};
use sgmcmc::storage::FileCheckpoints;
use verdict::verdict;

const OBSERVATIONS: usize = 10_000;
const NAMES: [&str; 5] = ["intercept", "age", "income", "distance", "size"];

#[derive(TensorTree)]
struct Weights {
    #[tree(dims = "covariate", prior = Normal::new(0.0, 2.0))]
    beta: Tensor<1>,
}

#[derive(TensorTree)]
struct Observations {
    x: Tensor<2>,
    y: Tensor<1>,
}

fn main() -> sgmcmc::Result<ExitCode> {
    let mut flags = Flags::new("A long run with checkpoints: Ctrl-C, continue, extend.");
    let draws = flags.get("draws", 200_000, "draws of each chain; more than before extends the run");
    let chains = flags.get("chains", 4, "number of chains");
    let directory: String = flags.get("checkpoints", "target/long_run".into(), "directory of the checkpoints");
    let seconds = flags.get("every", 1.0, "seconds between two checkpoints");
    let figure = figure::path(&mut flags);
    let progress = flags.finish();

    let mut rng = StreamRng::seed_from_u64(7);
    let x: Vec<f32> = (0..OBSERVATIONS)
        .flat_map(|_| std::iter::once(1.0).chain(std::iter::repeat_with(|| 0.0).take(4)).collect::<Vec<f32>>())
        .collect();
    let x: Vec<f32> = x.into_iter().map(|x| if x == 0.0 { rng.sample(StandardNormal) } else { x }).collect();
    let y: Vec<f32> = x
        .chunks_exact(5)
        .map(|row| {
            let logit: f32 = row.iter().zip([0.5, -1.0, 0.3, 0.0, 0.8]).map(|(x, beta)| x * beta).sum();
            f32::from(rng.random_bool(f64::from(1.0 / (1.0 + (-logit).exp()))))
        })
        .collect();
    let data = Dataset::new(Observations { x: array(x, [OBSERVATIONS, 5])?, y: array(y, [OBSERVATIONS])? })?;
    println!("{OBSERVATIONS} SIMULATED observations, {chains} chains");

    let model =
        Model::observe(|w: Weights, o: Observations| BernoulliLogits::new(linear(o.x, w.beta)), |o: Observations| o.y);
    let store = FileCheckpoints::new(&directory)?;
    if let Some(before) = store.fit()? {
        println!(
            "{directory} has {} draws of {}",
            before.chains().iter().map(|c| c.len()).sum::<usize>(),
            before.describe_chains()
        );
    }
    let fit = sgldcv(&model, &data, 1e-4)
        .minibatch(100)
        .chains(chains)
        .labels("beta", NAMES)
        .seed(1)
        .burn_in(2000)
        .thin(10)
        .progress(progress)
        .checkpoint(store, CheckpointInterval::Time(Duration::from_secs_f64(seconds)))
        .stop_on(&StopSignal::on_ctrl_c()?)
        .sample(&Weights { beta: zeros([5]) }, draws)?;

    println!("\n{}", fit.summary());
    if fit.outcomes().contains(&ChainOutcome::Stopped) {
        println!("interrupted: the same command continues the run");
        return Ok(ExitCode::from(3));
    }
    let check = fit.check();
    println!("{check}");
    figure::write(&figure, || fit.plot().ess_evolution("beta[age]"))?;
    Ok(verdict(check.passed(), "the check of the complete run"))
}
