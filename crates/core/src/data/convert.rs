//! Conversions of columns to data sets, and of data sets with names to data sets with a type.

use std::sync::Arc;

use burn_tensor::{Bool, Int, Tensor, kind::Basic};
use sgmcmc_gradient::data::{Column, Columns, Kind, Rows, check_columns, find};
use sgmcmc_gradient::{Error, Result};

use super::Dataset;
use super::dataset::ROOT;
use super::tensor::{dtype, gather};
use crate::array::default_device;
use crate::tree::{Leaf, Named, Path, TensorTree, Visitor};

impl Dataset<Named> {
    /// Creates a data set from columns, which closures access by name.
    ///
    /// # Errors
    ///
    /// Returns an error if [`Columns::check`] does.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::data::Column;
    /// use sgmcmc::prelude::*;
    ///
    /// let x = Column::new("x", vec![0.5_f32, 1.0, -1.0, 2.0, 0.0, 3.0], [2])?;
    /// let y = Column::new("y", vec![1.0_f32, 0.0, 1.0], [])?;
    /// assert_eq!(Dataset::from_columns(vec![x, y])?.observations(), 3);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn from_columns(columns: impl Into<Columns>) -> Result<Self> {
        let columns = columns.into();
        let observations = columns.check()?;
        let columns = columns.into_vec();
        let with_leaf = |tree: Named, column: &Column| tree.with(column.name(), first_observation(column));
        let template = columns.iter().fold(Named::new(), with_leaf);
        Ok(Self { columns: Arc::new(columns), template: Arc::new(template), observations })
    }

    /// Returns these observations as a tree of type `D` with the structure of `template`.
    ///
    /// Leaves are matched by name. Only the names, ranks and kinds of the leaves of the template matter. Leaves that
    /// the template does not have are omitted. A template that is a single tensor takes the leaf `data`.
    ///
    /// # Errors
    ///
    /// Returns an error if a leaf of the template is missing in the data, or has another rank or kind.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let named = Columns::new().leaf("1", vec![4_i64, 2], [2])?.leaf("0", vec![0.5; 6], [2, 3])?.into_dataset()?;
    /// let typed = named.typed(&(zeros([1, 1]), array(vec![0_i64], [1])?))?;
    /// assert_eq!(typed.columns()[0].name(), "0");
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn typed<D: TensorTree>(&self, template: &D) -> Result<Dataset<D>> {
        let mut matcher = Matcher { available: &self.columns, chosen: Ok(Vec::new()) };
        template.visit(&mut Path::root(), &mut matcher);
        let columns = matcher.chosen?;
        let observations = check_columns(&columns)?;
        Ok(Dataset::assemble(columns, template, observations))
    }
}

/// Conversion of columns to a data set with leaves that are accessed by name.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let data = Columns::new().leaf("y", vec![1.0, 2.0, 4.0], [3])?.into_dataset()?;
/// assert_eq!(data.observations(), 3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait IntoDataset {
    /// Converts the columns with [`Dataset::from_columns`].
    ///
    /// # Errors
    ///
    /// Returns an error if [`Columns::check`] does.
    fn into_dataset(self) -> Result<Dataset<Named>>;
}

impl IntoDataset for Columns {
    fn into_dataset(self) -> Result<Dataset<Named>> {
        Dataset::from_columns(self)
    }
}

/// Returns the first observation as a tensor of the column's rank, which is 1 to 6.
fn first_observation(column: &Column) -> Leaf {
    fn tensor<const D: usize, K: Basic>(column: &Column) -> Tensor<D, K> {
        Tensor::from_data(gather(column, Rows::range(0..1)), (&default_device(), dtype(column.element_type())))
    }
    macro_rules! by_rank {
        ($kind:ty) => {
            match column.row_shape().len() {
                0 => tensor::<1, $kind>(column).into(),
                1 => tensor::<2, $kind>(column).into(),
                2 => tensor::<3, $kind>(column).into(),
                3 => tensor::<4, $kind>(column).into(),
                4 => tensor::<5, $kind>(column).into(),
                _ => tensor::<6, $kind>(column).into(),
            }
        };
    }
    match column.kind() {
        Kind::Float => by_rank!(burn_tensor::Float),
        Kind::Integer => by_rank!(Int),
        Kind::Boolean => by_rank!(Bool),
    }
}

/// Finds the column for each leaf of a template.
struct Matcher<'a> {
    available: &'a [Column],
    chosen: Result<Vec<Column>>,
}

