//! Values that distributions are asked about, for the check that data are inside the support.
//!
//! While an evaluator is made, the log-likelihood is called once with a list open on its thread, and every distribution with a bounded
//! support adds the values that it is given. At all other times a look at the thread's variable is all that is done.

use std::cell::RefCell;
use std::fmt;

use burn_tensor::{Int, Tensor};

thread_local! {
    static LIST: RefCell<Option<Vec<Observed>>> = const { RefCell::new(None) };
}

/// Values that a distribution was asked about.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    pub(crate) distribution: &'static str,
    pub(crate) support: Support,
    /// Row-major.
    pub(crate) values: Vec<f64>,
    /// Whether they depend on parameters.
    pub(crate) tracked: bool,
}

/// Where a density is positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Support {
    /// Zero and one.
    ZeroOrOne,
    /// Whole numbers from zero to this one, which may be infinite.
    Counts(f64),
    /// Numbers ≥ 0.
    NotNegative,
    /// Numbers > 0.
    Positive,
    /// From one number to another.
    Interval(f64, f64),
}

impl Support {
    /// Whether `value` is inside. NaN stands for what is missing.
    pub(crate) fn holds(self, value: f64) -> bool {
        #[expect(clippy::float_cmp, reason = "labels are these numbers exactly")]
        let zero_or_one = value == 0.0 || value == 1.0;
        value.is_nan()
            || match self {
                Self::ZeroOrOne => zero_or_one,
                Self::Counts(most) => value >= 0.0 && value <= most && value.fract().abs() <= 0.0,
                Self::NotNegative => value >= 0.0,
                Self::Positive => value > 0.0,
                Self::Interval(low, high) => (low..=high).contains(&value),
            }
    }
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroOrOne => f.write_str("0 and 1"),
            Self::Counts(most) if most.is_finite() => write!(f, "the whole numbers from 0 to {most}"),
            Self::Counts(_) => f.write_str("the whole numbers from 0"),
            Self::NotNegative => f.write_str("the numbers from 0"),
            Self::Positive => f.write_str("the numbers above 0"),
            Self::Interval(low, high) => write!(f, "the numbers from {low} to {high}"),
        }
    }
}

/// Adds `value` to the list if there is one.
pub(super) fn observed<const D: usize>(distribution: &'static str, value: &Tensor<D>, support: Support) {
    add(distribution, support, || (value.to_data().iter::<f64>().collect(), value.is_tracked()));
}

/// As [`observed`], for integers.
pub(super) fn observed_integers(distribution: &'static str, value: &Tensor<1, Int>, support: Support) {
    add(distribution, support, || (value.to_data().iter::<f64>().collect(), false));
}

fn add(distribution: &'static str, support: Support, read: impl FnOnce() -> (Vec<f64>, bool)) {
    if LIST.with_borrow(Option::is_some) {
        let (values, tracked) = read();
        LIST.with_borrow_mut(|list| {
            list.iter_mut().for_each(|list| {
                list.push(Observed { distribution, support, values: values.clone(), tracked });
            })
        });
    }
}

/// Runs `call` with an empty list; returns what is in it afterwards.
pub(crate) fn watching<T>(call: impl FnOnce() -> T) -> (T, Vec<Observed>) {
    let outer = Outer(LIST.replace(Some(Vec::new())));
    let result = call();
    let found = LIST.take().unwrap_or_default();
    drop(outer);
    (result, found)
}

/// Runs `call` without a list: for values that need not be inside the support.
pub(super) fn unobserved<T>(call: impl FnOnce() -> T) -> T {
    let _outer = Outer(LIST.take());
    call()
}

/// The list that was open before.
struct Outer(Option<Vec<Observed>>);

impl Drop for Outer {
    fn drop(&mut self) {
        LIST.set(self.0.take());
    }
}
