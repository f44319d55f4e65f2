//! The observations of a model.

use std::fmt;
use std::sync::Arc;

use burn_tensor::{Bool, DType, Device, Int, Tensor, TensorData};

use super::{Column, Rows};
use crate::array::default_device;
use crate::error::{Error, Result};
use crate::tree::{Path, Source, TensorTree, Visitor};

/// The name of the only leaf of a data set that is one bare tensor.
pub(super) const ROOT: &str = "data";

/// The float type a likelihood is computed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// f32.
    Single,
    /// f64.
    Double,
}

impl Precision {
    /// The type as Burn names it.
    pub fn dtype(self) -> DType {
        match self {
            Self::Single => DType::F32,
            Self::Double => DType::F64,
        }
    }

    pub(crate) fn of(dtype: DType) -> Option<Self> {
        match dtype {
            DType::F32 => Some(Self::Single),
            DType::F64 => Some(Self::Double),
            _ => None,
        }
    }
}

/// Observations, held in host memory, shown to closures as a tree of tensors of type `D`.
///
/// The first axis of every leaf is the observation. Cloning shares the memory.
///
/// ```
/// use sgmcmc_core::{Dataset, array};
///
/// let x = array(vec![0.5_f32, 1.0, -1.0, 2.0, 0.0, 3.0], [3, 2])?;
/// let y = array(vec![1.0_f32, 0.0, 1.0], [3])?;
/// let data = Dataset::new((x, y))?;
/// assert_eq!(data.observations(), 3);
/// # Ok::<(), sgmcmc_core::Error>(())
/// ```
pub struct Dataset<D> {
    pub(super) columns: Arc<Vec<Column>>,
    pub(super) template: Arc<D>,
    pub(super) observations: usize,
}

impl<D> Clone for Dataset<D> {
    fn clone(&self) -> Self {
        let Self { columns, template, observations } = self;
        Self { columns: columns.clone(), template: template.clone(), observations: *observations }
    }
}

impl<D> fmt::Debug for Dataset<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut leaves = f.debug_struct("Dataset");
        leaves.field("observations", &self.observations);
        for column in self.columns.iter() {
            leaves.field(column.name(), &(column.dtype(), column.row_shape()));
        }
        leaves.finish()
    }
}

impl Dataset<()> {
    /// No observations, for a model that is a log density alone.
    pub fn none() -> Self {
        Self { columns: Arc::default(), template: Arc::new(()), observations: 0 }
    }
}

impl<D: TensorTree> Dataset<D> {
    /// Takes the observations from a tree of tensors.
    ///
    /// # Errors
    ///
    /// If there is no leaf or no row, if leaves disagree on the number of rows or on the float type, if an element type is
    /// none of f32, f64, integers and bool, or if a value is NaN or infinite.
    pub fn new(tree: D) -> Result<Self> {
        let data = Self::allow_non_finite(tree)?;
        data.columns.iter().try_for_each(Column::check_finite)?;
        Ok(data)
    }

    /// As [`new`](Self::new), but NaN and infinite values are let through, for likelihoods that know what to do with them.
    pub fn allow_non_finite(tree: D) -> Result<Self> {
        let columns = columns_of(&tree)?;
        let observations = check_columns(&columns)?;
        Ok(Self::assemble(columns, &tree, observations))
    }

    /// The same observations with every float leaf converted to `precision`.
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        let columns = Arc::unwrap_or_clone(self.columns);
        let columns = columns.into_iter().map(|column| column.with_precision(precision)).collect();
        Self::assemble(columns, &*self.template, self.observations)
    }

    /// The number of observations, N.
    pub fn observations(&self) -> usize {
        self.observations
    }

    /// The leaves, in the order of the tree.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The float type of the leaves, if there is a float leaf.
    pub fn precision(&self) -> Option<Precision> {
        self.columns.iter().find_map(|column| Precision::of(column.dtype()))
    }

    /// Bytes the observations take.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Column::bytes).sum()
    }

    /// The selected rows as the tree a closure takes, on `device`. Weights play no part.
    pub fn batch(&self, rows: Rows<'_>, device: &Device) -> Result<D> {
        rows.check(self.observations)?;
        self.columns.iter().try_for_each(Column::check_readable)?;
        let batch = self.template.rebuild(&mut Gatherer { columns: self.columns.iter(), rows, device });
        // Again, because a file may have been cut in between.
        self.columns.iter().try_for_each(Column::check_readable)?;
        Ok(batch)
    }

    pub(super) fn assemble(columns: Vec<Column>, like: &D, observations: usize) -> Self {
        let device = default_device();
        let first = Rows::range(0..observations.min(1));
        // One row is enough to know the structure; the tree that was given need not be kept in memory.
        let template = like.rebuild(&mut Gatherer { columns: columns.iter(), rows: first, device: &device });
        Self { columns: Arc::new(columns), template: Arc::new(template), observations }
    }
}

fn columns_of<D: TensorTree>(tree: &D) -> Result<Vec<Column>> {
    let mut collector = Collector { columns: Ok(Vec::new()) };
    tree.visit(&mut Path::root(), &mut collector);
    collector.columns
}

