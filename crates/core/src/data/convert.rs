//! Data sets from columns, and from names known at run time to types known at compile time.

use std::sync::Arc;

use burn_tensor::{Bool, Int, Tensor, kind::Basic};

use super::dataset::{ROOT, check_columns};
use super::{Column, Dataset, Rows};
use crate::array::default_device;
use crate::error::{Error, Result};
use crate::tree::{Leaf, Named, Path, TensorTree, Visitor};

impl Dataset<Named> {
    /// The observations in `columns`, which closures see by their names.
    ///
    /// ```
    /// use sgmcmc_core::{Dataset, data::Column};
    ///
    /// let x = Column::new("x", vec![0.5_f32, 1.0, -1.0, 2.0, 0.0, 3.0], [2])?;
    /// let y = Column::new("y", vec![1.0_f32, 0.0, 1.0], [])?;
    /// assert_eq!(Dataset::from_columns(vec![x, y])?.observations(), 3);
    /// # Ok::<(), sgmcmc_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Dataset::new`], and if two columns have the same name.
    pub fn from_columns(columns: Vec<Column>) -> Result<Self> {
        columns.iter().try_for_each(Column::check_finite)?;
        Self::from_columns_allow_non_finite(columns)
    }

    /// As [`from_columns`](Self::from_columns), but the values are not looked at: NaN and infinite values are let through, and
    /// columns in a mapped file are not read.
    pub fn from_columns_allow_non_finite(columns: Vec<Column>) -> Result<Self> {
        let observations = check_columns(&columns)?;
        let repeated = |(index, column): (usize, &Column)| {
            columns[..index].iter().any(|earlier| earlier.name() == column.name()).then(|| column.name().to_owned())
        };
        if let Some(leaf) = columns.iter().enumerate().find_map(repeated) {
            return Err(Error::RepeatedLeaf { leaf });
        }
        let template = columns.iter().fold(Named::new(), |tree, column| tree.with(column.name(), first_row(column)));
        Ok(Self { columns: Arc::new(columns), template: Arc::new(template), observations })
    }

    /// The same observations as a tree of type `D`, which has the structure of `template`.
    ///
    /// Leaves are matched by name; of the template, only the names, ranks and kinds of the leaves count. Leaves the template does
    /// not have are left out. A template that is one bare tensor takes the leaf `data`.
    ///
    /// ```
    /// use sgmcmc_core::{Columns, array, zeros};
    ///
    /// let named = Columns::new().leaf("1", vec![4_i64, 2], [2])?.leaf("0", vec![0.5; 6], [2, 3])?.build()?;
    /// let typed = named.typed(&(zeros([1, 1]), array(vec![0_i64], [1])?))?;
    /// assert_eq!(typed.columns()[0].name(), "0");
    /// # Ok::<(), sgmcmc_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a leaf of the template is missing here, or has another rank or kind.
    pub fn typed<D: TensorTree>(&self, template: &D) -> Result<Dataset<D>> {
        let mut matcher = Matcher { available: &self.columns, chosen: Ok(Vec::new()) };
        template.visit(&mut Path::root(), &mut matcher);
        let columns = matcher.chosen?;
        let observations = check_columns(&columns)?;
        Ok(Dataset::assemble(columns, template, observations))
    }
}

/// The first row as a tensor of the column's rank, which is 1 to 6.
fn first_row(column: &Column) -> Leaf {
    fn tensor<const D: usize, K: Basic>(column: &Column) -> Tensor<D, K> {
        Tensor::from_data(column.gather(Rows::range(0..1)), (&default_device(), column.dtype()))
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
        "float" => by_rank!(burn_tensor::Float),
        "integer" => by_rank!(Int),
        _ => by_rank!(Bool),
    }
}

/// Finds the column for each leaf of a template.
struct Matcher<'a> {
    available: &'a [Column],
    chosen: Result<Vec<Column>>,
}

impl Matcher<'_> {
    fn push(&mut self, path: &Path, rank: usize, kind: &'static str) {
        if let Ok(chosen) = &mut self.chosen {
            match find(self.available, &path.name_or(ROOT), rank, kind) {
                Ok(column) => chosen.push(column.clone()),
                Err(error) => self.chosen = Err(error),
            }
        }
    }
}

/// The column `name` among `columns`.
pub(super) fn named<'a>(columns: &'a [Column], name: &str) -> Result<&'a Column> {
    columns.iter().find(|column| column.name() == name).ok_or_else(|| {
        let known: Vec<_> = columns.iter().map(|column| format!("`{}`", column.name())).collect();
        Error::UnknownLeaf { leaf: name.into(), known: known.join(", ") }
    })
}

fn find<'a>(columns: &'a [Column], name: &str, rank: usize, kind: &'static str) -> Result<&'a Column> {
    let column = named(columns, name)?;
    if column.kind() != kind {
        return Err(Error::LeafKind { leaf: name.into(), found: column.kind(), expected: kind });
    }
    let found = column.row_shape().len() + 1;
    if found != rank {
        return Err(Error::LeafRank { leaf: name.into(), found, expected: rank.to_string() });
    }
    Ok(column)
}

impl Visitor for Matcher<'_> {
    fn float<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D>) {
        self.push(path, D, "float");
    }

    fn int<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D, Int>) {
        self.push(path, D, "integer");
    }

    fn bool<const D: usize>(&mut self, path: &Path, _tensor: &Tensor<D, Bool>) {
        self.push(path, D, "boolean");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{array, zeros};
    use crate::data::Columns;

    fn named_data() -> Dataset<Named> {
        let columns = Columns::new().leaf("y", vec![1_i64, 2, 3], [3]).unwrap();
        columns.leaf("x", vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [3, 2]).unwrap().build().unwrap()
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
    fn a_leaf_that_does_not_match_is_named() {
        let message = |template: Named| named_data().typed(&template).unwrap_err().to_string();
        let missing = message(Named::new().with("z", zeros([1])));
        assert!(missing.contains("no data leaf `z`") && missing.contains("`y`, `x`"), "{missing}");
        let kind = message(Named::new().with("y", zeros([1])));
        assert!(kind.contains("`y` is integer") && kind.contains("float"), "{kind}");
        let rank = message(Named::new().with("x", zeros([1])));
        assert!(rank.contains("`x` has rank 2") && rank.contains('1'), "{rank}");
    }

    #[test]
    fn columns_that_make_no_data_set_are_named() {
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
        assert!(Dataset::from_columns_allow_non_finite(vec![nan]).is_ok());
    }

    #[test]
    fn bytes_from_outside_are_booleans() {
        let column = Column::new("seen", crate::data::Values::BoolBytes(vec![0, 1, 7].into()), []).unwrap();
        let data = Dataset::from_columns(vec![column]).unwrap();
        let seen = data.batch(Rows::range(0..3), &default_device()).unwrap().get_bool::<1>("seen");
        assert_eq!(seen.into_data().iter::<bool>().collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(data.take(Rows::range(1..3)).unwrap().columns()[0].values(), &vec![true, true].into());
    }
}
