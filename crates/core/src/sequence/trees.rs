//! Trees of tensors with an axis of time.

use std::any::Any;
use std::fmt;

use burn_capture::CaptureBackend;
use burn_tensor::{Bool, DType, Int, Tensor};

use crate::tree::{Path, Source, TensorTree, Visitor};

/// The name and shape of each leaf.
pub(super) type Shapes = Vec<Leaf>;

/// The name, shape and element type of a leaf.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Leaf {
    name: String,
    pub(super) dims: Vec<usize>,
    dtype: DType,
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.is_empty() { write!(f, "the state") } else { write!(f, "the state `{}`", self.name) }
    }
}

/// Returns the names and shapes of the leaves.
pub(super) fn shapes<T: TensorTree>(tree: &T) -> Shapes {
    let mut visitor = ShapeVisitor(vec![]);
    tree.visit(&mut Path::root(), &mut visitor);
    visitor.0
}

struct ShapeVisitor(Shapes);

impl ShapeVisitor {
    fn leaf(&mut self, path: &Path, dims: &[usize], dtype: DType) {
        self.0.push(Leaf { name: path.to_string(), dims: dims.to_vec(), dtype });
    }
}

impl Visitor for ShapeVisitor {
    fn float<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D>) {
        self.leaf(path, &tensor.dims(), tensor.dtype());
    }

    fn int<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D, Int>) {
        self.leaf(path, &tensor.dims(), tensor.dtype());
    }

    fn bool<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D, Bool>) {
        self.leaf(path, &tensor.dims(), tensor.dtype());
    }
}

/// Returns the number of steps of sequences along an axis.
///
/// # Panics
///
/// Panics if there are no sequences, or if they have different numbers of steps.
pub(super) fn steps<T: TensorTree>(sequences: &T, axis: usize) -> usize {
    let leaves = shapes(sequences);
    let along = |leaf: &Leaf| {
        let Leaf { name, dims, .. } = leaf;
        let found = dims.get(axis).copied();
        found.unwrap_or_else(|| panic!("a sequence {name} of shape {dims:?} has no axis {axis} for its steps"))
    };
    let counts: Vec<usize> = leaves.iter().map(along).collect();
    let Some(first) = counts.first().copied() else {
        panic!("`scan` needs a sequence; use `iterate` for a given number of steps")
    };
    assert!(
        counts.iter().all(|count| *count == first),
        "the sequences have {counts:?} steps along axis {axis}; all of them must have the same number"
    );
    first
}

/// Checks that the state has the same shapes after a step, except for axes of size one, which may be repeated.
///
/// # Panics
///
/// Panics if it does not.
pub(super) fn check_repeated(before: &Shapes, after: &Shapes) {
    for (before, after) in before.iter().zip(after) {
        let repeats = before.dims.len() == after.dims.len()
            && before.dims.iter().zip(&after.dims).all(|(a, b)| a == b || *a == 1);
        check(repeats, before, after);
    }
    check_count(before, after);
}

/// Checks that the state has the same shapes after a step.
///
/// # Panics
///
/// Panics if it does not.
pub(super) fn check_same(before: &Shapes, after: &Shapes) {
    for (before, after) in before.iter().zip(after) {
        check(before.dims == after.dims, before, after);
    }
    check_count(before, after);
}

fn check_count(before: &Shapes, after: &Shapes) {
    let (from, to) = (before.len(), after.len());
    assert!(from == to, "the state has {from} tensors before a step and {to} after it; return all of them");
}

fn check(same: bool, before: &Leaf, after: &Leaf) {
    let (from, to) = (&before.dims, &after.dims);
    assert!(same, "{before} has shape {from:?} before a step and {to:?} after it; a step must keep the shape");
    let (from, to) = (before.dtype, after.dtype);
    assert!(from == to, "{before} is {from:?} before a step and {to:?} after it; a step must keep the type");
}

/// Returns whether the first leaf is on a capture device.
pub(super) fn is_captured<T: TensorTree>(tree: &T) -> bool {
    let mut visitor = CaptureVisitor(None);
    tree.visit(&mut Path::root(), &mut visitor);
    visitor.0.unwrap_or(false)
}

struct CaptureVisitor(Option<bool>);

impl Visitor for CaptureVisitor {
    fn float<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D>) {
        self.0.get_or_insert_with(|| tensor.clone().try_into_primitive::<CaptureBackend>().is_ok());
    }

    fn int<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D, Int>) {
        self.0.get_or_insert_with(|| tensor.clone().try_into_primitive::<CaptureBackend>().is_ok());
    }

    fn bool<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D, Bool>) {
        self.0.get_or_insert_with(|| tensor.clone().try_into_primitive::<CaptureBackend>().is_ok());
    }
}

/// Returns one element of sequences. The axis of time has size one.
pub(super) fn element<T: TensorTree>(sequences: &T, axis: usize, step: usize) -> T {
    sequences.rebuild(&mut Element { axis, step })
}

struct Element {
    axis: usize,
    step: usize,
}

