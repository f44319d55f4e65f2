//! Eight schools, non-centered: y ~ N(θ, known σ), θ = μ + τη, η ~ N(0, 1), μ ~ N(0, 5²), τ ~ half Cauchy(5).
//!
//! The likelihood of school j depends on ηⱼ, μ and τ only, so the model factorizes over the schools. Most of the
//! information is in the prior, so a minibatch of schools has little noise.

use sgmcmc::distributions::{HalfCauchy, Normal};
use sgmcmc::prelude::*;

use super::problem::{Problem, Title};
use super::{metric, numbered};
use crate::Result;
use crate::suites::posteriordb::PosteriorDb;

const TITLE: Title = Title {
    name: "eight_schools-eight_schools_noncentered",
    model: "yⱼ ~ N(μ + τηⱼ, σⱼ), σⱼ given; η ~ N(0, 1), μ ~ N(0, 5), τ ~ half Cauchy(5)",
};

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

/// Returns the problem.
pub(super) fn problem(db: &PosteriorDb) -> Result<Problem> {
    let data = db.data("eight_schools")?;
    let (effect, error) = (data.column("y")?, data.column("sigma")?);
    let schools = effect.len();
    let metric = metric::schools(&error);
    let data = Dataset::new(Results {
        school: array((0..schools as i64).collect(), [schools])?,
        effect: array(effect, [schools])?,
        error: array(error, [schools])?,
    })?;
    let start = Schools { mu: zeros([1]), tau: ones([1]), eta: zeros([schools]) };
    let parameters = ["mu".into(), "tau".into()].into_iter().chain(numbered("theta", schools)).collect();
    let report = |values: &[f64]| {
        let (mu, tau) = (values[0], values[1]);
        [mu, tau].into_iter().chain(values[2..].iter().map(|eta| mu + tau * eta)).collect()
    };
    Ok(Problem::new(TITLE, model().with(&data), start, parameters, report)?.with_metric(metric))
}
