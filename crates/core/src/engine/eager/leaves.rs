//! Between flat `f64` slices and the leaves of a tree.

use std::slice;

use burn_tensor::{Bool, DType, Device, Gradients, Int, Tensor, TensorData};

use crate::data::Precision;
use crate::layout::{Block, Layout};
use crate::tree::{Path, Source, TensorTree, Visitor};

/// A tracked leaf of any rank, kept to ask for its gradient after the backward pass.
pub(super) trait TrackedLeaf {
    /// The gradient of this leaf, if the result depended on it.
    fn take_gradient(&self, gradients: &mut Gradients) -> Option<TensorData>;
}

impl<const D: usize> TrackedLeaf for Tensor<D> {
    fn take_gradient(&self, gradients: &mut Gradients) -> Option<TensorData> {
        self.grad_remove(gradients).map(Tensor::into_data)
    }
}

/// Parameters as a closure takes them, and what constraining them adds to the log density.
pub(super) struct Unpacked<P> {
    pub(super) params: P,
    /// log |∂x/∂y|, if a parameter is constrained.
    pub(super) log_jacobian: Option<Tensor<1>>,
}

/// Where tensors are made, and of what type.
pub(super) struct Place<'a> {
    pub(super) device: &'a Device,
    pub(super) dtype: DType,
}

/// Lets Burn free the tape of a call that failed.
///
/// Burn frees what nothing uses any more at the end of a backward pass, of whichever tape, and a call that fails has none.
pub(super) fn sweep(Place { device, dtype }: Place<'_>) {
    let leaf = Tensor::<1>::zeros([1], (device, dtype)).autodiff().require_grad();
    let _ = (leaf * 2.0).backward();
}

/// The tree the coordinates `theta` stand for; the leaves are tracked and listed in `tracked` where that is given.
pub(super) fn unpack<P: TensorTree>(
    template: &P,
    layout: &Layout,
    theta: &[f64],
    place: Place<'_>,
    tracked: Option<&mut Vec<Box<dyn TrackedLeaf>>>,
) -> Unpacked<P> {
    let mut source = FromFlat { blocks: layout.blocks().iter(), theta, place, tracked, log_jacobian: None };
    let params = template.rebuild(&mut source);
    Unpacked { params, log_jacobian: source.log_jacobian }
}

/// The same tree again; tracked leaves stay the same nodes of the tape.
pub(super) fn copy<P: TensorTree>(params: &P) -> P {
    params.rebuild(&mut Copies)
}

/// The same tree with tracked float leaves, and these leaves; none in the place of others.
pub(super) fn tracked<T: TensorTree>(tree: &T) -> (T, Vec<Option<Box<dyn TrackedLeaf>>>) {
    let mut tracker = Tracker(vec![]);
    let tree = tree.rebuild(&mut tracker);
    (tree, tracker.0)
}

/// The float type of the first leaf.
pub(super) fn precision<P: TensorTree>(params: &P) -> Option<Precision> {
    let mut finder = FindPrecision(None);
    params.visit(&mut Path::root(), &mut finder);
    finder.0
}

/// A constant vector.
pub(super) fn vector(values: &[f64], device: &Device, dtype: DType) -> Tensor<1> {
    Tensor::from_data(data(values, vec![values.len()], dtype), (device, dtype))
}

/// The only number of a tensor of shape `[1]`.
pub(super) fn scalar(tensor: &Tensor<1>) -> f64 {
    let mut value = [f64::NAN];
    read_into(&tensor.to_data(), &mut value, |place, read| *place = read);
    value[0]
}

/// Hands each number of `data`, widened, to `use_it` together with its place in `target`.
pub(super) fn read_into(data: &TensorData, target: &mut [f64], use_it: impl Fn(&mut f64, f64)) {
    if let Ok(values) = data.as_slice::<f32>() {
        target.iter_mut().zip(values).for_each(|(place, value)| use_it(place, f64::from(*value)));
    } else {
        target.iter_mut().zip(data.iter::<f64>()).for_each(|(place, value)| use_it(place, value));
    }
}

fn data(values: &[f64], shape: Vec<usize>, dtype: DType) -> TensorData {
    match dtype {
        DType::F32 => TensorData::new(values.iter().map(|value| *value as f32).collect(), shape),
        _ => TensorData::new(values.to_vec(), shape),
    }
}

struct FromFlat<'a> {
    blocks: slice::Iter<'a, Block>,
    theta: &'a [f64],
    place: Place<'a>,
    tracked: Option<&'a mut Vec<Box<dyn TrackedLeaf>>>,
    log_jacobian: Option<Tensor<1>>,
}

impl FromFlat<'_> {
    fn leaf<const D: usize>(&mut self, block: &Block, shape: Vec<usize>) -> Tensor<D> {
        let Place { device, dtype } = self.place;
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
        // A tree asks for as many leaves as it showed when it was laid out.
        let Some(block) = self.blocks.next() else { return like.clone() };
        let Some(constraint) = block.constraint else { return self.leaf(block, block.shape.clone()) };
        let free = self.leaf::<2>(block, block.group_shape().to_vec());
        let (values, log_jacobian) = constraint.on_tensor(free);
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
}

struct Copies;

impl Source for Copies {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        like.clone()
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        like.clone()
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        like.clone()
    }
}

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

struct FindPrecision(Option<Precision>);

impl Visitor for FindPrecision {
    fn float<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D>) {
        self.0 = self.0.or_else(|| Precision::of(tensor.dtype()));
    }

    fn int<const D: usize>(&mut self, _path: &Path, _tensor: &Tensor<D, Int>) {}

    fn bool<const D: usize>(&mut self, _path: &Path, _tensor: &Tensor<D, Bool>) {}
}
