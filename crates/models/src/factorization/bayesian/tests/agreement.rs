//! Kernels against the Gibbs sampler on a small matrix.

use sgmcmc_diagnostics::{mcse_mean, mcse_sd};
use sgmcmc_numerics::InitialScale;
use sgmcmc_samplers::hamiltonian::{Sghmc, Sgnht};
use sgmcmc_samplers::langevin::{Hamcmc, Sgld};
use sgmcmc_samplers::metropolis::Hmc;

use super::*;

/// The predictions of all entries of the small matrix: mean, standard deviation, and their Monte Carlo errors.
struct Cells {
    mean: Vec<f64>,
    mean_error: Vec<f64>,
    sd: Vec<f64>,
    sd_error: Vec<f64>,
}

/// Runs a model and collects the predictions of all entries after every `thin` steps.
fn cells(model: &BayesianFactorization, burn_in: usize, draws: usize, thin: usize) -> Cells {
    let mut sampler = model.clone().seed(5).sampler(&small_matrix()).unwrap();
    (0..burn_in).for_each(|_| sampler.step().unwrap());
    let places: Vec<[usize; 2]> = (0..5).flat_map(|row| (0..4).map(move |column| [row, column])).collect();
    let mut series = vec![Vec::with_capacity(draws); places.len()];
    for _ in 0..draws {
        (0..thin).for_each(|_| sampler.step().unwrap());
        for (series, [row, column]) in series.iter_mut().zip(&places) {
            series.push(sampler.predict(*row, *column).unwrap());
        }
    }
    let mean = |x: &Vec<f64>| x.iter().sum::<f64>() / x.len() as f64;
    let sd = |x: &Vec<f64>| (x.iter().map(|value| (value - mean(x)).powi(2)).sum::<f64>() / x.len() as f64).sqrt();
    Cells {
        mean: series.iter().map(mean).collect(),
        mean_error: series.iter().map(|x| mcse_mean(&[x])).collect(),
        sd: series.iter().map(sd).collect(),
        sd_error: series.iter().map(|x| mcse_sd(&[x])).collect(),
    }
}

/// Asserts that means and standard deviations agree within 4.5 Monte Carlo errors plus `bias` standard deviations.
fn assert_agree(found: &Cells, exact: &Cells, bias: f64, what: &str) {
    for index in 0..exact.mean.len() {
        let mean_error = 4.5 * found.mean_error[index].hypot(exact.mean_error[index]) + bias * exact.sd[index];
        let sd_error = 4.5 * found.sd_error[index].hypot(exact.sd_error[index]) + bias * exact.sd[index];
        let mean = found.mean[index] - exact.mean[index];
        let sd = found.sd[index] - exact.sd[index];
        assert!(mean.abs() < mean_error, "{what}, entry {index}: the mean differs by {mean}, allowed {mean_error}");
        assert!(sd.abs() < sd_error, "{what}, entry {index}: the sd differs by {sd}, allowed {sd_error}");
    }
}

/// Returns the mean of the relative differences of the standard deviations.
fn inflation(found: &Cells, exact: &Cells) -> f64 {
    let ratios = found.sd.iter().zip(&exact.sd).map(|(found, exact)| found / exact - 1.0);
    ratios.sum::<f64>() / exact.sd.len() as f64
}

fn model(hyperprior: Hyperprior) -> BayesianFactorization {
    BayesianFactorization::new(2).hyperprior(hyperprior).bias_prior(GammaPrior { shape: 4.0, rate: 4.0 })
}

#[test]
fn hmc_agrees_with_gibbs() {
    for hyperprior in [GAMMA, WISHART] {
        let exact = cells(&model(hyperprior), 500, 20_000, 1);
        let hmc = model(hyperprior).kernel(Kernel::full(Hmc::default(), 0.01));
        let found = cells(&hmc, 500, 6_000, 1);
        assert_agree(&found, &exact, 0.0, "HMC");
    }
}

/// The bias of kernels without an acceptance step is stated in posterior standard deviations.
#[test]
fn stochastic_gradients_agree_with_gibbs() {
    let exact = cells(&model(GAMMA), 500, 20_000, 1);
    let hamcmc = Hamcmc { memory: 3, lambda: 20.0, gamma: InitialScale::Fixed(0.05) };
    let kernels = [
        ("SGLD", Kernel::minibatch(Sgld, 4e-3, 7), 50, 0.06),
        ("SGHMC", Kernel::minibatch(Sghmc::default(), 1e-3, 7), 10, 0.05),
        ("SGNHT", Kernel::minibatch(Sgnht::default(), 1e-3, 7), 20, 0.05),
        ("HAMCMC", Kernel::minibatch(hamcmc, 0.05, 7), 60, 0.06),
    ];
    for (name, kernel, thin, bias) in kernels {
        let found = cells(&model(GAMMA).kernel(kernel), 5_000, 3_000, thin);
        println!("{name}: inflation {:.4}", inflation(&found, &exact));
        assert_agree(&found, &exact, bias, name);
    }
}

#[test]
fn the_bias_of_sgld_vanishes_with_the_step_size() {
    let exact = cells(&model(GAMMA), 500, 20_000, 1);
    let run = |h: f64, thin: usize| {
        let found = cells(&model(GAMMA).kernel(Kernel::minibatch(Sgld, h, 7)), 5_000, 8_000, thin);
        inflation(&found, &exact)
    };
    let [coarse, middle, fine] = [run(0.04, 5), run(0.02, 10), run(0.005, 30)];
    println!("relative inflation of the sd: {coarse:.4}, {middle:.4}, {fine:.4}");
    assert!(coarse > 1.5 * middle && middle > 2.0 * fine && fine.abs() < 0.03, "{coarse} {middle} {fine}");
}