impl Matcher<'_> {
    fn push(&mut self, path: &Path, rank: usize, kind: Kind) {
        if let Ok(chosen) = &mut self.chosen {
            match matching(self.available, &path.name_or(ROOT), rank, kind) {
                Ok(column) => chosen.push(column.clone()),
                Err(error) => self.chosen = Err(error),
            }
        }
    }
}

/// Returns the column `name`.
///
/// # Errors
///
/// Returns an error if there is no such column, or if it has another rank or kind.
fn matching<'a>(columns: &'a [Column], name: &str, rank: usize, kind: Kind) -> Result<&'a Column> {
    let column = find(columns, name)?;
    if column.kind() != kind {
        return Err(Error::LeafKind { leaf: name.into(), found: column.kind().name(), expected: kind.name() });
    }
    let found = column.row_shape().len() + 1;
    if found != rank {
        return Err(Error::LeafRank { leaf: name.into(), found, expected: rank.to_string() });
    }
    Ok(column)
}

impl Visitor for Matcher<'_> {
    fn float<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D>) {
        self.push(path, D, Kind::Float);
    }

    fn int<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D, Int>) {
        self.push(path, D, Kind::Integer);
    }

    fn bool<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D, Bool>) {
        self.push(path, D, Kind::Boolean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{array, zeros};

    fn named_data() -> Dataset<Named> {
        let columns = Columns::new().leaf("y", vec![1_i64, 2, 3], [3]).unwrap();
        columns.leaf("x", vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [3, 2]).unwrap().into_dataset().unwrap()
    }

    #[test]
    fn a_typed_data_set_finds_its_leaves_by_name() {
        let columns = vec![
            Column::new("1", vec![true, false], []).unwrap(),
            Column::new("0", vec![1.0_f32, 2.0, 3.0, 4.0], [2]).unwrap(),
            Column::new("unused", vec![1_i32, 2], []).unwrap(),
        ];
        let template = (zeros([0, 2]), array(Vec::<bool>::new(), [0]).unwrap());
        let typed = Dataset::from_columns(columns).unwrap().typed(&template).unwrap();
        let (x, seen) = typed.batch(Rows::list(&[1]), &default_device()).unwrap();
        assert_eq!(x.into_data().iter::<f32>().collect::<Vec<_>>(), [3.0, 4.0]);
        assert_eq!(seen.into_data().iter::<bool>().collect::<Vec<_>>(), [false]);
    }

    #[test]
    fn errors_name_the_leaf_that_does_not_match() {
        let message = |template: Named| named_data().typed(&template).unwrap_err().to_string();
        let missing = message(Named::new().with("z", zeros([1])));
        assert!(missing.contains("no data leaf `z`") && missing.contains("`y`, `x`"), "{missing}");
        let kind = message(Named::new().with("y", zeros([1])));
        assert!(kind.contains("`y` is integer") && kind.contains("float"), "{kind}");
        let rank = message(Named::new().with("x", zeros([1])));
        assert!(rank.contains("`x` has rank 2") && rank.contains('1'), "{rank}");
    }

    #[test]
    fn errors_name_invalid_columns() {
        let ragged = Column::new("x", vec![0.0; 5], [2]).unwrap_err().to_string();
        assert!(ragged.contains("`x`") && ragged.contains("5 values"), "{ragged}");
        assert!(Column::new("x", Vec::<f64>::new(), [0]).is_err());
        assert!(Column::new("x", vec![0.0], [usize::MAX, 2]).is_err());
        assert!(Column::new("x", vec![0.0], [1; 6]).unwrap_err().to_string().contains("rank 7"));
        let twice = || Column::new("x", vec![0.0; 2], []).unwrap();
        let error = Dataset::from_columns(vec![twice(), twice()]).unwrap_err().to_string();
        assert!(error.contains("two data leaves are called `x`"), "{error}");
        let nan = Column::new("x", vec![0.0, f64::NAN], []).unwrap();
        assert!(Dataset::from_columns(vec![nan.clone()]).unwrap_err().to_string().contains("NaN at row 1"));
        assert!(Dataset::from_columns(Columns::from(vec![nan]).allow_non_finite()).is_ok());
    }

    #[test]
    fn nonzero_bytes_are_true() {
        let column = Column::new("seen", sgmcmc_gradient::data::Values::BoolBytes(vec![0, 1, 7].into()), []).unwrap();
        let data = Dataset::from_columns(vec![column]).unwrap();
        let seen = data.batch(Rows::range(0..3), &default_device()).unwrap().get_bool::<1>("seen");
        assert_eq!(seen.into_data().iter::<bool>().collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(data.take(Rows::range(1..3)).unwrap().columns()[0].values(), &vec![true, true].into());
    }
}
