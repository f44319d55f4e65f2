//! Trees of tensors: the types of parameters and data.
//!
//! A [`TensorTree`] is a tensor, a tuple, array or `Vec` of trees, a struct of trees with `#[derive(TensorTree)]`, or
//! [`Named`] for structures known only at run time. Every leaf has a path such as `layer.weight`.
//!
//! [`TensorTree::visit`] passes the leaves to a [`Visitor`] in order, with their paths. [`TensorTree::rebuild`] creates
//! a tree of the same structure with leaves from a [`Source`], in the same order. The engines use it to convert a flat
//! parameter vector, or the observations of a minibatch, to the argument of a closure.

mod compound;
mod layout;
mod leaf;
mod named;
mod part;
mod path;
#[doc(hidden)]
pub mod prior;

pub use layout::TreeLayout;
pub(crate) use layout::unconstrained;
pub use leaf::to_device;
pub use named::{AnyRank, Leaf, Named};
pub use part::Part;
pub use path::Path;
pub use prior::PriorDraws;

use burn_tensor::{Bool, Int, Tensor};

/// A structure whose leaves are tensors.
///
/// The trait is implemented for tensors, tuples, arrays, `Vec` and [`Named`]. Derive it for structs with
/// `#[derive(TensorTree)]`.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::{Layout, TreeLayout};
///
/// #[derive(TensorTree)]
/// struct Weights {
///     bias: Tensor<1>,
///     #[tree(positive)]
///     scale: Tensor<1>,
/// }
///
/// let layout = Layout::from_tree(&Weights { bias: zeros([1]), scale: ones([2]) })?;
/// assert_eq!(layout.value_names(), ["bias", "scale[0]", "scale[1]"]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tree of tensors",
    label = "not a `TensorTree`",
    note = "use `Tensor<D>`, `Tensor<D, Int>`, `Tensor<D, Bool>`, a tuple, array or `Vec` of them, `Named`, \
            or a struct of them with `#[derive(TensorTree)]`; mark other fields `#[tree(skip)]`"
)]
pub trait TensorTree: Send + Sync + Sized + 'static {
    /// Calls `visitor` for every leaf, in a fixed order.
    fn visit<V: Visitor>(&self, path: &mut Path, visitor: &mut V);

    /// Returns a tree of the same structure with leaves from `source`, requested in the order of
    /// [`visit`](Self::visit).
    fn rebuild<S: Source>(&self, source: &mut S) -> Self;

    /// True if a field of the tree has a prior, `#[tree(prior = …)]`.
    const HAS_PRIOR: bool = false;

    /// Returns the sum of the log densities of the fields with a prior, a tensor of shape `[1]`.
    fn log_prior(&self) -> Option<Tensor<1>> {
        None
    }

    /// Returns a tree with the shapes of this one, whose leaves are drawn from their priors in order.
    fn draw_prior(&self, draws: &mut PriorDraws<'_>) -> Self {
        draws.missing(prior::leaf_values(self).len());
        prior::copy(self)
    }
}

/// A visitor of the leaves of a tree.
///
/// # Examples
///
/// ```
/// use sgmcmc::burn::Bool;
/// use sgmcmc::prelude::*;
/// use sgmcmc::tree::{Path, Visitor};
///
/// struct Names(Vec<String>);
///
/// impl Visitor for Names {
///     fn float<const D: usize>(&mut self, path: &Path, _: &Tensor<D>) { self.0.push(path.to_string()) }
///     fn int<const D: usize>(&mut self, path: &Path, _: &Tensor<D, Int>) { self.0.push(path.to_string()) }
///     fn bool<const D: usize>(&mut self, path: &Path, _: &Tensor<D, Bool>) { self.0.push(path.to_string()) }
/// }
///
/// let mut names = Names(vec![]);
/// (zeros([1]), [zeros([2]), zeros([2])]).visit(&mut Path::root(), &mut names);
/// assert_eq!(names.0, ["0", "1.0", "1.1"]);
/// ```
pub trait Visitor {
    /// Visits a float leaf.
    fn float<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D>);
    /// Visits an integer leaf.
    fn int<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D, Int>);
    /// Visits a boolean leaf.
    fn bool<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D, Bool>);
}

/// A source of the leaves of a rebuilt tree. The argument `like` is the corresponding leaf of the template.
///
/// # Examples
///
/// See [`TensorTree::rebuild`].
pub trait Source {
    /// Returns the next leaf, a float tensor.
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D>;
    /// Returns the next leaf, an integer tensor.
    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int>;
    /// Returns the next leaf, a boolean tensor.
    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool>;

    /// Returns a float tensor with the values of `like`, which is not a leaf, on the device and of the type of the leaves.
    fn constant<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        like.clone()
    }
}
