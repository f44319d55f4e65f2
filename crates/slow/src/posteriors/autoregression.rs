//! An autoregression of order five: y_t ~ N(α + Σ_k β_k y_{t−k}, σ²), α, β ~ N(0, 10²), σ ~ half Cauchy(2.5); by methods that accept or
//! reject.

use sgmcmc::prelude::*;

use super::{exact, numbered};
use crate::Result;
use crate::posteriordb::PosteriorDb;

/// The reference posterior.
pub(super) const NAME: &str = "arK-arK";

/// K.
const ORDER: usize = 5;

#[derive(TensorTree)]
struct Coefficients {
    alpha: Tensor<1>,
    beta: Tensor<1>,
    #[tree(positive)]
    sigma: Tensor<1>,
}

/// A value and the five before it, the latest first.
#[derive(TensorTree)]
struct Values {
    before: Tensor<2>,
    now: Tensor<1>,
}

/// Samples and compares; how many criteria fail.
pub(super) fn check(db: &PosteriorDb) -> Result<usize> {
    let reference = db.reference(NAME)?;
    let y = db.data("arK")?.column("y")?;
    let rows = y.len() - ORDER;
    let before: Vec<f64> =
        (ORDER..y.len()).flat_map(|t| (1..=ORDER).map(move |k| (t, k))).map(|(t, k)| y[t - k]).collect();
    let data =
        Dataset::new(Values { before: array(before, [rows, ORDER])?, now: array(y[ORDER..].to_vec(), [rows])? })?;
    let model = Model::new(|p: Coefficients, r: Values| {
        let mean = r.before.matmul(p.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + p.alpha;
        Normal::new(mean, p.sigma).log_prob(r.now)
    })
    .prior(|p: Coefficients| {
        Normal::new(0.0, 10.0).log_prob(p.alpha)
            + Normal::new(0.0, 10.0).log_prob(p.beta).sum()
            + HalfCauchy::new(2.5).log_prob(p.sigma)
    });
    let start = Coefficients { alpha: zeros([1]), beta: zeros([ORDER]), sigma: ones([1]) };
    let parameters: Vec<String> =
        ["alpha".to_owned()].into_iter().chain(numbered("beta", ORDER)).chain(["sigma".into()]).collect();
    println!("{NAME}: N = {rows}");
    exact::check(NAME, &model.with(&data), &start, &reference, &parameters, <[f64]>::to_vec, exact::EVEN)
}
