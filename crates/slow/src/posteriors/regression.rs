//! Linear regressions: y ~ N(Xβ, σ), each on BAOAB with control variates from the mode and with the full gradient.
//!
//! The sampler moves γ, β = Mγ (see [`whiten`](crate::whiten)), and log σ. Their posterior standard deviations are about
//! 1/√N and 1/√(2N), which the step sizes follow; what is reported is β and σ.

use std::time::Instant;

use sgmcmc::mode::Stop;
use sgmcmc::prelude::*;
use sgmcmc::{Baoab, Builder, StepSize};

use super::{CHAINS, compare, numbered};
use crate::Result;
use crate::posteriordb::{Data, PosteriorDb};
use crate::whiten::Whitened;

/// h over the posterior variance: half a standard deviation per step.
const STEP: f64 = 0.25;

/// Close to critical damping at this step.
const DYNAMICS: Baoab = Baoab { alpha: 0.6 };

/// Observations per minibatch.
const PROPORTION: f64 = 0.25;

/// The mode can be 2000 posterior standard deviations from the start, 200 in γ: the first steps are large, and the search
/// lowers them.
const SEARCH: ModeSearch = ModeSearch {
    optimiser: Adam { step_size: 1.0, beta1: 0.9, beta2: 0.999, delta: 1e-8 },
    max_iterations: 10_000,
    stop: Stop::Plateau { every: 200, tolerance: 0.005, patience: 5 },
    seed: 0,
};

const DRAWS: usize = 10_000;

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

/// One of the reference posteriors.
pub(super) struct Regression {
    name: &'static str,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    priors: Priors,
}

/// The regressions of the list.
pub(super) fn all(db: &PosteriorDb) -> Result<[Regression; 4]> {
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
    Ok(Regression { name: "kidiq-kidscore_momhsiq", x, y, priors: Priors::HalfCauchy(2.5) })
}

fn earnings(data: &Data) -> Result<Regression> {
    let (height, male) = (data.column("height")?, data.column("male")?);
    let both = height.iter().zip(&male).map(|(height, male)| height * male).collect();
    let y = data.column("earn")?.iter().map(|earn| earn.ln()).collect();
    Ok(Regression { name: "earnings-logearn_interaction", x: design(&[height, male, both]), y, priors: Priors::Flat })
}

fn sblrc(data: &Data) -> Result<Regression> {
    Ok(Regression { name: "sblrc-blr", x: data.rows("X")?, y: data.column("y")?, priors: Priors::Normal(10.0) })
}

fn nes(data: &Data) -> Result<Regression> {
    let age = data.column("age_discrete")?;
    let is = |group: f64| age.iter().map(|age| f64::from(u8::from((age - group).abs() < 0.5))).collect::<Vec<_>>();
    let x = design(&[
        data.column("real_ideo")?,
        data.column("race_adj")?,
        is(2.0),
        is(3.0),
        is(4.0),
        data.column("educ1")?,
        data.column("gender")?,
        data.column("income")?,
    ]);
    Ok(Regression { name: "nes1972-nes", x, y: data.column("partyid7")?, priors: Priors::Flat })
}

/// Rows of an intercept and these columns.
fn design(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let row = |i: usize| std::iter::once(1.0).chain(columns.iter().map(|column| column[i])).collect();
    (0..columns[0].len()).map(row).collect()
}

impl Priors {
    /// The model, with the rows of M for a prior on β.
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

/// βⱼ = Σ_{k≥j} Mⱼₖ γₖ, as a tensor of shape `[1]`.
fn coefficient(gamma: &Tensor<1>, row: &[f64], j: usize) -> Tensor<1> {
    let term = |k: usize| gamma.clone().narrow(0, k, 1) * row[k];
    (j + 1..row.len()).fold(term(j), |sum, k| sum + term(k))
}

impl Regression {
    /// The name of the reference posterior.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Samples by both gradients and compares; how many criteria fail.
    pub(super) fn check(&self, db: &PosteriorDb) -> Result<usize> {
        let reference = db.reference(self.name)?;
        let (n, whitened) = (self.y.len(), Whitened::new(&self.x, &self.y)?);
        let d = whitened.width();
        let data = Dataset::new(Observations {
            w: array(whitened.covariates.clone(), [n, d])?,
            y: array(self.y.clone(), [n])?,
        })?;
        let posterior = self.priors.model(whitened.rows().map(<[f64]>::to_vec).collect()).with(&data);
        let steps = StepSize::from(STEP / n as f64).parameter("sigma", STEP / (2 * n) as f64);
        let start = Coefficients { gamma: zeros([d]), sigma: ones([1]) };

        let parameters: Vec<String> = numbered("beta", d).chain(["sigma".into()]).collect();
        let report = |values: &[f64]| [whitened.beta(&values[..d]), vec![values[d]]].concat();

        let begin = Instant::now();
        let gradient = ControlVariate::new(WithoutReplacement::new(PROPORTION));
        let controlled = Builder::new(posterior.clone(), DYNAMICS, gradient, steps.clone())
            .find_mode(SEARCH)
            .seed(1)
            .chains(CHAINS)
            .jitter(1.0)
            .burn_in(500)
            .sample(&start, DRAWS)?;
        let Some(mode) = controlled.mode() else { return Err("no mode was looked for".into()) };
        println!("{}: N = {n}, mode search {mode}", self.name);
        let title = format!("{}, BAOAB, control variates, {:.1} s", self.name, begin.elapsed().as_secs_f64());
        let failures = compare(&title, &reference, &controlled, &parameters, report)?;

        let begin = Instant::now();
        let start = controlled.layout().unflatten(&start, &mode.theta, &default_device())?;
        let exact = Builder::new(posterior.clone(), DYNAMICS, FullGradient, steps)
            .seed(2)
            .chains(CHAINS)
            .jitter(1.0)
            .burn_in(500)
            .sample(&start, DRAWS)?;
        let title = format!("{}, BAOAB, full gradient, {:.1} s", self.name, begin.elapsed().as_secs_f64());
        let failures = failures + compare(&title, &reference, &exact, &parameters, report)?;

        #[cfg(feature = "nuts")]
        let failures = {
            let begin = Instant::now();
            let fit = sgmcmc::Nuts { seed: 3, ..sgmcmc::Nuts::default() }.sample(&posterior, &start, 2500)?;
            let title = format!("{}, NUTS, {:.1} s", self.name, begin.elapsed().as_secs_f64());
            failures + compare(&title, &reference, &fit, &parameters, report)?
        };
        Ok(failures)
    }
}
