//! The idx format of MNIST: `0 0 type rank`, the dimensions as big-endian `u32`, then the numbers.

use std::io::BufRead;
use std::path::Path;

use sgmcmc_gradient::data::{Column, Values};

use crate::error::{Error, Problem, Result};
use crate::limit::{Budget, memory_limit};
use crate::source::{count, expect_end, open_detecting_gzip, read_bytes, read_numbers};

/// Reads an idx file, with or without gzip compression, as the leaf `name`. The first dimension is the observation.
///
/// Bytes and short integers become `i32`.
///
/// # Errors
///
/// Returns an error that names the file if it is missing, truncated, damaged or empty, or has a value that is not
/// finite.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::read;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-read.idx");
/// // Two observations of three bytes each.
/// std::fs::write(&file, [0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6])?;
/// let column = read::idx(&file, "pixels")?;
/// assert_eq!(column.row_shape(), [3]);
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn idx(path: impl AsRef<Path>, name: &str) -> Result<Column> {
    idx_within(path, name, memory_limit())
}

/// Reads an idx file like [`idx`], within a limit on the memory of the numbers in bytes.
///
/// # Errors
///
/// Returns an error in the cases of [`idx`].
pub fn idx_within(path: impl AsRef<Path>, name: &str, limit: u64) -> Result<Column> {
    let path = path.as_ref();
    let mut budget = Budget::new(limit);
    let (mut reader, head) = read_head(path)?;
    let size = if head.kind == 0x0e { 8 } else { 4 };
    head.check_size(size, budget).map_err(|problem| Error::file(path, problem))?;
    let mut numbers = |reader: &mut dyn BufRead| -> Result<Values, Problem> {
        let mut reader = reader;
        let n = head.count;
        Ok(match head.kind {
            0x08 => read_numbers(&mut reader, n, &mut budget, |[byte]| i32::from(byte))?.into(),
            0x09 => read_numbers(&mut reader, n, &mut budget, |bytes| i32::from(i8::from_be_bytes(bytes)))?.into(),
            0x0b => read_numbers(&mut reader, n, &mut budget, |bytes| i32::from(i16::from_be_bytes(bytes)))?.into(),
            0x0c => read_numbers(&mut reader, n, &mut budget, i32::from_be_bytes)?.into(),
            0x0d => read_numbers(&mut reader, n, &mut budget, f32::from_be_bytes)?.into(),
            0x0e => read_numbers(&mut reader, n, &mut budget, f64::from_be_bytes)?.into(),
            other => {
                let expected = "an idx file has 0x08, 0x09, 0x0b, 0x0c, 0x0d or 0x0e";
                return Err(Problem::WrongType { found: format!("{other:#04x}"), expected });
            }
        })
    };
    let values = numbers(reader.as_mut()).map_err(|problem| Error::file(path, problem))?;
    expect_end(&mut reader).map_err(|problem| Error::file(path, problem))?;
    let row_shape: Vec<usize> = head.dimensions[1..].iter().map(|size| *size as usize).collect();
    let column = Column::new(name, values, row_shape).map_err(Error::content(path))?;
    column.check_finite().map_err(Error::content(path))?;
    Ok(column)
}

/// Reads an idx file of bytes, and returns the bytes and the dimensions.
///
/// # Errors
///
/// Returns an error in the cases of [`idx`], and if the elements are not bytes.
pub fn idx_bytes(path: &Path) -> Result<(Vec<u8>, Vec<u64>)> {
    let (mut reader, head) = read_head(path)?;
    if head.kind != 0x08 {
        let problem =
            Problem::WrongType { found: format!("{:#04x}", head.kind), expected: "bytes (0x08) are expected" };
        return Err(Error::file(path, problem));
    }
    let fail = |problem| Error::file(path, problem);
    let mut budget = Budget::new(memory_limit());
    head.check_size(1, budget).map_err(fail)?;
    let bytes = read_numbers(&mut reader, head.count, &mut budget, |[byte]| byte).map_err(fail)?;
    expect_end(&mut reader).map_err(|problem| Error::file(path, problem))?;
    Ok((bytes, head.dimensions))
}

/// The header of an idx file.
struct Head {
    kind: u8,
    dimensions: Vec<u64>,
    count: u64,
    compressed: bool,
}

impl Head {
    /// Checks that the numbers of a compressed file, of `size` bytes each, are within the budget before they are
    /// decompressed.
    fn check_size(&self, size: u64, budget: Budget) -> Result<(), Problem> {
        let announced = self.count.saturating_mul(size);
        if self.compressed && announced > budget.left() { Err(budget.exceeded()) } else { Ok(()) }
    }
}

/// Opens a file and reads its header.
fn read_head(path: &Path) -> Result<(Box<dyn BufRead>, Head)> {
    let (mut reader, compressed) = open_detecting_gzip(path)?;
    let fail = |problem| Error::file(path, problem);
    let magic = read_bytes(&mut reader, 4).map_err(fail)?;
    let (0, 0, kind, rank) = (magic[0], magic[1], magic[2], magic[3]) else {
        return Err(fail(Problem::Corrupt { detail: "an idx file starts with two zero bytes".into() }));
    };
    let sizes =
        read_numbers(&mut reader, u64::from(rank), &mut Budget::new(1 << 20), u32::from_be_bytes).map_err(fail)?;
    let dimensions: Vec<u64> = sizes.into_iter().map(u64::from).collect();
    if dimensions.first().is_none_or(|rows| *rows == 0) {
        return Err(fail(Problem::Empty));
    }
    let count = count(&dimensions).map_err(fail)?;
    Ok((reader, Head { kind, dimensions, count, compressed }))
}
