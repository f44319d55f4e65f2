//! Prices of diamonds: Y ~ N(Intercept + X_c b, sigma²), where X_c are the centered columns of X except the first; b ~
//! N(0, 1), Intercept ~ t₃(8, 10), sigma ~ half t₃(0, 10). The correlations of the 24 coefficients are up to 0.99.

use sgmcmc::distributions::{Normal, StudentT};
use sgmcmc::prelude::*;

use super::problem::{Problem, Title};
use super::{metric, numbered};
use crate::Result;
use crate::suites::posteriordb::PosteriorDb;

const TITLE: Title = Title {
    name: "diamonds-diamonds",
    model: "Y ~ N(Intercept + X b, σ), 24 coefficients; b ~ N(0, 1), Intercept ~ t₃(8, 10), σ ~ half t₃(0, 10)",
};

#[derive(TensorTree)]
struct Coefficients {
    b: Tensor<1>,
    intercept: Tensor<1>,
    #[tree(positive)]
    sigma: Tensor<1>,
}

#[derive(TensorTree)]
struct Diamonds {
    x: Tensor<2>,
    y: Tensor<1>,
}

fn model() -> Model<Coefficients, Diamonds> {
    Model::new(|p: Coefficients, r: Diamonds| {
        let mean = r.x.matmul(p.b.unsqueeze_dim(1)).squeeze_dim::<1>(1) + p.intercept;
        Normal::new(mean, p.sigma).log_prob(r.y)
    })
    .prior(|p: Coefficients| {
        Normal::new(0.0, 1.0).log_prob(p.b).sum()
            + StudentT::new(3.0, 8.0, 10.0).log_prob(p.intercept)
            + StudentT::new(3.0, 0.0, 10.0).log_prob(p.sigma)
    })
}

/// Returns the problem.
pub(super) fn problem(db: &PosteriorDb) -> Result<Problem> {
    let data = db.data("diamonds")?;
    let (x, y) = (data.rows("X")?, data.column("Y")?);
    let (n, d) = (y.len(), x[0].len() - 1);
    let mut centered: Vec<f64> = x.iter().flat_map(|row| row[1..].iter().copied()).collect();
    for j in 0..d {
        let mean = centered.iter().skip(j).step_by(d).sum::<f64>() / n as f64;
        centered.iter_mut().skip(j).step_by(d).for_each(|x| *x -= mean);
    }
    let covariates: Vec<Vec<f64>> = centered.chunks_exact(d).map(|row| [row, &[1.0]].concat()).collect();
    let metric = metric::regression(covariates.iter().map(Vec::as_slice), d + 1)?;
    let mean_response = y.iter().sum::<f64>() / n as f64;
    let posterior = model().with(&Dataset::new(Diamonds { x: array(centered, [n, d])?, y: array(y, [n])? })?);
    let start = Coefficients { b: zeros([d]), intercept: full([1], mean_response), sigma: ones([1]) };
    let parameters = numbered("b", d).chain(["Intercept".into(), "sigma".into()]).collect();
    Ok(Problem::new(TITLE, posterior, start, parameters, <[f64]>::to_vec)?.with_metric(metric))
}
