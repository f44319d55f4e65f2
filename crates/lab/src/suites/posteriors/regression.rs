//! Linear regressions: y ~ N(Xβ, σ).
//!
//! The parameters are γ with β = Mγ (see [`whiten`](crate::suites::whiten)), and σ. In β, the condition number of the
//! Hessian is up to 10¹¹, which is too large for the mode search and for differences of gradients. The reference
//! parameters are β and σ. [`raw_problems`] has the coordinates β, for methods that find a scale by themselves.

use std::sync::Arc;

use sgmcmc::distributions::{HalfCauchy, HalfNormal, Normal};
use sgmcmc::prelude::*;

use super::problem::{Problem, Title};
use super::{metric, numbered};
use crate::Result;
use crate::suites::posteriordb::{Data, PosteriorDb};
use crate::suites::whiten::Whitened;

#[derive(TensorTree)]
struct Coefficients {
    gamma: Tensor<1>,
    #[tree(positive)]
    sigma: Tensor<1>,
}

#[derive(TensorTree)]
struct Observations {
    w: Tensor<2>,
    y: Tensor<1>,
}

/// The prior of a regression.
#[derive(Clone, Copy)]
enum Priors {
    /// Flat on β and σ.
    Flat,
    /// Flat on β, half Cauchy of this scale on σ.
    HalfCauchy(f64),
    /// Normal of this standard deviation on each coefficient, half normal of the same on σ.
    Normal(f64),
}

/// A regression of the reference posteriors.
struct Regression {
    title: Title,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    priors: Priors,
}

/// Returns the regressions in coordinates in which the coefficients are uncorrelated.
pub(super) fn problems(db: &PosteriorDb) -> Result<Vec<Problem>> {
    regressions(db)?.into_iter().map(Regression::problem).collect()
}

/// Returns the regressions with the covariates of the data: γ is β.
pub(super) fn raw_problems(db: &PosteriorDb) -> Result<Vec<Problem>> {
    regressions(db)?.into_iter().map(Regression::raw_problem).collect()
}

fn regressions(db: &PosteriorDb) -> Result<[Regression; 4]> {
    Ok([
        kidiq(&db.data("kidiq")?)?,
        earnings(&db.data("earnings")?)?,
        sblrc(&db.data("sblrc")?)?,
        nes(&db.data("nes1972")?)?,
    ])
}

fn kidiq(data: &Data) -> Result<Regression> {
    let x = design(&[data.column("mom_hs")?, data.column("mom_iq")?]);
    let y = data.column("kid_score")?;
    let model = "kid_score ~ N(β₁ + β₂ mom_hs + β₃ mom_iq, σ); flat on β, σ ~ half Cauchy(2.5)";
    let title = Title { name: "kidiq-kidscore_momhsiq", model };
    Ok(Regression { title, x, y, priors: Priors::HalfCauchy(2.5) })
}

fn earnings(data: &Data) -> Result<Regression> {
    let (height, male) = (data.column("height")?, data.column("male")?);
    let interaction = height.iter().zip(&male).map(|(height, male)| height * male).collect();
    let y = data.column("earn")?.iter().map(|earn| earn.ln()).collect();
    let model = "log(earn) ~ N(β₁ + β₂ height + β₃ male + β₄ height·male, σ); flat";
    let title = Title { name: "earnings-logearn_interaction", model };
    Ok(Regression { title, x: design(&[height, male, interaction]), y, priors: Priors::Flat })
}

fn sblrc(data: &Data) -> Result<Regression> {
    let title = Title { name: "sblrc-blr", model: "y ~ N(Xβ, σ); β ~ N(0, 10), σ ~ half N(0, 10)" };
    Ok(Regression { title, x: data.rows("X")?, y: data.column("y")?, priors: Priors::Normal(10.0) })
}

fn nes(data: &Data) -> Result<Regression> {
    let age = data.column("age_discrete")?;
    let in_group =
        |group: f64| age.iter().map(|age| f64::from(u8::from((age - group).abs() < 0.5))).collect::<Vec<_>>();
    let x = design(&[
        data.column("real_ideo")?,
        data.column("race_adj")?,
        in_group(2.0),
        in_group(3.0),
        in_group(4.0),
        data.column("educ1")?,
        data.column("gender")?,
        data.column("income")?,
    ]);
    let title = Title { name: "nes1972-nes", model: "partyid7 ~ N(Xβ, σ), eight covariates and an intercept; flat" };
    Ok(Regression { title, x, y: data.column("partyid7")?, priors: Priors::Flat })
}

/// Returns the rows of a design matrix with an intercept and these columns.
fn design(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let row = |i: usize| std::iter::once(1.0).chain(columns.iter().map(|column| column[i])).collect();
    (0..columns[0].len()).map(row).collect()
}

impl Priors {
    /// Returns the model; the rows of M define the prior of β.
    fn model(self, to_beta: Vec<Vec<f64>>) -> Model<Coefficients, Observations> {
        let model = Model::new(|p: Coefficients, r: Observations| {
            let mean = r.w.matmul(p.gamma.unsqueeze_dim(1)).squeeze_dim::<1>(1);
            Normal::new(mean, p.sigma).log_prob(r.y)
        });
        match self {
            Self::Flat => model,
            Self::HalfCauchy(width) => model.prior(move |p: Coefficients| HalfCauchy::new(width).log_prob(p.sigma)),
            Self::Normal(sd) => model.prior(move |p: Coefficients| {
                let on_sigma = HalfNormal::new(sd).log_prob(p.sigma);
                to_beta
                    .iter()
                    .enumerate()
                    .fold(on_sigma, |sum, (j, row)| sum + Normal::new(0.0, sd).log_prob(coefficient(&p.gamma, row, j)))
            }),
        }
    }
}

/// Returns βⱼ = Σ_{k≥j} Mⱼₖ γₖ as a tensor of shape `[1]`.
fn coefficient(gamma: &Tensor<1>, row: &[f64], j: usize) -> Tensor<1> {
    let term = |k: usize| gamma.clone().narrow(0, k, 1) * row[k];
    (j + 1..row.len()).fold(term(j), |sum, k| sum + term(k))
}

impl Regression {
    /// Returns the regression as a problem in whitened coordinates.
    fn problem(self) -> Result<Problem> {
        let whitened = Whitened::new(&self.x, &self.y)?;
        let d = whitened.width();
        let metric = metric::regression(whitened.covariates.chunks_exact(d), d)?;
        Ok(self.in_coordinates(whitened)?.with_metric(metric))
    }

    /// Returns the regression as a problem in the coordinates β.
    fn raw_problem(self) -> Result<Problem> {
        let identity = Whitened::identity(&self.x);
        self.in_coordinates(identity)
    }

    /// Returns the regression as a problem in the coordinates of `whitened`.
    fn in_coordinates(self, whitened: Whitened) -> Result<Problem> {
        let (n, d, whitened) = (self.y.len(), whitened.width(), Arc::new(whitened));
        let data =
            Dataset::new(Observations { w: array(whitened.covariates.clone(), [n, d])?, y: array(self.y, [n])? })?;
        let posterior = self.priors.model(whitened.rows().map(<[f64]>::to_vec).collect()).with(&data);
        let start = Coefficients { gamma: zeros([d]), sigma: ones([1]) };
        let parameters = numbered("beta", d).chain(["sigma".into()]).collect();
        let report = move |values: &[f64]| [whitened.beta(&values[..d]), vec![values[d]]].concat();
        Problem::new(self.title, posterior, start, parameters, report)
    }
}
