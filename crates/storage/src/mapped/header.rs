//! The header of a mapped file.
//!
//! The numbers of the header are little-endian. The data are in the byte order of the machine that wrote them, which
//! the header records.
//!
//! ```text
//! magic[8] version:u32 order:u8 0:u8[3] length:u32 leaves:u32 rows:u64
//! per leaf: name_length:u32 name element:u8 axes:u8 0:u16 size:u64 per axis offset:u64 bytes:u64 checksum:u32
//! checksum:u32 of all bytes before
//! ```

use std::io::Read;
use std::ops::Range;

use sgmcmc_gradient::data::{Column, Values};

use crate::error::{Problem, Result};
use crate::source::read_bytes;

const MAGIC: [u8; 8] = *b"\x89SGMCMC\n";
const VERSION: u32 = 1;
const ORDER: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };
/// The number of bytes before the first leaf.
const START: usize = 32;
/// The alignment of leaves in bytes.
const ALIGNMENT: u64 = 64;
/// The maximal length of a header in bytes.
const LONGEST: u32 = 1 << 20;

/// The element type of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    F32 = 1,
    F64 = 2,
    I32 = 3,
    I64 = 4,
    Bool = 5,
}

impl Element {
    pub(super) fn from_column(column: &Column) -> Self {
        match column.values() {
            Values::F32(_) => Self::F32,
            Values::F64(_) => Self::F64,
            Values::I32(_) => Self::I32,
            Values::I64(_) => Self::I64,
            Values::Bool(_) | Values::BoolBytes(_) => Self::Bool,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        [Self::F32, Self::F64, Self::I32, Self::I64, Self::Bool].into_iter().find(|element| *element as u8 == code)
    }

    fn size(self) -> u64 {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
            Self::Bool => 1,
        }
    }
}

/// The header entry of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) name: String,
    pub(super) element: Element,
    pub(super) row_shape: Vec<usize>,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    pub(super) checksum: u32,
}

impl Leaf {
    /// Returns the range of bytes in the file, which exists after [`Header::check`].
    pub(super) fn range(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.bytes) as usize
    }
}

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) rows: u64,
    pub(super) leaves: Vec<Leaf>,
}

impl Header {
    /// Returns the offset of the first leaf, which depends on names and ranks only.
    pub(super) fn end(&self) -> u64 {
        aligned(self.encode().len() as u64)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut leaves = Vec::new();
        for leaf in &self.leaves {
            leaves.extend((leaf.name.len() as u32).to_le_bytes());
            leaves.extend(leaf.name.as_bytes());
            leaves.extend([leaf.element as u8, leaf.row_shape.len() as u8, 0, 0]);
            leaf.row_shape.iter().for_each(|size| leaves.extend((*size as u64).to_le_bytes()));
            leaves.extend(leaf.offset.to_le_bytes());
            leaves.extend(leaf.bytes.to_le_bytes());
            leaves.extend(leaf.checksum.to_le_bytes());
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([ORDER, 0, 0, 0]);
        bytes.extend(((START + leaves.len() + 4) as u32).to_le_bytes());
        bytes.extend((self.leaves.len() as u32).to_le_bytes());
        bytes.extend(self.rows.to_le_bytes());
        bytes.extend(leaves);
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    pub(super) fn read(file: &mut dyn Read) -> Result<Self, Problem> {
        let corrupt = |detail: String| Problem::Corrupt { detail };
        let mut bytes = read_bytes(file, START as u64)?;
        let mut start = Cursor { bytes: &bytes };
        if start.take()? != MAGIC {
            return Err(corrupt("a mapped file starts with \\x89SGMCMC".into()));
        }
        let version = u32::from_le_bytes(start.take()?);
        let [order, ..] = start.take::<4>()?;
        let length = u32::from_le_bytes(start.take()?);
        if version != VERSION {
            return Err(corrupt(format!("its version is {version}, this library reads version {VERSION}")));
        }
        if length < START as u32 + 4 || length > LONGEST {
            return Err(corrupt(format!("its header cannot have {length} bytes")));
        }
        let count = u32::from_le_bytes(start.take()?);
        let rows = u64::from_le_bytes(start.take()?);
        bytes.extend(read_bytes(file, u64::from(length) - START as u64)?);
        let (content, checksum) = bytes.split_at(bytes.len() - 4);
        if crc32fast::hash(content).to_le_bytes() != checksum {
            return Err(corrupt("the checksum of the header is wrong".into()));
        }
        if order != ORDER {
            return Err(corrupt("it was written on a machine of the other byte order: create it again here".into()));
        }
        let mut rest = Cursor { bytes: &content[START..] };
        let leaves = (0..count).map(|_| rest.leaf()).collect::<Result<_, _>>()?;
        Ok(Self { rows, leaves })
    }

    /// Checks that every leaf has the right size and lies inside a file of `length` bytes. The error has the name of
    /// the leaf.
    pub(super) fn check(&self, length: u64) -> Result<(), (String, Problem)> {
        for leaf in &self.leaves {
            let numbers = leaf.row_shape.iter().try_fold(self.rows, |n, size| n.checked_mul(*size as u64));
            let bytes = numbers.and_then(|numbers| numbers.checked_mul(leaf.element.size()));
            let end = leaf.offset.checked_add(leaf.bytes);
            let problem = match (bytes, end) {
                (Some(bytes), Some(end)) if bytes == leaf.bytes && leaf.offset % ALIGNMENT == 0 => {
                    if end <= length {
                        continue;
                    }
                    Problem::Truncated { detail: format!("the leaf ends at byte {end} but the file has {length}") }
                }
                _ => {
                    let Leaf { row_shape, offset, bytes, .. } = leaf;
                    let detail = format!("{} rows of {row_shape:?} in {bytes} bytes at {offset}", self.rows);
                    Problem::Corrupt { detail }
                }
            };
            return Err((leaf.name.clone(), problem));
        }
        Ok(())
    }
}

/// Returns the next multiple of the alignment.
pub(super) fn aligned(offset: u64) -> u64 {
    offset.next_multiple_of(ALIGNMENT)
}

/// A reader of the bytes of a header.
struct Cursor<'a> {
    bytes: &'a [u8],
}

impl Cursor<'_> {
    fn slice(&mut self, length: usize) -> Result<&[u8], Problem> {
        let short = || Problem::Corrupt { detail: "the header is shorter than its leaves".into() };
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or_else(short)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let mut taken = [0; N];
        taken.copy_from_slice(self.slice(N)?);
        Ok(taken)
    }

    fn leaf(&mut self) -> Result<Leaf, Problem> {
        let corrupt = |detail: String| Problem::Corrupt { detail };
        let length = u32::from_le_bytes(self.take()?);
        let name = String::from_utf8(self.slice(length as usize)?.to_vec());
        let name = name.map_err(|_| corrupt("the name of a leaf is not UTF-8".into()))?;
        let [code, axes, ..] = self.take::<4>()?;
        let element = Element::from_code(code)
            .ok_or_else(|| corrupt(format!("leaf `{name}` has the unknown element type {code}")))?;
        let sizes = (0..axes).map(|_| Ok(u64::from_le_bytes(self.take()?) as usize));
        let row_shape = sizes.collect::<Result<_, Problem>>()?;
        let offset = u64::from_le_bytes(self.take()?);
        let bytes = u64::from_le_bytes(self.take()?);
        let checksum = u32::from_le_bytes(self.take()?);
        Ok(Leaf { name, element, row_shape, offset, bytes, checksum })
    }
}
