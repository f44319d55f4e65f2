//! An autoregression of order five: y_t ~ N(α + Σ_k β_k y_{t−k}, σ²), α, β ~ N(0, 10²), σ ~ half Cauchy(2.5).

use sgmcmc::distributions::{HalfCauchy, Normal};
use sgmcmc::prelude::*;

use super::problem::{Problem, Title};
use super::{metric, numbered};
use crate::Result;
use crate::suites::posteriordb::PosteriorDb;

const TITLE: Title = Title {
    name: "arK-arK",
    model: "yₜ ~ N(α + Σₖ βₖ yₜ₋ₖ, σ), K = 5; α, β ~ N(0, 10), σ ~ half Cauchy(2.5)",
};

/// The order K.
const ORDER: usize = 5;

#[derive(TensorTree)]
struct Coefficients {
    alpha: Tensor<1>,
    beta: Tensor<1>,
    #[tree(positive)]
    sigma: Tensor<1>,
}

/// A value and the five previous ones, in reverse order.
#[derive(TensorTree)]
struct Observations {
    previous: Tensor<2>,
    current: Tensor<1>,
}

/// Returns the problem.
pub(super) fn problem(db: &PosteriorDb) -> Result<Problem> {
    let y = db.data("arK")?.column("y")?;
    let n = y.len() - ORDER;
    let lags = |t: usize| (1..=ORDER).map(move |k| t - k);
    let previous: Vec<f64> = (ORDER..y.len()).flat_map(lags).map(|t| y[t]).collect();
    let covariates: Vec<Vec<f64>> =
        previous.chunks_exact(ORDER).map(|lags| std::iter::once(1.0).chain(lags.iter().copied()).collect()).collect();
    let metric = metric::regression(covariates.iter().map(Vec::as_slice), ORDER + 1)?;
    let data = Dataset::new(Observations {
        previous: array(previous, [n, ORDER])?,
        current: array(y[ORDER..].to_vec(), [n])?,
    })?;
    let model = Model::new(|p: Coefficients, r: Observations| {
        let mean = r.previous.matmul(p.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + p.alpha;
        Normal::new(mean, p.sigma).log_prob(r.current)
    })
    .prior(|p: Coefficients| {
        Normal::new(0.0, 10.0).log_prob(p.alpha)
            + Normal::new(0.0, 10.0).log_prob(p.beta).sum()
            + HalfCauchy::new(2.5).log_prob(p.sigma)
    });
    let start = Coefficients { alpha: zeros([1]), beta: zeros([ORDER]), sigma: ones([1]) };
    let parameters = ["alpha".to_owned()].into_iter().chain(numbered("beta", ORDER)).chain(["sigma".into()]).collect();
    Ok(Problem::new(TITLE, model.with(&data), start, parameters, <[f64]>::to_vec)?.with_metric(metric))
}
