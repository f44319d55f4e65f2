//! A run at temperature T is a run on the model at temperature T, draw for draw.
//!
//! Dynamics with step size h at temperature T make the moves of dynamics with step size hT on the density to the power 1/T. Where an
//! algorithm has settings in units of the log density (HAMCMC's λ and γ, pSGLD's λ), these are scaled instead of h. The two
//! runs see the same noise, so that their draws agree but for rounding. `Sgfs` has no such form, as it does not temper the noise of
//! its gradient.

use sgmcmc::algorithms::Dynamics;
use sgmcmc::algorithms::{
    Badodab, Baoab, CyclicalSgld, Hamcmc, Hmc, HmcBfgs, InitialScale, InverseHessian, Mala, PreconditionedSgld, Psgld,
    Qnhmc, RiemannianMala, Sghmc, Sgld, Sgnht, Sgrld,
};
use sgmcmc::distributions::{Beta, Gamma, Normal};
use sgmcmc::gradient::GradientEstimator;
use sgmcmc::gradient::{ControlVariate, FullGradient, MinibatchGradient, Saga};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::normals;

#[derive(TensorTree)]
struct Params {
    mu: Tensor<1>,
    #[tree(positive)]
    sigma: Tensor<1>,
    #[tree(simplex)]
    weights: Tensor<1>,
    #[tree(unit_interval)]
    share: Tensor<1>,
    #[tree(ordered)]
    cuts: Tensor<1>,
}

const N: usize = 40;
const T: f64 = 1.7;
/// Few: a trajectory amplifies rounding, and so does the matrix that quasi-Newton methods learn from it.
const STEPS: usize = 15;

/// xᵢ ~ N(μ + share + Σ weights ∘ cuts, σ²), with a prior on everything.
fn model() -> Model<Params, Tensor<1>> {
    Model::new(|p: Params, x: Tensor<1>| {
        let mean = p.mu + p.share + (p.weights * p.cuts).sum();
        Normal::new(mean, p.sigma).log_prob(x)
    })
    .prior(|p: Params| {
        Normal::new(0.0, 1.0).log_prob(p.mu)
            + Gamma::new(2.0, 1.0).log_prob(p.sigma)
            + p.weights.log().sum()
            + Beta::new(2.0, 3.0).log_prob(p.share)
            + p.cuts.square().sum() * -0.5
    })
}

fn start() -> Params {
    Params {
        mu: zeros([1]),
        sigma: ones([1]),
        weights: array(vec![0.2, 0.5, 0.3], [3]).unwrap(),
        share: full([1], 0.4),
        cuts: array(vec![-0.5, 0.3, 0.9], [3]).unwrap(),
    }
}

/// The paths of coordinates of the two runs agree, and move.
fn assert_same<D, E, G>(on_run: (D, f64), on_model: (E, f64), gradient: G)
where
    D: Dynamics<G> + Clone + std::fmt::Debug + 'static,
    E: Dynamics<G> + Clone + std::fmt::Debug + 'static,
    G: GradientEstimator + Clone + std::fmt::Debug + 'static,
{
    let data = Dataset::new(array(normals(N, 1), [N]).unwrap()).unwrap();
    let name = format!("{:?} on {gradient:?}", on_run.0);
    let warm = Builder::new(model().with(&data), on_run.0, gradient.clone(), on_run.1).temperature(T).seed(5);
    let hot = model().temperature(T).unwrap();
    let hot = Builder::new(hot.with(&data), on_model.0, gradient, on_model.1).seed(5);
    let (mut warm, mut hot) = (warm.start(&start()).unwrap(), hot.start(&start()).unwrap());
    let first = warm.coordinates().to_vec();
    for step in 1..=STEPS {
        warm.step().unwrap();
        hot.step().unwrap();
        for (a, b) in warm.coordinates().iter().zip(hot.coordinates()) {
            assert!((a - b).abs() < 1e-9, "{name}: {a} against {b} after {step} steps");
        }
    }
    let moved = warm.coordinates().iter().zip(&first).all(|(now, first)| (now - first).abs() > 1e-3);
    assert!(moved, "{name}: from {first:?} to {:?}", warm.coordinates());
}

/// The same algorithm with step sizes h and hT.
fn assert_scales<D, G>(dynamics: D, h: f64, gradient: G)
where
    D: Dynamics<G> + Clone + std::fmt::Debug + 'static,
    G: GradientEstimator + Clone + std::fmt::Debug + 'static,
{
    assert_same((dynamics.clone(), h), (dynamics, h * T), gradient);
}

fn minibatch() -> MinibatchGradient {
    MinibatchGradient::new(WithoutReplacement::new(10))
}

/// A constant dense matrix for the eight coordinates.
fn correlated() -> PreconditionedSgld {
    let entry = |k: usize| if k / 8 == k % 8 { 1.0 } else { 0.2 };
    PreconditionedSgld::dense(&(0..64).map(entry).collect::<Vec<_>>(), 8).unwrap()
}

#[test]
fn langevin() {
    assert_scales(Sgld, 0.004, minibatch());
    assert_scales(Sgld, 0.004, ControlVariate::new(WithoutReplacement::new(10)));
    assert_scales(Sgld, 0.004, Saga::new(WithoutReplacement::new(10)));
    assert_scales(CyclicalSgld { period: 7, exploration: 0.4 }, 0.004, minibatch());
    assert_scales(PreconditionedSgld::diagonal(vec![0.5, 1.0, 1.5, 0.7, 0.8, 1.2, 1.0, 0.9]), 0.004, minibatch());
    assert_scales(correlated(), 0.004, minibatch());
    assert_scales(Sgrld::new(super::wavy()), 0.004, minibatch());
}

#[test]
fn langevin_with_scaled_settings() {
    for gamma in [false, true] {
        let psgld = |lambda| Psgld { alpha: 0.8, lambda, gamma };
        assert_same((psgld(0.3), 0.002), (psgld(0.3 / T), 0.002), minibatch());
    }
    let hamcmc = |lambda, gamma| Hamcmc { memory: 3, lambda, gamma: InitialScale::Fixed(gamma) };
    assert_same((hamcmc(5.0, 0.05), 0.1), (hamcmc(5.0 / T, 0.05 * T), 0.1), minibatch());
}

#[test]
fn hamiltonian() {
    assert_scales(Sghmc { alpha: 0.1.into(), ..Sghmc::default() }, 0.001, minibatch());
    assert_scales(Sgnht::default(), 0.001, minibatch());
    assert_scales(Baoab::default(), 0.001, minibatch());
    assert_scales(Badodab::default(), 0.001, minibatch());
}

#[test]
fn with_an_accept_step() {
    assert_scales(Mala::default(), 0.02, FullGradient);
    assert_scales(RiemannianMala::new(super::wavy()), 0.02, FullGradient);
    assert_scales(Hmc { steps: 4, ..Hmc::default() }, 0.02, FullGradient);
    assert_scales(HmcBfgs { steps: 4, ..HmcBfgs::default() }, 0.02, FullGradient);
    let inverse_hessian = InverseHessian::Lbfgs { memory: 4, gamma: InitialScale::Fixed(1.0) };
    for inverse_hessian in [InverseHessian::Bfgs, inverse_hessian] {
        assert_scales(Qnhmc { steps: 4, inverse_hessian, ..Qnhmc::default() }, 0.02, FullGradient);
    }
}