impl Source for Element {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        like.clone().narrow(self.axis, self.step, 1)
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        like.clone().narrow(self.axis, self.step, 1)
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        like.clone().narrow(self.axis, self.step, 1)
    }
}

/// Returns a copy of a tree.
pub(super) fn copy<T: TensorTree>(tree: &T) -> T {
    tree.rebuild(&mut Repeated { dims: vec![] })
}

/// Returns a tree with its leaves repeated to these shapes.
pub(super) fn repeated<T: TensorTree>(tree: &T, shapes: &Shapes) -> T {
    tree.rebuild(&mut Repeated { dims: shapes.iter().map(|leaf| leaf.dims.clone()).collect() })
}

/// Repeats leaves to the given shapes. Leaves without a shape are cloned.
struct Repeated {
    dims: Vec<Vec<usize>>,
}

impl Repeated {
    fn dims<const D: usize>(&mut self, like: [usize; D]) -> Option<[usize; D]> {
        let dims = if self.dims.is_empty() { None } else { Some(self.dims.remove(0)) };
        dims.and_then(|dims| dims.try_into().ok()).filter(|dims| *dims != like)
    }
}

impl Source for Repeated {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        match self.dims(like.dims()) {
            Some(dims) => like.clone().expand(dims),
            None => like.clone(),
        }
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        match self.dims(like.dims()) {
            Some(dims) => like.clone().expand(dims),
            None => like.clone(),
        }
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        match self.dims(like.dims()) {
            Some(dims) => like.clone().expand(dims),
            None => like.clone(),
        }
    }
}

/// The outputs of the steps.
pub(super) struct Collected {
    axis: usize,
    /// The tensors of each leaf, in the order of the steps.
    leaves: Vec<Vec<Box<dyn Any>>>,
    /// The leaf that is visited next.
    next: usize,
    /// The number of steps that the last output is repeated for.
    missing: usize,
}

impl Collected {
    pub(super) fn new(axis: usize) -> Self {
        Self { axis, leaves: vec![], next: 0, missing: 0 }
    }

    /// Adds the output of a step.
    ///
    /// # Panics
    ///
    /// Panics if the size of a leaf along the axis of time is not one.
    pub(super) fn push<T: TensorTree>(&mut self, output: &T) {
        check_output(output, self.axis);
        self.next = 0;
        output.visit(&mut Path::root(), self);
    }

    /// Returns the outputs of all steps, and the last one again for `missing` steps. `like` is an output.
    pub(super) fn joined<T: TensorTree>(mut self, like: &T, missing: usize) -> T {
        (self.next, self.missing) = (0, missing);
        like.rebuild(&mut self)
    }

    fn add(&mut self, tensor: Box<dyn Any>) {
        if self.leaves.len() <= self.next {
            self.leaves.push(vec![]);
        }
        self.leaves[self.next].push(tensor);
        self.next += 1;
    }

    /// Returns the tensors of the next leaf.
    fn take<T: Clone + 'static>(&mut self, repeat: impl FnOnce(T, usize, usize) -> T) -> Vec<T> {
        let tensors = std::mem::take(&mut self.leaves[self.next]);
        self.next += 1;
        let mut tensors: Vec<T> =
            tensors.into_iter().filter_map(|tensor| tensor.downcast::<T>().ok()).map(|tensor| *tensor).collect();
        if let (Some(last), true) = (tensors.last().cloned(), self.missing > 0) {
            tensors.push(repeat(last, self.axis, self.missing));
        }
        tensors
    }
}

/// Checks that the size of each leaf of an output along the axis of time is one.
///
/// # Panics
///
/// Panics if it is not.
pub(super) fn check_output<T: TensorTree>(output: &T, axis: usize) {
    for Leaf { name, dims, .. } in shapes(output) {
        assert!(
            dims.get(axis) == Some(&1),
            "an output {name} of a step has shape {dims:?}; its axis {axis} is that of time and must have size one: add it \
             with `unsqueeze_dim({axis})`"
        );
    }
}

impl Visitor for Collected {
    fn float<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D>) {
        self.add(Box::new(tensor.clone()));
    }

    fn int<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D, Int>) {
        self.add(Box::new(tensor.clone()));
    }

    fn bool<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D, Bool>) {
        self.add(Box::new(tensor.clone()));
    }
}

impl Source for Collected {
    fn float<const D: usize>(&mut self, _like: &Tensor<D>) -> Tensor<D> {
        Tensor::cat(self.take(|last: Tensor<D>, axis, times| last.repeat_dim(axis, times)), self.axis)
    }

    fn int<const D: usize>(&mut self, _like: &Tensor<D, Int>) -> Tensor<D, Int> {
        Tensor::cat(self.take(|last: Tensor<D, Int>, axis, times| last.repeat_dim(axis, times)), self.axis)
    }

    fn bool<const D: usize>(&mut self, _like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        Tensor::cat(self.take(|last: Tensor<D, Bool>, axis, times| last.repeat_dim(axis, times)), self.axis)
    }
}
