//! The record of the loops of a closure.
//!
//! Burn's capture device records the operations of a body, but not that they are repeated. While a closure is recorded,
//! [`capture`] therefore calls the body once, on tensors without values, and notes the identifiers of its arguments and
//! results. The results of the loop are again tensors without values. The importer finds the operations of the body
//! between them.

use std::cell::{Cell, RefCell};

use burn_capture::{CaptureBackend, TensorId};
use burn_tensor::{Bool, Int, Tensor};

use super::{CHECKED_STEPS, Scanned, trees};
use crate::tree::{Path, Source, TensorTree, Visitor};

/// A loop. Tensors are represented by identifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scan<T> {
    /// The axis of time.
    pub(crate) axis: usize,
    pub(crate) steps: usize,
    /// The initial states.
    pub(crate) initial: Vec<T>,
    pub(crate) sequences: Vec<T>,
    /// The arguments of the body.
    pub(crate) states: Vec<T>,
    pub(crate) elements: Vec<T>,
    /// The results of the body.
    pub(crate) next: Vec<T>,
    pub(crate) step_outputs: Vec<T>,
    /// The results of the loop.
    pub(crate) last: Vec<T>,
    pub(crate) outputs: Vec<T>,
}

impl<T: Copy> Scan<T> {
    /// Returns the loop with other identifiers.
    ///
    /// # Errors
    ///
    /// Returns the first error of `name`.
    pub(crate) fn try_map<U, E>(&self, name: impl Fn(T) -> Result<U, E>) -> Result<Scan<U>, E> {
        let all = |ids: &[T]| ids.iter().map(|id| name(*id)).collect::<Result<Vec<U>, E>>();
        Ok(Scan {
            axis: self.axis,
            steps: self.steps,
            initial: all(&self.initial)?,
            sequences: all(&self.sequences)?,
            states: all(&self.states)?,
            elements: all(&self.elements)?,
            next: all(&self.next)?,
            step_outputs: all(&self.step_outputs)?,
            last: all(&self.last)?,
            outputs: all(&self.outputs)?,
        })
    }
}

thread_local! {
    /// The loops of the closure that this thread records.
    static RECORDED: RefCell<Option<Vec<Scan<TensorId>>>> = const { RefCell::new(None) };
    /// The largest number of steps of a loop that is not compiled.
    static LIMIT: Cell<usize> = const { Cell::new(usize::MAX) };
    /// True if a loop was cut since [`briefly`] was called.
    static CUT: Cell<bool> = const { Cell::new(false) };
}

/// Calls `call`, and returns the loops that it executes on a capture device.
pub(crate) fn record<T>(call: impl FnOnce() -> T) -> (T, Vec<Scan<TensorId>>) {
    let restore = Restore(RECORDED.replace(Some(vec![])));
    let result = call();
    let scans = RECORDED.take().unwrap_or_default();
    drop(restore);
    (result, scans)
}

/// Restores the record of an outer call, also after a panic.
struct Restore(Option<Vec<Scan<TensorId>>>);

impl Drop for Restore {
    fn drop(&mut self) {
        RECORDED.set(self.0.take());
    }
}

/// Returns whether this thread records a closure.
pub(super) fn is_active() -> bool {
    RECORDED.with_borrow(Option::is_some)
}

/// Calls `call`. Loops that are not compiled execute only their first [`CHECKED_STEPS`] steps meanwhile; the last output
/// stands for the others. Also returns whether a loop was cut.
///
/// The checks of a model need the shapes and the structure of a computation, and not all steps of its loops.
pub(crate) fn briefly<T>(call: impl FnOnce() -> T) -> (T, bool) {
    within(CHECKED_STEPS, call)
}

/// Does the same as [`briefly`] with another number of steps.
pub(crate) fn within<T>(steps: usize, call: impl FnOnce() -> T) -> (T, bool) {
    let (limit, cut) = (LIMIT.replace(steps), CUT.replace(false));
    let restore = RestoreLimit { limit, cut };
    let result = call();
    let was_cut = CUT.get();
    drop(restore);
    (result, was_cut)
}

/// Restores the number of steps of an outer call, also after a panic.
struct RestoreLimit {
    limit: usize,
    cut: bool,
}

