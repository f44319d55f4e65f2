//! Tests of the warm-up.

use std::fmt::Debug;
use std::sync::Arc;

use ciborium::Value;

use super::*;
use crate::Builder;
use crate::chain::{Chain, ChainSpec, TypedChain};
use crate::dynamics::Dynamics;
use crate::metropolis::{Hmc, Mala};
use crate::step_size::StepBlock;
use sgmcmc_fit::Fit;
use sgmcmc_fit::codec::{decode, encode};
use sgmcmc_gradient::{Analytic, AnalyticModel, ChainRng, FullGradient, Target};

/// The density N(0, P⁻¹) with the precision P in row-major order.
#[derive(Clone)]
struct Gaussian {
    dim: usize,
    precision: Vec<f64>,
}

impl Gaussian {
    fn diagonal(variances: &[f64]) -> Self {
        let dim = variances.len();
        let entry = |k: usize| if k / dim == k % dim { 1.0 / variances[k / dim] } else { 0.0 };
        Self { dim, precision: (0..dim * dim).map(entry).collect() }
    }

    /// Two coordinates with variance 1 and correlation `rho`.
    fn correlated(rho: f64) -> Self {
        Self { dim: 2, precision: [1.0, -rho, -rho, 1.0].map(|entry| entry / (1.0 - rho * rho)).to_vec() }
    }

    fn flat(dim: usize) -> Self {
        Self { dim, precision: vec![0.0; dim * dim] }
    }
}

