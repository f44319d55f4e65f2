//! The observations of a model.

use std::fmt;
use std::sync::Arc;

use burn_tensor::{Bool, Device, Int, Tensor, TensorData};
use sgmcmc_gradient::Result;
use sgmcmc_gradient::data::{Column, Precision, Rows, check_columns};

use super::tensor::{self, dtype, gather};
use crate::array::default_device;
use crate::tree::{Path, Source, TensorTree, Visitor};

/// The name of the leaf of a data set that is a single tensor.
pub(super) const ROOT: &str = "data";

/// Observations in host memory, which closures receive as a tree of tensors of type `D`.
///
/// The first axis of every leaf is the observation. Clones share the memory.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let x = array(vec![0.5_f32, 1.0, -1.0, 2.0, 0.0, 3.0], [3, 2])?;
/// let y = array(vec![1.0_f32, 0.0, 1.0], [3])?;
/// let data = Dataset::new((x, y))?;
/// assert_eq!(data.observations(), 3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct Dataset<D> {
    /// The leaves, in the order of the tree.
    pub(super) columns: Arc<Vec<Column>>,
    /// A tree with one observation that has the structure of `D`.
    pub(super) template: Arc<D>,
    /// The number of observations.
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
            leaves.field(column.name(), &(column.element_type(), column.row_shape()));
        }
        leaves.finish()
    }
}

impl Dataset<()> {
    /// Creates a data set without observations, for a model that is only a log density.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// assert_eq!(Dataset::none().observations(), 0);
    /// ```
    pub fn none() -> Self {
        Self { columns: Arc::default(), template: Arc::new(()), observations: 0 }
    }
}

impl<D: TensorTree> Dataset<D> {
    /// Creates a data set from a tree of tensors.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no leaf or no observation, if leaves differ in the number of observations or in the
    /// float type, if an element type is not `f32`, `f64`, an integer or `bool`, or if a value is NaN or infinite.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let data = Dataset::new(array(vec![0.5, 1.5], [2])?)?;
    /// assert_eq!(data.columns()[0].name(), "data");
    /// assert!(Dataset::new(array(vec![f64::NAN], [1])?).is_err());
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn new(tree: D) -> Result<Self> {
        let data = Self::allow_non_finite(tree)?;
        data.columns.iter().try_for_each(Column::check_finite)?;
        Ok(data)
    }

    /// Creates a data set from a tree of tensors in which values may be NaN or infinite.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`new`](Self::new), except for values that are NaN or infinite.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let censored = array(vec![1.0, f64::INFINITY], [2])?;
    /// assert_eq!(Dataset::allow_non_finite(censored)?.observations(), 2);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn allow_non_finite(tree: D) -> Result<Self> {
        let columns = columns_of(&tree)?;
        let observations = check_columns(&columns)?;
        Ok(Self::assemble(columns, &tree, observations))
    }

    /// Returns these observations with every float leaf converted to `precision`.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::data::Precision;
    /// use sgmcmc::prelude::*;
    ///
    /// let data = Dataset::new(array(vec![0.5, 1.5], [2])?)?.with_precision(Precision::Single);
    /// assert_eq!(data.precision(), Some(Precision::Single));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        let columns = Arc::unwrap_or_clone(self.columns);
        let columns = columns.into_iter().map(|column| column.with_precision(precision)).collect();
        Self::assemble(columns, &*self.template, self.observations)
    }

    /// Returns the number N of observations.
    pub fn observations(&self) -> usize {
        self.observations
    }

    /// Returns the leaves, in the order of the tree.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the precision of the float leaves, or `None` if there is no float leaf.
    pub fn precision(&self) -> Option<Precision> {
        self.columns.iter().find_map(|column| Precision::from_element_type(column.element_type()))
    }

    /// Returns the size of the observations in bytes.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Column::bytes).sum()
    }

    /// Returns the selected observations as a tree of tensors on `device`. The weights of `rows` are ignored.
    ///
    /// # Errors
    ///
    /// Returns an error if a selected observation does not exist, or if the file that holds a leaf can no longer be
    /// read.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::data::Rows;
    /// use sgmcmc::prelude::*;
    ///
    /// let data = Dataset::new(array(vec![0.5, 1.5, 2.5], [3])?)?;
    /// let batch: Tensor<1> = data.batch(Rows::list(&[2, 0]), &sgmcmc::default_device())?;
    /// assert_eq!(batch.into_data().iter::<f64>().collect::<Vec<_>>(), [2.5, 0.5]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn batch(&self, rows: Rows<'_>, device: &Device) -> Result<D> {
        rows.check(self.observations)?;
        self.columns.iter().try_for_each(Column::check_readable)?;
        let batch = self.template.rebuild(&mut Gatherer { columns: self.columns.iter(), rows, device });
        // Checked again, because another process may have truncated the file in between.
        self.columns.iter().try_for_each(Column::check_readable)?;
        Ok(batch)
    }

    /// Creates a data set from columns that have been checked, with the structure of `like`.
    pub(super) fn assemble(columns: Vec<Column>, like: &D, observations: usize) -> Self {
        let device = default_device();
        let first = Rows::range(0..observations.min(1));
        // One observation suffices for the structure, so that `like` need not stay in memory.
        let template = like.rebuild(&mut Gatherer { columns: columns.iter(), rows: first, device: &device });
        Self { columns: Arc::new(columns), template: Arc::new(template), observations }
    }
}

