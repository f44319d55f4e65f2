//! Trees in which only some leaves are parameters.

use std::sync::Arc;

use burn_tensor::{Bool, DType, Int, Tensor, TensorData};

use super::prior::leaf_values;
use super::{Path, PriorDraws, Source, TensorTree, Visitor};

/// A tree in which some leaves are parameters and the others are constants.
///
/// [`Model::fix`](crate::Model::fix) and [`Model::sample_only`](crate::Model::sample_only) create models of such
/// parameters.
///
/// # Examples
///
/// ```
/// use sgmcmc::tree::Part;
/// use sgmcmc::{Layout, TreeLayout, full, zeros};
///
/// let part = Part::new((zeros([2]), full([1], 5.0)), |path| path == "0");
/// assert_eq!(Layout::from_tree(&part)?.value_names(), ["0[0]", "0[1]"]);
/// assert_eq!(part.whole().1.clone().into_scalar::<f64>(), 5.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Part<P> {
    whole: P,
    /// True for each leaf that is a parameter.
    free: Arc<[bool]>,
}

impl<P: TensorTree> Part<P> {
    /// Creates a tree whose parameters are the leaves of `whole` with the paths that `is_free` accepts.
    pub fn new(whole: P, is_free: impl Fn(&str) -> bool) -> Self {
        let mut names = Names(Vec::new());
        whole.visit(&mut Path::root(), &mut names);
        Self { whole, free: names.0.iter().map(|name| is_free(name)).collect() }
    }

    /// Returns the tree with all leaves.
    pub fn whole(&self) -> &P {
        &self.whole
    }

    /// Converts to the tree with all leaves.
    pub fn into_whole(self) -> P {
        self.whole
    }

    /// Returns a tree with the parameters of `drawn` and the constants of this one.
    pub(crate) fn with_parameters(&self, drawn: &P) -> Self {
        let leaves = Leaves { free: &self.free, next: 0 };
        let fixed = leaf_values(&self.whole);
        Self { whole: drawn.rebuild(&mut Merged { fixed, leaves }), free: self.free.clone() }
    }
}

impl<P: TensorTree> TensorTree for Part<P> {
    fn visit<V: Visitor>(&self, path: &mut Path, visitor: &mut V) {
        let leaves = Leaves { free: &self.free, next: 0 };
        self.whole.visit(path, &mut Free { inner: visitor, leaves });
    }

    fn rebuild<S: Source>(&self, source: &mut S) -> Self {
        let leaves = Leaves { free: &self.free, next: 0 };
        Self { whole: self.whole.rebuild(&mut Free { inner: source, leaves }), free: self.free.clone() }
    }

    const HAS_PRIOR: bool = P::HAS_PRIOR;

    fn log_prior(&self) -> Option<Tensor<1>> {
        self.whole.log_prior()
    }

    fn draw_prior(&self, draws: &mut PriorDraws<'_>) -> Self {
        draws.restrict(self.free.to_vec());
        let whole = self.whole.draw_prior(draws);
        draws.restrict(Vec::new());
        Self { whole, free: self.free.clone() }
    }
}

/// The position in a list of leaves.
struct Leaves<'a> {
    free: &'a [bool],
    next: usize,
}

impl Leaves<'_> {
    /// Returns whether the next leaf is a parameter.
    fn next(&mut self) -> bool {
        self.next += 1;
        self.free.get(self.next - 1).copied().unwrap_or(true)
    }
}

/// A visitor or a source of the parameters only.
struct Free<'a, T> {
    inner: &'a mut T,
    leaves: Leaves<'a>,
}

impl<V: Visitor> Visitor for Free<'_, V> {
    fn float<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D>) {
        if self.leaves.next() {
            self.inner.float(path, tensor);
        }
    }

    fn int<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D, Int>) {
        if self.leaves.next() {
            self.inner.int(path, tensor);
        }
    }

    fn bool<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D, Bool>) {
        if self.leaves.next() {
            self.inner.bool(path, tensor);
        }
    }
}

impl<S: Source> Source for Free<'_, S> {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        if self.leaves.next() { self.inner.float(like) } else { self.inner.constant(like) }
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        if self.leaves.next() { self.inner.int(like) } else { like.clone() }
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        if self.leaves.next() { self.inner.bool(like) } else { like.clone() }
    }

    fn constant<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        self.inner.constant(like)
    }
}

/// Takes parameters from the tree that is rebuilt, and constants from another one.
struct Merged<'a> {
    fixed: Vec<Vec<f64>>,
    leaves: Leaves<'a>,
}

impl Source for Merged<'_> {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        let position = self.leaves.next;
        if self.leaves.next() {
            return like.clone();
        }
        match self.fixed.get(position) {
            Some(values) => {
                let data = TensorData::new(values.clone(), like.dims());
                Tensor::from_data(data, (&like.device(), DType::F64))
            }
            None => like.clone(),
        }
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        self.leaves.next();
        like.clone()
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        self.leaves.next();
        like.clone()
    }
}

/// Collects the paths of leaves.
struct Names(Vec<String>);

impl Visitor for Names {
    fn float<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D>) {
        self.0.push(path.name_or("theta"));
    }

    fn int<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D, Int>) {
        self.0.push(path.name_or("theta"));
    }

    fn bool<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D, Bool>) {
        self.0.push(path.name_or("theta"));
    }
}
