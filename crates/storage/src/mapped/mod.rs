//! Data sets larger than memory: a file that is mapped rather than read.
//!
//! ```text
//! header    magic, version, byte order, rows, per leaf: name, type, shape, offset, bytes, checksum; its own checksum
//! leaf 0    the numbers, row after row, from a multiple of 64 bytes on
//! leaf 1    …
//! ```
//!
//! Opening checks the header and maps the file; rows are read by the operating system when a minibatch wants them, and may be
//! dropped again at any time. [`verify`](Mapped::verify) reads everything and compares the checksums.
//!
//! A file appears under its name only when it is complete. It must not be changed while it is mapped; to replace it, create it
//! again under the same name, which leaves the old one to those who have it open.
//!
//! # Files that are cut while they are mapped
//!
//! The length of the file is compared with the header before every batch of observations is read. A file that was cut in the meantime
//! is an error that names it, and chains end there with the draws they have. A file that is cut at the very moment when its pages
//! are read cannot be survived: the operating system ends the process with SIGBUS. With [`reading_rows`](Mapped::reading_rows)
//! observations are copied by system calls and the length is compared once more afterwards; then a cut is always an error.
//! Content that is changed in place, at the same length, is not noticed; [`verify`](Mapped::verify) compares the checksums.

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
use sgmcmc_core::data::{Buffer, Column, Owner, Values};
use sgmcmc_core::{Dataset, Named, TensorTree};

use header::{Element, Header, Leaf};
use pages::Pages;
pub use writer::MappedWriter;

use crate::error::{Error, Place, Problem, Result};

/// Writes a data set to a mapped file. For data that do not fit in memory use [`MappedWriter`].
///
/// ```
/// use sgmcmc_core::Columns;
/// use sgmcmc_storage::mapped;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-create.mapped");
/// let data = Columns::new().leaf("x", vec![0.5_f32; 6], [3, 2])?.build()?;
/// mapped::create(&file, &data)?;
/// assert_eq!(mapped::open(&file)?.columns(), data.columns());
/// # std::fs::remove_file(file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the file cannot be written.
pub fn create<D: TensorTree>(path: impl AsRef<Path>, data: &Dataset<D>) -> Result<()> {
    let mut writer = MappedWriter::create(path)?;
    writer.append(data)?;
    writer.finish()
}

/// Maps a file as a data set, without reading the observations.
///
/// # Errors
///
/// As [`Mapped::open`].
pub fn open(path: impl AsRef<Path>) -> Result<Dataset<Named>> {
    Mapped::open(path).map(|mapped| mapped.data)
}

/// A mapped file.
#[derive(Debug)]
pub struct Mapped {
    path: PathBuf,
    data: Dataset<Named>,
    leaves: Vec<Leaf>,
    pages: Arc<Pages>,
}

impl Mapped {
    /// Maps a file, without reading the observations.
    ///
    /// # Errors
    ///
    /// If the file is missing, not a mapped file, of another version or byte order, damaged in its header, or shorter than its
    /// header announces.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let fail = |problem| Error::file(path, problem);
        let mut file = File::open(path).map_err(|error| fail(Problem::Io(error)))?;
        let length = file.metadata().map_err(|error| fail(Problem::Io(error)))?.len();
        let header = Header::read(&mut file.by_ref().take(length)).map_err(fail)?;
        header.check(length).map_err(|(leaf, problem)| Error::at(path, Place::default().column(leaf), problem))?;
        let pages = Arc::new(Pages::map(file).map_err(|error| fail(Problem::Io(error)))?);
        let columns = header.leaves.iter().map(|leaf| column(leaf, &pages)).collect::<sgmcmc_core::Result<_>>();
        // Values that are not finite were let in knowingly when the file was written.
        let data = columns.and_then(Dataset::from_columns_allow_non_finite).map_err(Error::content(path))?;
        Ok(Self { path: path.into(), data, leaves: header.leaves, pages })
    }

    /// The observations. The file stays mapped as long as they are in use.
    pub fn data(&self) -> Dataset<Named> {
        self.data.clone()
    }

    /// Reads the whole file and compares the checksums.
    ///
    /// # Errors
    ///
    /// With the leaf that is damaged.
    pub fn verify(&self) -> Result<()> {
        for leaf in &self.leaves {
            let mut found = crc32fast::Hasher::new();
            for chunk in self.pages.bytes(leaf.range()).chunks(1 << 24) {
                self.pages.check(leaf.range().end).map_err(|detail| {
                    let place = Place::default().column(leaf.name.clone());
                    Error::at(&self.path, place, Problem::Truncated { detail })
                })?;
                found.update(chunk);
                // Reading everything once is no reason to keep everything resident.
                self.pages.release();
            }
            let found = found.finalize();
            if found != leaf.checksum {
                let detail = format!("the checksum of its bytes is {found:08x}, expected {:08x}", leaf.checksum);
                let place = Place::default().column(leaf.name.clone());
                return Err(Error::at(&self.path, place, Problem::Corrupt { detail }));
            }
        }
        Ok(())
    }

    /// Reads the rows of minibatches from the file, one by one, instead of copying them from the mapped pages.
    ///
    /// Then hardly any page of the file becomes resident memory of this process, where otherwise all that have been touched do
    /// until the operating system takes them back. This is for machines that count mapped pages against a limit, and for files that
    /// may be cut by others: a cut is then an error and never ends the process. Each row costs a system call. Has an effect on Unix
    /// only.
    #[must_use]
    pub fn reading_rows(self) -> Self {
        self.pages.read_rows();
        self
    }

    /// Gives all pages of the file back to the operating system, which reads them again when they are wanted.
    pub fn release(&self) {
        self.pages.release();
    }
}

