//! The libsvm format: one observation per line, `label index:value index:value …`, indices increasing from 1.
//!
//! Dense data are `x` of shape `[N, d]` and `y` of shape `[N]`. If N·d numbers exceed the memory limit, or on request,
//! the data stay sparse: `index` `[N, L]` (integers counted from 0) and `value` `[N, L]`, where L is the length of the
//! longest row. Shorter rows are padded with index 0 and value 0. The linear predictor Σⱼ xᵢⱼ βⱼ is then
//!
//! ```text
//! let [n, l] = rows.index.dims();
//! let picked = beta.select(0, rows.index.flatten::<1>(0, 1)).reshape([n, l]);
//! let predictor = (picked * rows.value).sum_dim(1).squeeze_dim::<1>(1);
//! ```
//!
//! The padding adds 0·β₀.

use std::path::{Path, PathBuf};

use sgmcmc_gradient::data::{Column, Values};
use sgmcmc_gradient::{Columns, Precision};

use super::checked;
use crate::error::{Error, FilePosition, Problem, Result};
use crate::limit::{exceeded, memory_limit};
use crate::source::Lines;

/// A reader of a libsvm file, with or without gzip compression. [`libsvm`] creates it.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::read;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-rows.libsvm");
/// std::fs::write(&file, "+1 1:0.5 3:2\n-1 2:1\n")?;
/// let dense = read::libsvm(&file).read()?;
/// assert_eq!(dense.as_slice()[0].row_shape(), [3]);
/// let sparse = read::libsvm(&file).sparse().read()?;
/// assert_eq!(sparse.as_slice()[0].values(), &vec![0_i64, 2, 1, 0].into());
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Libsvm {
    path: PathBuf,
    columns: Option<usize>,
    layout: Layout,
    limit: usize,
    precision: Precision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Either,
    Dense,
    Sparse,
}

/// The content of a libsvm file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SparseTable {
    /// The observations.
    pub columns: Columns,
    /// The number d of features: the given number, or the largest index in the file.
    pub features: usize,
    /// True if the data are sparse (leaves `index`, `value`, `y`), false if they are dense (`x`, `y`).
    pub sparse: bool,
}

/// Creates a reader of the libsvm file at `path`. The file is opened by [`Libsvm::read`].
///
/// # Examples
///
/// See [`Libsvm`].
pub fn libsvm(path: impl AsRef<Path>) -> Libsvm {
    let path = path.as_ref().into();
    let limit = usize::try_from(memory_limit()).unwrap_or(usize::MAX);
    Libsvm { path, columns: None, layout: Layout::Either, limit, precision: Precision::Single }
}

impl Libsvm {
    /// Sets the number d of features. A larger index is an error. The default is the largest index in the file, which
    /// may be smaller in a test set than in the training set.
    #[must_use]
    pub fn columns(self, columns: usize) -> Self {
        Self { columns: Some(columns), ..self }
    }

    /// Keeps the data sparse.
    #[must_use]
    pub fn sparse(self) -> Self {
        Self { layout: Layout::Sparse, ..self }
    }

    /// Makes the data dense. Data that exceed the memory limit are an error.
    #[must_use]
    pub fn dense(self) -> Self {
        Self { layout: Layout::Dense, ..self }
    }

    /// Sets the memory limit in bytes, see [`limit`](crate::limit). Data that exceed it as dense rows are kept sparse.
    #[must_use]
    pub fn memory_limit(self, bytes: usize) -> Self {
        Self { limit: bytes, ..self }
    }

    /// Sets the type of the float leaves. The default is `f32`.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Reads the file.
    ///
    /// # Errors
    ///
    /// Returns an error with file, line and index if the file is missing, empty, truncated or damaged, has text in
    /// place of a number, NaN or infinite values, or indices out of range or order, or if it exceeds the memory limit.
    pub fn read(&self) -> Result<Columns> {
        self.read_table().map(|table| table.columns)
    }

