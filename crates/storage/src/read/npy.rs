//! NumPy arrays: `\x93NUMPY`, a version, the length of a header, the header as a Python dictionary, then the numbers.
//!
//! The header is not read with a general parser of Python literals, because an untrusted file may have dimensions whose
//! product overflows, or brackets that are nested too deeply.

use std::io::Read;
use std::path::Path;

use sgmcmc_gradient::data::{Column, Values};

use crate::error::{Error, Problem, Result, shortened};
use crate::limit::{Budget, memory_limit};
use crate::source::{count, expect_end, open_plain, read_bytes, read_numbers};

/// Reads a `.npy` file as the leaf `name`. The first axis is the observation.
///
/// The supported types are f4, f8, i1, i2, i4, i8, u1, u2, u4 and bool, in either byte order and in C or Fortran order.
/// Integers of up to 32 bits become `i32`, and u4 becomes `i64`.
///
/// # Errors
///
/// Returns an error that names the file if it is missing, truncated, damaged or empty, has another type, or has a value
/// that is not finite.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::read;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-read.npy");
/// let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n";
/// let start = [&b"\x93NUMPY\x01\x00"[..], &[header.len() as u8, 0]].concat();
/// std::fs::write(&file, [&start[..], header.as_bytes(), &[7, 8]].concat())?;
/// assert_eq!(read::npy(&file, "x")?.values(), &vec![7_i32, 8].into());
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn npy(path: impl AsRef<Path>, name: &str) -> Result<Column> {
    npy_within(path, name, memory_limit())
}

/// Reads a `.npy` file like [`npy`], within a limit on the memory of the numbers in bytes.
///
/// # Errors
///
/// Returns an error in the cases of [`npy`].
pub fn npy_within(path: impl AsRef<Path>, name: &str, limit: u64) -> Result<Column> {
    let path = path.as_ref();
    let mut reader = open_plain(path)?;
    let fail = |problem| Error::file(path, problem);
    let array = read_array(&mut reader, &mut Budget::new(limit)).map_err(fail)?;
    array.column(path, name)
}

/// An array in C order.
pub(super) struct Array {
    shape: Vec<usize>,
    values: Values,
}

impl Array {
    pub(super) fn column(self, path: &Path, name: &str) -> Result<Column> {
        let row_shape = self.shape.get(1..).unwrap_or_default();
        let column = Column::new(name, self.values, row_shape).map_err(Error::content(path))?;
        column.check_finite().map_err(Error::content(path))?;
        Ok(column)
    }
}

/// Reads one array and checks that the stream ends after it.
pub(super) fn read_array(reader: &mut dyn Read, budget: &mut Budget) -> Result<Array, Problem> {
    let header = Header::read(reader)?;
    let values = header.values(reader, budget)?;
    let mut reader = reader;
    expect_end(&mut reader)?;
    let shape = header.shape.iter().map(|size| *size as usize).collect();
    Ok(Array { shape, values })
}

/// The header of an array.
struct Header {
    little_endian: bool,
    element: String,
    fortran: bool,
    shape: Vec<u64>,
    count: u64,
}

impl Header {
    fn read(reader: &mut dyn Read) -> Result<Self, Problem> {
        let start = read_bytes(reader, 8)?;
        let corrupt = |detail: &str| Problem::Corrupt { detail: detail.into() };
        if !start.starts_with(b"\x93NUMPY") {
            return Err(corrupt("a .npy file starts with \\x93NUMPY"));
        }
        let length = match start[6] {
            1 => read_bytes(reader, 2)?.iter().rev().fold(0, |length, byte| length << 8 | u64::from(*byte)),
            2 | 3 => read_bytes(reader, 4)?.iter().rev().fold(0, |length, byte| length << 8 | u64::from(*byte)),
            version => return Err(corrupt(&format!("version {version} is none of 1, 2 and 3"))),
        };
        if length > 1 << 16 {
            return Err(corrupt(&format!("a header of {length} bytes")));
        }
        let text = read_bytes(reader, length)?;
        let wrong = || Problem::Corrupt { detail: format!("the header `{}` is not understood", shortened(&text)) };
        Self::parse(std::str::from_utf8(&text).map_err(|_| wrong())?, wrong)
    }

