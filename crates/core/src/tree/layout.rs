//! Layouts of trees of tensors.

use burn_tensor::{Bool, DType, Device, Int, Tensor, TensorData};
use sgmcmc_gradient::error::Closure;
use sgmcmc_gradient::layout::{Axis, Block};
use sgmcmc_gradient::{Constraint, Error, Layout, Precision, Result};

use super::{Path, Source, TensorTree, Visitor};
use crate::array::dtype;
use crate::closure::guarded;

/// The name of the parameter of a model whose parameters are a single tensor.
const ROOT: &str = "theta";

/// Conversions between trees of tensors and the flat vectors of a [`Layout`].
///
/// # Examples
///
/// ```
/// use sgmcmc::{Layout, TreeLayout, default_device, zeros};
///
/// let params = (zeros([1]), zeros([3, 2]));
/// let layout = Layout::from_tree(&params)?;
/// assert_eq!(layout.value_name(6), "1[2,1]");
/// assert_eq!(layout.flatten(&params)?, [0.0; 7]);
///
/// let theta = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
/// let (bias, weights) = layout.unflatten(&params, &theta, &default_device())?;
/// assert_eq!(bias.into_scalar::<f64>(), 1.0);
/// assert_eq!(weights.dims(), [3, 2]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait TreeLayout: Sized {
    /// Returns the layout of `params`, with the constraints declared on their fields.
    ///
    /// # Errors
    ///
    /// Returns an error if a leaf is not a float tensor, or has a shape that its constraint does not allow.
    fn from_tree<P: TensorTree>(params: &P) -> Result<Self>;

    /// Returns the coordinates of `params`.
    ///
    /// # Errors
    ///
    /// Returns an error if `params` has other leaves or shapes than this layout, or if a value is not finite or
    /// violates its constraint.
    fn flatten<P: TensorTree>(&self, params: &P) -> Result<Vec<f64>>;

    /// Returns the tree with the coordinates `theta` and the structure of `like`, in double precision on `device`.
    ///
    /// # Errors
    ///
    /// Returns an error if `theta` does not have one entry per coordinate.
    fn unflatten<P: TensorTree>(&self, like: &P, theta: &[f64], device: &Device) -> Result<P>;

    /// Returns the tree with these `values` and the structure of `like`.
    ///
    /// # Errors
    ///
    /// Returns an error if `like` has other leaves or shapes than this layout, or if the number of values differs from
    /// that of the layout.
    fn to_tree<P: TensorTree>(&self, like: &P, values: &[f64], precision: Precision, device: &Device) -> Result<P>;

    /// Checks that `like` has the leaves and shapes of this layout.
    ///
    /// # Errors
    ///
    /// Returns an error that names the first difference.
    fn check_like<P: TensorTree>(&self, like: &P) -> Result<()>;
}

impl TreeLayout for Layout {
    fn from_tree<P: TensorTree>(params: &P) -> Result<Self> {
        let mut collector = LeafCollector { leaves: Ok(Vec::new()), dimensions: Vec::new() };
        let mut path = Path::described();
        // A constructor of a prior panics if its parameters are out of range.
        guarded(Closure::LogPrior, || params.visit(&mut path, &mut collector))?;
        match path.into_problem() {
            Some(problem) => Err(problem),
            None => {
                let LeafCollector { leaves, dimensions } = collector;
                dimensions.into_iter().try_fold(Self::new(leaves?)?, |layout, (name, names)| {
                    layout.with_axes(&name, names.iter().map(|name| Axis::new(*name)))
                })
            }
        }
    }

    fn flatten<P: TensorTree>(&self, params: &P) -> Result<Vec<f64>> {
        self.check_like(params)?;
        let mut reader = Reader { values: Vec::with_capacity(self.value_count()) };
        params.visit(&mut Path::root(), &mut reader);
        self.coordinates(&reader.values)
    }

    fn unflatten<P: TensorTree>(&self, like: &P, theta: &[f64], device: &Device) -> Result<P> {
        let values = self.values(theta)?;
        Ok(like.rebuild(&mut Writer { blocks: self.blocks().iter(), values: &values, device, dtype: DType::F64 }))
    }

