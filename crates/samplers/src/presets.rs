//! Presets: the functions of the R package `sgmcmc` by name, with its defaults, and presets of further algorithms.
//!
//! | R | here | settings besides the step size |
//! |---|---|---|
//! | `sgld` | [`sgld`] | – |
//! | `sghmc` | [`sghmc`] | [`Sghmc`] |
//! | `sgnht` | [`sgnht`] | [`Sgnht`] |
//! | `sgldcv`, `sghmccv`, `sgnhtcv` | [`sgldcv`], [`sghmccv`], [`sgnhtcv`] | as above, and the mode search: [`AutoSearch`] unless [`Builder::find_mode`] sets another |
//!
//! Minibatches have 1 % of the observations unless [`Builder::minibatch`] sets another size. [`Builder::dynamics`] sets
//! the settings of the algorithm.

use sgmcmc_gradient::{AutoSearch, ConditionOn, ControlVariate, FullGradient, MinibatchGradient, WithoutReplacement};

use crate::compose::UpdatesOnly;
use crate::hamiltonian::{Sghmc, Sgnht};
use crate::langevin::{Hamcmc, Psgld, Sgld};
use crate::metropolis::{Hmc, Mala, Qnhmc};
use crate::run::{Builder, FindMode};
use crate::step_size::StepSize;

/// A run with plain minibatch gradients.
type Plain<T, A> = Builder<T, A, MinibatchGradient>;

/// A run with control variates centered at the mode, which is also the start.
type Controlled<T, A> = Builder<T, A, ControlVariate, FindMode<AutoSearch>>;

/// Creates a run with plain minibatch gradients.
fn plain<M: ConditionOn<X>, X, A>(
    model: &M,
    data: &X,
    step_size: impl Into<StepSize>,
    dynamics: A,
) -> Plain<M::Target, A> {
    Builder::new(model.condition_on(data), dynamics, MinibatchGradient::default(), step_size)
}

/// Creates a run with control variates.
fn controlled<M: ConditionOn<X>, X, A>(
    model: &M,
    data: &X,
    step_size: impl Into<StepSize>,
    dynamics: A,
) -> Controlled<M::Target, A> {
    let gradient = ControlVariate::new(WithoutReplacement::default());
    Builder::new(model.condition_on(data), dynamics, gradient, step_size).find_mode(AutoSearch::default())
}

/// Creates a run of stochastic gradient Langevin dynamics, [`Sgld`].
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = sgld(&model, &data, 0.1).minibatch(2).seed(1).sample(&zeros([1]), 500)?;
/// assert_eq!(fit.chains()[0].len(), 500);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn sgld<M: ConditionOn<X>, X>(model: &M, data: &X, step_size: impl Into<StepSize>) -> Plain<M::Target, Sgld> {
    plain(model, data, step_size, Sgld)
}

/// Creates a run of [`Sgld`] with control variates. The mode is searched for first; it is the center and the start.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = sgldcv(&model, &data, 0.1).minibatch(2).seed(1).sample(&zeros([1]), 500)?;
/// assert!((fit.mode().unwrap().theta[0] - 1.25).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn sgldcv<M: ConditionOn<X>, X>(
    model: &M,
    data: &X,
    step_size: impl Into<StepSize>,
) -> Controlled<M::Target, Sgld> {
    controlled(model, data, step_size, Sgld)
}

/// Creates a run of stochastic gradient Hamiltonian Monte Carlo, [`Sghmc`].
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = sghmc(&model, &data, 0.01).minibatch(2).seed(1).sample(&zeros([1]), 200)?;
/// assert_eq!(fit.chains()[0].len(), 200);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn sghmc<M: ConditionOn<X>, X>(model: &M, data: &X, step_size: impl Into<StepSize>) -> Plain<M::Target, Sghmc> {
    plain(model, data, step_size, Sghmc::default())
}

/// Creates a run of [`Sghmc`] with control variates. The mode is searched for first; it is the center and the start.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = sghmccv(&model, &data, 0.01).minibatch(2).seed(1).sample(&zeros([1]), 200)?;
/// assert!(fit.mode().is_some());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn sghmccv<M: ConditionOn<X>, X>(
    model: &M,
    data: &X,
    step_size: impl Into<StepSize>,
) -> Controlled<M::Target, Sghmc> {
    controlled(model, data, step_size, Sghmc::default())
}

/// Creates a run of the stochastic gradient Nosé–Hoover thermostat, [`Sgnht`]. [`Badodab`](crate::hamiltonian::Badodab)
/// has less bias at the same cost.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = sgnht(&model, &data, 0.01).minibatch(2).seed(1).sample(&zeros([1]), 500)?;
/// assert_eq!(fit.chains()[0].len(), 500);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn sgnht<M: ConditionOn<X>, X>(model: &M, data: &X, step_size: impl Into<StepSize>) -> Plain<M::Target, Sgnht> {
    plain(model, data, step_size, Sgnht::default())
}

