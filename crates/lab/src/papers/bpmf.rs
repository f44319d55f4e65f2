//! Bayesian matrix factorization of ratings: SG-MCMC kernels beside the Gibbs sampler.
//!
//! The model is rating ~ N(m + aᵢ + bⱼ + Uᵢ·Vⱼ, 1/τ) with the hyperpriors of Salakhutdinov & Mnih (2008) or of Chen et
//! al. (2014). Sources: Baker (2019), §3.5.2 (ml-100k, rank 20, minibatches of 5000, τ = 3, Gamma(1, 300)); Fu, Luo &
//! Zhang (2016), §5.3 (ml-1m, rank 10). A tenth of the ratings, drawn at random, is held out. Every sampler has the same
//! time.
//!
//! ```text
//! cargo run --release -p lab -- bpmf
//! cargo run --release -p lab -- bpmf --set ml-1m --rank 10 --seconds 120
//! ```

use std::time::Instant;

use sgmcmc::algorithms::{Hamcmc, InitialScale, Psgld, Sghmc, Sgld, Sgnht};
use sgmcmc::models::factorization::{
    BayesianFactorization, Entries, GammaPrior, Hyperprior, Kernel, NoisePrecision, RunningPredictions,
};

use crate::Result;
use crate::papers::data_directory;
use crate::papers::flags::Flags;
use crate::papers::ratings;
use crate::papers::stages::Stages;

/// Runs the comparison.
pub(super) fn run(arguments: &[String]) -> Result<()> {
    let mut flags = Flags::parse(arguments, "Bayesian matrix factorization: kernels beside the Gibbs sampler.")?;
    let set = flags.get("set", "ml-100k".to_owned(), "ml-100k or ml-1m")?;
    let rank = flags.get("rank", 20, "length of the factors")?;
    let tau = flags.get("noise", 2.0, "precision of a rating")?;
    let minibatch: usize = flags.get("minibatch", 5000, "ratings per gradient")?;
    let seconds = flags.get("seconds", 20.0, "seconds per sampler, the first fifth without predictions")?;
    let factor = flags.get("factor", 1.0, "factor of the step sizes")?;
    let prior = flags.get("prior", "wishart".to_owned(), "wishart, or gamma for Gamma(1, 300)")?;
    let dir = data_directory(&mut flags)?;
    let stages = Stages::new(&flags.finish()?);
    let ratings = ratings::read(&set, &dir)?;
    ratings.print_note();
    let (train, test) = ratings.entries.split(0.9, 1)?;
    let hyperprior = match prior.as_str() {
        "wishart" => Hyperprior::default(),
        "gamma" => Hyperprior::Gamma(GammaPrior { shape: 1.0, rate: 300.0 }),
        other => return Err(format!("`{other}` is not a prior: use wishart or gamma").into()),
    };
    println!(
        "{set}: {} users, {} items, {} training and {} test ratings",
        train.rows(),
        train.columns(),
        train.len(),
        test.len()
    );
    println!("rank {rank}, tau {tau}, {prior} prior, minibatches of {minibatch}\n");
    let mean = train.mean();
    let baseline = (test.values().iter().map(|x| (x - mean).powi(2)).sum::<f64>() / test.len() as f64).sqrt();
    println!(
        "{:<8} {:>10} {:>9} {:>12} {:>14} {:>16}",
        "sampler", "step size", "steps", "steps/s", "rmse of a draw", "rmse of the mean"
    );
    println!("{:<8} {:>10} {:>9} {:>12} {:>14} {baseline:>16.4}", "mean", "", "", "", "");
    let model = BayesianFactorization::new(rank).hyperprior(hyperprior).noise(NoisePrecision::Fixed(tau)).seed(1);
    let hamcmc = Hamcmc { memory: 3, lambda: 100.0, gamma: InitialScale::Fixed(0.005) };
    let kernels = [
        ("Gibbs", f64::NAN, None),
        ("SGLD", 3e-4, Some(Kernel::minibatch(Sgld, 3e-4 * factor, minibatch))),
        ("PSGLD", 1e-7, Some(Kernel::minibatch(Psgld::default(), 1e-7 * factor, minibatch))),
        ("SGHMC", 1e-4, Some(Kernel::minibatch(Sghmc::default(), 1e-4 * factor, minibatch))),
        ("SGNHT", 1e-4, Some(Kernel::minibatch(Sgnht::default(), 1e-4 * factor, minibatch))),
        ("HAMCMC", 0.05, Some(Kernel::minibatch(hamcmc, 0.05 * factor, minibatch))),
    ];
    for (name, h, kernel) in kernels {
        stages.begin(&format!("{name}: {seconds} seconds"));
        let model = match kernel {
            None => model.clone(),
            Some(kernel) => model.clone().kernel(kernel).hyper_interval(10),
        };
        match compare(&model, &train, &test, seconds) {
            Ok(Row { steps, seconds, draw, mean }) => {
                let rate = steps as f64 / seconds;
                println!("{name:<8} {:>10.1e} {steps:>9} {rate:>12.1} {draw:>14.4} {mean:>16.4}", h * factor);
            }
            Err(error) => println!("{name:<8} {:>10.1e} {error}", h * factor),
        }
    }
    Ok(())
}

/// The result of a sampler.
struct Row {
    steps: u64,
    seconds: f64,
    draw: f64,
    mean: f64,
}

/// Runs a sampler for some time and averages the predictions of the test ratings.
fn compare(model: &BayesianFactorization, train: &Entries, test: &Entries, seconds: f64) -> Result<Row> {
    let mut sampler = model.sampler(train)?;
    let mut averages = RunningPredictions::new(test.clone()).clip(1.0, 5.0)?;
    let begin = Instant::now();
    let (mut steps, mut next) = (0, 0.2 * seconds);
    loop {
        sampler.step()?;
        steps += 1;
        let elapsed = begin.elapsed().as_secs_f64();
        // Predictions are as frequent as they are cheap: a hundredth of the time apart at least.
        if elapsed > next {
            averages.push(&sampler)?;
            next = elapsed + 0.01 * seconds;
        }
        if elapsed > seconds {
            break;
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let mut last = RunningPredictions::new(test.clone()).clip(1.0, 5.0)?;
    last.push(&sampler)?;
    averages.push(&sampler)?;
    Ok(Row { steps, seconds, draw: last.rmse()?, mean: averages.rmse()? })
}