/// Copies the leaves of a tree to columns.
fn columns_of<D: TensorTree>(tree: &D) -> Result<Vec<Column>> {
    let mut collector = ColumnCollector { columns: Ok(Vec::new()) };
    tree.visit(&mut Path::root(), &mut collector);
    collector.columns
}

/// Copies leaves to columns until the first error.
struct ColumnCollector {
    columns: Result<Vec<Column>>,
}

impl ColumnCollector {
    fn push(&mut self, path: &Path, data: TensorData) {
        if let Ok(columns) = &mut self.columns {
            match tensor::column(path.name_or(ROOT), data) {
                Ok(column) => columns.push(column),
                Err(error) => self.columns = Err(error),
            }
        }
    }
}

impl Visitor for ColumnCollector {
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

/// Creates leaves from selected observations of the columns, which are in the order of the leaves.
struct Gatherer<'a> {
    columns: std::slice::Iter<'a, Column>,
    rows: Rows<'a>,
    device: &'a Device,
}

impl Gatherer<'_> {
    fn next<const D: usize, K: burn_tensor::kind::Basic>(&mut self, like: &Tensor<D, K>) -> Tensor<D, K> {
        match self.columns.next() {
            Some(column) => Tensor::from_data(gather(column, self.rows), (self.device, dtype(column.element_type()))),
            // `rebuild` requests as many leaves as `visit` passes. An incorrect implementation must not cause a panic
            // here.
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
    use crate::data::IntoDataset;
    use burn_tensor::DType;
    use sgmcmc_gradient::Columns;
    use sgmcmc_gradient::data::ElementType;

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
    fn errors_name_the_leaf() {
        let columns = || Columns::new().leaf("x", vec![0.0; 6], [3, 2]).unwrap();
        let rows = message(columns().leaf("y", vec![0.0; 2], [2]).unwrap().into_dataset());
        assert!(rows.contains("`y` has 2 rows but `x` has 3"), "{rows}");
        let mixed = message(columns().leaf("y", vec![0.0_f32; 3], [3]).unwrap().into_dataset());
        assert!(mixed.contains("`y` is f32 but `x` is f64"), "{mixed}");
        let shape = message(Columns::new().leaf("x", vec![0.0; 5], [3, 2]));
        assert!(shape.contains("5 values do not fill shape [3, 2]"), "{shape}");
        let nan = message(Columns::new().leaf("x", vec![0.0, 1.0, 2.0, f64::NAN], [2, 2]).unwrap().into_dataset());
        assert!(nan.contains("`x` holds NaN at row 1, column 1"), "{nan}");
        let infinite = message(Columns::new().leaf("y", vec![0.0, f32::INFINITY], [2]).unwrap().into_dataset());
        assert!(infinite.contains("`y` holds inf at row 1"), "{infinite}");
        assert!(message(Columns::new().into_dataset()).contains("no leaf"));
        assert!(
            message(Columns::new().leaf("x", Vec::<f32>::new(), [0]).unwrap().into_dataset())
                .contains("`x` has no row")
        );
    }

    #[test]
    fn precision_converts_floats_only() {
        let data = Columns::new().leaf("x", vec![0.5; 2], [2]).unwrap().leaf("i", vec![1_i32; 2], [2]).unwrap();
        let data = data.into_dataset().unwrap().with_precision(Precision::Single);
        assert_eq!(data.precision(), Some(Precision::Single));
        assert_eq!(data.columns()[1].element_type(), ElementType::I32);
    }
}