impl AnalyticModel for Gaussian {
    fn observations(&self) -> usize {
        0
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn observation(&self, _theta: &[f64], _row: usize, _weight: f64, _grad: &mut [f64]) -> f64 {
        0.0
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        let mut log_density = 0.0;
        for (row, (theta_k, grad)) in self.precision.chunks_exact(self.dim).zip(theta.iter().zip(grad)) {
            let product: f64 = row.iter().zip(theta).map(|(p, theta)| p * theta).sum();
            *grad -= product;
            log_density -= 0.5 * theta_k * product;
        }
        log_density
    }
}

/// Starts a chain at (1, …, 1) with step size `h`.
fn start<D: Dynamics<FullGradient>>(model: &Gaussian, dynamics: D, h: f64, seed: u64) -> TypedChain<D, FullGradient> {
    let theta = vec![1.0; model.dim];
    let evaluator = Analytic::new(model.clone()).evaluator(&theta).unwrap();
    let (dynamics, gradient) = (Arc::new(dynamics), Arc::new(FullGradient));
    let spec = ChainSpec { dynamics, gradient, step_size: h.into(), temperature: 1.0.into() };
    spec.start(evaluator, &theta, ChainRng::new(seed, 0)).unwrap()
}

fn sample(model: &Gaussian, dynamics: Hmc, h: f64, draws: usize) -> Fit {
    let target = Analytic::new(model.clone());
    Builder::new(target, dynamics, FullGradient, h).seed(3).sample(&vec![1.0; model.dim], draws).unwrap()
}

/// Returns the next positions and statistics of a chain.
fn path(chain: &mut dyn Chain, steps: usize) -> Vec<Vec<u64>> {
    let mut stats = vec![0.0; chain.stat_names().len()];
    let mut step = |_| {
        chain.step().unwrap();
        chain.stats(&mut stats);
        chain.position().iter().chain(&stats).map(|number| number.to_bits()).collect()
    };
    (0..steps).map(&mut step).collect()
}

fn warm_hmc(warm_up: WarmUp) -> Hmc {
    Hmc { steps: 5, jitter: 0.5, warm_up: Some(warm_up), ..Hmc::default() }
}

#[test]
fn windows_are_those_of_stan() {
    let windows = |iterations| WarmUp::diagonal(iterations).windows().collect::<Vec<_>>();
    assert_eq!(windows(1000), [75..100, 100..150, 150..250, 250..450, 450..950]);
    assert_eq!(windows(300), [75..100, 100..150, 150..250]);
    assert_eq!(windows(150), vec![75..100; 1]);
    assert_eq!(windows(100), vec![15..90; 1]);
    assert_eq!(windows(20), vec![3..18; 1]);
    // Extended, unlike in Stan.
    assert_eq!(windows(160), vec![75..110; 1]);
    assert_eq!(windows(u64::MAX).last().map(|window| window.end), Some(u64::MAX - 50));
}

/// The covariance of a window is the one of the definition, also for a mean that is much larger.
#[test]
fn moments_are_those_of_the_definition() {
    const DIM: usize = 3;
    let positions: Vec<[f64; DIM]> = (0..40_u32)
        .map(|t| {
            let t = f64::from(t);
            [1e4 + t.sin(), 0.3 * (2.0 * t).cos() - 5.0, t.sin() + (3.0 * t).cos()]
        })
        .collect();
    // The last coordinate has four times the step size, and is measured in steps of half its size.
    let blocks = [(0..2, 0.1), (2..3, 0.4)].map(|(range, h)| StepBlock { range, h, previous: h });
    let context = StepContext { t: 0, temperature: 1.0, h: 0.1, blocks: &blocks };
    let (n, unit) = (positions.len() as f64, [1.0, 1.0, 0.5]);
    let mean = |i: usize| positions.iter().map(|position| position[i]).sum::<f64>() / n;
    let covariance = |i: usize, j: usize| {
        let products = positions.iter().map(|position| (position[i] - mean(i)) * (position[j] - mean(j)));
        let shrunk = n / (n + 5.0) * unit[i] * unit[j] * products.sum::<f64>() / (n - 1.0);
        if i == j { shrunk + 1e-3 * 5.0 / (n + 5.0) } else { shrunk }
    };
    for shape in [MetricShape::Diagonal, MetricShape::Dense] {
        let mut moments = WindowMoments::default();
        // Once more after the sums have been cleared.
        for _ in 0..2 {
            positions.iter().for_each(|position| moments.add(shape, position, context));
            let found = moments.take_covariance(shape).unwrap();
            for j in 0..DIM {
                let mut column = [0.0; DIM];
                column[j] = 1.0;
                found.apply_root(&mut column, true);
                found.apply_root(&mut column, false);
                for (i, found) in column.into_iter().enumerate() {
                    let expected = if i == j || shape == MetricShape::Dense { covariance(i, j) } else { 0.0 };
                    assert!((found - expected).abs() < 1e-10, "{shape:?}, {i}, {j}: {found} and not {expected}");
                }
            }
        }
    }
}

#[test]
fn windows_without_a_variance_keep_the_mass() {
    let blocks = [StepBlock { range: 0..2, h: 0.1, previous: 0.1 }];
    let context = StepContext { t: 0, temperature: 1.0, h: 0.1, blocks: &blocks };
    let moving = |t: u32| f64::from(t).sin();
    for shape in [MetricShape::Diagonal, MetricShape::Dense] {
        for still in [1.0, f64::NAN, f64::INFINITY] {
            let mut moments = WindowMoments::default();
            (0..25).for_each(|t| moments.add(shape, &[moving(t), still], context));
            assert_eq!(moments.take_covariance(shape), None);
            (0..25).for_each(|t| moments.add(shape, &[moving(t), moving(2 * t)], context));
            assert!(moments.take_covariance(shape).is_some());
        }
        let mut single = WindowMoments::default();
        single.add(shape, &[1.0, 2.0], context);
        assert_eq!(single.take_covariance(shape), None);
    }
    // At the end of a window that has no variance, the mass is the previous one, and dual averaging starts again.
    let (warm_up, mut adaptation) = (WarmUp::diagonal(20), MassAdaptation::default());
    let mut step_size = StepSizeAdaptation::default();
    for _ in 0..18 {
        step_size.update(adaptation.dual_averaging(None, Some(warm_up)), 0.0);
        adaptation.update(warm_up, &[1.0, 1.0], context, &mut step_size);
    }
    assert_eq!(adaptation.mass(&Covariance::IDENTITY, 2).unwrap(), &Covariance::IDENTITY);
    assert_eq!((adaptation.started, step_size.seen()), (18, 0));
    assert!(adaptation.needs_step_size(Some(warm_up), step_size));
}

/// Variances from 1e-4 to 1e4, with a step size of the run that fits none of them.
#[test]
fn a_diagonal_warm_up_finds_all_scales() {
    let variances: Vec<f64> = (0..10).map(|k| 10_f64.powf(-4.0 + 8.0 * f64::from(k) / 9.0)).collect();
    let dynamics = Hmc { jitter: 0.5, warm_up: Some(WarmUp::diagonal(1000)), ..Hmc::default() };
    let fit = sample(&Gaussian::diagonal(&variances), dynamics, 1.0, 2000);
    assert_eq!(fit.info().iterations, [3000]);
    let rates = fit.chains()[0].stat("acceptance_rate").unwrap();
    let rate = rates.iter().sum::<f64>() / rates.len() as f64;
    assert!((0.6..0.95).contains(&rate), "{rate}");
    for (k, variance) in variances.iter().enumerate() {
        let draws = [fit.chains()[0].element(k)];
        let sd = (draws[0].iter().map(|x| x * x).sum::<f64>() / draws[0].len() as f64).sqrt();
        let error = sgmcmc_diagnostics::mcse_sd(&draws);
        assert!((sd - variance.sqrt()).abs() < 4.0 * error, "{k}: {sd} ± {error}, not {}", variance.sqrt());
        assert!(sgmcmc_diagnostics::ess_bulk(&draws) > 500.0, "{k}");
    }
    // Nothing is adapted after the warm-up.
    let step_sizes = fit.chains()[0].stat("step_size").unwrap();
    assert!(step_sizes.iter().all(|step_size| step_size.to_bits() == step_sizes[0].to_bits()));
}

#[test]
fn a_dense_warm_up_removes_correlations() {
    let ess = |warm_up| {
        let dynamics = Hmc { steps: 3, jitter: 0.4, warm_up: Some(warm_up), ..Hmc::default() };
        let fit = sample(&Gaussian::correlated(0.99), dynamics, 0.01, 4000);
        sgmcmc_diagnostics::ess_bulk(&[fit.chains()[0].element(0)])
    };
    let (diagonal, dense) = (ess(WarmUp::diagonal(600)), ess(WarmUp::dense(600)));
    assert!(dense > 4.0 * diagonal && dense > 1000.0, "{dense} and {diagonal}");
}

#[test]
fn the_mass_of_a_chain_is_its_covariance() {
    let model = Gaussian::correlated(0.8);
    let mut chain = start(&model, warm_hmc(WarmUp::dense(1000)), 0.1, 4);
    let mut root = [1.0, 0.0];
    chain.apply_root(&mut root).unwrap();
    assert_eq!(root.map(f64::to_bits), [1.0_f64, 0.0].map(f64::to_bits));
    path(&mut chain, 1000);
    assert!(!chain.info().keeps_draw);
    path(&mut chain, 1);
    assert!(chain.info().keeps_draw);
    chain.apply_root(&mut root).unwrap();
    assert!((root[0] - 1.0).abs() < 0.2 && (root[1] - 0.8).abs() < 0.2, "{root:?}");
}

/// A chain goes on bit for bit from every stage of the warm-up.
#[test]
fn a_warm_up_resumes_bit_for_bit() {
    fn check<D: Dynamics<FullGradient> + Debug + Clone>(dynamics: D) {
        let model = Gaussian::correlated(0.9);
        for steps in [0, 1, 74, 75, 83, 99, 100, 130, 250, 251, 299, 300, 301] {
            let mut chain = start(&model, dynamics.clone(), 0.1, 5);
            path(&mut chain, steps);
            let saved = chain.save().unwrap();
            let mut resumed = start(&model, dynamics.clone(), 0.1, 99);
            path(&mut resumed, 120);
            resumed.restore(&saved).unwrap();
            assert_eq!(path(&mut chain, 310 - steps), path(&mut resumed, 310 - steps), "after {steps} steps");
        }
    }
    check(warm_hmc(WarmUp::diagonal(300)));
    check(warm_hmc(WarmUp::dense(300)));
    check(Mala { warm_up: Some(WarmUp::dense(300)), ..Mala::default() });
}

/// Returns the entry of a map.
fn entry<'a>(map: &'a mut Value, name: &str) -> &'a mut Value {
    let entries = map.as_map_mut().unwrap();
    entries.iter_mut().find_map(|(key, value)| (key.as_text() == Some(name)).then_some(value)).unwrap()
}

