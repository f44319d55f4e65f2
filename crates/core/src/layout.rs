//! Where each named parameter lives in the flat vector a chain moves.

use std::fmt::Write as _;
use std::ops::Range;

use burn_tensor::{Bool, DType, Device, Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::tree::{Path, Source, TensorTree, Visitor};

/// The name of the only parameter of a model whose parameters are one bare tensor.
const ROOT: &str = "theta";

/// One named parameter: its shape and its range in the flat vector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The path of the leaf, such as `layer.weight`.
    pub name: String,
    /// The shape of the leaf.
    pub shape: Vec<usize>,
    /// Its elements in the flat vector, in row-major order.
    pub range: Range<usize>,
}

/// Maps names ↔ ranges ↔ shapes between a tree of parameters and the flat `f64` vector a chain moves.
///
/// ```
/// use sgmcmc_core::{Layout, zeros};
///
/// let layout = Layout::of(&(zeros([1]), zeros([3, 2])))?;
/// assert_eq!(layout.dim(), 7);
/// assert_eq!(layout.element(0), "0");
/// assert_eq!(layout.element(6), "1[2,1]");
/// assert_eq!(layout.index("1[2,1]")?, 6);
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    blocks: Vec<Block>,
    dim: usize,
}

impl Layout {
    /// The layout of `params`.
    ///
    /// # Errors
    ///
    /// If a leaf is not a float tensor.
    pub fn of<P: TensorTree>(params: &P) -> Result<Self> {
        let mut survey = Survey { layout: Self { blocks: Vec::new(), dim: 0 }, refused: None };
        params.visit(&mut Path::root(), &mut survey);
        match survey.refused {
            Some(error) => Err(error),
            None => Ok(survey.layout),
        }
    }

    /// How many numbers the flat vector has.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The named parameters, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The parameter called `name`.
    pub fn block(&self, name: &str) -> Result<&Block> {
        self.blocks.iter().find(|block| block.name == name).ok_or_else(|| self.unknown(name))
    }

    /// The name of one element: `beta[3]`, `W[2,5]`, or the bare name where the parameter has a single element.
    pub fn element(&self, index: usize) -> String {
        let Some(block) = self.blocks.iter().find(|block| block.range.contains(&index)) else {
            return format!("[{index}]");
        };
        if block.range.len() == 1 {
            return block.name.clone();
        }
        let mut rest = index - block.range.start;
        let mut subscripts = vec![0; block.shape.len()];
        for (subscript, size) in subscripts.iter_mut().zip(&block.shape).rev() {
            *subscript = rest % size;
            rest /= size;
        }
        let mut name = block.name.clone();
        for (position, subscript) in subscripts.iter().enumerate() {
            let separator = if position == 0 { '[' } else { ',' };
            write!(name, "{separator}{subscript}").expect("writing to a string cannot fail");
        }
        name.push(']');
        name
    }

    /// The names of all elements, in order.
    pub fn elements(&self) -> Vec<String> {
        (0..self.dim).map(|index| self.element(index)).collect()
    }

    /// The place of the element called `name` in the flat vector: the inverse of [`element`](Self::element).
    pub fn index(&self, name: &str) -> Result<usize> {
        let unknown = || self.unknown(name);
        let (leaf, subscripts) = match name.strip_suffix(']').and_then(|open| open.rsplit_once('[')) {
            Some((leaf, subscripts)) => (leaf, subscripts),
            None => (name, ""),
        };
        let block = self.block(leaf).map_err(|_| unknown())?;
        if subscripts.is_empty() {
            return if block.range.len() == 1 { Ok(block.range.start) } else { Err(unknown()) };
        }
        let subscripts: Vec<usize> =
            subscripts.split(',').map(|s| s.trim().parse().map_err(|_| unknown())).collect::<Result<_>>()?;
        let inside = subscripts.len() == block.shape.len() && subscripts.iter().zip(&block.shape).all(|(s, n)| s < n);
        if !inside {
            return Err(unknown());
        }
        Ok(block.range.start + subscripts.iter().zip(&block.shape).fold(0, |flat, (s, n)| flat * n + s))
    }

    /// Reads the values of `params` into one flat vector.
    ///
    /// # Errors
    ///
    /// If `params` has other leaves or shapes than this layout, or a value that is not finite.
    pub fn flatten<P: TensorTree>(&self, params: &P) -> Result<Vec<f64>> {
        let found = Self::of(params)?;
        self.check_same(&found)?;
        let mut reader = Reader { theta: Vec::with_capacity(self.dim) };
        params.visit(&mut Path::root(), &mut reader);
        match reader.theta.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(Error::StartNotFinite { element: self.element(index), value: reader.theta[index] }),
            None => Ok(reader.theta),
        }
    }

    /// The tree that `theta` stands for, structured as `like`, in double precision on `device`.
    pub fn unflatten<P: TensorTree>(&self, like: &P, theta: &[f64], device: &Device) -> Result<P> {
        self.check_length(theta)?;
        Ok(like.rebuild(&mut Writer { blocks: self.blocks.iter(), theta, device }))
    }

    /// An error unless `theta` has this layout's length.
    pub fn check_length(&self, theta: &[f64]) -> Result<()> {
        if theta.len() == self.dim {
            Ok(())
        } else {
            Err(Error::Length { what: "the flat parameter vector", expected: self.dim, found: theta.len() })
        }
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

/// Collects names and shapes.
struct Survey {
    layout: Layout,
    refused: Option<Error>,
}

impl Survey {
    fn refuse(&mut self, path: &Path, kind: &'static str) {
        self.refused.get_or_insert(Error::ParameterNotFloat { parameter: path.name_or(ROOT), kind });
    }
}

impl Visitor for Survey {
    fn float<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D>) {
        let shape = tensor.dims().to_vec();
        let start = self.layout.dim;
        self.layout.dim += shape.iter().product::<usize>();
        self.layout.blocks.push(Block { name: path.name_or(ROOT), shape, range: start..self.layout.dim });
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
    theta: Vec<f64>,
}

impl Visitor for Reader {
    fn float<const D: usize>(&mut self, _path: &Path, tensor: &Tensor<D>) {
        self.theta.extend(tensor.to_data().iter::<f64>());
    }

    fn int<const D: usize>(&mut self, _path: &Path, _tensor: &Tensor<D, Int>) {}

    fn bool<const D: usize>(&mut self, _path: &Path, _tensor: &Tensor<D, Bool>) {}
}

/// Makes float leaves from a flat vector.
struct Writer<'a> {
    blocks: std::slice::Iter<'a, Block>,
    theta: &'a [f64],
    device: &'a Device,
}

impl Source for Writer<'_> {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        let range = self.blocks.next().map_or(0..0, |block| block.range.clone());
        let data = TensorData::new(self.theta[range].to_vec(), like.dims());
        Tensor::from_data(data, (self.device, DType::F64))
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