/// Creates a run of [`Sgnht`] with control variates. The mode is searched for first; it is the center and the start.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = sgnhtcv(&model, &data, 0.01).minibatch(2).seed(1).sample(&zeros([1]), 500)?;
/// assert!(fit.mode().is_some());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn sgnhtcv<M: ConditionOn<X>, X>(
    model: &M,
    data: &X,
    step_size: impl Into<StepSize>,
) -> Controlled<M::Target, Sgnht> {
    controlled(model, data, step_size, Sgnht::default())
}

/// A run with the full gradient.
type Full<T, A> = Builder<T, A, FullGradient>;

/// Creates a run with the full gradient.
fn full<M: ConditionOn<X>, X, A>(
    model: &M,
    data: &X,
    step_size: impl Into<StepSize>,
    dynamics: A,
) -> Full<M::Target, A> {
    Builder::new(model.condition_on(data), dynamics, FullGradient, step_size)
}

/// Creates a run of the unadjusted Langevin algorithm, [`Sgld`] with the full gradient.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = ula(&model, &data, 0.1).seed(1).sample(&zeros([1]), 500)?;
/// assert_eq!(fit.chains()[0].len(), 500);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn ula<M: ConditionOn<X>, X>(model: &M, data: &X, step_size: impl Into<StepSize>) -> Full<M::Target, Sgld> {
    full(model, data, step_size, Sgld)
}

/// Creates a run of the Metropolis-adjusted Langevin algorithm, [`Mala`].
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = mala(&model, &data, 0.1).seed(1).sample(&zeros([1]), 500)?;
/// assert_eq!(fit.chains()[0].len(), 500);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn mala<M: ConditionOn<X>, X>(model: &M, data: &X, step_size: impl Into<StepSize>) -> Full<M::Target, Mala> {
    full(model, data, step_size, Mala::default())
}

/// Creates a run of Hamiltonian Monte Carlo, [`Hmc`], with step size h = ε².
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = hmc(&model, &data, 0.01).seed(1).sample(&zeros([1]), 200)?;
/// assert_eq!(fit.chains()[0].len(), 200);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn hmc<M: ConditionOn<X>, X>(model: &M, data: &X, step_size: impl Into<StepSize>) -> Full<M::Target, Hmc> {
    full(model, data, step_size, Hmc::default())
}

/// Creates a run of quasi-Newton Hamiltonian Monte Carlo, [`Qnhmc`], with step size h = ε². The first 1000 iterations
/// estimate the inverse Hessian, which becomes the inverse mass, and make no draws.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = qnhmc(&model, &data, 0.04).seed(1).sample(&zeros([1]), 200)?;
/// assert_eq!(fit.chains()[0].len(), 200);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn qnhmc<M: ConditionOn<X>, X>(model: &M, data: &X, step_size: impl Into<StepSize>) -> Full<M::Target, Qnhmc> {
    full(model, data, step_size, Qnhmc::default())
}

/// Creates a run of SGLD with the RMSprop preconditioner, [`Psgld`].
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = psgld(&model, &data, 0.02).minibatch(2).seed(1).sample(&zeros([1]), 500)?;
/// assert_eq!(fit.chains()[0].len(), 500);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn psgld<M: ConditionOn<X>, X>(model: &M, data: &X, step_size: impl Into<StepSize>) -> Plain<M::Target, Psgld> {
    plain(model, data, step_size, Psgld::default())
}

/// Creates a run of quasi-Newton Langevin dynamics, [`Hamcmc`]. A run is recorded as its three interleaved chains.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = hamcmc(&model, &data, 0.05).minibatch(2).seed(1).sample(&zeros([1]), 300)?;
/// assert_eq!(fit.chains().len(), 3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn hamcmc<M: ConditionOn<X>, X>(model: &M, data: &X, step_size: impl Into<StepSize>) -> Plain<M::Target, Hamcmc> {
    plain(model, data, step_size, Hamcmc::default())
}

/// Creates a run of updates alone, with [`UpdatesOnly`]: [`Builder::gibbs`] and [`Builder::update`] add them.
///
/// Updates use all observations. Chains with a common start begin there: [`Builder::jitter`] is zero.
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::{MetropolisHastings, RandomWalk};
/// use sgmcmc::prelude::*;
/// use sgmcmc::presets::updates_only;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let fit = updates_only(&model, &Dataset::none())
///     .update(|_chain| MetropolisHastings::new("theta", RandomWalk { scale: 2.5 }))
///     .sample(&zeros([1]), 500)?;
/// assert_eq!(fit.chains()[0].len(), 500);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn updates_only<M: ConditionOn<X>, X>(model: &M, data: &X) -> Full<M::Target, UpdatesOnly> {
    full(model, data, 1.0, UpdatesOnly).jitter(0.0)
}