/// Removes an entry of a map.
fn remove(map: &mut Value, name: &str) {
    entry(map, name);
    map.as_map_mut().unwrap().retain(|(key, _)| key.as_text() != Some(name));
}

/// States of chains without a warm-up may lack the adapted mass. A state with another shape starts its window again.
#[test]
fn other_states_are_accepted() {
    let model = Gaussian::correlated(0.5);
    let mut chain = start(&model, Hmc::default(), 0.1, 1);
    path(&mut chain, 5);
    let mut saved: [Value; 3] = decode(&chain.save().unwrap()).unwrap();
    remove(&mut saved[0], "mass");
    remove(entry(&mut saved[0], "scale"), "start");
    let mut resumed = start(&model, Hmc::default(), 0.1, 2);
    resumed.restore(&encode(&saved).unwrap()).unwrap();
    assert_eq!(path(&mut chain, 10), path(&mut resumed, 10));

    let mut diagonal = start(&model, warm_hmc(WarmUp::diagonal(300)), 0.1, 1);
    path(&mut diagonal, 120);
    let mut dense = start(&model, warm_hmc(WarmUp::dense(300)), 0.1, 1);
    dense.restore(&diagonal.save().unwrap()).unwrap();
    path(&mut dense, 200);
    assert!(dense.info().keeps_draw);

    let mass = Some(Covariance::diagonal(&[1.0; 2]).unwrap());
    let damaged = MassAdaptation { mass, ..MassAdaptation::default() };
    assert!(damaged.mass(&Covariance::IDENTITY, 3).unwrap_err().to_string().contains("expected 3"));
}

