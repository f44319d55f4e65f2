//! Trees of tensors: the typed face of parameters and data.
//!
//! A [`TensorTree`] is a tensor, a tuple, array or `Vec` of trees, a struct of trees (by `#[derive(TensorTree)]`), or
//! [`Named`] for structures known only at run time. Every leaf has a path such as `layer.weight`.
//!
//! A tree is used in two ways. [`TensorTree::visit`] shows the leaves in order, with their paths;
//! [`TensorTree::rebuild`] makes a tree of the same structure from other leaves, given in the same order. The engines
//! use the second to turn a flat parameter vector, or the rows of a minibatch, into what a closure takes.

mod compound;
mod leaf;
mod named;
mod path;

pub use leaf::to_device;
pub use named::{AnyRank, Leaf, Named};
pub use path::Path;

use burn_tensor::{Bool, Int, Tensor};

/// A structure whose leaves are tensors. Usually derived.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tree of tensors",
    label = "not a `TensorTree`",
    note = "use `Tensor<D>`, `Tensor<D, Int>`, `Tensor<D, Bool>`, a tuple, array or `Vec` of them, `Named`, \
            or a struct of them with `#[derive(TensorTree)]`; mark other fields `#[tree(skip)]`"
)]
pub trait TensorTree: Send + Sync + Sized + 'static {
    /// Shows every leaf to `visitor`, in a fixed order.
    fn visit<V: Visitor>(&self, path: &mut Path, visitor: &mut V);

    /// A tree of the same structure with leaves from `source`, asked for in the order of [`visit`](Self::visit).
    fn rebuild<S: Source>(&self, source: &mut S) -> Self;
}

/// Looks at the leaves of a tree.
pub trait Visitor {
    /// A float leaf.
    fn float<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D>);
    /// An integer leaf.
    fn int<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D, Int>);
    /// A boolean leaf.
    fn bool<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D, Bool>);
}

/// Provides the leaves of a tree that is being rebuilt. `like` is the template's leaf at that place.
pub trait Source {
    /// A float leaf.
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D>;
    /// An integer leaf.
    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int>;
    /// A boolean leaf.
    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool>;
}