impl Drop for RestoreLimit {
    fn drop(&mut self) {
        LIMIT.set(self.limit);
        CUT.set(self.cut);
    }
}

/// Returns whether loops execute only their first steps.
pub(crate) fn is_brief() -> bool {
    LIMIT.get() < usize::MAX
}

/// Returns the number of steps to execute of a loop of `steps` steps.
pub(super) fn step_limit(steps: usize) -> usize {
    let limit = LIMIT.get();
    CUT.set(CUT.get() || steps > limit);
    steps.min(limit)
}

/// Records a loop.
pub(super) fn capture<S: TensorTree, X: TensorTree, Y: TensorTree>(
    mut initial: S,
    sequences: &X,
    axis: usize,
    steps: usize,
    body: impl Fn(S, X) -> (S, Y),
) -> Scanned<S, Y> {
    let mut elements = empty(sequences, |dims| dims[axis] = 1);
    let element_ids = ids(&elements);
    let mut states = empty(&initial, |_| {});
    let mut state_ids = ids(&states);
    let (mut next, mut output) = body(states, elements);
    let (before, after) = (trees::shapes(&initial), trees::shapes(&next));
    trees::check_repeated(&before, &after);
    let (mut step_elements, same) = (element_ids, before.iter().zip(&after).all(|(a, b)| a.dims == b.dims));
    if !same {
        // The initial state is repeated, and the body recorded again for the larger shape.
        initial = trees::repeated(&initial, &after);
        elements = empty(sequences, |dims| dims[axis] = 1);
        step_elements = ids(&elements);
        states = empty(&initial, |_| {});
        state_ids = ids(&states);
        (next, output) = body(states, elements);
        trees::check_same(&after, &trees::shapes(&next));
    }
    trees::check_output(&output, axis);
    let last = empty(&next, |_| {});
    let outputs = empty(&output, |dims| dims[axis] = steps);
    let scan = Scan {
        axis,
        steps,
        initial: ids(&initial),
        sequences: ids(sequences),
        states: state_ids,
        elements: step_elements,
        next: ids(&next),
        step_outputs: ids(&output),
        last: ids(&last),
        outputs: ids(&outputs),
    };
    RECORDED.with_borrow_mut(|recorded| recorded.get_or_insert_default().push(scan));
    Scanned { last, outputs }
}

/// Returns a tree of the same structure without values, with changed dimensions.
fn empty<T: TensorTree>(tree: &T, change: impl Fn(&mut [usize])) -> T {
    tree.rebuild(&mut Empty(change))
}

struct Empty<F>(F);

impl<F: Fn(&mut [usize])> Source for Empty<F> {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        let mut dims = like.dims();
        (self.0)(&mut dims);
        Tensor::empty(dims, (&like.device(), like.dtype()))
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        let mut dims = like.dims();
        (self.0)(&mut dims);
        Tensor::empty(dims, (&like.device(), like.dtype()))
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        let mut dims = like.dims();
        (self.0)(&mut dims);
        Tensor::empty(dims, &like.device())
    }
}

/// Returns the identifiers of the leaves.
///
/// # Panics
///
/// Panics if a leaf is not on the capture device. The message is that of Burn for operations on several devices.
fn ids<T: TensorTree>(tree: &T) -> Vec<TensorId> {
    let mut visitor = Ids(vec![]);
    tree.visit(&mut Path::root(), &mut visitor);
    visitor
        .0
        .into_iter()
        .map(|id| id.unwrap_or_else(|| panic!("a tensor of a loop is not on the same device")))
        .collect()
}

struct Ids(Vec<Option<TensorId>>);

impl Visitor for Ids {
    fn float<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D>) {
        self.0.push(tensor.clone().try_into_primitive::<CaptureBackend>().ok().map(|primitive| primitive.id()));
    }

    fn int<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D, Int>) {
        self.0.push(tensor.clone().try_into_primitive::<CaptureBackend>().ok().map(|primitive| primitive.id()));
    }

    fn bool<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D, Bool>) {
        self.0.push(tensor.clone().try_into_primitive::<CaptureBackend>().ok().map(|primitive| primitive.id()));
    }
}
