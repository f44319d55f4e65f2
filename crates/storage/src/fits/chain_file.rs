//! The file of one chain: a header, then blocks of draws.

use std::path::{Path, PathBuf};

use sgmcmc_gradient::{Error, Result};

use super::append::Append;
use super::table::draws_per_block;

/// A file to which a sink writes the draws of one chain in blocks.
///
/// The header is written with the first block. A killed run loses the block that is being filled.
#[derive(Debug)]
pub(super) struct ChainFile {
    file: Append,
    /// The bytes before the first block, until they are written.
    header: Vec<u8>,
    /// The bytes of the current block.
    block: Vec<u8>,
    /// The number of draws in the current block.
    pending: usize,
    /// The number of draws per block.
    limit: usize,
}

impl ChainFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { file: Append::new(path), header: Vec::new(), block: Vec::new(), pending: 0, limit: 1 }
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the path as the list of the files of a sink.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        vec![self.path().to_path_buf()]
    }

    /// Opens or creates the file for draws of `numbers` numbers each.
    pub(super) fn begin(&mut self, header: Vec<u8>, numbers: usize) -> Result<()> {
        self.file.begin()?;
        self.header = header;
        self.block.clear();
        (self.pending, self.limit) = (0, draws_per_block(numbers));
        Ok(())
    }

    /// Returns the current block, to which a sink appends draws.
    pub(super) fn block(&mut self) -> &mut Vec<u8> {
        &mut self.block
    }

    /// Counts a draw that was appended to the block. Returns whether the block is full.
    pub(super) fn count_draw(&mut self) -> bool {
        self.pending += 1;
        self.pending >= self.limit
    }

    /// Writes the header, if it is not written yet, and the current block, then `tail`, which the next call overwrites.
    /// Returns whether there was something to write; otherwise the file is not changed.
    pub(super) fn write_block(&mut self, tail: &[u8]) -> Result<bool> {
        let mut bytes = std::mem::take(&mut self.header);
        bytes.append(&mut self.block);
        self.pending = 0;
        if bytes.is_empty() {
            return Ok(false);
        }
        self.file.write(&bytes, tail)?;
        Ok(true)
    }

    /// Removes the bytes that an earlier run left after the last block.
    pub(super) fn truncate(&mut self) -> Result<()> {
        self.file.truncate()
    }

    /// Overwrites bytes that were written before.
    pub(super) fn overwrite(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.file.overwrite(offset, bytes)
    }

    /// Waits until the blocks are on the disk. A checkpoint that counts their draws must not be there before.
    pub(super) fn sync(&mut self) -> Result<()> {
        self.file.sync()
    }

    /// Returns the position in the file, for a checkpoint.
    pub(super) fn save(&self) -> Vec<u8> {
        self.file.end().to_le_bytes().to_vec()
    }

    /// Continues at the position that [`save`](Self::save) returned.
    ///
    /// # Errors
    ///
    /// Returns an error if `saved` is not a position, or if the file is shorter.
    pub(super) fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let Ok(end) = saved.try_into().map(u64::from_le_bytes) else { return Err(no_position()) };
        if end > 0 {
            self.header.clear();
        }
        self.file.restore(end)
    }
}

/// Returns the error of a checkpoint without a position in the file of a chain.
pub(super) fn no_position() -> Error {
    Error::Checkpoint { reason: "it has no position in the file of draws".into() }
}
