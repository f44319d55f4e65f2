//! Gibbs steps alternate with the sampler's own.

use rand_distr::{Distribution, Gamma as GammaDraw};
use sgmcmc::gibbs::Values;
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;
use sgmcmc::{Error, Starts, sgld, ula};
use sgmcmc_testkit::models::normals;

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

#[test]
fn a_conjugate_update_and_langevin_steps_find_the_posterior() {
    let (x, data) = data();
    let held = x.clone();
    // τ does not move by itself: its step is so small that only the update moves it.
    let step = sgmcmc::StepSize::from(2e-3).parameter("tau", 1e-12);
    let run = ula(&model(), &data, step).gibbs(move |_| update(held.clone())).seed(4).burn_in(200);
    let start = Params { theta: full([1], 1.0), tau: full([1], 1.0) };
    let fit = run.sample(&start, 2500).unwrap();
    let (theta, tau) = exact(&x);
    let summary = fit.summary();
    for (name, expected) in [("theta", theta), ("tau", tau)] {
        let row = summary.row(name).unwrap();
        let error = row.sd / row.ess_bulk.sqrt();
        assert!((row.mean - expected).abs() < 5.0 * error, "{name}: {} ± {error} against {expected}", row.mean);
        assert!(error < 0.05 * expected, "{name}: the error {error} would hide a wrong update");
    }
}

#[test]
fn an_update_out_of_bounds_or_of_another_size_is_an_error() {
    let (_, data) = data();
    let start = || Params { theta: full([1], 1.0), tau: full([1], 1.0) };
    let error = |update: fn(&mut Values<'_>, &mut StreamRng) -> Result<(), Error>| {
        let run = sgld(&model(), &data, 1e-4).minibatch(10).gibbs(move |_| update);
        let mut sampler = run.start(&start()).unwrap();
        sampler.step().unwrap_err().to_string()
    };
    let outside = error(|values, _| values.set("tau", &[-1.0]));
    assert!(outside.contains("`tau` is -1") && outside.contains("greater than 0"), "{outside}");
    let size = error(|values, _| values.set("tau", &[1.0, 2.0]));
    assert!(size.contains("length 2, expected 1"), "{size}");
    let name = error(|values, _| values.set("sigma", &[1.0]));
    assert!(name.contains("no parameter `sigma`"), "{name}");
}

#[test]
fn every_chain_has_its_own_update() {
    let (x, data) = data();
    let run = ula(&model(), &data, 1e-3).gibbs(move |_| update(x.clone())).chains(2).seed(1);
    let starts = Starts::drawn(|_| Params { theta: full([1], 1.0), tau: full([1], 1.0) });
    let fit = run.sample(starts, 50).unwrap();
    let taus = fit.element("tau").unwrap();
    assert_ne!(taus[0], taus[1]);
}
