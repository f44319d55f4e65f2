//! The idx format, in which MNIST is published: `0 0 type rank`, the dimensions as big-endian u32, then the numbers.

use std::io::BufRead;
use std::path::Path;

use sgmcmc_core::data::{Column, Values};

use crate::error::{Error, Problem, Result};
use crate::limit::{Budget, memory_limit};
use crate::source::{count, expect_end, open_telling, read_bytes, read_numbers};

/// Reads an idx file, compressed by gzip or not, as the leaf `name`. Its first dimension is the observation.
///
/// Bytes and short integers become i32.
///
/// # Errors
///
/// With the file, if it is missing, truncated, corrupt, empty, or has a value that is not finite.
pub fn idx(path: impl AsRef<Path>, name: &str) -> Result<Column> {
    idx_within(path, name, memory_limit())
}

/// As [`idx`], with a limit of its own for the memory that the numbers take, in bytes.
///
/// # Errors
///
/// See [`idx`].
pub fn idx_within(path: impl AsRef<Path>, name: &str, limit: u64) -> Result<Column> {
    let path = path.as_ref();
    let mut budget = Budget::new(limit);
    let (mut reader, head) = start(path)?;
    let size = if head.kind == 0x0e { 8 } else { 4 };
    head.allow(size, budget).map_err(|problem| Error::file(path, problem))?;
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

/// The bytes of an idx file of bytes, and its dimensions.
pub(crate) fn idx_bytes(path: &Path) -> Result<(Vec<u8>, Vec<u64>)> {
    let (mut reader, head) = start(path)?;
    if head.kind != 0x08 {
        let problem = Problem::WrongType { found: format!("{:#04x}", head.kind), expected: "bytes (0x08) are wanted" };
        return Err(Error::file(path, problem));
    }
    let fail = |problem| Error::file(path, problem);
    let mut budget = Budget::new(memory_limit());
    head.allow(1, budget).map_err(fail)?;
    let bytes = read_numbers(&mut reader, head.count, &mut budget, |[byte]| byte).map_err(fail)?;
    expect_end(&mut reader).map_err(|problem| Error::file(path, problem))?;
    Ok((bytes, head.dimensions))
}

struct Head {
    kind: u8,
    dimensions: Vec<u64>,
    count: u64,
    compressed: bool,
}

impl Head {
    /// Refuses a compressed file that announces more numbers of `size` bytes than the budget allows, before it is unpacked.
    fn allow(&self, size: u64, budget: Budget) -> Result<(), Problem> {
        let announced = self.count.saturating_mul(size);
        if self.compressed && announced > budget.left() { Err(budget.exceeded()) } else { Ok(()) }
    }
}

fn start(path: &Path) -> Result<(Box<dyn BufRead>, Head)> {
    let (mut reader, compressed) = open_telling(path)?;
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
