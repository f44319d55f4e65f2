//! Tensors as trees with one leaf, and moves of trees between devices.

use burn_tensor::{Bool, Device, Int, Tensor};

use super::{Path, Source, TensorTree, Visitor};

impl<const D: usize> TensorTree for Tensor<D> {
    fn visit<V: Visitor>(&self, path: &mut Path, visitor: &mut V) {
        visitor.float(path, self);
    }

    fn rebuild<S: Source>(&self, source: &mut S) -> Self {
        source.float(self)
    }
}

impl<const D: usize> TensorTree for Tensor<D, Int> {
    fn visit<V: Visitor>(&self, path: &mut Path, visitor: &mut V) {
        visitor.int(path, self);
    }

    fn rebuild<S: Source>(&self, source: &mut S) -> Self {
        source.int(self)
    }
}

impl<const D: usize> TensorTree for Tensor<D, Bool> {
    fn visit<V: Visitor>(&self, path: &mut Path, visitor: &mut V) {
        visitor.bool(path, self);
    }

    fn rebuild<S: Source>(&self, source: &mut S) -> Self {
        source.bool(self)
    }
}

/// Returns a copy of `tree` with its leaves on `device`.
///
/// # Examples
///
/// ```
/// use sgmcmc::tree::to_device;
/// use sgmcmc::{default_device, ones, zeros};
///
/// let (_, weights) = to_device(&(zeros([1]), ones([3])), &default_device());
/// assert_eq!(weights.sum().into_scalar::<f64>(), 3.0);
/// ```
pub fn to_device<T: TensorTree>(tree: &T, device: &Device) -> T {
    tree.rebuild(&mut Mover { device })
}

/// Copies leaves to a device.
struct Mover<'a> {
    device: &'a Device,
}

impl Source for Mover<'_> {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        like.clone().to_device(self.device)
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        like.clone().to_device(self.device)
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        like.clone().to_device(self.device)
    }

    fn constant<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        like.clone().to_device(self.device)
    }
}
