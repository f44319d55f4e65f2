//! α-stable matrix factorization: SGLD, PSGLD and HAMCMC beside the partially collapsed Gibbs sampler.
//!
//! Source: Şimşekli et al. (2016), section 4.2. The paper denoises speech, with W trained on clean speech. Here the data
//! are SYNTHETIC: W, H and the complex entries are drawn from the model, W is known, and the error is that of the
//! logarithms of the dispersions. As in the paper, minibatches are a tenth of the entries, there are 2500 draws, the
//! last 200 are averaged, and HAMCMC has M = 5.
//!
//! ```text
//! cargo run --release -p lab -- alpha-stable
//! ```

use std::time::Instant;

use sgmcmc::algorithms::{Chain, Hamcmc, InitialScale, Psgld, Sgld};
use sgmcmc::models::factorization::{FactorCoordinates, Kernel, StableData, StableFactorization};

use crate::Result;
use crate::papers::flags::Flags;
use crate::papers::stages::Stages;

/// Runs the comparison.
pub(super) fn run(arguments: &[String]) -> Result<()> {
    let mut flags = Flags::parse(arguments, "α-stable matrix factorization: kernels beside the Gibbs sampler.")?;
    let alpha = flags.get("alpha", 1.2, "index of stability")?;
    let rows = flags.get("rows", 256, "rows")?;
    let columns = flags.get("columns", 140, "columns")?;
    let rank = flags.get("rank", 10, "components")?;
    let steps = flags.get("steps", 2500, "steps of a kernel")?;
    let last = flags.get("last", 200, "draws that are averaged")?;
    let sweeps = flags.get("sweeps", 100, "sweeps of the Gibbs sampler, of which the second half is averaged")?;
    let factor = flags.get("factor", 1.0, "factor of the step sizes")?;
    let lambda = flags.get("lambda", 200.0, "regularization of HAMCMC, above the negative curvatures")?;
    let newton = flags.get("hamcmc-step-size", 0.02, "step size of HAMCMC")?;
    let stages = Stages::new(&flags.finish()?);
    let model = StableFactorization::new(alpha, rank);
    let truth = model.simulate(rows, columns, 1)?;
    let data = StableData::complex(rows, columns, &truth.x)?;
    let model = model.known_w(truth.w.clone()).seed(1);
    let minibatch = (rows * columns).div_ceil(10);
    println!("SYNTHETIC data: {rows} × {columns} complex entries, α = {alpha}, rank {rank}, W known\n");
    println!(
        "{:<8} {:<9} {:>10} {:>7} {:>9} {:>12} {:>16}",
        "sampler", "factors", "step size", "steps", "seconds", "acceptance", "rmse of log λ"
    );
    let hamcmc = Hamcmc { memory: 5, lambda, gamma: InitialScale::Fixed(1.0 / lambda) };
    let kernels = [
        ("SGLD", FactorCoordinates::Log, 1e-4, Kernel::minibatch(Sgld, 1e-4 * factor, minibatch)),
        ("PSGLD", FactorCoordinates::Log, 1e-8, Kernel::minibatch(Psgld::default(), 1e-8 * factor, minibatch)),
        ("HAMCMC", FactorCoordinates::Log, newton, Kernel::minibatch(hamcmc, newton * factor, minibatch)),
        ("SGLD", FactorCoordinates::Mirrored, 1e-5, Kernel::minibatch(Sgld, 1e-5 * factor, minibatch)),
    ];
    let mut runs = vec![("Gibbs", "exact", f64::NAN, model.clone(), sweeps, sweeps / 2)];
    for (name, support, h, kernel) in kernels {
        let words = if support == FactorCoordinates::Log { "log" } else { "mirrored" };
        runs.push((name, words, h * factor, model.clone().kernel(kernel).support(support), steps, last));
    }
    for (name, words, h, model, steps, last) in runs {
        stages.begin(&format!("{name}, {words} factors: {steps} steps"));
        let begin = Instant::now();
        let mut sampler = model.sampler(&data)?;
        let (mut log_mean, mut acceptance, mut count) = (vec![0.0; rows * columns], 0.0, 0.0);
        let mut outcome = Ok(());
        for step in 0..steps {
            outcome = sampler.step();
            if outcome.is_err() {
                break;
            }
            acceptance += sampler.latent_acceptance() / steps as f64;
            if step + last >= steps {
                count += 1.0;
                for (index, mean) in log_mean.iter_mut().enumerate() {
                    let lambda = sampler.dispersion(index / columns, index % columns)?;
                    *mean += (lambda.ln() - *mean) / count;
                }
            }
        }
        let seconds = begin.elapsed().as_secs_f64();
        if let Err(error) = outcome {
            println!("{name:<8} {words:<9} {h:>10.1e} {} {error}", sampler.info().iterations);
            continue;
        }
        let squares = log_mean.iter().zip(&truth.dispersions).map(|(mean, truth)| (mean - truth.ln()).powi(2));
        let rmse = (squares.sum::<f64>() / log_mean.len() as f64).sqrt();
        println!("{name:<8} {words:<9} {h:>10.1e} {steps:>7} {seconds:>9.2} {acceptance:>12.2} {rmse:>16.4}");
    }
    Ok(())
}
