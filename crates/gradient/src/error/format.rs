//! Messages of [`Error`] that are too long for an attribute.

use std::fmt::{Formatter, Result};

use super::{Closure, Error};

/// Writes the message of [`Error::Undefined`].
pub(super) fn undefined(value: &f64, iterations: &u64, iteration: &u64, f: &mut Formatter<'_>) -> Result {
    write!(
        f,
        "the log posterior was {value} in the last {iterations} iterations, up to iteration {iteration}: the chain is \
         outside the support of the model. Declare the constraints of the parameters (for instance a positive scale), \
         check the data, or use a smaller step size"
    )
}

/// Writes the message of [`Error::LikelihoodShape`].
pub(super) fn likelihood_shape(shape: &[usize], rows: &usize, f: &mut Formatter<'_>) -> Result {
    write!(
        f,
        "the log-likelihood returned shape {shape:?} for {rows} observations: return one entry per observation \
         (shape [{rows}]; `.squeeze_dim(1)` drops a trailing axis) or their sum (shape [1], `.sum()`)"
    )
}

/// Writes the message of [`Error::PriorShape`].
pub(super) fn prior_shape(shape: &[usize], f: &mut Formatter<'_>) -> Result {
    write!(
        f,
        "the log-prior returned shape {shape:?}: return one number (shape [1]), for instance by ending with `.sum()`"
    )
}

/// Writes the message of [`Error::DensityNotFinite`].
pub(super) fn density_not_finite(closure: &Closure, value: &f64, f: &mut Formatter<'_>) -> Result {
    write!(
        f,
        "the {closure} is {value} at the start: choose start values inside the support, where the density is positive; a \
         parameter that must be positive, such as a scale, has the constraint `positive` or a prior such as `HalfNormal`"
    )
}

/// Writes the message of [`Error::ParameterShape`].
pub(super) fn parameter_shape(parameter: &str, declared: &[usize], found: &[usize], f: &mut Formatter<'_>) -> Result {
    write!(
        f,
        "parameter `{parameter}` has shape {found:?} but was declared as {declared:?}: give start values of that shape"
    )
}

/// Writes the message of [`Error::RowCount`].
pub(super) fn row_count(leaf: &str, found: &usize, first: &str, expected: &usize, f: &mut Formatter<'_>) -> Result {
    write!(
        f,
        "data leaf `{leaf}` has {found} rows but `{first}` has {expected}: the first axis of every leaf is the \
         observation"
    )
}

/// Writes the message of [`Error::DataNotFinite`].
pub(super) fn data_not_finite(leaf: &str, position: &str, value: &f64, f: &mut Formatter<'_>) -> Result {
    write!(
        f,
        "data leaf `{leaf}` holds {value} at {position}: remove or impute it (or accept it with \
         `Dataset::allow_non_finite`)"
    )
}

/// Writes the message of [`Error::DataOutsideSupport`].
pub(super) fn data_outside_support(
    leaf: &str,
    position: &str,
    value: &f64,
    distribution: &str,
    support: &str,
    f: &mut Formatter<'_>,
) -> Result {
    write!(
        f,
        "{leaf} holds {value} at {position}, outside the support of `{distribution}`, {support}: recode the data, or \
         mask the term"
    )
}

/// Writes the message of [`Error::MixedPrecision`].
pub(super) fn mixed_precision(leaf: &str, found: &str, first: &str, expected: &str, f: &mut Formatter<'_>) -> Result {
    write!(
        f,
        "data leaf `{leaf}` is {found} but `{first}` is {expected}: one precision for all float leaves \
         (`Dataset::with_precision` converts)"
    )
}

/// Writes the message of [`Error::Split`].
pub(super) fn split(requested: &str, observations: &usize, f: &mut Formatter<'_>) -> Result {
    write!(
        f,
        "a first part of {requested} leaves a part empty: the data set has {observations} observations \
         (an integer is a count, a float a proportion)"
    )
}

/// Writes the message of [`Error::MixedRows`].
pub(super) fn mixed_rows(rows: &usize, observations: &usize, f: &mut Formatter<'_>) -> Result {
    write!(
        f,
        "the log-likelihood of an observation depends on the other observations it is evaluated with, so that {rows} \
         of {observations} do not estimate it: put a sequence into one observation (leaves of shape [1, T]), use all \
         observations (`FullGradient`), or write it as `Model::density`"
    )
}

/// Writes the message of [`Error::EnginesDisagree`].
pub(super) fn engines_disagree(what: &str, compiled: &f64, eager: &f64, f: &mut Formatter<'_>) -> Result {
    write!(
        f,
        "the compiled {what} is {compiled} where the eager one is {eager}: the closure does what a recording cannot \
         show, such as `detach`; run it with `Engine::Eager`"
    )
}

/// Writes the message of [`Error::SummedLikelihood`].
pub(super) fn summed_likelihood(what: &str, f: &mut Formatter<'_>) -> Result {
    write!(
        f,
        "{what} needs the log-likelihood of each observation, but the closure returns their sum: \
         return one entry per observation (drop the final `.sum()`)"
    )
}

impl Error {
    /// Creates the error that `what` needs `needed` bytes and the limit is `limit` bytes.
    pub fn memory(what: String, needed: usize, limit: usize, remedy: &'static str) -> Self {
        Self::Memory { what, needed: human_bytes(needed), limit: human_bytes(limit), remedy }
    }
}

/// Returns a number of bytes in the largest unit in which it is at least 1.
fn human_bytes(bytes: usize) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}
