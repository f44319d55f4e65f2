//! Prices of diamonds: Y ~ N(Intercept + X_c b, sigma²), X_c the columns of X but the first, centred; b ~ N(0, 1), Intercept ~ t₃(8, 10),
//! sigma ~ half t₃(0, 10). The 24 coefficients are correlated by up to 0.99.
//!
//! Minibatches with control variates, preconditioned by the Laplace covariance at the mode, which L-BFGS finds. In the units of that covariance the step
//! size is a number without unit: h = 0.1 makes standard deviations 1 % too wide.

use std::time::Instant;

use sgmcmc::prelude::*;

use super::{CHAINS, compare, numbered};
use crate::Result;
use crate::posteriordb::PosteriorDb;

/// The name of the reference posterior.
pub(super) const NAME: &str = "diamonds-diamonds";

const STEP: f64 = 0.1;

/// Of the observations, in each minibatch.
const PROPORTION: f64 = 0.1;

const DRAWS: usize = 10_000;
const THIN: u64 = 10;

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

/// Samples and compares; how many criteria fail.
pub(super) fn check(db: &PosteriorDb) -> Result<usize> {
    let reference = db.reference(NAME)?;
    let data = db.data("diamonds")?;
    let (x, y) = (data.rows("X")?, data.column("Y")?);
    let (n, d) = (y.len(), x[0].len() - 1);
    let mut centred: Vec<f64> = x.iter().flat_map(|row| row[1..].iter().copied()).collect();
    for j in 0..d {
        let mean = centred.iter().skip(j).step_by(d).sum::<f64>() / n as f64;
        centred.iter_mut().skip(j).step_by(d).for_each(|x| *x -= mean);
    }
    let middle = y.iter().sum::<f64>() / n as f64;
    let posterior = model().with(&Dataset::new(Diamonds { x: array(centred, [n, d])?, y: array(y, [n])? })?);
    let start = Coefficients { b: zeros([d]), intercept: full([1], middle), sigma: ones([1]) };

    let begin = Instant::now();
    let mut evaluator = posterior.evaluator(&start)?;
    let layout = evaluator.layout().clone();
    let mode = LbfgsSearch::default().run(evaluator.as_mut(), &layout.flatten(&start)?)?;
    println!("{NAME}: N = {n}, mode search {mode}");
    let metric = Preconditioned::laplace(evaluator.as_mut(), &mode.theta)?;
    let start = layout.unflatten(&start, &mode.theta, &default_device())?;
    let gradient = ControlVariate::new(WithoutReplacement::new(PROPORTION));
    // All chains start at the mode: coordinates have standard deviations down to 0.002, and moved by more they would start in the far tails.
    let run = Builder::new(posterior, metric, gradient, STEP).seed(1).chains(CHAINS).jitter(0.0);
    let run = run.burn_in(1000).thin(THIN);
    let fit = run.sample(&start, DRAWS)?;
    let parameters: Vec<String> = numbered("b", d).chain(["Intercept".into(), "sigma".into()]).collect();
    let title = format!("{NAME}, preconditioned SGLD, control variates, {:.1} s", begin.elapsed().as_secs_f64());
    compare(&title, &reference, &fit, &parameters, <[f64]>::to_vec)
}
