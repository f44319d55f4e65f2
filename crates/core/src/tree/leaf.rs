//! Tensors as trees of one leaf, and moving whole trees between devices.

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

/// A copy of `tree` whose leaves live on `device`.
///
/// A closure written for one device runs unchanged on any other, including `Device::capture()`.
pub fn to_device<T: TensorTree>(tree: &T, device: &Device) -> T {
    tree.rebuild(&mut Mover { device })
}

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
}
