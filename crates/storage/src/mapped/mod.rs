//! Data sets larger than memory, in files that are mapped into memory.
//!
//! ```text
//! header    magic, version, byte order, rows, per leaf: name, type, shape, offset, bytes, checksum; its own checksum
//! leaf 0    the numbers in row-major order, aligned to 64 bytes
//! leaf 1    …
//! ```
//!
//! Opening a file checks the header and maps the file. The operating system reads observations when a minibatch needs
//! them, and may evict them at any time. [`verify`](Mapped::verify) reads the whole file and compares the checksums.
//!
//! A file appears under its name when it is complete. It must not be changed while it is mapped. To replace it, create
//! it again under the same name: processes that have mapped the old file keep it.
//!
//! # Files that are truncated while they are mapped
//!
//! The length of the file is compared with the header before every batch of observations is read. A truncated file is
//! an error that names the file, and chains end with the draws that they have. If the file is truncated at the moment
//! at which its pages are read, the operating system ends the process with SIGBUS. With
//! [`with_system_calls`](Mapped::with_system_calls), observations are copied by system calls and the length is compared again
//! afterwards, so that truncation is always an error. Content that is overwritten in place is not detected.
//! [`verify`](Mapped::verify) compares the checksums.

mod header;
mod pages;
mod writer;

use std::fs::File;
use std::io::Read;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use sgmcmc_gradient::data::{Buffer, BufferOwner, Column, Columns, Values};

use header::{Element, Header, Leaf};
use pages::Pages;
pub use writer::MappedWriter;

use crate::error::{Error, FilePosition, Problem, Result};

/// Writes the columns of a data set to a mapped file. [`MappedWriter`] writes data that do not fit in memory.
///
/// # Errors
///
/// Returns an error if the columns have different numbers of observations or the file cannot be written.
///
/// # Examples
///
/// ```
/// use sgmcmc::Columns;
/// use sgmcmc::storage::mapped;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-create.mapped");
/// let data = Columns::new().leaf("x", vec![0.5_f32; 6], [3, 2])?;
/// mapped::create(&file, data.as_slice())?;
/// assert_eq!(mapped::open(&file)?.as_slice(), data.as_slice());
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn create(path: impl AsRef<Path>, columns: &[Column]) -> Result<()> {
    let mut writer = MappedWriter::create(path)?;
    writer.append(columns)?;
    writer.finish()
}

/// Maps a file as a data set, without reading the observations.
///
/// # Errors
///
/// Returns an error in the cases of [`Mapped::open`].
///
/// # Examples
///
/// See [`create`].
pub fn open(path: impl AsRef<Path>) -> Result<Columns> {
    Mapped::open(path).map(|mapped| mapped.columns)
}

/// A mapped file.
///
/// # Examples
///
/// ```
/// use sgmcmc::Columns;
/// use sgmcmc::storage::mapped::{self, Mapped};
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-mapped.mapped");
/// mapped::create(&file, Columns::new().leaf("y", vec![0.5_f32; 6], [6])?.as_slice())?;
/// let data = Mapped::open(&file)?.with_system_calls();
/// data.verify()?;
/// assert_eq!(data.columns().observations(), 6);
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct Mapped {
    path: PathBuf,
    columns: Columns,
    leaves: Vec<Leaf>,
    pages: Arc<Pages>,
}

