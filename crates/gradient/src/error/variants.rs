//! The variants of the error, with short messages. The long messages are in `error/format.rs`.

use super::{BatchSizeError, Closure, format};
use crate::constraint::Constraint;

/// An error of a model, a data set, a setting or a run.
///
/// # Examples
///
/// ```
/// use sgmcmc::Layout;
/// use sgmcmc::gradient::Error;
///
/// let error = Layout::vector("beta", 3).block("gamma").unwrap_err();
/// assert!(matches!(error, Error::UnknownParameter { .. }));
/// assert_eq!(error.to_string(), "there is no parameter `gamma`: the parameters are `beta` [3]");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A closure of the model panicked, and the panic was caught.
    #[error("the {closure} closure panicked: {message}")]
    ClosurePanicked {
        /// The closure.
        closure: Closure,
        /// The message of the panic.
        message: String,
    },
    /// Another closure or trait method of the caller panicked, and the panic was caught.
    #[error("{what} panicked: {message}")]
    Panicked {
        /// The closure, and when it panicked.
        what: String,
        /// The message of the panic.
        message: String,
    },
    /// The log posterior of a chain was not finite in too many iterations in a row.
    #[error(fmt = format::undefined)]
    Undefined {
        /// The last value of the log posterior.
        value: f64,
        /// The number of consecutive iterations.
        iterations: u64,
        /// The last of these iterations.
        iteration: u64,
    },
    /// An error of an earlier run, of which only the message was stored.
    #[error("{message}")]
    Recorded {
        /// The message.
        message: String,
    },
    /// The ranks of a run on several machines cannot communicate, or another rank failed.
    #[error("{reason}")]
    Communication {
        /// The reason.
        reason: String,
    },
    /// A divergence in an earlier run, of which only the message was stored.
    #[error("{message}")]
    RecordedDivergence {
        /// The message.
        message: String,
    },
    /// The draws of a fit do not allow the requested computation.
    #[error("the draws do not allow this: {reason}")]
    Draws {
        /// The reason.
        reason: String,
    },
    /// The compiled engine was requested and cannot run the closures.
    #[error("the model cannot be compiled: {reason}; use `Engine::Auto` or `Engine::Eager` to run it anyway")]
    NotCompiled {
        /// The reason.
        reason: String,
    },
    /// The log-likelihood returned neither one entry per observation nor one sum.
    #[error(fmt = format::likelihood_shape)]
    LikelihoodShape {
        /// The shape of the returned tensor.
        shape: Vec<usize>,
        /// The number of observations passed to the closure.
        rows: usize,
    },
    /// The log-prior returned more than one number.
    #[error(fmt = format::prior_shape)]
    PriorShape {
        /// The shape of the returned tensor.
        shape: Vec<usize>,
    },
    /// A density is not finite at the start of the chain.
    #[error(fmt = format::density_not_finite)]
    DensityNotFinite {
        /// The closure.
        closure: Closure,
        /// The returned value.
        value: f64,
    },
    /// The model has neither a likelihood nor a prior.
    #[error("the model has no data and no log-prior: give it a density with `Model::density` or a data set")]
    EmptyModel,
    /// A parameter does not have its declared shape.
    #[error(fmt = format::parameter_shape)]
    ParameterShape {
        /// The path of the leaf.
        parameter: String,
        /// The declared shape.
        declared: Vec<usize>,
        /// The given shape.
        found: Vec<usize>,
    },
    /// A tree of parameters does not have the leaves of the layout.
    #[error("the parameters have leaves {found:?} but the layout has {declared:?}: use values of the same structure")]
    ParameterLeaves {
        /// The leaves of the layout.
        declared: Vec<String>,
        /// The leaves of the tree.
        found: Vec<String>,
    },
    /// No parameter has the requested name.
    #[error("there is no parameter `{name}`: the parameters are {known}")]
    UnknownParameter {
        /// The requested name.
        name: String,
        /// The names and shapes of the parameters.
        known: String,
    },
    /// A leaf of the parameters has integer or boolean elements.
    #[error("parameter `{parameter}` is {kind}: parameters are float tensors; move it to the data")]
    ParameterNotFloat {
        /// The path of the leaf.
        parameter: String,
        /// The kind of the leaf.
        kind: &'static str,
    },
    /// A start value is NaN or infinite.
    #[error("the start value of `{element}` is {value}: start values must be finite")]
    StartNotFinite {
        /// The name of the element.
        element: String,
        /// The given value.
        value: f64,
    },
    /// A start value violates the constraint of its parameter.
    #[error("the start value of `{element}` is {value}: `{parameter}` must be {constraint}")]
    OutsideSupport {
        /// The name of the element.
        element: String,
        /// The given value.
        value: f64,
        /// The name of the parameter.
        parameter: String,
        /// The constraint of the parameter.
        constraint: Constraint,
    },
    /// The shape of a parameter does not allow its constraint.
    #[error("parameter `{parameter}` of shape {shape:?} cannot be {constraint}: {reason}")]
    Constraint {
        /// The name of the parameter.
        parameter: String,
        /// The shape of the parameter.
        shape: Vec<usize>,
        /// The constraint.
        constraint: Constraint,
        /// The reason.
        reason: &'static str,
    },
    /// A flat vector has the wrong length.
    #[error("{what} has length {found}, expected {expected}")]
    Length {
        /// The description of the vector.
        what: &'static str,
        /// The expected length.
        expected: usize,
        /// The actual length.
        found: usize,
    },
    /// The number of values does not match a shape.
    #[error("{values} values do not fill shape {shape:?} ({expected} elements)")]
    ArrayShape {
        /// The number of values.
        values: usize,
        /// The shape.
        shape: Vec<usize>,
        /// The number of elements of that shape.
        expected: usize,
    },
    /// The leaves of a data set have different numbers of observations.
    #[error(fmt = format::row_count)]
    RowCount {
        /// The leaf that differs from the first one.
        leaf: String,
        /// The number of observations of that leaf.
        found: usize,
        /// The first leaf.
        first: String,
        /// The number of observations of the first leaf.
        expected: usize,
    },
    /// A data set has no leaf or no observation.
    #[error("the data set is empty: {reason}")]
    EmptyDataset {
        /// The reason.
        reason: String,
    },
    /// The data contain NaN or an infinite value.
    #[error(fmt = format::data_not_finite)]
    DataNotFinite {
        /// The path of the leaf.
        leaf: String,
        /// The row and the column, as text.
        position: String,
        /// The value.
        value: f64,
    },
    /// The data contain a value outside the support of a distribution.
    #[error(fmt = format::data_outside_support)]
    DataOutsideSupport {
        /// The description of the leaf.
        leaf: String,
        /// The row and the column, as text.
        position: String,
        /// The value.
        value: f64,
        /// The name of the distribution.
        distribution: &'static str,
        /// The description of the support.
        support: Box<str>,
    },
    /// The float leaves of a data set have different precisions.
    #[error(fmt = format::mixed_precision)]
    MixedPrecision {
        /// The leaf that differs from the first one.
        leaf: String,
        /// The element type of that leaf.
        found: String,
        /// The first float leaf.
        first: String,
        /// The element type of the first float leaf.
        expected: String,
    },
    /// A data leaf has an element type that columns do not support.
    #[error("data leaf `{leaf}` has element type {found}: use f32, f64, i32, i64 or bool")]
    DataType {
        /// The path of the leaf.
        leaf: String,
        /// The element type.
        found: String,
    },
    /// No data leaf has the requested name.
    #[error("there is no data leaf `{leaf}`: the leaves are {known}")]
    UnknownLeaf {
        /// The requested name.
        leaf: String,
        /// The names of the leaves.
        known: String,
    },
    /// Two data leaves have the same name.
    #[error("two data leaves are called `{leaf}`: give each its own name")]
    RepeatedLeaf {
        /// The name.
        leaf: String,
    },
    /// A data leaf has the wrong kind of elements.
    #[error("data leaf `{leaf}` is {found} but {expected} is expected: convert it or change the type of the field")]
    LeafKind {
        /// The name of the leaf.
        leaf: String,
        /// The kind of the leaf.
        found: &'static str,
        /// The expected kind.
        expected: &'static str,
    },
    /// A data leaf has the wrong rank.
    #[error("data leaf `{leaf}` has rank {found}, expected is {expected} (the observation is the first axis)")]
    LeafRank {
        /// The name of the leaf.
        leaf: String,
        /// The rank of the leaf.
        found: usize,
        /// The expected rank, as text.
        expected: String,
    },
    /// A data leaf has the wrong number of columns.
    #[error("data leaf `{leaf}` has {found} columns but the scaling was fitted to {expected}")]
    LeafWidth {
        /// The name of the leaf.
        leaf: String,
        /// The number of columns of the leaf.
        found: usize,
        /// The expected number of columns.
        expected: usize,
    },
    /// The number of values is not a multiple of the size of one observation.
    #[error("data leaf `{leaf}`: {values} values are not a whole number of rows of shape {row_shape:?}")]
    RowShape {
        /// The name of the leaf.
        leaf: String,
        /// The number of values.
        values: usize,
        /// The shape of one observation.
        row_shape: Vec<usize>,
    },
    /// A part of a split of a data set would be empty.
    #[error(fmt = format::split)]
    Split {
        /// The requested size of the first part.
        requested: String,
        /// The number of observations in the data set.
        observations: usize,
    },
    /// A minibatch of the requested size cannot be drawn.
    #[error("{0}")]
    BatchSize(#[from] BatchSizeError),
    /// A subsampling weight is not a positive, finite number.
    #[error("subsampling weight {row} is {value}: weights are positive, finite numbers, one per observation")]
    SubsamplingWeight {
        /// The index of the observation.
        row: usize,
        /// The given weight.
        value: f64,
    },
    /// The index of an observation is past the end of the data.
    #[error("row {row} is out of range: the data set has {observations} observations (rows count from 0)")]
    RowOutOfRange {
        /// The requested index.
        row: usize,
        /// The number of observations in the data set.
        observations: usize,
    },
    /// The term of an observation depends on other observations, and only a part of them was requested.
    #[error(fmt = format::mixed_rows)]
    MixedRows {
        /// The number of requested observations.
        rows: usize,
        /// The number of observations in the data set.
        observations: usize,
    },
    /// The compiled and the eager closures return different values at a point of the chain.
    #[error(fmt = format::engines_disagree)]
    EnginesDisagree {
        /// The log density, or the gradient with the name of a coordinate.
        what: String,
        /// The value of the compiled engine.
        compiled: f64,
        /// The value of the eager engine.
        eager: f64,
    },
    /// A computation needs one likelihood entry per observation, and the closure returns their sum.
    #[error(fmt = format::summed_likelihood)]
    SummedLikelihood {
        /// The requested computation.
        what: &'static str,
    },
    /// An allocation would exceed the memory limit.
    #[error("{what} needs {needed} but the limit is {limit}: {remedy}")]
    Memory {
        /// The description of the allocation.
        what: String,
        /// The required memory, with a unit.
        needed: String,
        /// The memory limit, with a unit.
        limit: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// A setting is out of range. The functions of [`settings`](crate::settings) return this error.
    #[error("{name} is {value}: {expected}")]
    Setting {
        /// The name of the setting.
        name: &'static str,
        /// The given value.
        value: String,
        /// The requirement.
        expected: &'static str,
    },
    /// The observations of a leaf became unreadable during a run.
    #[error("the observations of leaf `{leaf}` can no longer be read: {reason}")]
    DataGone {
        /// The name of the leaf.
        leaf: String,
        /// The reason.
        reason: String,
    },
    /// A sink cannot store draws.
    #[error("{reason}; draws made so far are kept")]
    Sink {
        /// The reason.
        reason: String,
    },
    /// A checkpoint cannot be written or read.
    #[error("the checkpoint cannot be used: {reason}")]
    Checkpoint {
        /// The reason.
        reason: String,
    },
    /// A prior cannot be used, or cannot be drawn from.
    #[error("the prior of `{parameter}` cannot be used: {reason}")]
    Prior {
        /// The path of the parameter.
        parameter: String,
        /// The reason, and the remedy.
        reason: String,
    },
    /// The model does not describe how parameters or observations are drawn.
    #[error("the model cannot draw {what}: {reason}")]
    NotGenerative {
        /// The parameters or the observations.
        what: &'static str,
        /// The reason, and the remedy.
        reason: String,
    },
    /// A gradient or a position became NaN or infinite.
    #[error("{what} of `{element}` became {value:e} at iteration {iteration}: {remedy}")]
    Diverged {
        /// The gradient or the value.
        what: &'static str,
        /// The name of the element.
        element: String,
        /// The value.
        value: f64,
        /// The iteration.
        iteration: u64,
        /// The remedy.
        remedy: &'static str,
    },
}
