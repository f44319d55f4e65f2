//! The slice sampler against the posterior over all partitions.

use super::exact::{all_partitions, assert_exact};
use super::{categorical, counts, gaussian, levels, multinomial, points, prior};
use crate::mixture::DirichletProcess;

#[test]
fn six_observations_have_203_partitions() {
    let partitions = all_partitions(6);
    assert_eq!(partitions.len(), 203);
    assert!(partitions.iter().all(|labels| labels.len() == 6));
}

#[test]
fn partitions_of_multinomials_have_the_exact_distribution() {
    assert_exact(&DirichletProcess::new(|_| Ok(multinomial())), &multinomial(), &counts(), 1);
}

#[test]
fn partitions_of_categorical_variables_have_the_exact_distribution() {
    assert_exact(&DirichletProcess::categorical(0.6), &categorical(), &levels(), 2);
}

#[test]
fn partitions_of_gaussians_have_the_exact_distribution() {
    assert_exact(&DirichletProcess::gaussian_with(prior()), &gaussian(), &points(), 3);
}
