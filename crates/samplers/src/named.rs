//! The functions of the R package by name, with its defaults; pSGLD, HAMCMC, and those with the full gradient.
//!
//! | R | here | settings beyond the step size |
//! |---|---|---|
//! | `sgld` | [`sgld`] | – |
//! | `sghmc` | [`sghmc`] | `Sghmc { alpha, steps, noise }` |
//! | `sgnht` | [`sgnht`] | `Sgnht { a, thermostats }` |
//! | `sgldcv`, `sghmccv`, `sgnhtcv` | [`sgldcv`], [`sghmccv`], [`sgnhtcv`] | as above, and how the mode is found: [`AutoSearch`] unless [`Builder::find_mode`] sets another search |
//!
//! Minibatches are 1 % of the observations unless said otherwise with [`Builder::minibatch`].

use sgmcmc_core::{
    AutoSearch, ControlVariate, Dataset, FullGradient, MinibatchGradient, Model, Posterior, TensorTree,
    WithoutReplacement,
};

use crate::full_batch::{Hmc, Mala, Qnhmc};
use crate::hamiltonian::{Sghmc, Sgnht};
use crate::langevin::{Hamcmc, Psgld, Sgld};
use crate::run::{Builder, FindMode};
use crate::step_size::StepSize;

/// A run on plain minibatch gradients.
type Plain<P, D, A> = Builder<Posterior<P, D>, A, MinibatchGradient>;

/// A run on control variates centred at the mode, where it starts.
type Controlled<P, D, A> = Builder<Posterior<P, D>, A, ControlVariate, FindMode<AutoSearch>>;

fn plain<P: TensorTree, D: TensorTree, A>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
    dynamics: A,
) -> Plain<P, D, A> {
    Builder::new(model.with(data), dynamics, MinibatchGradient::default(), step_size)
}

fn controlled<P: TensorTree, D: TensorTree, A>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
    dynamics: A,
) -> Controlled<P, D, A> {
    let gradient = ControlVariate::new(WithoutReplacement::default());
    Builder::new(model.with(data), dynamics, gradient, step_size).find_mode(AutoSearch::default())
}

/// Stochastic gradient Langevin dynamics.
pub fn sgld<P: TensorTree, D: TensorTree>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
) -> Plain<P, D, Sgld> {
    plain(model, data, step_size, Sgld)
}

/// Stochastic gradient Langevin dynamics with control variates.
pub fn sgldcv<P: TensorTree, D: TensorTree>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
) -> Controlled<P, D, Sgld> {
    controlled(model, data, step_size, Sgld)
}

/// Stochastic gradient Hamiltonian Monte Carlo.
pub fn sghmc<P: TensorTree, D: TensorTree>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
) -> Plain<P, D, Sghmc> {
    plain(model, data, step_size, Sghmc::default())
}

/// Stochastic gradient Hamiltonian Monte Carlo with control variates.
pub fn sghmccv<P: TensorTree, D: TensorTree>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
) -> Controlled<P, D, Sghmc> {
    controlled(model, data, step_size, Sghmc::default())
}

/// The stochastic gradient Nosé–Hoover thermostat. [`Badodab`](crate::Badodab) has less bias at the same cost.
pub fn sgnht<P: TensorTree, D: TensorTree>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
) -> Plain<P, D, Sgnht> {
    plain(model, data, step_size, Sgnht::default())
}

/// The stochastic gradient Nosé–Hoover thermostat with control variates.
pub fn sgnhtcv<P: TensorTree, D: TensorTree>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
) -> Controlled<P, D, Sgnht> {
    controlled(model, data, step_size, Sgnht::default())
}

/// A run on the full gradient.
type Full<P, D, A> = Builder<Posterior<P, D>, A, FullGradient>;

fn full<P: TensorTree, D: TensorTree, A>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
    dynamics: A,
) -> Full<P, D, A> {
    Builder::new(model.with(data), dynamics, FullGradient, step_size)
}

/// The unadjusted Langevin algorithm: SGLD with the full gradient.
pub fn ula<P: TensorTree, D: TensorTree>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
) -> Full<P, D, Sgld> {
    full(model, data, step_size, Sgld)
}

/// The Metropolis-adjusted Langevin algorithm.
pub fn mala<P: TensorTree, D: TensorTree>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
) -> Full<P, D, Mala> {
    full(model, data, step_size, Mala::default())
}

/// Hamiltonian Monte Carlo, with steps of h = ε².
pub fn hmc<P: TensorTree, D: TensorTree>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
) -> Full<P, D, Hmc> {
    full(model, data, step_size, Hmc::default())
}

/// Quasi-Newton Hamiltonian Monte Carlo, with steps of h = ε². Estimates the inverse Hessian in its first 1000 iterations and uses it
/// as the inverse mass.
pub fn qnhmc<P: TensorTree, D: TensorTree>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
) -> Full<P, D, Qnhmc> {
    full(model, data, step_size, Qnhmc::default())
}

/// SGLD with RMSprop's matrix.
pub fn psgld<P: TensorTree, D: TensorTree>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
) -> Plain<P, D, Psgld> {
    plain(model, data, step_size, Psgld::default())
}

/// Quasi-Newton Langevin dynamics. A run is recorded as the three chains that it interleaves, see [`Hamcmc`].
pub fn hamcmc<P: TensorTree, D: TensorTree>(
    model: &Model<P, D>,
    data: &Dataset<D>,
    step_size: impl Into<StepSize>,
) -> Plain<P, D, Hamcmc> {
    plain(model, data, step_size, Hamcmc::default())
}
