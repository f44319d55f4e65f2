//! The workloads of the comparison: models with data and a start.
//!
//! | workload | model | observations |
//! |---|---|---|
//! | quickstart | logistic regression of `examples/01_quickstart.rs`, 8 covariates, Laplace prior, single precision | 100 000 |
//! | covertype | logistic regression on Covertype, 54 scaled covariates, Laplace prior, single precision | 581 012 |
//! | hierarchical | normal groups, non-centered, 40 groups | 40 000 |
//! | mixture | two normal components with ordered means | 100 000 |

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::data::{Column, Rows, Scaling};
use sgmcmc::datasets::{self, Labeled};
use sgmcmc::distributions::{BernoulliLogits, Beta, HalfNormal, Laplace, Normal};
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;

use crate::Result;
use crate::papers::data_files::{default_directory, or_synthetic};

/// The names of the workloads.
pub(super) const NAMES: [&str; 4] = ["quickstart", "covertype", "hierarchical", "mixture"];

/// The number of covariates of `quickstart`.
pub(super) const QUICKSTART_COVARIATES: usize = 8;
/// The number of observations of `quickstart`.
pub(super) const QUICKSTART_OBSERVATIONS: usize = 100_000;
const COVERTYPE_OBSERVATIONS: usize = 581_012;
const HIERARCHICAL_OBSERVATIONS: usize = 40_000;
const MIXTURE_OBSERVATIONS: usize = 100_000;
const GROUPS: usize = 40;

/// A model with data and a start.
pub(super) struct Workload<P, D> {
    pub(super) name: &'static str,
    /// The name, the number of observations and, if they are, that the data are synthetic.
    pub(super) title: String,
    pub(super) target: Posterior<P, D>,
    pub(super) start: P,
    /// The data, for other programs.
    pub(super) columns: Vec<Column>,
}

impl<P: TensorTree, D: TensorTree> Workload<P, D> {
    fn new(name: &'static str, origin: &str, model: &Model<P, D>, data: &Dataset<D>, start: P) -> Self {
        let title = format!("{name}; {origin}; N = {}", data.observations());
        Self { name, title, target: model.with(data), start, columns: data.columns().to_vec() }
    }
}

/// The weights of a logistic regression.
#[derive(TensorTree)]
pub(super) struct Weights {
    bias: Tensor<1>,
    beta: Tensor<1>,
}

fn logistic_regression() -> Model<Weights, Labeled> {
    Model::new(|w: Weights, r: Labeled| {
        let logits = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
        BernoulliLogits::new(logits).log_prob(r.y)
    })
    .prior(|w: Weights| Laplace::new(0.0, 1.0).log_prob(w.beta).sum() + Laplace::new(0.0, 1.0).log_prob(w.bias))
}

/// Returns the model and the simulated data of `examples/01_quickstart.rs`, with `n` observations.
///
/// # Errors
///
/// Returns an error if `n` is 0.
pub(super) fn quickstart(n: Option<usize>) -> Result<Workload<Weights, Labeled>> {
    let n = n.unwrap_or(QUICKSTART_OBSERVATIONS);
    let mut rng = StreamRng::seed_from_u64(1);
    let truth: Vec<f64> = (0..=QUICKSTART_COVARIATES).map(|_| rng.sample::<f64, _>(StandardNormal)).collect();
    let x: Vec<f32> = (0..n * QUICKSTART_COVARIATES).map(|_| rng.sample(StandardNormal)).collect();
    let response = |row: &[f32]| {
        let logit = truth[0] + row.iter().zip(&truth[1..]).map(|(x, beta)| f64::from(*x) * beta).sum::<f64>();
        f32::from(rng.random_bool(1.0 / (1.0 + (-logit).exp())))
    };
    let y: Vec<f32> = x.chunks_exact(QUICKSTART_COVARIATES).map(response).collect();
    let data = Dataset::new(Labeled { x: array(x, [n, QUICKSTART_COVARIATES])?, y: array(y, [n])? })?;
    let start = Weights { bias: zeros([1]), beta: zeros([QUICKSTART_COVARIATES]) };
    Ok(Workload::new("quickstart", "simulated data", &logistic_regression(), &data, start))
}

/// Returns the logistic regression on Covertype, with covariates scaled to [0, 1]. If the file is missing, prints a
/// message and simulates similar data. With `n`, the data are `n` random observations.
///
/// # Errors
///
/// Returns an error if the file is damaged or there are fewer than `n` observations.
pub(super) fn covertype(n: Option<usize>) -> Result<Workload<Weights, Labeled>> {
    let mut origin = "published data";
    let data = or_synthetic(datasets::covertype(default_directory()), || {
        origin = "SYNTHETIC data";
        datasets::covertype_like(COVERTYPE_OBSERVATIONS, 1)
    })?;
    let data = data.binary()?;
    let mut data = Scaling::min_max(&data, "x")?.apply(&data)?;
    if let Some(n) = n {
        data = data.shuffle(1).take(Rows::range(0..n))?;
    }
    let covariates = data.columns()[0].width();
    let start = Weights { bias: zeros([1]), beta: zeros([covariates]) };
    Ok(Workload::new("covertype", origin, &logistic_regression(), &data, start))
}

