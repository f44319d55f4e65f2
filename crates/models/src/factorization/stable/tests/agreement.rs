//! Kernels with latent variables against the partially collapsed Gibbs sampler.

use sgmcmc_diagnostics::{mcse_mean, mcse_sd};
use sgmcmc_numerics::InitialScale;
use sgmcmc_samplers::langevin::{Hamcmc, Sgld};

use super::*;

/// The logarithms of the dispersions of all entries: mean, standard deviation and their Monte Carlo errors.
struct Cells {
    mean: Vec<f64>,
    mean_error: Vec<f64>,
    sd: Vec<f64>,
    sd_error: Vec<f64>,
}

fn cells(model: &StableFactorization, data: &StableData, burn_in: usize, draws: usize, thin: usize) -> Cells {
    let mut sampler = model.clone().seed(5).sampler(data).unwrap();
    (0..burn_in).for_each(|_| sampler.step().unwrap());
    let places: Vec<[usize; 2]> = (0..4).flat_map(|row| (0..3).map(move |column| [row, column])).collect();
    let mut series = vec![Vec::with_capacity(draws); places.len()];
    for _ in 0..draws {
        (0..thin).for_each(|_| sampler.step().unwrap());
        for (series, [row, column]) in series.iter_mut().zip(&places) {
            series.push(sampler.dispersion(*row, *column).unwrap().ln());
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

/// Means and standard deviations agree within 4.5 Monte Carlo errors plus a bias of the discretization, stated in
/// posterior standard deviations.
#[test]
fn stochastic_gradients_agree_with_collapsed_gibbs() {
    let data = small_data(1.3, 2);
    let exact = cells(&model(1.3, 2), &data, 500, 20_000, 1);
    let kernels = [
        ("SGLD of logarithms", Kernel::minibatch(Sgld, 1e-2, 6), FactorCoordinates::Log, 20, 0.06),
        ("SGLD with mirroring", Kernel::minibatch(Sgld, 1e-3, 6), FactorCoordinates::Mirrored, 60, 0.1),
        (
            "HAMCMC of logarithms",
            Kernel::minibatch(Hamcmc { memory: 3, lambda: 10.0, gamma: InitialScale::Fixed(0.1) }, 0.1, 6),
            FactorCoordinates::Log,
            30,
            0.1,
        ),
    ];
    for (name, kernel, support, thin, bias) in kernels {
        let found = cells(&model(1.3, 2).kernel(kernel).support(support), &data, 5_000, 4_000, thin);
        for index in 0..exact.mean.len() {
            let allowed = |found: f64, exact_error: f64, sd: f64| 4.5 * found.hypot(exact_error) + bias * sd;
            let mean = found.mean[index] - exact.mean[index];
            let limit = allowed(found.mean_error[index], exact.mean_error[index], exact.sd[index]);
            assert!(mean.abs() < limit, "{name}, entry {index}: the mean differs by {mean}, allowed {limit}");
            let sd = found.sd[index] - exact.sd[index];
            let limit = allowed(found.sd_error[index], exact.sd_error[index], exact.sd[index]);
            assert!(sd.abs() < limit, "{name}, entry {index}: the sd differs by {sd}, allowed {limit}");
        }
    }
}
