//! Temperature with constraints: at temperature T values have the density p^{1/T}, whatever the constraint and the algorithm.

mod change;
mod equivalence;
mod jacobian;
mod moments;

use std::fmt::Debug;

use sgmcmc::algorithms::Dynamics;
use sgmcmc::algorithms::Metric;
use sgmcmc::distributions::{Beta, Gamma};
use sgmcmc::gradient::{FullGradient, Target};
use sgmcmc::prelude::*;

/// Independent Gamma(3, 1) numbers, as many as the start has.
fn gamma() -> Posterior<Tensor<1>, ()> {
    let model = Model::density(|x: Tensor<1>| Gamma::new(3.0, 1.0).log_prob(x).sum());
    model.constrain("theta", Constraint::Positive).with(&Dataset::none())
}

/// Independent Beta(4, 1.5) numbers, as many as the start has.
fn beta() -> Posterior<Tensor<1>, ()> {
    let model = Model::density(|x: Tensor<1>| Beta::new(4.0, 1.5).log_prob(x).sum());
    model.constrain("theta", Constraint::UnitInterval).with(&Dataset::none())
}

/// A run on the full gradient.
fn run<T: Target + Clone, D: Dynamics<FullGradient> + Clone + Debug>(
    target: &T,
    dynamics: D,
    h: f64,
) -> Builder<T, D, FullGradient> {
    Builder::new(target.clone(), dynamics, FullGradient, h)
}

/// A diagonal metric that depends on the position, between 0.5 and 1.5.
fn wavy() -> Metric {
    Metric::diagonal(|theta, m| m.iter_mut().zip(theta).for_each(|(m, y)| *m = 1.0 + 0.5 * y.sin()))
        .with_gamma(|theta, gamma| gamma.iter_mut().zip(theta).for_each(|(gamma, y)| *gamma = 0.5 * y.cos()))
}