/// `data.create_mapped(path)`, as a method of every data set.
pub trait CreateMapped {
    /// Writes the data set to a mapped file, as [`create`] does.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    fn create_mapped(&self, path: impl AsRef<Path>) -> Result<()>;
}

impl<D: TensorTree> CreateMapped for Dataset<D> {
    fn create_mapped(&self, path: impl AsRef<Path>) -> Result<()> {
        create(path, self)
    }
}

/// `Dataset::open_mapped(path)`, as a function of data sets by name. [`Dataset::typed`] gives them a type.
///
/// ```
/// use sgmcmc_core::{Columns, Dataset};
/// use sgmcmc_storage::{CreateMapped, MappedDataset};
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-open.mapped");
/// Columns::new().leaf("y", vec![1.0, 2.0], [2])?.build()?.create_mapped(&file)?;
/// assert_eq!(Dataset::open_mapped(&file)?.observations(), 2);
/// # std::fs::remove_file(file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait MappedDataset: Sized {
    /// Maps a file as a data set, as [`open`] does.
    ///
    /// # Errors
    ///
    /// As [`Mapped::open`].
    fn open_mapped(path: impl AsRef<Path>) -> Result<Self>;
}

impl MappedDataset for Dataset<Named> {
    fn open_mapped(path: impl AsRef<Path>) -> Result<Self> {
        open(path)
    }
}

fn column(leaf: &Leaf, pages: &Arc<Pages>) -> sgmcmc_core::Result<Column> {
    fn buffer<T: Pod + Send + Sync>(leaf: &Leaf, pages: &Arc<Pages>) -> Buffer<T> {
        Buffer::shared(Arc::new(Part { pages: pages.clone(), range: leaf.range(), element: PhantomData }))
    }
    let values = match leaf.element {
        Element::F32 => Values::F32(buffer(leaf, pages)),
        Element::F64 => Values::F64(buffer(leaf, pages)),
        Element::I32 => Values::I32(buffer(leaf, pages)),
        Element::I64 => Values::I64(buffer(leaf, pages)),
        Element::Bool => Values::BoolBytes(buffer(leaf, pages)),
    };
    Column::new(leaf.name.clone(), values, leaf.row_shape.clone())
}

/// A part of a mapped file as numbers.
struct Part<T> {
    pages: Arc<Pages>,
    range: Range<usize>,
    element: PhantomData<T>,
}

impl<T: Pod + Send + Sync> Owner<T> for Part<T> {
    fn values(&self) -> &[T] {
        // Aligned and of the right length: leaves start at multiples of 64 bytes, and the header was checked.
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
            // Rows that are no longer in the file stay zero, and `check` refuses them.
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

impl<T: Pod> Part<T> {
    /// Fills `target` with the numbers from `start` on, read from the file; whether that worked.
    fn read(&self, start: usize, target: &mut [T]) -> bool {
        let offset = self.range.start + start * size_of::<T>();
        let inside = offset + size_of_val(target) <= self.range.end;
        inside && self.pages.read_at(bytemuck::cast_slice_mut(target), offset as u64)
    }
}