    fn to_tree<P: TensorTree>(&self, like: &P, values: &[f64], precision: Precision, device: &Device) -> Result<P> {
        self.check_like(like)?;
        self.check_values(values)?;
        Ok(like.rebuild(&mut Writer { blocks: self.blocks().iter(), values, device, dtype: dtype(precision) }))
    }

    fn check_like<P: TensorTree>(&self, like: &P) -> Result<()> {
        self.check_same(&unconstrained(like)?)
    }
}

/// Returns the layout of the names and shapes of `params`, without constraints.
///
/// # Errors
///
/// Returns an error if a leaf is not a float tensor.
pub(crate) fn unconstrained<P: TensorTree>(params: &P) -> Result<Layout> {
    let mut collector = LeafCollector { leaves: Ok(Vec::new()), dimensions: Vec::new() };
    params.visit(&mut Path::root(), &mut collector);
    Layout::new(collector.leaves?.into_iter().map(|(name, shape, _)| (name, shape, None)))
}

/// The name, shape and constraint of a leaf.
type Leaf = (String, Vec<usize>, Option<Constraint>);

/// Collects the names, shapes and constraints of leaves.
struct LeafCollector {
    leaves: Result<Vec<Leaf>>,
    /// The names of the leaves with named dimensions, and the names of these.
    dimensions: Vec<(String, &'static [&'static str])>,
}

impl LeafCollector {
    /// Records that the leaf at `path` is not a float tensor.
    fn reject(&mut self, path: &Path, kind: &'static str) {
        if self.leaves.is_ok() {
            self.leaves = Err(Error::ParameterNotFloat { parameter: path.name_or(ROOT), kind });
        }
    }
}

impl Visitor for LeafCollector {
    fn float<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D>) {
        if let Ok(leaves) = &mut self.leaves {
            leaves.push((path.name_or(ROOT), tensor.dims().to_vec(), path.constraint()));
            self.dimensions.extend(path.dimensions().map(|names| (path.name_or(ROOT), names)));
        }
    }

    fn int<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D, Int>) {
        self.reject(path, "an integer tensor");
    }

    fn bool<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D, Bool>) {
        self.reject(path, "a boolean tensor");
    }
}

/// Reads float leaves into a flat vector.
struct Reader {
    values: Vec<f64>,
}

impl Visitor for Reader {
    fn float<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D>) {
        self.values.extend(tensor.to_data().iter::<f64>());
    }

    fn int<const D: usize>(&mut self, _path: &Path, _tensor: &Tensor<D, Int>) {}

    fn bool<const D: usize>(&mut self, _path: &Path, _tensor: &Tensor<D, Bool>) {}
}

/// Creates float leaves from a flat vector.
struct Writer<'a> {
    blocks: std::slice::Iter<'a, Block>,
    values: &'a [f64],
    device: &'a Device,
    dtype: DType,
}

impl Source for Writer<'_> {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        let range = self.blocks.next().map_or(0..0, |block| block.values.clone());
        let data = TensorData::new(self.values[range].to_vec(), like.dims());
        Tensor::from_data(data, (self.device, self.dtype))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{array, default_device, zeros};
    use crate::tree::Named;

    #[test]
    fn layouts_depend_on_names_and_shapes_only() {
        let tree = Layout::from_tree(&(zeros([1]), zeros([3, 2]))).unwrap();
        let leaves = [("0".into(), vec![1], None), ("1".into(), vec![3, 2], None)];
        assert_eq!(Layout::new(leaves).unwrap(), tree);
    }

    #[test]
    fn flatten_and_unflatten_are_inverse() {
        let params = Named::new()
            .with("a", array(vec![1.0, 2.0, 3.0, 4.0], [2, 2]).unwrap())
            .with("b", array(vec![5.0_f32], [1]).unwrap());
        let layout = Layout::from_tree(&params).unwrap();
        let theta = layout.flatten(&params).unwrap();
        assert_eq!(theta, [1.0, 2.0, 3.0, 4.0, 5.0]);
        let back = layout.unflatten(&params, &theta, &default_device()).unwrap();
        assert_eq!(layout.flatten(&back).unwrap(), theta);
    }

    #[test]
    fn integer_parameters_are_rejected() {
        let integer = Layout::from_tree(&Named::new().with("k", array(vec![1_i64], [1]).unwrap())).unwrap_err();
        assert!(integer.to_string().contains("parameter `k` is an integer tensor"), "{integer}");
    }
}
