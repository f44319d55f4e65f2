//! α-stable matrix factorization: positive factors of a matrix with heavy-tailed complex entries.
//!
//! The model is xᵢⱼ ~ SαS((Σₖ Wᵢₖ Hₖⱼ)^{1/α}), as for the spectrogram of a signal with impulses: an entry has no
//! variance, and least squares would follow the largest few. W is known, as after training on clean signals, and each
//! component belongs to one of two sources. The program samples H by SGLD on minibatches of entries, with a latent
//! scale Φᵢⱼ per entry that a Metropolis step updates, and by the exact partially collapsed Gibbs sampler. It then
//! separates the sources: the expected share of the first source in an entry, times the entry. Source of the model:
//! Şimşekli et al. (2016), section 4.2. The exit code is 1 if a sampler separates no better than half of each entry.
//!
//! ```text
//! cargo run --release --features models --example alpha_stable
//! cargo run --release --features models --example alpha_stable -- --alpha 1.8 --steps 5000
//! ```

#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/verdict.rs"]
mod verdict;

use std::process::ExitCode;
use std::time::Instant;

use flags::Flags;
use rand::SeedableRng;
use sgmcmc::algorithms::Sgld;
use sgmcmc::models::factorization::{
    Complex, FactorCoordinates, GammaPrior, GeneralizedGamma, Kernel, StableData, StableFactorization, SymmetricStable,
};
use sgmcmc::rng::StreamRng;
use sgmcmc::run::ProgressOption;
use verdict::verdict;

fn main() -> sgmcmc::Result<ExitCode> {
    let mut flags = Flags::new("Separation of two sources by alpha-stable matrix factorization.");
    let alpha = flags.get("alpha", 1.2, "index of stability, at most 2");
    let rows = flags.get("rows", 64, "rows, the frequencies");
    let columns = flags.get("columns", 40, "columns, the times");
    let rank = flags.get("rank", 6, "components; the first half is the first source");
    let steps = flags.get("steps", 2500, "steps of SGLD");
    let h = flags.get("step-size", 0.02, "step size of SGLD");
    let progress = flags.finish();

    // Sparse columns of W make the sources distinguishable.
    let sparse = GammaPrior { shape: 0.5, rate: 0.5 };
    let law = GeneralizedGamma::new(sparse.shape, sparse.rate, 2.0 / alpha)?;
    let mut rng = StreamRng::seed_from_u64(1);
    let w: Vec<f64> = (0..rows * rank).map(|_| Ok(law.draw(&mut rng)?.max(1e-3))).collect::<sgmcmc::Result<_>>()?;
    let model = StableFactorization::new(alpha, rank).known_w(w.clone());
    let h_true = model.simulate(rows, columns, 2)?.h;

    // The matrix is the sum of two sources.
    let half = rank / 2;
    let stable = SymmetricStable::new(alpha)?;
    let (mut first, mut x) = (Vec::new(), Vec::new());
    for row in 0..rows {
        for column in 0..columns {
            let mut source = |components: std::ops::Range<usize>| {
                let dispersion: f64 = components.map(|k| w[row * rank + k] * h_true[column * rank + k]).sum();
                let (scale, x) = (dispersion.powf(1.0 / alpha), stable.sample_complex(&mut rng));
                Complex { re: scale * x.re, im: scale * x.im }
            };
            let (one, other) = (source(0..half), source(half..rank));
            first.push(one);
            x.push(Complex { re: one.re + other.re, im: one.im + other.im });
        }
    }
    let data = StableData::complex(rows, columns, &x)?;
    let largest = x.iter().map(|x| x.power().sqrt()).fold(0.0, f64::max);
    println!("{rows} × {columns} entries, α = {alpha}, the largest absolute value is {largest:.0}");

    println!("\n{:<24} {:>8} {:>22}", "sampler", "seconds", "error of the source");
    let of_half = error(&first, &x, &vec![0.5; x.len()]);
    println!("{:<24} {:>8} {of_half:>22.3}", "none: half of each entry", "");
    let sgld = Kernel::minibatch(Sgld, h, data.powers().len().div_ceil(10));
    let stochastic = model.clone().kernel(sgld).support(FactorCoordinates::Log).burn_in(steps / 2);
    let exact = model.burn_in(200);
    let mut passed = true;
    for (name, model, draws) in [("SGLD", stochastic, steps / 2), ("partially collapsed Gibbs", exact, 300)] {
        if !matches!(progress, ProgressOption::Off) {
            eprintln!("sampling by {name}");
        }
        let (begin, model) = (Instant::now(), model.seed(1));
        let run = model.run(&data)?.progress(progress.clone());
        let fit = model.with_draws(&data, run.sample(draws as usize)?)?;
        let share = fit.share(0..half)?;
        let found = error(&first, &x, &share);
        println!("{name:<24} {:>8.2} {found:>22.3}", begin.elapsed().as_secs_f64());
        passed &= found < of_half;
    }
    Ok(verdict(passed, "both samplers separate the sources better than half of each entry"))
}

/// Returns the mean relative error |s − share · x| / (|s| + |x|), which large entries do not dominate.
fn error(source: &[Complex], x: &[Complex], share: &[f64]) -> f64 {
    let terms = source.iter().zip(x).zip(share).map(|((s, x), share)| {
        let difference = Complex { re: s.re - share * x.re, im: s.im - share * x.im };
        difference.power().sqrt() / (s.power().sqrt() + x.power().sqrt())
    });
    terms.sum::<f64>() / source.len() as f64
}
