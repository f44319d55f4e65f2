//! Where each named parameter lives in the flat vector a chain moves.

mod jacobian;

use std::fmt::Write as _;
use std::ops::Range;

use burn_tensor::{Bool, DType, Device, Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use crate::constraint::{Constraint, Groups};
use crate::data::Precision;
use crate::error::{Error, Result};
use crate::tree::{Path, Source, TensorTree, Visitor};

/// The name of the only parameter of a model whose parameters are one bare tensor.
const ROOT: &str = "theta";

/// Most values of a layout: more than any memory holds, few enough to be counted in bytes.
const MOST_VALUES: usize = 1 << 48;

/// One named parameter: its shape, its constraint, and its places in the two flat vectors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Block {
    /// The path of the leaf, such as `layer.weight`.
    pub name: String,
    /// The shape of the leaf.
    pub shape: Vec<usize>,
    /// The values it can take, where not any.
    pub constraint: Option<Constraint>,
    /// Its coordinates in the vector a chain moves.
    pub range: Range<usize>,
    /// Its elements in the vector of values, in row-major order.
    pub values: Range<usize>,
    groups: Groups,
}

/// Maps names ↔ ranges ↔ shapes between a tree of parameters and flat `f64` vectors.
///
/// There are two flat vectors. A chain moves *coordinates*, free of bounds; users see *values*. They are the same numbers where a
/// parameter has no [`Constraint`].
///
/// ```
/// use sgmcmc_core::{Constraint, Layout, zeros};
///
/// let layout = Layout::of(&(zeros([1]), zeros([3, 2])))?.constrained("0", Constraint::Positive)?;
/// assert_eq!(layout.dim(), 7);
/// assert_eq!(layout.element(0), "0");
/// assert_eq!(layout.element(6), "1[2,1]");
/// assert_eq!(layout.index("1[2,1]")?, 6);
/// assert_eq!(layout.values(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?, [1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unplaced")]
pub struct Layout {
    blocks: Vec<Block>,
}

/// What is read of a layout; places follow from shapes and constraints.
#[derive(Deserialize)]
struct Unplaced {
    blocks: Vec<UnplacedBlock>,
}

#[derive(Deserialize)]
struct UnplacedBlock {
    name: String,
    shape: Vec<usize>,
    constraint: Option<Constraint>,
}

impl TryFrom<Unplaced> for Layout {
    type Error = Error;

    fn try_from(read: Unplaced) -> Result<Self> {
        Self::new(read.blocks.into_iter().map(|block| (block.name, block.shape, block.constraint)))
    }
}

impl Layout {
    /// The layout of `params`, with the constraints declared on their fields.
    ///
    /// # Errors
    ///
    /// If a leaf is not a float tensor, or has a shape its constraint does not allow.
    pub fn of<P: TensorTree>(params: &P) -> Result<Self> {
        let mut survey = Survey { leaves: Ok(Vec::new()) };
        params.visit(&mut Path::root(), &mut survey);
        Self::new(survey.leaves?)
    }

    /// The same layout with `constraint` on the parameter `name`, whatever was declared before.
    ///
    /// # Errors
    ///
    /// If there is no such parameter, or its shape does not allow the constraint.
    pub fn constrained(self, name: &str, constraint: Constraint) -> Result<Self> {
        self.block(name)?;
        Self::new(self.blocks.into_iter().map(|block| {
            let declared = if block.name == name { Some(constraint) } else { block.constraint };
            (block.name, block.shape, declared)
        }))
    }

