//! Leaves without values, which are the arguments of the closures during a recording.

use std::slice;

use burn_capture::{CaptureBackend, TensorId};
use burn_tensor::{Bool, DType, Device, DeviceSettings, Int, Tensor};

use crate::data::element_dtype;
use crate::transform::{Constrained, constrain};
use crate::tree::{Path, Source, TensorTree, Visitor};
use sgmcmc_gradient::data::Column;
use sgmcmc_gradient::layout::{Block, Layout};

/// The parameters as arguments of a closure, computed from coordinates without values.
pub(super) struct Parameters<P> {
    pub(super) params: P,
    /// The log-Jacobian log |∂x/∂y|, or `None` if no parameter is constrained.
    pub(super) log_jacobian: Option<Tensor<1>>,
    /// The identifiers of the coordinates of each block.
    pub(super) ids: Vec<Option<TensorId>>,
}

/// Creates parameters with the structure of `template` and applies the constraints of `layout`.
pub(super) fn parameters<P: TensorTree>(template: &P, layout: &Layout, device: &Device, dtype: DType) -> Parameters<P> {
    let mut source = Coordinates { blocks: layout.blocks().iter(), device, dtype, log_jacobian: None, ids: vec![] };
    let params = template.rebuild(&mut source);
    Parameters { params, log_jacobian: source.log_jacobian, ids: source.ids }
}

/// Creates `rows` observations with the shapes of `columns` and the structure of `like`.
pub(super) fn observations<D: TensorTree>(
    like: &D,
    columns: &[Column],
    device: &Device,
    rows: usize,
) -> (D, Vec<Option<TensorId>>) {
    let mut source = Observations { columns: columns.iter(), device, rows, ids: vec![] };
    let data = like.rebuild(&mut source);
    (data, source.ids)
}

/// Returns the identifier of a tensor in Burn's recording, or `None` if it is not on a capture device.
pub(super) fn id<const D: usize>(tensor: &Tensor<D>) -> Option<TensorId> {
    tensor.clone().try_into_primitive::<CaptureBackend>().ok().map(|primitive| primitive.id())
}

/// Returns the settings of the device of `tree`.
pub(super) fn settings<T: TensorTree>(tree: &T) -> DeviceSettings {
    let mut finder = FindDevice(None);
    tree.visit(&mut Path::root(), &mut finder);
    finder.0.unwrap_or_else(crate::array::default_device).settings()
}

/// Clones the leaves of the template.
pub(super) struct Copies;

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

/// Creates parameters from coordinates without values.
struct Coordinates<'a> {
    blocks: slice::Iter<'a, Block>,
    device: &'a Device,
    dtype: DType,
    log_jacobian: Option<Tensor<1>>,
    ids: Vec<Option<TensorId>>,
}

impl Coordinates<'_> {
    fn leaf<const D: usize>(&mut self, shape: &[usize]) -> Tensor<D> {
        let leaf = Tensor::<D>::empty(shape.to_vec(), (self.device, self.dtype));
        self.ids.push(id(&leaf));
        leaf
    }
}

impl Source for Coordinates<'_> {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        // `rebuild` requests as many leaves as `visit` passes, so there is a block for each.
        let Some(block) = self.blocks.next() else { return like.clone() };
        let Some(constraint) = block.constraint else { return self.leaf(&block.shape) };
        let free = self.leaf::<2>(&block.group_shape());
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
        Tensor::from_data(like.to_data().convert_dtype(self.dtype), (self.device, self.dtype))
    }
}

/// Creates observations without values.
struct Observations<'a> {
    columns: slice::Iter<'a, Column>,
    device: &'a Device,
    rows: usize,
    ids: Vec<Option<TensorId>>,
}

impl Observations<'_> {
    fn next(&mut self) -> Option<(Vec<usize>, DType)> {
        self.columns.next().map(|column| {
            let shape = std::iter::once(self.rows).chain(column.row_shape().iter().copied()).collect();
            (shape, element_dtype(column.element_type()))
        })
    }
}

impl Source for Observations<'_> {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        let Some((shape, dtype)) = self.next() else { return like.clone() };
        let leaf = Tensor::<D>::empty(shape, (self.device, dtype));
        self.ids.push(id(&leaf));
        leaf
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        let Some((shape, dtype)) = self.next() else { return like.clone() };
        let leaf = Tensor::<D, Int>::empty(shape, (self.device, dtype));
        self.ids.push(leaf.clone().try_into_primitive::<CaptureBackend>().ok().map(|primitive| primitive.id()));
        leaf
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        let Some((shape, _)) = self.next() else { return like.clone() };
        // The leaf has the type of comparisons on the device, so that masks of all storage types can be combined.
        let leaf = Tensor::<D, Bool>::empty(shape, self.device);
        self.ids.push(leaf.clone().try_into_primitive::<CaptureBackend>().ok().map(|primitive| primitive.id()));
        leaf
    }
}

/// Finds the device of the first float leaf.
struct FindDevice(Option<Device>);

impl Visitor for FindDevice {
    fn float<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D>) {
        self.0.get_or_insert_with(|| tensor.device());
    }

    fn int<const D: usize>(&mut self, _path: &Path, _tensor: &Tensor<D, Int>) {}

    fn bool<const D: usize>(&mut self, _path: &Path, _tensor: &Tensor<D, Bool>) {}
}
