//! The same seed gives the same draws, for every number of threads and after a restart, with Φ in the saved state.

use sgmcmc_samplers::chain::Chain;
use sgmcmc_samplers::hamiltonian::Sghmc;
use sgmcmc_samplers::langevin::{Hamcmc, Psgld, Sgld};
use sgmcmc_samplers::metropolis::Hmc;

use super::*;
use crate::factorization::testing::{assert_resumes, assert_run_conforms};

/// Returns models with every kind of update.
fn models() -> Vec<StableFactorization> {
    let gibbs = model(1.2, 2);
    let kernels = [
        Kernel::minibatch(Sgld, 1e-3, 4),
        Kernel::minibatch(Psgld::default(), 1e-5, 4),
        Kernel::minibatch(Hamcmc { memory: 3, ..Hamcmc::default() }, 1e-3, 4),
        Kernel::minibatch(Sghmc::default(), 1e-4, 4),
        Kernel::full(Hmc::default(), 1e-3),
    ];
    let with = |(index, kernel): (usize, Kernel)| {
        let support = if index % 2 == 0 { FactorCoordinates::Mirrored } else { FactorCoordinates::Log };
        gibbs.clone().kernel(kernel).support(support)
    };
    let mut models = vec![gibbs.clone(), gibbs.clone().known_w(vec![1.0; 8])];
    models.extend(kernels.into_iter().enumerate().map(with));
    models
}

#[test]
fn chains_resume_bit_for_bit() {
    let data = small_data(1.2, 2);
    for model in models() {
        assert_resumes(|seed| model.clone().seed(seed).sampler(&data).unwrap(), &format!("{model:?}"));
    }
}

#[test]
fn draws_do_not_depend_on_threads_or_interruptions() {
    let data = small_data(1.2, 2);
    for model in models() {
        assert_run_conforms(&model.run(&data).unwrap(), &format!("{model:?}"));
    }
}

#[test]
fn states_of_other_models_are_rejected() {
    let data = small_data(1.2, 2);
    let save = |model: &StableFactorization| model.sampler(&data).unwrap().save().unwrap();
    let models = models();
    for (from, to) in [(0, 1), (0, 2), (2, 0), (2, 4), (4, 2)] {
        let mut chain = models[to].sampler(&data).unwrap();
        assert!(chain.restore(&save(&models[from])).is_err(), "{from} to {to}");
    }
}

/// The acceptance rate of Φ is recorded with every draw.
#[test]
fn acceptance_of_latents_is_recorded() {
    let data = small_data(1.2, 2);
    let fit = models()[2].fit(&data, 50).unwrap();
    let rates = fit.draws().chains()[0].stat("phi_acceptance").unwrap();
    let mean = rates.iter().sum::<f64>() / 50.0;
    assert!(mean > 0.1 && mean < 1.0, "{mean}");
}
