//! Minibatches and stochastic updates against the posterior over all partitions.

use super::exact::{Partitions, assert_exact, compare, run};
use super::{counts, gaussian, levels, multinomial, points, prior};
use crate::mixture::{Categorical, Concentration, DirichletProcess, Update};

fn process() -> DirichletProcess<crate::mixture::Multinomial> {
    DirichletProcess::new(|_| Ok(multinomial()))
}

#[test]
fn gibbs_updates_are_exact_with_minibatches() {
    assert_exact(&process().minibatch(2), &multinomial(), &counts(), 1);
    assert_exact(&DirichletProcess::gaussian_with(prior()).minibatch(3), &gaussian(), &points(), 2);
}

#[test]
fn scir_is_exact_with_all_observations() {
    for (h, seed) in [(2.0, 1), (0.3, 2)] {
        assert_exact(&process().scir(h), &multinomial(), &counts(), seed);
    }
    let categorical = Categorical::symmetric(&[2, 3, 2], 0.6).unwrap();
    assert_exact(&DirichletProcess::categorical(0.6).scir(0.5), &categorical, &levels(), 3);
}

/// Returns the mean absolute error of the co-clustering probabilities and its Monte Carlo error.
fn error_of(process: &DirichletProcess<crate::mixture::Multinomial>, draws: usize) -> (f64, f64) {
    let partitions = Partitions::new(&multinomial(), &counts());
    let process = process.clone().concentration(Concentration::Fixed(0.8));
    let run = run(&process, &counts(), draws, 5);
    let comparisons = compare(&partitions.labels, &partitions.given(0.8), &run.partitions);
    let pairs: Vec<_> = comparisons.iter().filter(|c| c.name.contains('z')).collect();
    let mean = |f: &dyn Fn(&super::exact::Comparison) -> f64| pairs.iter().map(|c| f(c)).sum::<f64>() / 15.0;
    (mean(&|c| (c.estimate - c.exact).abs()), mean(&|c| c.error))
}

#[test]
fn the_error_of_scir_with_minibatches_decreases_with_the_step_size() {
    let errors = [1.0, 0.25, 0.0625].map(|h| error_of(&process().minibatch(3).scir(h), (60_000.0 / h) as usize));
    println!("{errors:?}");
    assert!(errors[0].0 > 4.0 * errors[0].1, "{errors:?}");
    assert!(errors[1].0 < 0.6 * errors[0].0, "{errors:?}");
    assert!(errors[2].0 < 0.6 * errors[1].0, "{errors:?}");
}

#[test]
fn the_error_of_sgrld_decreases_with_the_step_size() {
    let errors = [0.5, 0.05].map(|h| error_of(&process().sgrld(h), (30_000.0 / h) as usize));
    println!("{errors:?}");
    assert!(errors[0].0 > 4.0 * errors[0].1, "{errors:?}");
    assert!(errors[1].0 < 0.5 * errors[0].0, "{errors:?}");
}

#[test]
fn sticks_and_components_have_their_own_updates() {
    let mixed = process().sticks(Update::Scir(0.5)).components(Update::Gibbs).minibatch(6);
    assert_exact(&mixed, &multinomial(), &counts(), 4);
}
