//! What can go wrong, named so that the message alone tells what to change.

use std::fmt;

use crate::constraint::Constraint;

/// The result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One of the two closures a model is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Closure {
    /// The log-likelihood of a minibatch.
    LogLikelihood,
    /// The log-prior of the parameters.
    LogPrior,
}

impl fmt::Display for Closure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LogLikelihood => "log-likelihood",
            Self::LogPrior => "log-prior",
        })
    }
}

/// Every error of the core crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A user's closure panicked; the panic was caught.
    #[error("the {closure} closure panicked: {message}")]
    ClosurePanicked {
        /// Which closure.
        closure: Closure,
        /// The panic's own message.
        message: String,
    },

    /// A closure or a trait of the user's panicked; the panic was caught.
    #[error("{what} panicked: {message}")]
    Panicked {
        /// Which closure, and when.
        what: String,
        /// The panic's own message.
        message: String,
    },

    /// The log posterior of a chain was not a finite number for too long.
    #[error(
        "the log posterior was {value} in the last {iterations} iterations, up to iteration {iteration}: the chain is outside the \
         support of the model. Declare the constraints of the parameters (for instance a positive scale), check the data, or use a \
         smaller step size"
    )]
    Undefined {
        /// Its last value.
        value: f64,
        /// How many iterations in a row.
        iterations: u64,
        /// The last of them.
        iteration: u64,
    },

    /// An error of an earlier run, of which the message was kept.
    #[error("{message}")]
    Recorded {
        /// The message.
        message: String,
    },

    /// The draws of a fit do not allow what was asked of them.
    #[error("the draws do not allow this: {reason}")]
    Draws {
        /// Why not.
        reason: String,
    },

    /// The compiled engine was asked for and cannot run the closures.
    #[error("the model cannot be compiled: {reason}; use `Engine::Auto` or `Engine::Eager` to run it anyway")]
    NotCompiled {
        /// Why not.
        reason: String,
    },

    /// The log-likelihood returned neither one entry per observation nor one sum.
    #[error(
        "the log-likelihood returned shape {shape:?} for {rows} observations: return one entry per observation \
         (shape [{rows}]; `.squeeze_dim(1)` drops a trailing axis) or their sum (shape [1], `.sum()`)"
    )]
    LikelihoodShape {
        /// The shape returned.
        shape: Vec<usize>,
        /// How many observations the closure was given.
        rows: usize,
    },

    /// The log-prior returned more than one number.
    #[error(
        "the log-prior returned shape {shape:?}: return one number (shape [1]), for instance by ending with `.sum()`"
    )]
    PriorShape {
        /// The shape returned.
        shape: Vec<usize>,
    },

    /// A density is not a finite number where the chain is to start.
    #[error(
        "the {closure} is {value} at the start: choose start values inside the support, where the density is positive"
    )]
    DensityNotFinite {
        /// Which closure.
        closure: Closure,
        /// What it returned.
        value: f64,
    },

    /// Neither a likelihood nor a prior: nothing to sample from.
    #[error("the model has no data and no log-prior: give it a density with `Model::density` or a data set")]
    EmptyModel,

    /// A parameter has another shape than declared.
    #[error(
        "parameter `{parameter}` has shape {found:?} but was declared as {declared:?}: give start values of that shape"
    )]
    ParameterShape {
        /// The leaf's path.
        parameter: String,
        /// The declared shape.
        declared: Vec<usize>,
        /// The shape given.
        found: Vec<usize>,
    },

    /// A tree of parameters has other leaves than the layout it is used with.
    #[error("the parameters have leaves {found:?} but the layout has {declared:?}: use values of the same structure")]
    ParameterLeaves {
        /// The layout's leaves.
        declared: Vec<String>,
        /// The leaves given.
        found: Vec<String>,
    },

    /// No parameter of that name.
    #[error("there is no parameter `{name}`: the parameters are {known}")]
    UnknownParameter {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },

    /// An integer or boolean leaf among the parameters.
    #[error("parameter `{parameter}` is {kind}: parameters are float tensors; move it to the data")]
    ParameterNotFloat {
        /// The leaf's path.
        parameter: String,
        /// Its kind.
        kind: &'static str,
    },

    /// A start value that is NaN or infinite.
    #[error("the start value of `{element}` is {value}: start values must be finite")]
    StartNotFinite {
        /// The element's name.
        element: String,
        /// The value given.
        value: f64,
    },

    /// A start value outside its constraint.
    #[error("the start value of `{element}` is {value}: `{parameter}` must be {constraint}")]
    OutsideSupport {
        /// The element's name.
        element: String,
        /// The value given.
        value: f64,
        /// The parameter.
        parameter: String,
        /// Its constraint.
        constraint: Constraint,
    },

    /// A constraint that a parameter of this shape cannot have.
    #[error("parameter `{parameter}` of shape {shape:?} cannot be {constraint}: {reason}")]
    Constraint {
        /// The parameter.
        parameter: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The constraint.
        constraint: Constraint,
        /// Why not.
        reason: &'static str,
    },

    /// A flat vector of the wrong length.
    #[error("{what} has length {found}, expected {expected}")]
    Length {
        /// What was measured.
        what: &'static str,
        /// The length expected.
        expected: usize,
        /// The length found.
        found: usize,
    },

    /// A vector and a shape that do not go together.
    #[error("{values} values do not fill shape {shape:?} ({expected} elements)")]
    ArrayShape {
        /// How many values were given.
        values: usize,
        /// The shape given.
        shape: Vec<usize>,
        /// How many elements that shape has.
        expected: usize,
    },

    /// Leaves of a data set disagree on the number of observations.
    #[error(
        "data leaf `{leaf}` has {found} rows but `{first}` has {expected}: the first axis of every leaf is the observation"
    )]
    RowCount {
        /// The leaf that differs.
        leaf: String,
        /// Its rows.
        found: usize,
        /// The leaf it was compared with.
        first: String,
        /// That leaf's rows.
        expected: usize,
    },

    /// A data set without leaves or without rows.
    #[error("the data set is empty: {reason}")]
    EmptyDataset {
        /// No leaf, or which leaf has no row.
        reason: String,
    },

    /// NaN or infinity in the data.
    #[error(
        "data leaf `{leaf}` holds {value} at {position}: remove or impute it (or accept it with `Dataset::allow_non_finite`)"
    )]
    DataNotFinite {
        /// The leaf's path.
        leaf: String,
        /// Row and column, as words.
        position: String,
        /// The value found.
        value: f64,
    },

    /// Data outside the support of a distribution.
    #[error(
        "{leaf} holds {value} at {position}, outside the support of `{distribution}`, {support}: recode the data, or mask the term"
    )]
    DataOutsideSupport {
        /// The leaf's path, as words.
        leaf: String,
        /// Row and column, as words.
        position: String,
        /// The value found.
        value: f64,
        /// The distribution.
        distribution: &'static str,
        /// Its support, as words.
        support: Box<str>,
    },

    /// Float leaves of different precision.
    #[error(
        "data leaf `{leaf}` is {found} but `{first}` is {expected}: one precision for all float leaves \
         (`Dataset::with_precision` converts)"
    )]
    MixedPrecision {
        /// The leaf that differs.
        leaf: String,
        /// Its type.
        found: String,
        /// The first float leaf.
        first: String,
        /// That leaf's type.
        expected: String,
    },

    /// A data leaf of a type no column holds.
    #[error("data leaf `{leaf}` has element type {found}: use f32, f64, i32, i64 or bool")]
    DataType {
        /// The leaf's path.
        leaf: String,
        /// Its type.
        found: String,
    },

    /// No data leaf of that name.
    #[error("there is no data leaf `{leaf}`: the leaves are {known}")]
    UnknownLeaf {
        /// What was asked for.
        leaf: String,
        /// What there is.
        known: String,
    },

    /// Two data leaves of the same name.
    #[error("two data leaves are called `{leaf}`: give each its own name")]
    RepeatedLeaf {
        /// The name.
        leaf: String,
    },

    /// A data leaf of another kind than wanted.
    #[error("data leaf `{leaf}` is {found} but {expected} is wanted: convert it or change the type of the field")]
    LeafKind {
        /// The leaf.
        leaf: String,
        /// Its kind.
        found: &'static str,
        /// The kind wanted.
        expected: &'static str,
    },

    /// A data leaf of another rank than wanted.
    #[error("data leaf `{leaf}` has rank {found}, wanted is {expected} (the observation is the first axis)")]
    LeafRank {
        /// The leaf.
        leaf: String,
        /// Its rank.
        found: usize,
        /// The rank wanted, as words.
        expected: String,
    },

    /// A data leaf with another number of columns than wanted.
    #[error("data leaf `{leaf}` has {found} columns but the scaling was fitted to {expected}")]
    LeafWidth {
        /// The leaf.
        leaf: String,
        /// Its columns.
        found: usize,
        /// The columns wanted.
        expected: usize,
    },

    /// Values that are not a whole number of rows.
    #[error("data leaf `{leaf}`: {values} values are not a whole number of rows of shape {row_shape:?}")]
    RowShape {
        /// The leaf.
        leaf: String,
        /// How many values were given.
        values: usize,
        /// The shape of a row.
        row_shape: Vec<usize>,
    },

    /// A split with an empty part.
    #[error(
        "a first part of {asked} leaves a part empty: the data set has {observations} observations \
         (an integer is a count, a float a proportion)"
    )]
    Split {
        /// What was asked for.
        asked: String,
        /// How many observations there are.
        observations: usize,
    },

    /// A minibatch that cannot be drawn.
    #[error("{0}")]
    BatchSize(#[from] BatchSizeError),

    /// Subsampling weights that are no probabilities.
    #[error("subsampling weight {row} is {value}: weights are positive, finite numbers, one per observation")]
    SubsamplingWeight {
        /// The row.
        row: usize,
        /// The weight given.
        value: f64,
    },

    /// A row index past the end of the data.
    #[error("row {row} is out of range: the data set has {observations} observations (rows count from 0)")]
    RowOutOfRange {
        /// The index asked for.
        row: usize,
        /// How many rows there are.
        observations: usize,
    },

    /// The term of an observation depends on other observations, and not all of them were asked for.
    #[error(
        "the log-likelihood of an observation depends on the other observations it is evaluated with, so that {rows} of \
         {observations} do not estimate it: put a sequence into one observation (leaves of shape [1, T]), use all observations \
         (`FullGradient`), or write it as `Model::density`"
    )]
    MixedRows {
        /// How many observations were asked for.
        rows: usize,
        /// How many there are.
        observations: usize,
    },

    /// The compiled closures differ from the eager ones where a chain is.
    #[error(
        "the compiled {what} is {compiled} where the eager one is {eager}: the closure does what a recording cannot show, such as \
         `detach`; run it with `Engine::Eager`"
    )]
    EnginesDisagree {
        /// The log density, or the gradient of which coordinate.
        what: String,
        /// That of the compiled engine.
        compiled: f64,
        /// That of the eager engine.
        eager: f64,
    },

    /// Something that needs one likelihood entry per observation met a summed one.
    #[error(
        "{what} needs the log-likelihood of each observation, but the closure returns their sum: \
         return one entry per observation (drop the final `.sum()`)"
    )]
    SummedLikelihood {
        /// What was asked for.
        what: &'static str,
    },

    /// Something would take more memory than allowed.
    #[error("{what} needs {needed} but the limit is {limit}: {remedy}")]
    Memory {
        /// What was to be allocated.
        what: String,
        /// Bytes needed, for people.
        needed: String,
        /// Bytes allowed, for people.
        limit: String,
        /// What to do instead.
        remedy: &'static str,
    },

    /// A setting outside its range.
    #[error("{name} is {value}: {expected}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// The value given.
        value: String,
        /// What it must be.
        expected: &'static str,
    },

    /// Observations that were there when a run began and can no longer be read.
    #[error("the observations of leaf `{leaf}` can no longer be read: {reason}")]
    DataGone {
        /// The leaf.
        leaf: String,
        /// What became of them.
        reason: String,
    },

    /// Draws that cannot be kept.
    #[error("{reason}: free some space or choose another place; draws made so far are kept")]
    Sink {
        /// What is wrong.
        reason: String,
    },

    /// A checkpoint that cannot be written or read.
    #[error("the checkpoint cannot be used: {reason}")]
    Checkpoint {
        /// What is wrong with it.
        reason: String,
    },

    /// A gradient or a position became NaN or infinite.
    #[error("{what} of `{element}` became {value:e} at iteration {iteration}: {remedy}")]
    Diverged {
        /// The gradient or the value.
        what: &'static str,
        /// The element's name.
        element: String,
        /// The value found.
        value: f64,
        /// When.
        iteration: u64,
        /// What to do.
        remedy: &'static str,
    },
}