    /// Reads the file like [`read`](Self::read), and returns the number of features, which sparse data do not have.
    ///
    /// # Errors
    ///
    /// Returns an error in the cases of [`read`](Self::read).
    pub fn read_table(&self) -> Result<SparseTable> {
        let path = self.path.as_path();
        let mut rows = Rows { ends: Vec::new(), indices: Vec::new(), values: Vec::new(), labels: Vec::new() };
        let mut lines = Lines::open(path)?.with_limit(self.limit as u64);
        let most = self.limit / (size_of::<u64>() + size_of::<f64>());
        while let Some((line, text)) = lines.next_line()? {
            let text = text.split(|byte| *byte == b'#').next().unwrap_or_default();
            rows.push(text, self.columns).map_err(|(index, problem)| {
                let position = FilePosition { column: index, ..FilePosition::line(line) };
                Error::at_position(path, position, problem)
            })?;
            if rows.indices.len() + rows.labels.len() > most {
                return Err(Error::at_position(path, FilePosition::line(line), exceeded(self.limit as u64)));
            }
        }
        if rows.labels.is_empty() {
            return Err(Error::file(path, Problem::Empty));
        }
        let largest = rows.indices.iter().max().map_or(1, |index| index.saturating_add(1));
        let columns = self.columns.unwrap_or(usize::try_from(largest).unwrap_or(usize::MAX));
        let size = match self.precision {
            Precision::Single => 4,
            Precision::Double => 8,
        };
        let fits = |width: usize, size: usize| {
            let numbers = width.checked_mul(rows.labels.len());
            numbers.and_then(|numbers| numbers.checked_mul(size)).is_some_and(|bytes| bytes <= self.limit)
        };
        let sparse = self.layout == Layout::Sparse || (self.layout == Layout::Either && !fits(columns, size));
        let width = if sparse { rows.longest() } else { columns };
        if !fits(width, if sparse { size + 8 } else { size }) {
            let detail = format!(
                "{} rows of {width} numbers take more than {} bytes: raise `memory_limit`{}",
                rows.labels.len(),
                self.limit,
                if sparse { "" } else { ", or keep the rows `sparse`" }
            );
            return Err(Error::file(path, Problem::TooLarge { detail }));
        }
        let leaves = if sparse { rows.sparse(width) } else { rows.dense(columns, self.precision) };
        let leaves = leaves.map(|leaves| leaves.into_iter().map(|leaf| leaf.with_precision(self.precision)).collect());
        let leaves: Vec<Column> = leaves.map_err(Error::content(path))?;
        Ok(SparseTable { columns: checked(leaves.into(), path)?, features: columns, sparse })
    }
}

/// Sparse rows, one after another, in double precision. Row i ends before `ends[i]`.
struct Rows {
    ends: Vec<usize>,
    indices: Vec<u64>,
    values: Vec<f64>,
    labels: Vec<f64>,
}

impl Rows {
    /// Appends a line, unless it is blank. An error has the column in which it occurs, if it is known: the index, or
    /// `label`.
    fn push(&mut self, text: &[u8], columns: Option<usize>) -> Result<(), (Option<String>, Problem)> {
        let mut fields = text.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let Some(label) = fields.next() else { return Ok(()) };
        let label = number(label).map_err(|problem| (Some("label".into()), problem))?;
        let mut last = 0;
        for field in fields {
            let mut parts = field.splitn(2, |byte| *byte == b':');
            let (Some(index), Some(value)) = (parts.next(), parts.next()) else {
                return Err((None, Problem::not_a_number(field, "a pair `index:value`")));
            };
            let index: u64 = std::str::from_utf8(index)
                .ok()
                .and_then(|index| index.parse().ok())
                .ok_or_else(|| (None, Problem::not_a_number(index, "an index")))?;
            let column = Some(index.to_string());
            let range = match columns {
                Some(columns) if index > columns as u64 => Some(format!("the number of columns is {columns}")),
                _ if index == 0 => Some("indices count from 1".into()),
                _ if index > i64::MAX as u64 => Some("it is not a 64-bit integer".into()),
                _ if index <= last => Some(format!("indices increase, and {last} comes before it")),
                _ => None,
            };
            if let Some(range) = range {
                return Err((column, Problem::OutOfRange { what: "index", value: index.to_string(), range }));
            }
            let value = number(value).map_err(|problem| (column, problem))?;
            last = index;
            self.indices.push(index - 1);
            self.values.push(value);
        }
        self.labels.push(label);
        self.ends.push(self.indices.len());
        Ok(())
    }

    fn iter(&self) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.ends.iter().scan(0, |start, end| Some(std::mem::replace(start, *end)..*end))
    }

    fn longest(&self) -> usize {
        self.iter().map(|row| row.len()).max().unwrap_or_default().max(1)
    }

    fn dense(self, columns: usize, precision: Precision) -> sgmcmc_gradient::Result<Vec<Column>> {
        let x = match precision {
            Precision::Single => self.fill(columns, |value| value as f32).into(),
            Precision::Double => Values::from(self.fill(columns, |value| value)),
        };
        Ok(vec![Column::new("x", x, [columns])?, Column::new("y", self.labels, [])?])
    }

    fn fill<T: Clone + Default>(&self, columns: usize, convert: impl Fn(f64) -> T) -> Vec<T> {
        let mut x = vec![T::default(); self.labels.len() * columns];
        for (row, range) in self.iter().enumerate() {
            for entry in range {
                x[row * columns + self.indices[entry] as usize] = convert(self.values[entry]);
            }
        }
        x
    }

    fn sparse(self, width: usize) -> sgmcmc_gradient::Result<Vec<Column>> {
        let mut index = vec![0_i64; self.labels.len() * width];
        let mut value = vec![0.0; index.len()];
        for (row, range) in self.iter().enumerate() {
            for (position, entry) in range.enumerate() {
                index[row * width + position] = self.indices[entry] as i64;
                value[row * width + position] = self.values[entry];
            }
        }
        let leaves = [Column::new("index", index, [width]), Column::new("value", value, [width])];
        leaves.into_iter().chain([Column::new("y", self.labels, [])]).collect()
    }
}

fn number(text: &[u8]) -> Result<f64, Problem> {
    let value = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    match value {
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err(Problem::NotFinite { text: crate::error::shortened(text) }),
        None => Err(Problem::not_a_number(text, "a number")),
    }
}