    /// How many coordinates a chain moves.
    pub fn dim(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.range.end)
    }

    /// How many values users see.
    pub fn value_count(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.values.end)
    }

    /// The named parameters, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The parameter called `name`.
    pub fn block(&self, name: &str) -> Result<&Block> {
        self.blocks.iter().find(|block| block.name == name).ok_or_else(|| self.unknown(name))
    }

    /// The name of one value: `beta[3]`, `W[2,5]`, or the bare name where the parameter has a single element.
    pub fn element(&self, index: usize) -> String {
        match self.blocks.iter().find(|block| block.values.contains(&index)) {
            Some(block) => block.element(index - block.values.start),
            None => format!("[{index}]"),
        }
    }

    /// The names of all values, in order.
    pub fn elements(&self) -> Vec<String> {
        (0..self.value_count()).map(|index| self.element(index)).collect()
    }

    /// The name of one coordinate: that of its value, or `weights~2` where coordinates and values are not one to one.
    pub fn coordinate(&self, index: usize) -> String {
        match self.blocks.iter().find(|block| block.range.contains(&index)) {
            Some(block) if block.range.len() == block.values.len() => block.element(index - block.range.start),
            Some(block) => format!("{}~{}", block.name, index - block.range.start),
            None => format!("[{index}]"),
        }
    }

    /// The place of the value called `name`: the inverse of [`element`](Self::element).
    pub fn index(&self, name: &str) -> Result<usize> {
        let unknown = || self.unknown(name);
        let (leaf, subscripts) = match name.strip_suffix(']').and_then(|open| open.rsplit_once('[')) {
            Some((leaf, subscripts)) => (leaf, subscripts),
            None => (name, ""),
        };
        let block = self.block(leaf).map_err(|_| unknown())?;
        if subscripts.is_empty() {
            return if block.values.len() == 1 { Ok(block.values.start) } else { Err(unknown()) };
        }
        let subscripts: Vec<usize> =
            subscripts.split(',').map(|s| s.trim().parse().map_err(|_| unknown())).collect::<Result<_>>()?;
        let inside = subscripts.len() == block.shape.len() && subscripts.iter().zip(&block.shape).all(|(s, n)| s < n);
        if !inside {
            return Err(unknown());
        }
        Ok(block.values.start + subscripts.iter().zip(&block.shape).fold(0, |flat, (s, n)| flat * n + s))
    }

    /// The coordinates of `params`.
    ///
    /// # Errors
    ///
    /// If `params` has other leaves or shapes than this layout, or a value that is not finite or outside its constraint.
    pub fn flatten<P: TensorTree>(&self, params: &P) -> Result<Vec<f64>> {
        self.check_same(&Self::of(params)?)?;
        let mut reader = Reader { values: Vec::with_capacity(self.value_count()) };
        params.visit(&mut Path::root(), &mut reader);
        self.coordinates(&reader.values)
    }

    /// The tree that the coordinates `theta` stand for, structured as `like`, in double precision on `device`.
    pub fn unflatten<P: TensorTree>(&self, like: &P, theta: &[f64], device: &Device) -> Result<P> {
        let values = self.values(theta)?;
        Ok(like.rebuild(&mut Writer { blocks: self.blocks.iter(), values: &values, device, dtype: DType::F64 }))
    }

    /// The tree with these `values`, structured as `like`, whose own numbers do not matter.
    ///
    /// # Errors
    ///
    /// If `like` has other leaves or shapes than this layout, or there are more or fewer values.
    pub fn tree<P: TensorTree>(&self, like: &P, values: &[f64], precision: Precision, device: &Device) -> Result<P> {
        self.check_like(like)?;
        self.check_values(values)?;
        Ok(like.rebuild(&mut Writer { blocks: self.blocks.iter(), values, device, dtype: precision.dtype() }))
    }

    /// An error unless `like` has the leaves and shapes of this layout.
    pub fn check_like<P: TensorTree>(&self, like: &P) -> Result<()> {
        self.check_same(&Self::of(like)?)
    }

    /// The values of the coordinates `theta`.
    pub fn values(&self, theta: &[f64]) -> Result<Vec<f64>> {
        let mut values = vec![0.0; self.value_count()];
        self.values_into(theta, &mut values)?;
        Ok(values)
    }

    /// Whether a parameter is constrained, so that values differ from coordinates.
    pub fn is_constrained(&self) -> bool {
        self.blocks.iter().any(|block| block.constraint.is_some())
    }

    /// Writes the values of the coordinates `theta` into `values`.
    pub fn values_into(&self, theta: &[f64], values: &mut [f64]) -> Result<()> {
        self.check_length(theta)?;
        self.check_values(values)?;
        for block in &self.blocks {
            let (y, x) = (&theta[block.range.clone()], &mut values[block.values.clone()]);
            match &block.constraint {
                None => x.copy_from_slice(y),
                Some(constraint) => block.pairs(y, x).for_each(|(y, x)| constraint.constrain(y, x)),
            }
        }
        Ok(())
    }

    /// The coordinates of `values`.
    ///
    /// # Errors
    ///
    /// If a value is not finite or outside its constraint.
    pub fn coordinates(&self, values: &[f64]) -> Result<Vec<f64>> {
        self.check_values(values)?;
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::StartNotFinite { element: self.element(index), value: values[index] });
        }
        let mut theta = vec![0.0; self.dim()];
        for block in &self.blocks {
            let (y, x) = (&mut theta[block.range.clone()], &values[block.values.clone()]);
            let Some(constraint) = block.constraint else {
                y.copy_from_slice(x);
                continue;
            };
            let groups = y.chunks_exact_mut(block.groups.free.max(1)).zip(x.chunks_exact(block.groups.values.max(1)));
            for (group, (y, x)) in groups.enumerate() {
                constraint.unconstrain(x, y).map_err(|(place, value)| Error::OutsideSupport {
                    element: block.element(group * block.groups.values + place),
                    value,
                    parameter: block.name.clone(),
                    constraint,
                })?;
            }
        }
        Ok(theta)
    }

    /// An error unless `theta` has as many numbers as there are coordinates.
    pub fn check_length(&self, theta: &[f64]) -> Result<()> {
        check("the flat parameter vector", self.dim(), theta.len())
    }

    fn check_values(&self, values: &[f64]) -> Result<()> {
        check("the vector of parameter values", self.value_count(), values.len())
    }

    /// The layout of parameters given by name, shape and constraint, for those who know no tree of tensors: readers of files.
    ///
    /// # Errors
    ///
    /// If a shape has more elements than can be counted, or is none that its constraint allows.
    pub fn new(leaves: impl IntoIterator<Item = (String, Vec<usize>, Option<Constraint>)>) -> Result<Self> {
        let (mut coordinates, mut values) = (0_usize, 0_usize);
        let blocks = leaves.into_iter().map(|(name, shape, constraint)| {
            // Sizes of zero count as one here: no product of sizes overflows later.
            let most = shape.iter().try_fold(1_usize, |count, size| count.checked_mul((*size).max(1)));
            if most.is_none_or(|most| most > MOST_VALUES.saturating_sub(values)) {
                let what = format!("a parameter `{name}` of shape {shape:?}");
                return Err(Error::memory(what, usize::MAX, MOST_VALUES, "check where the shape comes from"));
            }
            let count = shape.iter().product();
            let groups = match constraint {
                None => Groups { count, values: 1, free: 1 },
                Some(constraint) => constraint.groups(&shape).map_err(|reason| Error::Constraint {
                    parameter: name.clone(),
                    shape: shape.clone(),
                    constraint,
                    reason,
                })?,
            };
            let (range, value_range) = (coordinates..coordinates + groups.count * groups.free, values..values + count);
            (coordinates, values) = (range.end, value_range.end);
            Ok(Block { name, shape, constraint, range, values: value_range, groups })
        });
        Ok(Self { blocks: blocks.collect::<Result<_>>()? })
    }

    fn check_same(&self, found: &Self) -> Result<()> {
        let names = |layout: &Self| layout.blocks.iter().map(|block| block.name.clone()).collect::<Vec<_>>();
        if names(self) != names(found) {
            return Err(Error::ParameterLeaves { declared: names(self), found: names(found) });
        }
        match self.blocks.iter().zip(&found.blocks).find(|(a, b)| a.shape != b.shape) {
            Some((declared, found)) => Err(Error::ParameterShape {
                parameter: declared.name.clone(),
                declared: declared.shape.clone(),
                found: found.shape.clone(),
            }),
            None => Ok(()),
        }
    }

    fn unknown(&self, name: &str) -> Error {
        let known = self.blocks.iter().map(|block| format!("`{}` {:?}", block.name, block.shape)).collect::<Vec<_>>();
        Error::UnknownParameter { name: name.to_owned(), known: known.join(", ") }
    }
}