impl Error {
    /// The error that `what` would take `needed` bytes where `limit` are allowed.
    pub fn memory(what: String, needed: usize, limit: usize, remedy: &'static str) -> Self {
        Self::Memory { what, needed: human_bytes(needed), limit: human_bytes(limit), remedy }
    }
}

/// Why a minibatch cannot be drawn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchSizeError {
    /// A count of zero.
    #[error("a minibatch of 0 observations estimates nothing: use at least 1")]
    Zero,
    /// More than there is.
    #[error(
        "a minibatch of {size} observations exceeds the {observations} of the data set: use at most {observations}"
    )]
    TooLarge {
        /// What was asked for.
        size: usize,
        /// What there is.
        observations: usize,
    },
    /// A negative count.
    #[error("a minibatch of {0} observations makes no sense: use at least 1")]
    Negative(i64),
    /// Not a proportion.
    #[error("a minibatch proportion of {0} is not in (0, 1]: a float is a proportion, an integer a count")]
    NotAProportion(f64),
    /// A proportion too small for this data set.
    #[error(
        "a minibatch proportion of {proportion} rounds to 0 of {observations} observations: \
         use a larger proportion or a count"
    )]
    RoundsToZero {
        /// What was asked for.
        proportion: f64,
        /// How many observations there are.
        observations: usize,
    },
}

/// Bytes in the largest unit that leaves a number above one.
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