pub(super) fn check_columns(columns: &[Column]) -> Result<usize> {
    let Some(first) = columns.first() else {
        return Err(Error::EmptyDataset { reason: "it has no leaf".into() });
    };
    if first.observations() == 0 {
        return Err(Error::EmptyDataset { reason: format!("leaf `{}` has no row", first.name()) });
    }
    if let Some(other) = columns.iter().find(|column| column.observations() != first.observations()) {
        return Err(Error::RowCount {
            leaf: other.name().into(),
            found: other.observations(),
            first: first.name().into(),
            expected: first.observations(),
        });
    }
    let mut floats = columns.iter().filter(|column| column.dtype().is_float());
    if let Some(first) = floats.next()
        && let Some(other) = floats.find(|column| column.dtype() != first.dtype())
    {
        return Err(Error::MixedPrecision {
            leaf: other.name().into(),
            found: other.dtype().name().into(),
            first: first.name().into(),
            expected: first.dtype().name().into(),
        });
    }
    Ok(first.observations())
}

struct Collector {
    columns: Result<Vec<Column>>,
}

impl Collector {
    fn push(&mut self, path: &Path, data: TensorData) {
        if let Ok(columns) = &mut self.columns {
            match Column::from_tensor(path.name_or(ROOT), data) {
                Ok(column) => columns.push(column),
                Err(error) => self.columns = Err(error),
            }
        }
    }
}

impl Visitor for Collector {
    fn float<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D>) {
        self.push(path, tensor.to_data());
    }

    fn int<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D, Int>) {
        self.push(path, tensor.to_data());
    }

    fn bool<const D: usize>(&mut self, path: &Path, tensor: &Tensor<D, Bool>) {
        self.push(path, tensor.to_data());
    }
}

/// Makes leaves from rows of the columns, which come in the order of the leaves.
struct Gatherer<'a> {
    columns: std::slice::Iter<'a, Column>,
    rows: Rows<'a>,
    device: &'a Device,
}

impl Gatherer<'_> {
    fn next<const D: usize, K: burn_tensor::kind::Basic>(&mut self, like: &Tensor<D, K>) -> Tensor<D, K> {
        match self.columns.next() {
            Some(column) => Tensor::from_data(column.gather(self.rows), (self.device, column.dtype())),
            // A tree asks for as many leaves as it showed; keep the template's rather than panic.
            None => like.clone(),
        }
    }
}

impl Source for Gatherer<'_> {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        self.next(like)
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        self.next(like)
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        self.next(like)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::array;
    use crate::data::Columns;

    fn message<T: fmt::Debug>(result: Result<T>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn rows_are_gathered_in_order_and_type() {
        let x = array(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [3, 2]).unwrap();
        let user = array(vec![10_i64, 11, 12], [3]).unwrap();
        let seen = array(vec![true, false, true], [3]).unwrap();
        let data = Dataset::new((x, user, seen)).unwrap();
        let (x, user, seen) = data.batch(Rows::list(&[2, 0, 2]), &default_device()).unwrap();
        assert_eq!(x.dtype(), DType::F64);
        assert_eq!(x.into_data().iter::<f64>().collect::<Vec<_>>(), [4.0, 5.0, 0.0, 1.0, 4.0, 5.0]);
        assert_eq!(user.dtype(), DType::I64);
        assert_eq!(user.into_data().iter::<i64>().collect::<Vec<_>>(), [12, 10, 12]);
        assert_eq!(seen.into_data().iter::<bool>().collect::<Vec<_>>(), [true, true, true]);
        assert!(message(data.batch(Rows::list(&[3]), &default_device())).contains("row 3 is out of range"));
    }

    #[test]
    fn mistakes_are_named() {
        let columns = || Columns::new().leaf("x", vec![0.0; 6], [3, 2]).unwrap();
        let rows = message(columns().leaf("y", vec![0.0; 2], [2]).unwrap().build());
        assert!(rows.contains("`y` has 2 rows but `x` has 3"), "{rows}");
        let mixed = message(columns().leaf("y", vec![0.0_f32; 3], [3]).unwrap().build());
        assert!(mixed.contains("`y` is f32 but `x` is f64"), "{mixed}");
        let shape = message(Columns::new().leaf("x", vec![0.0; 5], [3, 2]));
        assert!(shape.contains("5 values do not fill shape [3, 2]"), "{shape}");
        let nan = message(Columns::new().leaf("x", vec![0.0, 1.0, 2.0, f64::NAN], [2, 2]).unwrap().build());
        assert!(nan.contains("`x` holds NaN at row 1, column 1"), "{nan}");
        let infinite = message(Columns::new().leaf("y", vec![0.0, f32::INFINITY], [2]).unwrap().build());
        assert!(infinite.contains("`y` holds inf at row 1"), "{infinite}");
        assert!(message(Columns::new().build()).contains("no leaf"));
        assert!(message(Columns::new().leaf("x", Vec::<f32>::new(), [0]).unwrap().build()).contains("`x` has no row"));
    }

    #[test]
    fn precision_converts_floats_only() {
        let data = Columns::new().leaf("x", vec![0.5; 2], [2]).unwrap().leaf("i", vec![1_i32; 2], [2]).unwrap();
        let data = data.build().unwrap().with_precision(Precision::Single);
        assert_eq!(data.precision(), Some(Precision::Single));
        assert_eq!(data.columns()[1].dtype(), DType::I32);
    }
}
