//! The writer of mapped files. Its memory does not grow with the file.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sgmcmc_gradient::data::{Column, Values, check_columns};

use super::header::{Element, Header, Leaf, aligned};
use crate::error::{Error, FilePosition, Problem, Result};
use crate::output::{AtomicFile, File};

/// A writer of a mapped file that appends observations in chunks.
///
/// The first chunk determines the leaves, their types and shapes. The file is written under a temporary name in the
/// same directory and renamed when it is complete. If the writer is dropped before, the temporary file is removed.
///
/// # Examples
///
/// ```
/// use sgmcmc::Columns;
/// use sgmcmc::storage::mapped::{self, MappedWriter};
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-writer.mapped");
/// let mut writer = MappedWriter::create(&file)?;
/// for chunk in 0..10 {
///     let y: Vec<f32> = (0..1000).map(|row| (chunk * 1000 + row) as f32).collect();
///     writer.append(Columns::new().leaf("y", y, [1000])?.as_slice())?;
/// }
/// writer.finish()?;
/// assert_eq!(mapped::open(&file)?.observations(), 10_000);
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct MappedWriter {
    path: PathBuf,
    directory: PathBuf,
    file: AtomicFile,
    header: Header,
    outputs: Vec<LeafOutput>,
}

/// The output of one leaf. The first leaf is written to the file itself, after the header. The other leaves are written
/// to scratch files until the number of observations is known.
#[derive(Debug)]
struct LeafOutput {
    output: BufWriter<File>,
    checksum: crc32fast::Hasher,
}

impl MappedWriter {
    /// Creates a writer. The file appears at `path` with [`finish`](Self::finish).
    ///
    /// # Errors
    ///
    /// Returns an error if the directory of `path` cannot be written to.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let file = AtomicFile::create(path).map_err(|error| Error::file(path, Problem::Io(error)))?;
        let header = Header { rows: 0, leaves: Vec::new() };
        Ok(Self { path: path.into(), directory, file, header, outputs: Vec::new() })
    }

    /// Appends observations.
    ///
    /// # Errors
    ///
    /// Returns an error with the leaf if the leaves, types or shapes differ from those of the first chunk, or if
    /// writing fails.
    pub fn append(&mut self, columns: &[Column]) -> Result<()> {
        let observations = check_columns(columns).map_err(Error::content(&self.path))?;
        let leaves = columns.iter().map(leaf).collect::<Vec<_>>();
        if self.outputs.is_empty() {
            self.header.leaves = leaves;
            self.outputs = self.start().map_err(|error| Error::file(&self.path, Problem::Io(error)))?;
        } else {
            self.check(&leaves)?;
        }
        for (column, output) in columns.iter().zip(&mut self.outputs) {
            output.write(column).map_err(|error| Error::file(&self.path, Problem::Io(error)))?;
        }
        self.header.rows += observations as u64;
        Ok(())
    }

    /// Completes the file and renames it to its final name. An existing file is replaced.
    ///
    /// # Errors
    ///
    /// Returns an error if no observation was appended, or if writing fails.
    pub fn finish(mut self) -> Result<()> {
        if self.header.rows == 0 {
            return Err(Error::file(&self.path, Problem::Empty));
        }
        let path = self.path.clone();
        self.complete().map_err(|error| Error::file(&path, Problem::Io(error)))?;
        self.file.commit().map_err(|error| Error::file(&path, Problem::Io(error)))
    }

    /// Copies the scratch files to the file and writes the header.
    fn complete(&mut self) -> io::Result<()> {
        let mut end = self.header.end();
        let file = self.file.file();
        for (position, output) in self.outputs.iter_mut().enumerate() {
            output.output.flush()?;
            let offset = aligned(end);
            let bytes = output.output.get_mut().stream_position()? - if position == 0 { offset } else { 0 };
            if position > 0 {
                output.output.get_mut().seek(SeekFrom::Start(0))?;
                file.seek(SeekFrom::Start(offset))?;
                io::copy(output.output.get_mut(), file)?;
            }
            let leaf = &mut self.header.leaves[position];
            (leaf.offset, leaf.bytes, leaf.checksum) = (offset, bytes, output.checksum.clone().finalize());
            end = offset + bytes;
        }
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&self.header.encode())
    }

    /// Opens the output of every leaf.
    fn start(&mut self) -> io::Result<Vec<LeafOutput>> {
        let first = self.header.end();
        let mut outputs = Vec::new();
        for position in 0..self.header.leaves.len() {
            let file = if position == 0 {
                // This is a second handle of the same open file. The handles share the position, and only this one
                // moves it until the file is completed.
                let mut file = self.file.file().try_clone()?;
                file.seek(SeekFrom::Start(first))?;
                file
            } else {
                File::scratch(&self.directory)?
            };
            outputs.push(LeafOutput {
                output: BufWriter::with_capacity(1 << 16, file),
                checksum: crc32fast::Hasher::new(),
            });
        }
        Ok(outputs)
    }

    /// Checks that the leaves of a chunk are those of the first chunk.
    fn check(&self, leaves: &[Leaf]) -> Result<()> {
        let expected = &self.header.leaves;
        let position = FilePosition::row(self.header.rows);
        if expected.len() != leaves.len() {
            let detail = format!("{} leaves instead of {}", leaves.len(), expected.len());
            return Err(Error::at_position(&self.path, position, Problem::MismatchedChunk { detail }));
        }
        match expected.iter().zip(leaves).find(|(expected, found)| expected != found) {
            None => Ok(()),
            Some((expected, found)) => {
                let describe = |leaf: &Leaf| format!("`{}` of {:?} {:?}", leaf.name, leaf.element, leaf.row_shape);
                let detail = format!("{} instead of {}", describe(found), describe(expected));
                Err(Error::at_position(
                    &self.path,
                    position.column(expected.name.clone()),
                    Problem::MismatchedChunk { detail },
                ))
            }
        }
    }
}

/// Returns the header entry of a column, without offset and checksum.
fn leaf(column: &Column) -> Leaf {
    let (name, row_shape) = (column.name().to_owned(), column.row_shape().to_vec());
    Leaf { name, element: Element::from_column(column), row_shape, offset: 0, bytes: 0, checksum: 0 }
}

impl LeafOutput {
    fn write(&mut self, column: &Column) -> io::Result<()> {
        match column.values() {
            Values::F32(values) => self.write_bytes(bytemuck::cast_slice(values)),
            Values::F64(values) => self.write_bytes(bytemuck::cast_slice(values)),
            Values::I32(values) => self.write_bytes(bytemuck::cast_slice(values)),
            Values::I64(values) => self.write_bytes(bytemuck::cast_slice(values)),
            Values::Bool(values) => self.write_bytes(bytemuck::cast_slice(values)),
            Values::BoolBytes(values) => self.write_bytes(values),
        }
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.checksum.update(bytes);
        self.output.write_all(bytes)
    }
}
