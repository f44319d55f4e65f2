//! Six algorithms on a mixture of two Gaussians, against a long run with the exact gradient.
//!
//! x ~ ½ N(θ₁, I) + ½ N(θ₂, I) in two dimensions, with θ₁ and θ₂ so close that the data tell their mean well but hardly tell them
//! apart. Source: Baker (2019), §4.6.1, with its data, minibatches, iterations and step sizes; the `sgldcv` step alone is halved,
//! because all parameters move at once here, and h = 0.01 is then beyond the limit of stability (4/h must exceed the largest
//! curvature, N/2).
//!
//! What to see: without control variates `sgld` and `sghmc` are too wide, by the noise of the gradient. `sgnht` is too narrow: nearly
//! all of that noise moves θ₁ + θ₂, and a thermostat that cools both directions alike leaves θ₁ − θ₂ too cold. Control variates bring
//! all three closer. Smaller steps (`--factor 0.2`) are more exact and explore less: the posterior has two modes, one for each naming
//! of the components, and what a short run says of one component depends on how often it has changed between them.
//!
//! ```text
//! cargo run --release --example gaussian_mixture
//! cargo run --release --example gaussian_mixture -- --factor 0.2
//! ```

#[path = "shared/flags.rs"]
mod flags;

use std::time::Instant;

use rand::SeedableRng;
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;
use sgmcmc::run::Ending;
use sgmcmc::{Baoab, Builder, Fit, sghmc, sghmccv, sgld, sgldcv, sgnht, sgnhtcv};

const MINIBATCH: usize = 100;
const SEED: u64 = 2;

#[derive(TensorTree)]
struct Centres {
    theta1: Tensor<1>,
    theta2: Tensor<1>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut flags = flags::Flags::read("Six algorithms on a mixture of two Gaussians.")?;
    let n = flags.get("observations", 1000, "simulated observations")?;
    let draws = flags.get("draws", 10_000, "draws of each method; a fifth as many for sghmc and sghmccv")?;
    let factor = flags.get("factor", 1.0, "factor on all step sizes")?;
    let watch = flags.finish()?;

    println!("{n} SIMULATED observations of a mixture with centres (0, 0) and (0.1, 0.1)\n");
    let mut rng = StreamRng::seed_from_u64(SEED);
    let truth = mixture(&array(vec![0.0, 0.0], [2])?, &array(vec![0.1, 0.1], [2])?);
    let data = Dataset::new(truth.sample([n, 2], &mut rng))?;

    let model = Model::new(|p: Centres, x: Tensor<2>| mixture(&p.theta1, &p.theta2).log_prob(x)).prior(|p: Centres| {
        let prior = Normal::new(0.0, 10.0); // a standard deviation of 10, as in the code of the source
        prior.log_prob(p.theta1).sum() + prior.log_prob(p.theta2).sum()
    });
    let draw = |rng: &mut StreamRng| Normal::new(0.0, 1.0).sample([2], rng);
    let start = Centres { theta1: draw(&mut rng), theta2: draw(&mut rng) };

    println!(
        "{:<10} {:>9} {:>10} {:>8} {:>10} {:>8} {:>6} {:>8}",
        "method", "h", "θ₁[0] mean", "sd", "θ₁[1] mean", "sd", "ess", "seconds"
    );
    let exact = Builder::new(model.with(&data), Baoab::default(), FullGradient, 5e-4).seed(SEED);
    row("reference", 5e-4, || exact.burn_in(2000).progress(watch.clone()).sample(&start, 2 * draws))?;

    // Draws and burn-in as in the source: SGHMC takes five gradients per iteration; control variates begin at the mode.
    let (few, burn_in) = (draws / 5, draws as u64);
    let h = 5e-3 * factor;
    row("sgld", h, || {
        sgld(&model, &data, h)
            .minibatch(MINIBATCH)
            .seed(SEED)
            .progress(watch.clone())
            .burn_in(burn_in)
            .sample(&start, draws)
    })?;
    let h = 5e-4 * factor;
    row("sghmc", h, || {
        sghmc(&model, &data, h)
            .minibatch(MINIBATCH)
            .seed(SEED)
            .progress(watch.clone())
            .burn_in(few as u64)
            .sample(&start, few)
    })?;
    let h = 3e-4 * factor;
    row("sgnht", h, || {
        sgnht(&model, &data, h)
            .minibatch(MINIBATCH)
            .seed(SEED)
            .progress(watch.clone())
            .burn_in(burn_in)
            .sample(&start, draws)
    })?;
    let h = 5e-3 * factor;
    row("sgldcv", h, || {
        sgldcv(&model, &data, h).minibatch(MINIBATCH).seed(SEED).progress(watch.clone()).sample(&start, draws)
    })?;
    let h = 1.5e-3 * factor;
    row("sghmccv", h, || {
        sghmccv(&model, &data, h).minibatch(MINIBATCH).seed(SEED).progress(watch.clone()).sample(&start, few)
    })?;
    let h = 3e-3 * factor;
    row("sgnhtcv", h, || {
        sgnhtcv(&model, &data, h).minibatch(MINIBATCH).seed(SEED).progress(watch.clone()).sample(&start, draws)
    })?;
    Ok(())
}

/// ½ N(θ₁, I) + ½ N(θ₂, I) over rows.
fn mixture(theta1: &Tensor<1>, theta2: &Tensor<1>) -> Mixture<2, 1> {
    let component = |centre: &Tensor<1>| MultivariateNormal::diagonal(centre.clone().unsqueeze_dim::<2>(0), 1.0);
    Mixture::weights(&[0.5, 0.5]).with(component(theta1)).with(component(theta2))
}

/// Runs a method and prints what it says of θ₁.
fn row(name: &str, h: f64, run: impl FnOnce() -> sgmcmc::Result<Fit>) -> Result<(), Box<dyn std::error::Error>> {
    let began = Instant::now();
    let fit = run()?;
    let (summary, seconds) = (fit.summary(), began.elapsed().as_secs_f64());
    print!("{name:<10} {h:>9.1e}");
    if let [Ending::Failed(error)] = fit.endings() {
        println!(" {error}");
        return Ok(());
    }
    for value in ["theta1[0]", "theta1[1]"] {
        let row = summary.row(value).ok_or("θ₁ has two values")?;
        print!(" {:>10.4} {:>8.4}", row.mean, row.sd);
    }
    println!(" {:>6.0} {seconds:>8.1}", summary.row("theta1[0]").map_or(f64::NAN, |row| row.ess_bulk));
    Ok(())
}
