//! Conversions between flat `f64` slices and the leaves of a tree.

use std::slice;

use burn_tensor::{Bool, DType, Device, Gradients, Int, Tensor, TensorData};

use crate::transform::{Constrained, constrain};
use crate::tree::{Path, Source, TensorTree, Visitor};
use sgmcmc_gradient::data::Precision;
use sgmcmc_gradient::layout::{Block, Layout};

/// A tracked leaf of any rank, which has a gradient after the backward pass.
pub(super) trait TrackedLeaf {
    /// Removes and returns the gradient of this leaf, or `None` if the result does not depend on it.
    fn take_gradient(&self, gradients: &mut Gradients) -> Option<TensorData>;
}

impl<const D: usize> TrackedLeaf for Tensor<D> {
    fn take_gradient(&self, gradients: &mut Gradients) -> Option<TensorData> {
        self.grad_remove(gradients).map(Tensor::into_data)
    }
}

/// Parameters as arguments of a closure, and the log-Jacobian of their constraints.
pub(super) struct Unpacked<P> {
    pub(super) params: P,
    /// The log-Jacobian log |∂x/∂y|, or `None` if no parameter is constrained.
    pub(super) log_jacobian: Option<Tensor<1>>,
}

/// The device and type of new tensors.
pub(super) struct TensorOptions<'a> {
    pub(super) device: &'a Device,
    pub(super) dtype: DType,
}

/// Frees the tape of a failed call.
///
/// Burn frees unused nodes of all tapes at the end of a backward pass. A failed call has no backward pass, so this
/// function runs one on a small tape.
pub(super) fn free_tape(TensorOptions { device, dtype }: TensorOptions<'_>) {
    let leaf = Tensor::<1>::zeros([1], (device, dtype)).autodiff().require_grad();
    let _ = (leaf * 2.0).backward();
}

/// Returns the tree with the coordinates `theta`. If `tracked` is given, the leaves are tracked and appended to it.
pub(super) fn unpack<P: TensorTree>(
    template: &P,
    layout: &Layout,
    theta: &[f64],
    options: TensorOptions<'_>,
    tracked: Option<&mut Vec<Box<dyn TrackedLeaf>>>,
) -> Unpacked<P> {
    let mut source = FromFlat { blocks: layout.blocks().iter(), theta, options, tracked, log_jacobian: None };
    let params = template.rebuild(&mut source);
    Unpacked { params, log_jacobian: source.log_jacobian }
}

/// Clones a tree. The clones of tracked leaves are the same nodes of the tape.
pub(super) fn copy<P: TensorTree>(params: &P) -> P {
    crate::tree::prior::copy(params)
}

/// Returns a copy of a tree with tracked float leaves, and a list of the leaves with `None` for leaves of other kinds.
pub(super) fn tracked<T: TensorTree>(tree: &T) -> (T, Vec<Option<Box<dyn TrackedLeaf>>>) {
    let mut tracker = Tracker(vec![]);
    let tree = tree.rebuild(&mut tracker);
    (tree, tracker.0)
}

/// Returns the precision of the first leaf.
pub(super) fn precision<P: TensorTree>(params: &P) -> Option<Precision> {
    let mut finder = FindPrecision(None);
    params.visit(&mut Path::root(), &mut finder);
    finder.0
}

/// Creates a constant vector.
pub(super) fn vector(values: &[f64], device: &Device, dtype: DType) -> Tensor<1> {
    Tensor::from_data(data(values, vec![values.len()], dtype), (device, dtype))
}

/// Returns the number in a tensor of shape `[1]`.
pub(super) fn scalar(tensor: &Tensor<1>) -> f64 {
    let mut value = [f64::NAN];
    read_into(&tensor.to_data(), &mut value, |slot, read| *slot = read);
    value[0]
}

/// Calls `update` with each element of `target` and the corresponding number of `data`, converted to `f64`.
pub(super) fn read_into(data: &TensorData, target: &mut [f64], update: impl Fn(&mut f64, f64)) {
    if let Ok(values) = data.as_slice::<f32>() {
        target.iter_mut().zip(values).for_each(|(slot, value)| update(slot, f64::from(*value)));
    } else {
        target.iter_mut().zip(data.iter::<f64>()).for_each(|(slot, value)| update(slot, value));
    }
}

/// Converts `values` to tensor data of type `dtype`.
fn data(values: &[f64], shape: Vec<usize>, dtype: DType) -> TensorData {
    match dtype {
        DType::F32 => TensorData::new(values.iter().map(|value| *value as f32).collect(), shape),
        _ => TensorData::new(values.to_vec(), shape),
    }
}

/// Creates leaves from flat coordinates and applies the constraints.
struct FromFlat<'a> {
    blocks: slice::Iter<'a, Block>,
    theta: &'a [f64],
    options: TensorOptions<'a>,
    tracked: Option<&'a mut Vec<Box<dyn TrackedLeaf>>>,
    log_jacobian: Option<Tensor<1>>,
}

impl FromFlat<'_> {
    fn leaf<const D: usize>(&mut self, block: &Block, shape: Vec<usize>) -> Tensor<D> {
        let TensorOptions { device, dtype } = self.options;
        let leaf = Tensor::from_data(data(&self.theta[block.range.clone()], shape, dtype), (device, dtype));
        match &mut self.tracked {
            Some(tracked) => {
                let leaf = leaf.autodiff().require_grad();
                tracked.push(Box::new(leaf.clone()));
                leaf
            }
            None => leaf,
        }
    }
}

impl Source for FromFlat<'_> {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        // `rebuild` requests as many leaves as `visit` passes, so there is a block for each.
        let Some(block) = self.blocks.next() else { return like.clone() };
        let Some(constraint) = block.constraint else { return self.leaf(block, block.shape.clone()) };
        let free = self.leaf::<2>(block, block.group_shape().to_vec());
        let Constrained { values, log_jacobian } = constrain(constraint, free);
        self.log_jacobian = Some(match self.log_jacobian.take() {
            Some(sum) => sum + log_jacobian,
            None => log_jacobian,
        });
        values.reshape(like.dims())
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        like.clone()
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        like.clone()
    }

    fn constant<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        let TensorOptions { device, dtype } = self.options;
        Tensor::from_data(like.to_data().convert_dtype(dtype), (device, dtype))
    }
}

/// Clones the leaves of the template and tracks float leaves.
struct Tracker(Vec<Option<Box<dyn TrackedLeaf>>>);

impl Source for Tracker {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        let leaf = like.clone().autodiff().require_grad();
        self.0.push(Some(Box::new(leaf.clone())));
        leaf
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        self.0.push(None);
        like.clone()
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        self.0.push(None);
        like.clone()
    }
}

/// Finds the precision of the first float leaf.
struct FindPrecision(Option<Precision>);

impl Visitor for FindPrecision {
    fn float<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D>) {
        self.0 = self.0.or_else(|| precision_of(tensor.dtype()));
    }

    fn int<const D: usize>(&mut self, _path: &Path, _tensor: &Tensor<D, Int>) {}

    fn bool<const D: usize>(&mut self, _path: &Path, _tensor: &Tensor<D, Bool>) {}
}

/// Returns the precision of a float type, or `None` if models do not support the type.
fn precision_of(dtype: DType) -> Option<Precision> {
    match dtype {
        DType::F32 => Some(Precision::Single),
        DType::F64 => Some(Precision::Double),
        _ => None,
    }
}