impl Block {
    /// The groups its constraint transforms one by one: how many, and how many coordinates each has.
    pub(crate) fn group_shape(&self) -> [usize; 2] {
        [self.groups.count, self.groups.free]
    }

    fn pairs<'a>(&self, y: &'a [f64], x: &'a mut [f64]) -> impl Iterator<Item = (&'a [f64], &'a mut [f64])> {
        y.chunks_exact(self.groups.free.max(1)).zip(x.chunks_exact_mut(self.groups.values.max(1)))
    }

    fn element(&self, index: usize) -> String {
        let mut name = self.name.clone();
        if self.values.len() == 1 {
            return name;
        }
        let mut rest = index;
        let mut subscripts = vec![0; self.shape.len()];
        for (subscript, size) in subscripts.iter_mut().zip(&self.shape).rev() {
            *subscript = rest % size;
            rest /= size;
        }
        for (position, subscript) in subscripts.iter().enumerate() {
            let separator = if position == 0 { '[' } else { ',' };
            // Writing to a string cannot fail.
            let _ = write!(name, "{separator}{subscript}");
        }
        name.push(']');
        name
    }
}

fn check(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}

/// The name, shape and constraint of a leaf.
type Leaf = (String, Vec<usize>, Option<Constraint>);

/// Collects names, shapes and constraints.
struct Survey {
    leaves: Result<Vec<Leaf>>,
}

