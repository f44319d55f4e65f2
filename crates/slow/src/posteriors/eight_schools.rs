//! Eight schools, not centred: y ~ N(θ, σ given), θ = μ + τη, η ~ N(0, 1), μ ~ N(0, 5), τ ~ half Cauchy(5).
//!
//! Eight observations are no case for minibatches: BAOAB on the full gradient, from the mode.

use std::time::Instant;

use sgmcmc::prelude::*;
use sgmcmc::{Baoab, Builder, StepSize};

use super::{CHAINS, compare, exact, numbered};
use crate::Result;
use crate::posteriordb::PosteriorDb;

/// The name of the reference posterior.
pub(super) const NAME: &str = "eight_schools-eight_schools_noncentered";

/// h of log τ and η, whose posterior standard deviations are about one: small enough for the curvature at large τ, (τ/σ)².
const STEP: f64 = 0.04;

/// h of μ, whose posterior standard deviation is about three.
const STEP_OF_MU: f64 = 9.0 * STEP;

const DYNAMICS: Baoab = Baoab { alpha: 0.2 };

const DRAWS: usize = 10_000;
const THIN: u64 = 5;

#[derive(TensorTree)]
struct Schools {
    mu: Tensor<1>,
    #[tree(positive)]
    tau: Tensor<1>,
    eta: Tensor<1>,
}

#[derive(TensorTree)]
struct Results {
    school: Tensor<1, Int>,
    effect: Tensor<1>,
    error: Tensor<1>,
}

fn model() -> Model<Schools, Results> {
    Model::new(|p: Schools, r: Results| {
        let effect = p.mu + p.tau * p.eta.select(0, r.school);
        Normal::new(effect, r.error).log_prob(r.effect)
    })
    .prior(|p: Schools| {
        Normal::new(0.0, 5.0).log_prob(p.mu)
            + HalfCauchy::new(5.0).log_prob(p.tau)
            + Normal::new(0.0, 1.0).log_prob(p.eta).sum()
    })
}

/// Samples and compares; how many criteria fail.
pub(super) fn check(db: &PosteriorDb) -> Result<usize> {
    let reference = db.reference(NAME)?;
    let data = db.data("eight_schools")?;
    let (effect, error) = (data.column("y")?, data.column("sigma")?);
    let schools = effect.len();
    let data = Dataset::new(Results {
        school: array((0..schools as i64).collect(), [schools])?,
        effect: array(effect, [schools])?,
        error: array(error, [schools])?,
    })?;
    let posterior = model().with(&data);
    let start = Schools { mu: zeros([1]), tau: ones([1]), eta: zeros([schools]) };

    let begin = Instant::now();
    let evaluator = posterior.evaluator(&start)?;
    let layout = evaluator.layout().clone();
    let mode = ModeSearch::default().run(FullGradient, evaluator, &layout.flatten(&start)?)?;
    println!("{NAME}: N = {schools}, mode search {mode}");
    let start = layout.unflatten(&start, &mode.theta, &default_device())?;
    let fit = Builder::new(posterior.clone(), DYNAMICS, FullGradient, StepSize::from(STEP).parameter("mu", STEP_OF_MU))
        .seed(1)
        .chains(CHAINS)
        .jitter(1.0)
        .burn_in(2000)
        .thin(THIN)
        .sample(&start, DRAWS)?;

    let parameters: Vec<String> = ["mu".into(), "tau".into()].into_iter().chain(numbered("theta", schools)).collect();
    let report = |values: &[f64]| {
        let (mu, tau) = (values[0], values[1]);
        [mu, tau].into_iter().chain(values[2..].iter().map(|eta| mu + tau * eta)).collect()
    };
    let title = format!("{NAME}, BAOAB, full gradient, {:.1} s", begin.elapsed().as_secs_f64());
    let failures = compare(&title, &reference, &fit, &parameters, report)?;
    Ok(failures + exact::check(NAME, &posterior, &start, &reference, &parameters, report, exact::UNEVEN)?)
}