/// The search for a step size ends on a flat density, and with steps of any size.
#[test]
fn searches_for_a_step_size_end() {
    let flat = Gaussian::flat(2);
    let mut chain = start(&flat, warm_hmc(WarmUp::diagonal(20)), 0.1, 1);
    path(&mut chain, 1);
    assert!(chain.cost().gradients < 100);
    for h in [1e-12, 1.0, 1e12] {
        let dynamics = Mala { warm_up: Some(WarmUp::dense(20)), ..Mala::default() };
        let mut chain = start(&Gaussian::diagonal(&[1.0, 1.0]), dynamics, h, 1);
        path(&mut chain, 1);
        let mut stats = [0.0; 2];
        chain.stats(&mut stats);
        assert!((0.3..10.0).contains(&stats[1]), "{stats:?} from {h}");
    }
}

#[test]
fn hmc_with_one_step_is_mala_in_the_warm_up_too() {
    let positions = |chain: &mut dyn Chain| {
        let mut step = |_| {
            chain.step().unwrap();
            chain.position().to_vec()
        };
        (0..320).map(&mut step).collect::<Vec<_>>()
    };
    for warm_up in [WarmUp::diagonal(300), WarmUp::dense(300)].map(Some) {
        let model = Gaussian::correlated(0.9);
        let hmc = Hmc { steps: 1, warm_up, ..Hmc::default() };
        let mala = Mala { warm_up, ..Mala::default() };
        assert!(positions(&mut start(&model, hmc, 0.1, 7)) == positions(&mut start(&model, mala, 0.1, 7)));
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let message = |dynamics: Hmc| Dynamics::<FullGradient>::check(&dynamics).unwrap_err().to_string();
    let both = Hmc { adapt: Some(DualAveraging::new(100)), ..warm_hmc(WarmUp::dense(100)) };
    assert_eq!(
        message(both),
        "`adapt` is given together with `warm_up`: the warm-up adapts the step size too; set `adapt` to `None`"
    );
    assert!(message(warm_hmc(WarmUp::diagonal(19))).contains("the length of the warm-up is 19"));
    let greedy = WarmUp { acceptance: 1.0, ..WarmUp::diagonal(100) };
    assert!(message(warm_hmc(greedy)).contains("the acceptance rate aimed at is 1"));
    assert!(message(Hmc { adapt: Some(DualAveraging::new(0)), ..Hmc::default() }).contains("dual averaging is 0"));
    assert!(Dynamics::<FullGradient>::check(&warm_hmc(WarmUp::dense(20))).is_ok());
    let (adapt, warm_up) = (Some(DualAveraging::new(100)), Some(WarmUp::dense(100)));
    let mala = Mala { adapt, warm_up, ..Mala::default() };
    assert!(Dynamics::<FullGradient>::check(&mala).is_err());
    let bytes = |dynamics: Hmc| Dynamics::<FullGradient>::workspace(&dynamics, 100);
    assert_eq!(bytes(warm_hmc(WarmUp::dense(100))), 3 * 100 * 100 * 8);
    assert_eq!((bytes(warm_hmc(WarmUp::diagonal(100))), bytes(Hmc::default())), (0, 0));
}