impl Survey {
    fn refuse(&mut self, path: &Path, kind: &'static str) {
        if self.leaves.is_ok() {
            self.leaves = Err(Error::ParameterNotFloat { parameter: path.name_or(ROOT), kind });
        }
    }
}

impl Visitor for Survey {
    fn float<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D>) {
        if let Ok(leaves) = &mut self.leaves {
            leaves.push((path.name_or(ROOT), tensor.dims().to_vec(), path.constraint()));
        }
    }

    fn int<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D, Int>) {
        self.refuse(path, "an integer tensor");
    }

    fn bool<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D, Bool>) {
        self.refuse(path, "a boolean tensor");
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

/// Makes float leaves from a flat vector.
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
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{array, zeros};
    use crate::tree::Named;

    #[test]
    fn names_and_indices_are_inverse() {
        let layout = Layout::of(&(zeros([1]), [zeros([4]), zeros([4])], zeros([2, 3, 2]))).unwrap();
        assert_eq!(layout.element(1), "1.0[0]");
        for index in 0..layout.dim() {
            assert_eq!(layout.index(&layout.element(index)).unwrap(), index);
        }
        for wrong in ["2[0,0]", "2[2,0,0]", "2", "3", "1.0[4]", "1.0[x]", ""] {
            assert!(layout.index(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn layouts_are_made_from_names_and_shapes_alone() {
        let tree = Layout::of(&(zeros([1]), zeros([3, 2]))).unwrap().constrained("0", Constraint::Positive).unwrap();
        let leaves = [("0".into(), vec![1], Some(Constraint::Positive)), ("1".into(), vec![3, 2], None)];
        assert_eq!(Layout::new(leaves).unwrap(), tree);
        for shape in [vec![usize::MAX, 2], vec![0, 1 << 40, 1 << 40]] {
            let error = Layout::new([("huge".into(), shape, None)]).unwrap_err().to_string();
            assert!(error.contains("`huge`"), "{error}");
        }
    }

    #[test]
    fn flatten_and_unflatten_are_inverse() {
        let params = Named::new()
            .with("a", array(vec![1.0, 2.0, 3.0, 4.0], [2, 2]).unwrap())
            .with("b", array(vec![5.0_f32], [1]).unwrap());
        let layout = Layout::of(&params).unwrap();
        let theta = layout.flatten(&params).unwrap();
        assert_eq!(theta, [1.0, 2.0, 3.0, 4.0, 5.0]);
        let back = layout.unflatten(&params, &theta, &crate::default_device()).unwrap();
        assert_eq!(layout.flatten(&back).unwrap(), theta);
    }

    #[test]
    fn other_structures_are_named() {
        let layout = Layout::of(&Named::new().with("beta", zeros([54]))).unwrap();
        let shape = layout.flatten(&Named::new().with("beta", zeros([3]))).unwrap_err();
        assert_eq!(
            shape.to_string(),
            "parameter `beta` has shape [3] but was declared as [54]: give start values of that shape"
        );
        let leaves = layout.flatten(&Named::new().with("gamma", zeros([54]))).unwrap_err();
        assert!(leaves.to_string().contains("gamma"), "{leaves}");
        let integer = Layout::of(&Named::new().with("k", array(vec![1_i64], [1]).unwrap())).unwrap_err();
        assert!(integer.to_string().contains("parameter `k` is an integer tensor"), "{integer}");
        let nan = layout.flatten(&Named::new().with("beta", crate::full([54], f64::NAN))).unwrap_err();
        assert!(nan.to_string().contains("`beta[0]` is NaN"), "{nan}");
    }
}
