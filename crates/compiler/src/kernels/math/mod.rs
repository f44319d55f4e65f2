//! Exponential, logarithm and related functions, without branches, so that loops over them vectorize.
//!
//! The functions of the standard library are calls for each number. These functions are inlined: a reduction of the
//! argument, a minimax polynomial (see [`Float`]) and a scaling by a power of two.

mod erf;
mod exp;
mod float;
mod log;
mod logistic;
mod pow;
#[cfg(test)]
#[expect(clippy::approx_constant, reason = "values of functions")]
mod table;
#[cfg(test)]
mod tests;

pub(crate) use erf::erf;
pub(crate) use exp::{exp, expm1};
pub(crate) use float::Float;
pub(crate) use log::{log, log1p};
pub(crate) use logistic::{log_sigmoid, sigmoid, tanh};
pub(crate) use pow::pow;