impl Mapped {
    /// Maps a file, without reading the observations.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is missing, is not a mapped file, has another version or byte order, has a damaged
    /// header, or is shorter than the header requires.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let fail = |problem| Error::file(path, problem);
        let mut file = File::open(path).map_err(|error| fail(Problem::Io(error)))?;
        let length = file.metadata().map_err(|error| fail(Problem::Io(error)))?.len();
        let header = Header::read(&mut file.by_ref().take(length)).map_err(fail)?;
        header
            .check(length)
            .map_err(|(leaf, problem)| Error::at_position(path, FilePosition::default().column(leaf), problem))?;
        let pages = Arc::new(Pages::map(file).map_err(|error| fail(Problem::Io(error)))?);
        let columns = header.leaves.iter().map(|leaf| column(leaf, &pages)).collect::<sgmcmc_gradient::Result<_>>();
        // A check for values that are not finite would read the whole file. The writer allowed such values.
        let columns = columns.map(|columns: Vec<Column>| Columns::from(columns).allow_non_finite());
        let columns = columns.and_then(|columns| columns.check().map(|_| columns)).map_err(Error::content(path))?;
        Ok(Self { path: path.into(), columns, leaves: header.leaves, pages })
    }

    /// Returns the observations. The file stays mapped as long as they are in use.
    pub fn columns(&self) -> Columns {
        self.columns.clone()
    }

    /// Returns the observations with the indices `rows`. The pages of the others are not read.
    ///
    /// # Errors
    ///
    /// Returns an error if the range is empty or ends after the last observation.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::Columns;
    /// use sgmcmc::storage::mapped::{self, Mapped};
    ///
    /// let file = std::env::temp_dir().join("sgmcmc-doc-mapped-rows.mapped");
    /// mapped::create(&file, Columns::new().leaf("y", vec![0.0_f64, 1.0, 2.0], [3])?.as_slice())?;
    /// let last = Mapped::open(&file)?.rows(1..3)?;
    /// assert_eq!(last.observations(), 2);
    /// # std::fs::remove_file(file)?;
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn rows(&self, rows: Range<usize>) -> Result<Columns> {
        let all = self.columns.observations();
        if rows.is_empty() || rows.end > all {
            let (what, value, range) =
                ("the range of observations", format!("{rows:?}"), format!("a part of 0..{all}"));
            return Err(Error::file(&self.path, Problem::OutOfRange { what, value, range }));
        }
        let part = |leaf: &Leaf| {
            let (start, width) = (leaf.range().start, leaf.range().len() / all.max(1));
            column_of(leaf, &self.pages, start + rows.start * width..start + rows.end * width)
        };
        let columns = self.leaves.iter().map(part).collect::<sgmcmc_gradient::Result<Vec<_>>>();
        columns.map(|columns| Columns::from(columns).allow_non_finite()).map_err(Error::content(&self.path))
    }

    /// Reads the whole file and compares the checksums.
    ///
    /// # Errors
    ///
    /// Returns an error with the leaf that is damaged.
    pub fn verify(&self) -> Result<()> {
        for leaf in &self.leaves {
            let mut found = crc32fast::Hasher::new();
            for chunk in self.pages.bytes(leaf.range()).chunks(1 << 24) {
                self.pages.check(leaf.range().end).map_err(|detail| {
                    let position = FilePosition::default().column(leaf.name.clone());
                    Error::at_position(&self.path, position, Problem::Truncated { detail })
                })?;
                found.update(chunk);
                // The pages are read only once and need not stay resident.
                self.pages.release();
            }
            let found = found.finalize();
            if found != leaf.checksum {
                let detail = format!("the checksum of its bytes is {found:08x}, expected {:08x}", leaf.checksum);
                let position = FilePosition::default().column(leaf.name.clone());
                return Err(Error::at_position(&self.path, position, Problem::Corrupt { detail }));
            }
        }
        Ok(())
    }

    /// Reads the observations of minibatches from the file with system calls instead of copying them from the mapped
    /// pages.
    ///
    /// Hardly any page of the file then becomes resident memory of this process. Otherwise every page that is read
    /// stays resident until the operating system evicts it. Use this on machines that count mapped pages against a
    /// limit, and for files that other processes may truncate: truncation is then an error and never ends the process.
    /// Each observation costs a system call. This has an effect on Unix only.
    #[must_use]
    pub fn with_system_calls(self) -> Self {
        self.pages.set_read_rows();
        self
    }

    /// Releases all resident pages of the file. The operating system reads them again when they are needed.
    pub fn release(&self) {
        self.pages.release();
    }
}

/// Returns a leaf as a column over the mapped pages.
fn column(leaf: &Leaf, pages: &Arc<Pages>) -> sgmcmc_gradient::Result<Column> {
    column_of(leaf, pages, leaf.range())
}

/// Returns the observations of a leaf in a range of bytes.
fn column_of(leaf: &Leaf, pages: &Arc<Pages>, range: Range<usize>) -> sgmcmc_gradient::Result<Column> {
    fn buffer<T: Pod + Send + Sync>(pages: &Arc<Pages>, range: Range<usize>) -> Buffer<T> {
        Buffer::shared(Arc::new(LeafPages { pages: pages.clone(), range, element: PhantomData }))
    }
    let values = match leaf.element {
        Element::F32 => Values::F32(buffer(pages, range)),
        Element::F64 => Values::F64(buffer(pages, range)),
        Element::I32 => Values::I32(buffer(pages, range)),
        Element::I64 => Values::I64(buffer(pages, range)),
        Element::Bool => Values::BoolBytes(buffer(pages, range)),
    };
    Column::new(leaf.name.clone(), values, leaf.row_shape.clone())
}

/// The numbers of one leaf in a mapped file.
struct LeafPages<T> {
    pages: Arc<Pages>,
    range: Range<usize>,
    element: PhantomData<T>,
}

impl<T: Pod + Send + Sync> BufferOwner<T> for LeafPages<T> {
    fn values(&self) -> &[T] {
        // The cast cannot fail: leaves start at multiples of 64 bytes, ranges of observations at multiples of an element, and the lengths in the header were checked.
        bytemuck::cast_slice(self.pages.bytes(self.range.clone()))
    }

    fn in_place(&self) -> bool {
        !self.pages.reads_rows()
    }

    fn check(&self) -> Result<(), String> {
        self.pages.check(self.range.end)
    }

    fn copy_range(&self, range: Range<usize>) -> Vec<T> {
        if self.pages.reads_rows() {
            let mut copied = vec![T::zeroed(); range.len()];
            // Observations that are no longer in the file stay zero, and `check` returns an error for them.
            if self.read(range.start, &mut copied) || self.check().is_err() {
                return copied;
            }
        }
        self.values()[range].to_vec()
    }

    fn copy_rows(&self, width: usize, rows: &[usize]) -> Vec<T> {
        if self.pages.reads_rows() {
            let mut copied = vec![T::zeroed(); rows.len() * width];
            let mut targets = rows.iter().zip(copied.chunks_exact_mut(width));
            if targets.all(|(row, target)| self.read(row * width, target)) || self.check().is_err() {
                return copied;
            }
        }
        let values = self.values();
        let mut copied = Vec::with_capacity(rows.len() * width);
        rows.iter().for_each(|row| copied.extend_from_slice(&values[row * width..(row + 1) * width]));
        copied
    }
}

impl<T: Pod> LeafPages<T> {
    /// Reads the numbers from index `start` on from the file into `target`, and returns whether this succeeded.
    fn read(&self, start: usize, target: &mut [T]) -> bool {
        let offset = self.range.start + start * size_of::<T>();
        let inside = offset + size_of_val(target) <= self.range.end;
        inside && self.pages.read_at(bytemuck::cast_slice_mut(target), offset as u64)
    }
}
