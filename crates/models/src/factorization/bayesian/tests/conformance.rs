//! The same seed gives the same draws, for every number of threads and after a restart.

use sgmcmc_samplers::chain::Chain;
use sgmcmc_samplers::hamiltonian::{Sghmc, Sgnht};
use sgmcmc_samplers::langevin::{Hamcmc, Psgld, Sgld};
use sgmcmc_samplers::metropolis::{Hmc, Qnhmc};

use super::*;
use crate::factorization::testing::{assert_resumes, assert_run_conforms};

/// Returns models with every kind of update.
fn models() -> Vec<BayesianFactorization> {
    let gibbs = BayesianFactorization::new(2).hyperprior(GAMMA);
    let kernels = [
        Kernel::minibatch(Sgld, 1e-2, 5),
        Kernel::minibatch(Sghmc::default(), 1e-3, 5),
        Kernel::minibatch(Sgnht::default(), 1e-3, 5),
        Kernel::minibatch(Psgld::default(), 1e-4, 5),
        Kernel::minibatch(Hamcmc::default(), 1e-2, 5),
        Kernel::full(Hmc::default(), 1e-2),
        Kernel::full(Qnhmc::default(), 1e-2),
    ];
    let wishart = BayesianFactorization::new(2).noise(NoisePrecision::Gamma(GammaPrior { shape: 2.0, rate: 1.0 }));
    let mut models = vec![gibbs.clone(), wishart.clone(), wishart.clone().parallel(true)];
    models.extend(kernels.into_iter().enumerate().map(|(index, kernel)| {
        let model = if index % 2 == 0 { gibbs.clone() } else { wishart.clone() };
        model.kernel(kernel).hyper_interval(1 + index as u64 % 2)
    }));
    models
}

#[test]
fn chains_resume_bit_for_bit() {
    let entries = small_matrix();
    for model in models() {
        assert_resumes(|seed| model.clone().seed(seed).sampler(&entries).unwrap(), &format!("{model:?}"));
    }
}

#[test]
fn draws_do_not_depend_on_threads_or_interruptions() {
    let entries = small_matrix();
    for model in models() {
        assert_run_conforms(&model.run(&entries).unwrap(), &format!("{model:?}"));
    }
    let parallel = |parallel: bool| models()[1].clone().parallel(parallel).fit(&entries, 5).unwrap();
    assert_eq!(parallel(true).draws().chains(), parallel(false).draws().chains());
}

#[test]
fn states_of_other_models_are_rejected() {
    let entries = small_matrix();
    let save = |model: &BayesianFactorization| model.sampler(&entries).unwrap().save().unwrap();
    let models = models();
    for (from, to) in [(0, 1), (1, 0), (0, 3), (3, 0), (3, 7)] {
        let mut chain = models[to].sampler(&entries).unwrap();
        assert!(chain.restore(&save(&models[from])).is_err(), "{from} to {to}");
    }
}

/// HAMCMC with memory M has one set of hyperparameters per interleaved chain.
#[test]
fn interleaved_chains_have_their_own_hyperparameters() {
    let entries = small_matrix();
    let dynamics = Hamcmc { memory: 3, ..Hamcmc::default() };
    let model = BayesianFactorization::new(2).hyperprior(GAMMA).kernel(Kernel::minibatch(dynamics, 1e-2, 5));
    let fit = model.fit(&entries, 30).unwrap();
    assert_eq!((fit.draws().chains().len(), fit.draws().chains()[0].len()), (3, 10));
}
