//! A mixture of two normal distributions with ordered means: y ~ θ N(μ₁, σ₁²) + (1 − θ) N(μ₂, σ₂²), μ₁ < μ₂; μ ~ N(0,
//! 2²), σ ~ half N(0, 2²), θ ~ Beta(5, 5).

use sgmcmc::distributions::{Beta, HalfNormal, Normal};
use sgmcmc::prelude::*;

use super::numbered;
use super::problem::{Problem, Title};
use crate::Result;
use crate::suites::posteriordb::PosteriorDb;

const TITLE: Title = Title {
    name: "low_dim_gauss_mix-low_dim_gauss_mix",
    model: "y ~ θ N(μ₁, σ₁) + (1 − θ) N(μ₂, σ₂), μ₁ < μ₂; μ ~ N(0, 2), σ ~ half N(0, 2), θ ~ Beta(5, 5)",
};

#[derive(TensorTree)]
struct Components {
    #[tree(ordered)]
    mu: Tensor<1>,
    #[tree(positive)]
    sigma: Tensor<1>,
    #[tree(unit_interval)]
    theta: Tensor<1>,
}

/// Returns the log density of the component `k`.
fn component(p: &Components, k: usize, y: Tensor<1>) -> Tensor<1> {
    Normal::new(p.mu.clone().narrow(0, k, 1), p.sigma.clone().narrow(0, k, 1)).log_prob(y)
}

fn model() -> Model<Components, Tensor<1>> {
    Model::new(|p: Components, y: Tensor<1>| {
        let first = component(&p, 0, y.clone()) + p.theta.clone().log();
        let second = component(&p, 1, y) + (p.theta * -1.0 + 1.0).log();
        let largest = first.clone().max_pair(second.clone());
        largest.clone() + ((first - largest.clone()).exp() + (second - largest).exp()).log()
    })
    .prior(|p: Components| {
        Normal::new(0.0, 2.0).log_prob(p.mu).sum()
            + HalfNormal::new(2.0).log_prob(p.sigma).sum()
            + Beta::new(5.0, 5.0).log_prob(p.theta)
    })
}

/// Returns the problem.
pub(super) fn problem(db: &PosteriorDb) -> Result<Problem> {
    let y = db.data("low_dim_gauss_mix")?.column("y")?;
    let n = y.len();
    let data = Dataset::new(array(y, [n])?)?;
    let start = Components { mu: array(vec![-1.0, 1.0], [2])?, sigma: ones([2]), theta: full([1], 0.5) };
    let parameters = numbered("mu", 2).chain(numbered("sigma", 2)).chain(["theta".into()]).collect();
    Problem::new(TITLE, model().with(&data), start, parameters, <[f64]>::to_vec)
}
