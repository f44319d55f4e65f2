//! Recursions over time: autoregressions, volatility models, hidden Markov models, state-space models, differential
//! equations.
//!
//! [`scan`] executes a body once for each step of a sequence, with a state that passes from step to step. The compiled
//! engine records the body once and compiles it to a loop, forward and in reverse, so that the time to make an evaluator
//! does not depend on the number of steps. Everything that does not depend on the state of the previous step is computed
//! for all steps at once. The eager engine executes the body step by step.
//!
//! | function | use |
//! |---|---|
//! | [`scan`] | a loop over sequences |
//! | [`iterate`] | a loop of a given number of steps, without sequences |
//! | [`TimeSeries`] | the distribution of a series, by that of each value given its past: for priors, likelihoods and draws |
//! | [`HiddenMarkov`] | the distribution of the observations of a hidden Markov model |
//! | [`Subsequences`] | minibatches of one long series |
//!
//! # Examples
//!
//! The variance of a GARCH(1,1) model is h′ = ω + α y² + β h. Each observation is one series.
//!
//! ```
//! use sgmcmc::prelude::*;
//! use sgmcmc::sequence::scan;
//!
//! let model = Model::new(|p: [Tensor<1>; 3], y: Tensor<2>| {
//!     let [omega, alpha, beta] = p.map(|x| x.unsqueeze::<2>());
//!     let first = y.clone().narrow(1, 0, 1).square();
//!     let variance = scan(first, y.clone(), 1, |h, y| {
//!         let next = omega.clone() + alpha.clone() * y.square() + beta.clone() * h.clone();
//!         (next, h)
//!     });
//!     let h = variance.outputs;
//!     ((h.clone().log() + y.square() / h) * -0.5).sum_dim(1).squeeze_dim::<1>(1)
//! });
//! let returns = Dataset::new(array(vec![0.4, -0.2, 0.9, -1.1, 0.3], [1, 5])?)?;
//! let start = [0.1, 0.2, 0.7].map(|x| sgmcmc::full([1], x));
//! let posterior = model.with(&returns);
//! assert!(posterior.explain(&start)?.starts_with("compiled"));
//! # Ok::<(), sgmcmc::Error>(())
//! ```

mod hidden_markov;
mod record;
mod steps;
mod subsequences;
mod time_series;
mod trees;

pub(crate) use record::{Scan, briefly, is_brief, record, within};

pub use hidden_markov::HiddenMarkov;
pub use subsequences::Subsequences;
pub use time_series::TimeSeries;

use crate::tree::TensorTree;

/// The result of a loop.
#[derive(Clone, Debug)]
pub struct Scanned<S, Y> {
    /// The state after the last step.
    pub last: S,
    /// The outputs of all steps, concatenated along the axis of time.
    pub outputs: Y,
}

/// The number of steps that are executed while a model is checked; see [`briefly`].
pub(crate) const CHECKED_STEPS: usize = 4;

/// The number of steps of one further comparison of longer loops: a prime, so that vectors and tiles have remainders.
pub(crate) const LONGER_STEPS: usize = 61;

/// Executes `body` once for each step of `sequences`, along their axis `axis`.
///
/// The body takes the state and the current element of each sequence, and returns the new state and an output. State,
/// sequences and output are trees: a tensor, a tuple of tensors, `()`, and so on. Elements and outputs keep the axis of
/// time, with size one. Tensors from outside can be used in the body, for example parameters. The body is recorded once,
/// so that it cannot count the steps: pass whatever differs between them as a sequence.
///
/// An initial state whose axes have size one is repeated to the shape of the new states.
///
/// # Panics
///
/// Panics if the sequences have different numbers of steps or none, if the shape of the state changes, or if the size of
/// an output along `axis` is not one. In a closure of a model this is an error with the message of the panic.
///
/// # Examples
///
/// The log-likelihood of a hidden Markov model with two states, by the forward algorithm in log space. Each observation
/// is one series of length T.
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
/// use sgmcmc::sequence::scan;
/// use sgmcmc::special::logsumexp;
///
/// // The means of the states are parameters. The chain stays with probability 0.9.
/// let model = Model::new(|means: Tensor<1>, y: Tensor<2>| {
///     let one = means.clone().narrow(0, 0, 1).ones_like();
///     let (stay, leave) = (one.clone() * 0.9_f64.ln(), one * 0.1_f64.ln());
///     let moves: Tensor<3> = Tensor::cat(vec![stay.clone(), leave.clone(), leave, stay], 0).reshape([1, 2, 2]);
///     let start = y.clone().narrow(1, 0, 1).repeat_dim(1, 2).zeros_like() + 0.5_f64.ln();
///     let forward = scan(start, y, 1, |log_p: Tensor<2>, y: Tensor<2>| {
///         let seen = log_p + Normal::new(means.clone().unsqueeze::<2>(), 1.0).log_prob(y.repeat_dim(1, 2));
///         (logsumexp(seen.unsqueeze_dim::<3>(2) + moves.clone(), 1).squeeze_dim::<2>(1), ())
///     });
///     logsumexp(forward.last, 1).squeeze_dim::<1>(1)
/// });
/// let series = Dataset::new(array(vec![0.1, -0.4, 3.2, 2.9, 3.3, 0.2], [1, 6])?)?;
/// let mut evaluator = model.with(&series).evaluator(&array(vec![0.0, 3.0], [2])?)?;
/// assert!(evaluator.log_density(&[0.0, 3.0], sgmcmc::data::Rows::range(0..1))? < -6.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn scan<S: TensorTree, X: TensorTree, Y: TensorTree>(
    state: S,
    sequences: X,
    axis: usize,
    body: impl Fn(S, X) -> (S, Y),
) -> Scanned<S, Y> {
    let steps = trees::steps(&sequences, axis);
    execute(state, sequences, axis, steps, body)
}

/// Executes `body` `steps` times. The outputs are concatenated along their axis `axis`.
///
/// # Panics
///
/// Panics if `steps` is zero, if the shape of the state changes, or if the size of an output along `axis` is not one. In
/// a closure of a model this is an error with the message of the panic.
///
/// # Examples
///
/// Exponential decay y′ = −k y by Euler's method.
///
/// ```
/// use sgmcmc::{full, sequence::iterate};
///
/// let k = full([1], 0.5);
/// let path = iterate(full([1], 1.0), 100, 0, |y| {
///     let next = y.clone() - y * k.clone() * 0.01;
///     (next.clone(), next)
/// });
/// assert_eq!(path.outputs.dims(), [100]);
/// assert!((path.last.into_scalar::<f64>() - (-0.5_f64).exp()).abs() < 1e-2);
/// ```
pub fn iterate<S: TensorTree, Y: TensorTree>(
    state: S,
    steps: usize,
    axis: usize,
    body: impl Fn(S) -> (S, Y),
) -> Scanned<S, Y> {
    execute(state, (), axis, steps, |state, ()| body(state))
}

fn execute<S: TensorTree, X: TensorTree, Y: TensorTree>(
    state: S,
    sequences: X,
    axis: usize,
    steps: usize,
    body: impl Fn(S, X) -> (S, Y),
) -> Scanned<S, Y> {
    assert!(steps > 0, "a sequence has no steps; leave it out, or give it at least one element along axis {axis}");
    if record::is_active() && (trees::is_captured(&state) || trees::is_captured(&sequences)) {
        record::capture(state, &sequences, axis, steps, body)
    } else {
        steps::execute(state, &sequences, axis, steps, body)
    }
}
