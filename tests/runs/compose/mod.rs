//! Composition of dynamics with Gibbs steps, Metropolis-Hastings steps and latent variables.

mod gibbs;
mod hold;
mod latents;
mod metropolis_hastings;
mod reliability;
mod updates_only;

use rand_distr::{Distribution, Gamma as GammaDraw};
use sgmcmc::algorithms::{Dynamics, Sgld, Values};
use sgmcmc::distributions::{Gamma, Normal};
use sgmcmc::gradient::{Error, FullGradient};
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;
use sgmcmc_testkit::models::normals;

/// A run on [`bivariate`].
type PairRun<D> = Builder<Posterior<Pair, ()>, D, FullGradient>;

/// xᵢ ~ N(θ, 1/τ), θ ~ N(0, 1/τ₀), τ ~ Gamma(a, b).
#[derive(TensorTree)]
struct Params {
    theta: Tensor<1>,
    #[tree(positive)]
    tau: Tensor<1>,
}

const N: usize = 40;
const A: f64 = 3.0;
const B: f64 = 2.0;

fn model() -> Model<Params, Tensor<1>> {
    Model::new(|p: Params, x: Tensor<1>| Normal::new(p.theta, p.tau.sqrt().recip()).log_prob(x))
        .prior(|p: Params| Normal::new(0.0, 10.0).log_prob(p.theta) + Gamma::new(A, B).log_prob(p.tau))
}

fn data() -> (Vec<f64>, Dataset<Tensor<1>>) {
    let x: Vec<f64> = normals(N, 3).iter().map(|z| 1.0 + 0.5 * z).collect();
    (x.clone(), Dataset::new(array(x, [N]).unwrap()).unwrap())
}

/// τ | θ, x ~ Gamma(a + n/2, b + ½ Σ (xᵢ − θ)²).
fn update(x: Vec<f64>) -> impl FnMut(&mut Values<'_>, &mut StreamRng) -> Result<(), Error> + Send {
    move |values, rng| {
        let theta = values.get("theta")?[0];
        let rate = B + 0.5 * x.iter().map(|x| (x - theta).powi(2)).sum::<f64>();
        let gamma = GammaDraw::new(A + 0.5 * x.len() as f64, 1.0 / rate).expect("both are positive");
        values.set("tau", &[gamma.sample(rng)])
    }
}

/// E τ and E θ by quadrature over θ, τ integrated out in closed form.
fn exact(x: &[f64]) -> (f64, f64) {
    let (mut total, mut theta_sum, mut tau_sum) = (0.0, 0.0, 0.0);
    let shape = A + 0.5 * N as f64;
    for k in 0..20_000 {
        let theta = -2.0 + 6.0 * f64::from(k) / 20_000.0;
        let rate = B + 0.5 * x.iter().map(|x| (x - theta).powi(2)).sum::<f64>();
        let weight = (-shape * (rate / 5.0).ln() - 0.5 * theta * theta / 100.0).exp();
        total += weight;
        theta_sum += weight * theta;
        tau_sum += weight * shape / rate;
    }
    (theta_sum / total, tau_sum / total)
}

/// (θ, log w) is bivariate normal with unit variances and correlation [`RHO`]; w is positive, so that its block is constrained.
#[derive(TensorTree)]
struct Pair {
    theta: Tensor<1>,
    #[tree(positive)]
    w: Tensor<1>,
}

const RHO: f64 = 0.9;

fn bivariate() -> Model<Pair> {
    Model::density(|p: Pair| {
        let z = p.w.clone().log();
        let off = p.theta.clone() - z.clone() * RHO;
        // The density of w has the factor 1/w, which the transform takes away again.
        off.square() * (-0.5 / (1.0 - RHO * RHO)) - z.clone().square() * 0.5 - z
    })
}

/// log w | θ ~ N(ρθ, 1 − ρ²).
fn conditional(values: &mut Values<'_>, rng: &mut StreamRng) -> Result<(), Error> {
    let theta = values.get("theta")?[0];
    let z: f64 = rand_distr::StandardNormal.sample(rng);
    values.set("w", &[(RHO * theta + (1.0 - RHO * RHO).sqrt() * z).exp()])
}

/// E θ², E z² and E θz over a run, in Monte Carlo standard errors and as numbers.
fn second_moments<D>(dynamics: D, h: f64, steps: usize) -> [(f64, f64); 3]
where
    D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static,
{
    let run = Builder::new(bivariate().with(&Dataset::none()), dynamics, FullGradient, h);
    moments_of(run.gibbs(|_| conditional), steps)
}

/// E θ², E z² and E θz over `steps` steps of `run`, each with its Monte Carlo standard error.
fn moments_of<D>(run: PairRun<D>, steps: usize) -> [(f64, f64); 3]
where
    D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static,
{
    let start = Pair { theta: zeros([1]), w: ones([1]) };
    let mut sampler = run.seed(4).start(&start).unwrap();
    (0..1000).for_each(|_| sampler.step().unwrap());
    let batches = 50;
    let mut means = vec![[0.0; 3]; batches];
    for batch in &mut means {
        for _ in 0..steps / batches {
            sampler.step().unwrap();
            let (theta, z) = (sampler.position()[0], sampler.position()[1].ln());
            let features = [theta * theta, z * z, theta * z];
            batch.iter_mut().zip(features).for_each(|(sum, f)| *sum += f * batches as f64 / steps as f64);
        }
    }
    std::array::from_fn(|k| {
        let mean = means.iter().map(|batch| batch[k]).sum::<f64>() / batches as f64;
        let spread = means.iter().map(|batch| (batch[k] - mean).powi(2)).sum::<f64>() / (batches - 1) as f64;
        (mean, (spread / batches as f64).sqrt())
    })
}

/// Exact conditionals within every kernel leave the joint law alone, up to the bias of the kernel: |error| ≤ 4 standard errors + `bias`.
fn assert_bivariate<D>(name: &str, dynamics: D, h: f64, bias: f64)
where
    D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static,
{
    assert_moments(name, second_moments(dynamics, h, 300_000), bias);
}

/// The moments are those of the bivariate normal law: |error| ≤ 4 standard errors + `bias`.
fn assert_moments(name: &str, found: [(f64, f64); 3], bias: f64) {
    for ((mean, error), exact) in found.into_iter().zip([1.0, 1.0, RHO]) {
        assert!(error < 0.05, "{name}: a standard error of {error} tells too little");
        assert!((mean - exact).abs() < 4.0 * error + bias, "{name}: {mean} ± {error} against {exact}");
    }
}
