//! Files as streams of bytes, with or without gzip compression.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, FilePosition, Problem, Result};
use crate::limit::{Budget, LINE_SHARE, exceeded, memory_limit};

/// The size of read buffers in bytes.
const BUFFER: usize = 1 << 16;

/// Opens a file, and decompresses it if its first bytes are those of gzip. The name of the file is ignored.
///
/// # Errors
///
/// Returns an error that names the file if it cannot be opened.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    open_detecting_gzip(path).map(|(reader, _)| reader)
}

/// Opens a file like [`open`], and returns whether it is compressed.
pub(crate) fn open_detecting_gzip(path: &Path) -> Result<(Box<dyn BufRead>, bool)> {
    let mut file = open_plain(path)?;
    let start = file.fill_buf().map_err(|error| Error::file(path, Problem::reading(error)))?;
    if start.starts_with(&[0x1f, 0x8b]) {
        Ok((Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(file))), true))
    } else {
        Ok((Box::new(file), false))
    }
}

/// Opens a file without decompression.
pub(crate) fn open_plain(path: &Path) -> Result<BufReader<File>> {
    let file = File::open(path).map_err(|error| Error::file(path, Problem::Io(error)))?;
    Ok(BufReader::with_capacity(BUFFER, file))
}

/// Reads `count` bytes of a header.
pub(crate) fn read_bytes(reader: &mut dyn Read, count: u64) -> Result<Vec<u8>, Problem> {
    read_numbers(reader, count, &mut Budget::new(1 << 20), |[byte]| byte)
}

/// Reads `count` numbers of `N` bytes each. Memory grows with the bytes that are read, so that a wrong `count`
/// allocates nothing.
pub(crate) fn read_numbers<T, const N: usize>(
    reader: &mut dyn Read,
    count: u64,
    budget: &mut Budget,
    decode: impl Fn([u8; N]) -> T,
) -> Result<Vec<T>, Problem> {
    const BLOCK: u64 = 1 << 13;
    let mut values = Vec::new();
    let mut block = Vec::new();
    let mut left = count;
    while left > 0 {
        let requested = left.min(BLOCK);
        block.clear();
        reader.take(requested * N as u64).read_to_end(&mut block).map_err(Problem::reading)?;
        let (numbers, _) = block.as_chunks::<N>();
        budget.take_elements::<T>(numbers.len() as u64)?;
        values.extend(numbers.iter().map(|bytes| decode(*bytes)));
        if (numbers.len() as u64) < requested {
            return Err(Problem::Truncated { detail: format!("{count} numbers announced, {} found", values.len()) });
        }
        left -= requested;
    }
    Ok(values)
}

/// Returns the number of elements of an array with these dimensions.
///
/// # Errors
///
/// Returns an error if the number overflows.
pub(crate) fn count(dimensions: &[u64]) -> Result<u64, Problem> {
    let count = dimensions.iter().try_fold(1_u64, |count, size| count.checked_mul(*size));
    count.filter(|count| *count <= isize::MAX as u64 / 8).ok_or_else(|| Problem::Corrupt {
        detail: format!("the dimensions {dimensions:?} make more numbers than any memory holds"),
    })
}

/// Checks that the stream ends.
pub(crate) fn expect_end(reader: &mut dyn Read) -> Result<(), Problem> {
    match io::copy(&mut reader.take(1), &mut io::sink()).map_err(Problem::reading)? {
        0 => Ok(()),
        _ => Err(Problem::Corrupt { detail: "there are more bytes than the header announces".into() }),
    }
}

/// A reader of the lines of a text file, with their numbers and without line breaks.
///
/// # Examples
///
/// ```
/// use sgmcmc::storage::source::Lines;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-lines.txt");
/// std::fs::write(&file, "first\nsecond\n")?;
/// let mut lines = Lines::open(&file)?;
/// assert_eq!(lines.next_line()?, Some((1, &b"first"[..])));
/// # std::fs::remove_file(&file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct Lines<'a> {
    path: &'a Path,
    reader: Box<dyn BufRead>,
    buffer: Vec<u8>,
    number: u64,
    /// The maximal length of a line in bytes.
    longest: u64,
}

impl std::fmt::Debug for Lines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<'a> Lines<'a> {
    /// Opens a text file, with or without gzip compression.
    ///
    /// # Errors
    ///
    /// Returns an error that names the file if it cannot be read.
    pub fn open(path: &'a Path) -> Result<Self> {
        Ok(Self::new(path, open(path)?, 0))
    }

    /// Creates a reader of the lines of `reader`. Messages name `path`, and lines are counted after the first `before`
    /// lines.
    pub fn new(path: &'a Path, reader: Box<dyn BufRead>, before: u64) -> Self {
        Self { path, reader, buffer: Vec::new(), number: before, longest: memory_limit() / LINE_SHARE }
    }

    /// Sets the memory limit, which bounds the length of a line.
    pub(crate) fn with_limit(self, limit: u64) -> Self {
        Self { longest: limit / LINE_SHARE, ..self }
    }

    /// Returns the number and the bytes of the next line, or `None` at the end of the file.
    ///
    /// # Errors
    ///
    /// Returns an error with file and line if the line cannot be read or is too long.
    pub fn next_line(&mut self) -> Result<Option<(u64, &[u8])>> {
        self.number += 1;
        let read = read_line(&mut self.reader, &mut self.buffer, self.longest);
        match read.map_err(|problem| Error::at_position(self.path, FilePosition::line(self.number), problem))? {
            0 => Ok(None),
            _ => Ok(Some((self.number, self.buffer.trim_ascii_end()))),
        }
    }
}

/// Reads a line with its line break, of at most `longest` bytes, and returns its length.
pub(crate) fn read_line(reader: &mut dyn BufRead, line: &mut Vec<u8>, longest: u64) -> Result<usize, Problem> {
    line.clear();
    let read = reader.take(longest.saturating_add(1)).read_until(b'\n', line).map_err(Problem::reading)?;
    if read as u64 > longest { Err(exceeded(longest.saturating_mul(LINE_SHARE))) } else { Ok(read) }
}

/// A stream that fails when `allowance` bytes have been read. The owner of the allowance renews it.
pub(crate) struct Metered<R> {
    inner: R,
    allowance: Rc<Cell<u64>>,
}

impl<R> Metered<R> {
    pub(crate) fn new(inner: R, allowance: Rc<Cell<u64>>) -> Self {
        Self { inner, allowance }
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.allowance.get() == 0 {
            return Err(io::Error::from(io::ErrorKind::OutOfMemory));
        }
        let read = self.inner.read(bytes)?;
        self.allowance.set(self.allowance.get().saturating_sub(read as u64));
        Ok(read)
    }
}
