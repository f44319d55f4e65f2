//! Writing a mapped file row by row, in memory that does not grow.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sgmcmc_core::data::{Column, Values};
use sgmcmc_core::{Dataset, TensorTree};

use super::header::{Element, Header, Leaf, aligned};
use crate::error::{Error, Place, Problem, Result};
use crate::output::{AtomicFile, File};

/// Writes a mapped file, rows after rows.
///
/// The first rows decide the leaves, their types and shapes. The file is written beside its final place and takes its name when
/// it is complete, so that nobody sees half of it; if the writer is dropped before, nothing is left behind.
///
/// ```
/// use sgmcmc_core::Columns;
/// use sgmcmc_storage::{MappedWriter, mapped};
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-writer.mapped");
/// let mut writer = MappedWriter::create(&file)?;
/// for chunk in 0..10 {
///     let y: Vec<f32> = (0..1000).map(|row| (chunk * 1000 + row) as f32).collect();
///     writer.append(&Columns::new().leaf("y", y, [1000])?.build()?)?;
/// }
/// writer.finish()?;
/// assert_eq!(mapped::open(&file)?.observations(), 10_000);
/// # std::fs::remove_file(file)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MappedWriter {
    path: PathBuf,
    directory: PathBuf,
    file: AtomicFile,
    header: Header,
    parts: Vec<Part>,
}

/// Where the bytes of a leaf go: the first leaf behind the header of the file itself, the others to files of their own until the
/// number of rows is known.
#[derive(Debug)]
struct Part {
    sink: BufWriter<File>,
    checksum: crc32fast::Hasher,
}

impl MappedWriter {
    /// Starts a file. Nothing appears at `path` before [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// If nothing can be written beside `path`.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let file = AtomicFile::create(path).map_err(|error| Error::file(path, Problem::Io(error)))?;
        let header = Header { rows: 0, leaves: Vec::new() };
        Ok(Self { path: path.into(), directory, file, header, parts: Vec::new() })
    }

    /// Appends rows.
    ///
    /// # Errors
    ///
    /// With the leaf, if the rows have other leaves, types or shapes than the first; or if writing fails.
    pub fn append<D: TensorTree>(&mut self, rows: &Dataset<D>) -> Result<()> {
        let leaves = rows.columns().iter().map(|column| self.leaf(column)).collect::<Result<Vec<_>>>()?;
        if self.parts.is_empty() {
            self.header.leaves = leaves;
            self.parts = self.start().map_err(|error| Error::file(&self.path, Problem::Io(error)))?;
        } else {
            self.check(&leaves)?;
        }
        for (column, part) in rows.columns().iter().zip(&mut self.parts) {
            part.write(column).map_err(|error| Error::file(&self.path, Problem::Io(error)))?;
        }
        self.header.rows += rows.observations() as u64;
        Ok(())
    }

    /// Completes the file and gives it its name, in place of any file of that name.
    ///
    /// # Errors
    ///
    /// If no row was appended, or writing fails.
    pub fn finish(mut self) -> Result<()> {
        if self.header.rows == 0 {
            return Err(Error::file(&self.path, Problem::Empty));
        }
        let path = self.path.clone();
        self.complete().map_err(|error| Error::file(&path, Problem::Io(error)))?;
        self.file.commit().map_err(|error| Error::file(&path, Problem::Io(error)))
    }

    fn complete(&mut self) -> io::Result<()> {
        let mut end = self.header.end();
        let file = self.file.file();
        for (position, part) in self.parts.iter_mut().enumerate() {
            part.sink.flush()?;
            let offset = aligned(end);
            let bytes = part.sink.get_mut().stream_position()? - if position == 0 { offset } else { 0 };
            if position > 0 {
                part.sink.get_mut().seek(SeekFrom::Start(0))?;
                file.seek(SeekFrom::Start(offset))?;
                io::copy(part.sink.get_mut(), file)?;
            }
            let leaf = &mut self.header.leaves[position];
            (leaf.offset, leaf.bytes, leaf.checksum) = (offset, bytes, part.checksum.clone().finalize());
            end = offset + bytes;
        }
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&self.header.encode())
    }

    fn start(&mut self) -> io::Result<Vec<Part>> {
        let first = self.header.end();
        let mut sinks = Vec::new();
        for position in 0..self.header.leaves.len() {
            let file = if position == 0 {
                // Another handle of the same open file: they share the position, and this one alone moves it until the end.
                let mut file = self.file.file().try_clone()?;
                file.seek(SeekFrom::Start(first))?;
                file
            } else {
                File::scratch(&self.directory)?
            };
            sinks.push(Part { sink: BufWriter::with_capacity(1 << 16, file), checksum: crc32fast::Hasher::new() });
        }
        Ok(sinks)
    }

    fn leaf(&self, column: &Column) -> Result<Leaf> {
        let (name, row_shape) = (column.name().to_owned(), column.row_shape().to_vec());
        match Element::of(column) {
            Some(element) => Ok(Leaf { name, element, row_shape, offset: 0, bytes: 0, checksum: 0 }),
            None => {
                let found = column.dtype().name().to_owned();
                let problem = Problem::WrongType { found, expected: "use f32, f64, i32, i64 or bool" };
                Err(Error::at(&self.path, Place::default().column(name), problem))
            }
        }
    }

    fn check(&self, leaves: &[Leaf]) -> Result<()> {
        let expected = &self.header.leaves;
        let place = Place::row(self.header.rows);
        if expected.len() != leaves.len() {
            let detail = format!("{} leaves instead of {}", leaves.len(), expected.len());
            return Err(Error::at(&self.path, place, Problem::Chunk { detail }));
        }
        match expected.iter().zip(leaves).find(|(expected, found)| expected != found) {
            None => Ok(()),
            Some((expected, found)) => {
                let words = |leaf: &Leaf| format!("`{}` of {:?} {:?}", leaf.name, leaf.element, leaf.row_shape);
                let detail = format!("{} instead of {}", words(found), words(expected));
                Err(Error::at(&self.path, place.column(expected.name.clone()), Problem::Chunk { detail }))
            }
        }
    }
}

impl Part {
    fn write(&mut self, column: &Column) -> io::Result<()> {
        match column.values() {
            Values::F32(values) => self.write_bytes(bytemuck::cast_slice(values)),
            Values::F64(values) => self.write_bytes(bytemuck::cast_slice(values)),
            Values::I32(values) => self.write_bytes(bytemuck::cast_slice(values)),
            Values::I64(values) => self.write_bytes(bytemuck::cast_slice(values)),
            Values::Bool(values) => self.write_bytes(bytemuck::cast_slice(values)),
            Values::BoolBytes(values) => self.write_bytes(values),
            _ => Err(io::Error::from(io::ErrorKind::Unsupported)),
        }
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.checksum.update(bytes);
        self.sink.write_all(bytes)
    }
}