/// The parameters of normal groups: the mean of group g is μ + τ ηg.
#[derive(TensorTree)]
pub(super) struct Groups {
    mu: Tensor<1>,
    #[tree(positive)]
    tau: Tensor<1>,
    eta: Tensor<1>,
    #[tree(positive)]
    sigma: Tensor<1>,
}

/// Observations of groups.
#[derive(TensorTree)]
pub(super) struct Grouped {
    group: Tensor<1, Int>,
    y: Tensor<1>,
}

/// Returns y ~ N(μ + τ η\[group\], σ), η ~ N(0, 1), μ ~ N(0, 5), τ ~ half N(0, 2), σ ~ half N(0, 5), with simulated
/// data.
///
/// # Errors
///
/// Returns an error if `n` is 0.
pub(super) fn hierarchical(n: Option<usize>) -> Result<Workload<Groups, Grouped>> {
    let n = n.unwrap_or(HIERARCHICAL_OBSERVATIONS);
    let mut rng = StreamRng::seed_from_u64(2);
    let means: Vec<f64> = (0..GROUPS).map(|_| 1.0 + 0.5 * rng.sample::<f64, _>(StandardNormal)).collect();
    let group: Vec<i64> = (0..n).map(|_| rng.random_range(0..GROUPS as i64)).collect();
    let y: Vec<f64> =
        group.iter().map(|group| means[*group as usize] + 2.0 * rng.sample::<f64, _>(StandardNormal)).collect();
    let data = Dataset::new(Grouped { group: array(group, [n])?, y: array(y, [n])? })?;
    let model =
        Model::new(|p: Groups, r: Grouped| Normal::new(p.mu + p.tau * p.eta.select(0, r.group), p.sigma).log_prob(r.y))
            .prior(|p: Groups| {
                Normal::new(0.0, 5.0).log_prob(p.mu)
                    + HalfNormal::new(2.0).log_prob(p.tau)
                    + Normal::new(0.0, 1.0).log_prob(p.eta).sum()
                    + HalfNormal::new(5.0).log_prob(p.sigma)
            });
    let start = Groups { mu: zeros([1]), tau: ones([1]), eta: zeros([GROUPS]), sigma: ones([1]) };
    Ok(Workload::new("hierarchical", "simulated data", &model, &data, start))
}

/// The parameters of a mixture of two normal distributions.
#[derive(TensorTree)]
pub(super) struct Components {
    #[tree(ordered)]
    mu: Tensor<1>,
    #[tree(positive)]
    sigma: Tensor<1>,
    #[tree(unit_interval)]
    theta: Tensor<1>,
}

/// Observations of a mixture.
#[derive(TensorTree)]
pub(super) struct Mixed {
    y: Tensor<1>,
}

/// Returns y ~ θ N(μ₀, σ₀) + (1 − θ) N(μ₁, σ₁), μ₀ < μ₁, μ ~ N(0, 2), σ ~ half N(0, 2), θ ~ Beta(5, 5), with simulated
/// data.
///
/// # Errors
///
/// Returns an error if `n` is 0.
pub(super) fn mixture(n: Option<usize>) -> Result<Workload<Components, Mixed>> {
    let n = n.unwrap_or(MIXTURE_OBSERVATIONS);
    let mut rng = StreamRng::seed_from_u64(3);
    let observation = |_| {
        let (mu, sigma) = if rng.random_bool(0.4) { (-1.0, 0.7) } else { (1.5, 1.0) };
        mu + sigma * rng.sample::<f64, _>(StandardNormal)
    };
    let y: Vec<f64> = (0..n).map(observation).collect();
    let data = Dataset::new(Mixed { y: array(y, [n])? })?;
    let component = |p: &Components, k: usize, y: Tensor<1>| {
        Normal::new(p.mu.clone().narrow(0, k, 1), p.sigma.clone().narrow(0, k, 1)).log_prob(y)
    };
    let model = Model::new(move |p: Components, r: Mixed| {
        let first = component(&p, 0, r.y.clone()) + p.theta.clone().log();
        let second = component(&p, 1, r.y) + (p.theta * -1.0 + 1.0).log();
        let largest = first.clone().max_pair(second.clone());
        largest.clone() + ((first - largest.clone()).exp() + (second - largest).exp()).log()
    })
    .prior(|p: Components| {
        Normal::new(0.0, 2.0).log_prob(p.mu).sum()
            + HalfNormal::new(2.0).log_prob(p.sigma).sum()
            + Beta::new(5.0, 5.0).log_prob(p.theta)
    });
    let start = Components { mu: array(vec![-1.0, 1.0], [2])?, sigma: ones([2]), theta: full([1], 0.5) };
    Ok(Workload::new("mixture", "simulated data", &model, &data, start))
}
