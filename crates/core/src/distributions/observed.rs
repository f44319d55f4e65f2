//! A record of the values at which distributions are evaluated, for the check that data are inside the support.
//!
//! When an evaluator is created, the log-likelihood is called once while recording is enabled on its thread. Every
//! distribution with a bounded support then adds its values to the record. At all other times a distribution only reads
//! one thread-local variable.

use std::cell::RefCell;
use std::fmt;

use burn_tensor::{Int, Tensor};

thread_local! {
    /// The record, or `None` if recording is disabled.
    static RECORD: RefCell<Option<Vec<Observed>>> = const { RefCell::new(None) };
}

/// Values at which a distribution was evaluated.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    /// The name of the distribution.
    pub(crate) distribution: &'static str,
    /// The support of the distribution.
    pub(crate) support: Support,
    /// The values in row-major order.
    pub(crate) values: Vec<f64>,
    /// True if the values depend on parameters.
    pub(crate) tracked: bool,
}

/// The set of values where a density is positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Support {
    /// Zero and one.
    ZeroOrOne,
    /// Whole numbers from zero to the given maximum, which may be infinite.
    Counts(f64),
    /// Numbers ≥ 0.
    NotNegative,
    /// Numbers > 0.
    Positive,
    /// Numbers between two bounds, which are included.
    Interval(f64, f64),
    /// Numbers with a bound that is a tensor, which is not compared with values.
    Dependent,
}

impl Support {
    /// Checks whether the support contains `value`. NaN represents a missing value and passes the check.
    pub(crate) fn holds(self, value: f64) -> bool {
        #[expect(clippy::float_cmp, reason = "labels equal these numbers exactly")]
        let zero_or_one = value == 0.0 || value == 1.0;
        value.is_nan()
            || match self {
                Self::ZeroOrOne => zero_or_one,
                Self::Counts(largest) => value >= 0.0 && value <= largest && value.fract().abs() <= 0.0,
                Self::NotNegative => value >= 0.0,
                Self::Positive => value > 0.0,
                Self::Interval(low, high) => (low..=high).contains(&value),
                Self::Dependent => true,
            }
    }
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroOrOne => f.write_str("0 and 1"),
            Self::Counts(largest) if largest.is_finite() => write!(f, "the whole numbers from 0 to {largest}"),
            Self::Counts(_) => f.write_str("the whole numbers from 0"),
            Self::NotNegative => f.write_str("the numbers from 0"),
            Self::Positive => f.write_str("the numbers above 0"),
            Self::Interval(low, high) => write!(f, "the numbers from {low} to {high}"),
            Self::Dependent => f.write_str("numbers between bounds"),
        }
    }
}

/// Adds `value` to the record if recording is enabled.
pub(super) fn record<const D: usize>(distribution: &'static str, value: &Tensor<D>, support: Support) {
    add(distribution, support, || (value.to_data().iter::<f64>().collect(), value.is_tracked()));
}

/// Adds integers to the record if recording is enabled.
pub(super) fn record_integers(distribution: &'static str, value: &Tensor<1, Int>, support: Support) {
    add(distribution, support, || (value.to_data().iter::<f64>().collect(), false));
}

/// Returns whether recording is enabled on this thread.
pub(super) fn is_recording() -> bool {
    RECORD.with_borrow(Option::is_some)
}

/// Adds the values that `read` returns to the record if recording is enabled.
fn add(distribution: &'static str, support: Support, read: impl FnOnce() -> (Vec<f64>, bool)) {
    if is_recording() {
        let (values, tracked) = read();
        RECORD.with_borrow_mut(|record| {
            record.iter_mut().for_each(|record| {
                record.push(Observed { distribution, support, values: values.clone(), tracked });
            })
        });
    }
}

/// Runs `call` with recording enabled. Returns its result and the record.
pub(crate) fn watching<T>(call: impl FnOnce() -> T) -> (T, Vec<Observed>) {
    let enclosing = Enclosing(RECORD.replace(Some(Vec::new())));
    let result = call();
    let record = RECORD.take().unwrap_or_default();
    drop(enclosing);
    (result, record)
}

/// Runs `call` with recording disabled, for values that need not be inside the support.
pub(super) fn without_recording<T>(call: impl FnOnce() -> T) -> T {
    let _enclosing = Enclosing(RECORD.take());
    call()
}

/// The record of the enclosing call, restored on drop.
struct Enclosing(Option<Vec<Observed>>);

impl Drop for Enclosing {
    fn drop(&mut self) {
        RECORD.set(self.0.take());
    }
}