    fn parse(text: &str, wrong: impl Fn() -> Problem) -> Result<Self, Problem> {
        let value = |key: &str| {
            let after = text.split_once(&format!("'{key}'"))?.1;
            after.trim_start().strip_prefix(':').map(str::trim_start)
        };
        let descr = value("descr").ok_or_else(&wrong)?;
        let structured =
            || Problem::WrongType { found: "structured".into(), expected: "one number per element is expected" };
        let element = descr.strip_prefix('\'').and_then(|rest| rest.split_once('\'')).ok_or_else(structured)?.0;
        let order = value("fortran_order").ok_or_else(&wrong)?;
        let fortran = order.starts_with("True");
        if !fortran && !order.starts_with("False") {
            return Err(wrong());
        }
        let sizes = value("shape").and_then(|rest| rest.strip_prefix('(')?.split_once(')')).ok_or_else(&wrong)?.0;
        let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
        let shape = sizes.map(|size| size.parse::<u64>().map_err(|_| wrong())).collect::<Result<Vec<_>, _>>()?;
        if shape.first().is_none_or(|rows| *rows == 0) {
            return Err(Problem::Empty);
        }
        let (byte_order, element) = element.split_at_checked(1).ok_or_else(&wrong)?;
        let little_endian = match byte_order {
            "<" | "|" => true,
            ">" => false,
            "=" => cfg!(target_endian = "little"),
            _ => return Err(wrong()),
        };
        let count = count(&shape)?;
        Ok(Self { little_endian, element: element.into(), fortran, shape, count })
    }

    fn values(&self, reader: &mut dyn Read, budget: &mut Budget) -> Result<Values, Problem> {
        macro_rules! numbers {
            ($type:ty => $kept:ty) => {{
                let from = if self.little_endian { <$type>::from_le_bytes } else { <$type>::from_be_bytes };
                self.to_c_order(read_numbers(reader, self.count, budget, |bytes| <$kept>::from(from(bytes)))?).into()
            }};
        }
        Ok(match self.element.as_str() {
            "f4" => numbers!(f32 => f32),
            "f8" => numbers!(f64 => f64),
            "i8" => numbers!(i64 => i64),
            "i4" => numbers!(i32 => i32),
            "i2" => numbers!(i16 => i32),
            "i1" => numbers!(i8 => i32),
            "u4" => numbers!(u32 => i64),
            "u2" => numbers!(u16 => i32),
            "u1" => numbers!(u8 => i32),
            "b1" => self.to_c_order(read_numbers(reader, self.count, budget, |[byte]| byte != 0)?).into(),
            other => {
                let expected = "use f4, f8, i1, i2, i4, i8, u1, u2, u4 or bool";
                return Err(Problem::WrongType { found: shortened(other.as_bytes()), expected });
            }
        })
    }

    /// Converts numbers from the order of the file to C order.
    fn to_c_order<T: Copy>(&self, stored: Vec<T>) -> Vec<T> {
        if !self.fortran || self.shape.len() < 2 {
            return stored;
        }
        let sizes: Vec<usize> = self.shape.iter().map(|size| *size as usize).collect();
        let mut subscripts = vec![0; sizes.len()];
        let mut ordered = Vec::with_capacity(stored.len());
        for _ in 0..stored.len() {
            let index =
                subscripts.iter().zip(&sizes).rev().fold(0, |index, (subscript, size)| index * size + subscript);
            ordered.push(stored[index]);
            for (subscript, size) in subscripts.iter_mut().zip(&sizes).rev() {
                *subscript += 1;
                if *subscript < *size {
                    break;
                }
                *subscript = 0;
            }
        }
        ordered
    }
}
