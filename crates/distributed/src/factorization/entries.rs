//! The observed entries of a matrix, each on the rank that holds its row.

use std::ops::Range;
use std::sync::Arc;

use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_models::factorization::Entry;

use super::grid::{Grid, owner};
use crate::chains::part;
use crate::collective::{Collective, Error, Incoming, Outgoing, Result, agree, check_same};

/// The entries of the rows of one rank, by blocks.
///
/// # Examples
///
/// Each rank reads some of the entries, in any order, and [`distribute`](Self::distribute) sends them to the ranks of their rows:
///
/// ```
/// use std::sync::Arc;
/// use sgmcmc::distributed::collective::on_threads;
/// use sgmcmc::distributed::factorization::{BlockedEntries, Grid};
/// use sgmcmc::models::factorization::Entry;
///
/// let grid = Arc::new(Grid::new(4, 6, 2, 1)?);
/// let totals = on_threads(2, |ranks| {
///     let row = 2 * ranks.rank();
///     let read = [Entry { row, column: 0, value: 1.0 }, Entry { row: row + 1, column: 5, value: 2.0 }];
///     let entries = BlockedEntries::distribute(ranks, grid.clone(), read)?;
///     Ok(entries.total())
/// })?;
/// assert_eq!(totals, [4, 4]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BlockedEntries {
    pub(super) ranks: Arc<dyn Collective>,
    pub(super) grid: Arc<Grid>,
    /// The blocks of each row of blocks of this rank.
    blocks: Vec<Vec<Block>>,
    /// The number of entries of each part.
    parts: Vec<u64>,
    total: u64,
}

/// The entries of one block, sorted by row.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub(super) row: Vec<u32>,
    pub(super) column: Vec<u32>,
    pub(super) value: Vec<f64>,
}

/// The number of bytes of an entry in a message.
const ENTRY: usize = 16;

impl BlockedEntries {
    /// Sends `entries`, those that this rank has read, to the ranks that hold their rows. All ranks must call it. An
    /// entry that two ranks have read counts twice.
    ///
    /// # Errors
    ///
    /// Returns an error if there are more ranks than blocks, if the grids of the ranks differ, if an index is out of range, if a value is not
    /// finite, or if there are no entries.
    pub fn distribute(
        ranks: Arc<dyn Collective>,
        grid: Arc<Grid>,
        entries: impl IntoIterator<Item = Entry>,
    ) -> Result<Self> {
        let size = ranks.size();
        if size > grid.blocks() {
            let expected = "use at least as many blocks as ranks";
            return Err(Error::Setting { name: "the number of blocks", value: grid.blocks().to_string(), expected });
        }
        let shape = format!("{} rows, {} columns, {} blocks", grid.row_count(), grid.column_count(), grid.blocks());
        check_same(&*ranks, "the grid", &shape)?;
        let sorted = agree(&*ranks, by_rank(&grid, size, entries))?;
        let received = exchange(&*ranks, &sorted)?;
        let mut this = Self { ranks, grid, blocks: Vec::new(), parts: Vec::new(), total: 0 };
        this.fill(&received);
        this.count()?;
        Ok(this)
    }

    /// Sorts the received entries into blocks.
    fn fill(&mut self, received: &[Vec<u8>]) {
        let (count, own) = (self.grid.blocks(), self.own_blocks());
        let mut all: Vec<Vec<Vec<(u32, u32, f64)>>> = vec![vec![Vec::new(); count]; own.len()];
        for bytes in received {
            let (entries, _) = bytes.as_chunks::<ENTRY>();
            for bytes in entries {
                let [row, column, low, high]: [u32; 4] = bytemuck::pod_read_unaligned(bytes);
                let value = f64::from_bits(u64::from(high) << 32 | u64::from(low));
                let (row, column) = (self.grid.rows().place(row as usize), self.grid.columns().place(column as usize));
                all[row.block - own.start][column.block].push((row.index as u32, column.index as u32, value));
            }
        }
        let block = |mut entries: Vec<(u32, u32, f64)>| {
            // The order does not depend on the rank that read an entry.
            entries.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
            let mut block = Block::default();
            for (row, column, value) in entries {
                block.row.push(row);
                block.column.push(column);
                block.value.push(value);
            }
            block
        };
        self.blocks = all.into_iter().map(|blocks| blocks.into_iter().map(block).collect()).collect();
    }

    /// Counts the entries of all parts, over all ranks.
    fn count(&mut self) -> Result<()> {
        let count = self.grid.blocks();
        let mut sizes = vec![0.0; count];
        for (row, blocks) in self.own_blocks().zip(&self.blocks) {
            for (column, block) in blocks.iter().enumerate() {
                sizes[(column + count - row) % count] += block.value.len() as f64;
            }
        }
        self.ranks.all_reduce_sum(&mut sizes)?;
        self.parts = sizes.iter().map(|size| *size as u64).collect();
        self.total = self.parts.iter().sum();
        if self.total == 0 {
            let reason = "the matrix has no observed entry".into();
            return Err(sgmcmc_gradient::Error::EmptyDataset { reason }.into());
        }
        Ok(())
    }

    /// Returns the number of entries on all ranks.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of entries on this rank.
    pub fn local(&self) -> usize {
        self.blocks.iter().flatten().map(|block| block.value.len()).sum()
    }

    /// Returns the number of entries of each part.
    pub(super) fn parts(&self) -> &[u64] {
        &self.parts
    }

    /// Returns the rows of blocks of this rank.
    pub(super) fn own_blocks(&self) -> Range<usize> {
        part(self.grid.blocks(), self.ranks.rank(), self.ranks.size())
    }

    /// Returns the block in row number `own` of blocks of this rank and in column `column` of blocks.
    pub(super) fn block(&self, own: usize, column: usize) -> &Block {
        &self.blocks[own][column]
    }

    /// Returns a text that identifies the entries of all ranks.
    pub(super) fn identity(&self) -> Result<String> {
        let mut hasher = Fingerprinter::new();
        for block in self.blocks.iter().flatten() {
            block.row.iter().chain(&block.column).for_each(|index| hasher.word(u64::from(*index)));
            hasher.numbers(&block.value);
        }
        let all = self.ranks.all_gather(&hasher.finish().to_le_bytes())?;
        let mut hasher = Fingerprinter::new();
        all.iter().for_each(|bytes| hasher.bytes(bytes));
        Ok(format!("{} entries {} in {} blocks", self.total, hasher.finish(), self.grid.blocks()))
    }
}

/// Encodes `entries` as one message per rank.
fn by_rank(grid: &Grid, size: usize, entries: impl IntoIterator<Item = Entry>) -> Result<Vec<Vec<u8>>> {
    let mut messages = vec![Vec::new(); size];
    for (index, Entry { row, column, value }) in entries.into_iter().enumerate() {
        let outside = |name, value: usize, count: usize| {
            let expected = "it must be less than the number of rows or columns of the matrix";
            (value >= count).then(|| Error::Setting { name, value: value.to_string(), expected })
        };
        let wrong = outside("the row of an entry", row, grid.row_count());
        if let Some(error) = wrong.or_else(|| outside("the column of an entry", column, grid.column_count())) {
            return Err(error);
        }
        if !value.is_finite() {
            let position = format!("entry {index}");
            return Err(sgmcmc_gradient::Error::DataNotFinite { leaf: "entries".into(), position, value }.into());
        }
        let bits = value.to_bits();
        let words = [row as u32, column as u32, bits as u32, (bits >> 32) as u32];
        let rank = owner(grid.rows().place(row).block, grid.blocks(), size);
        messages[rank].extend_from_slice(bytemuck::bytes_of(&words));
    }
    Ok(messages)
}

/// Sends message number r to rank r. Returns the messages of all ranks to this one.
fn exchange(ranks: &dyn Collective, messages: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
    let (rank, size) = (ranks.rank(), ranks.size());
    let mut lengths = vec![0.0; size * size];
    messages.iter().enumerate().for_each(|(to, message)| lengths[rank * size + to] = message.len() as f64);
    ranks.all_reduce_sum(&mut lengths)?;
    let mut received: Vec<Vec<u8>> = (0..size).map(|from| vec![0; lengths[from * size + rank] as usize]).collect();
    received[rank].copy_from_slice(&messages[rank]);
    let outgoing = messages.iter().enumerate().filter(|(to, _)| *to != rank);
    let outgoing: Vec<_> = outgoing.map(|(to, bytes)| Outgoing { to, bytes }).collect();
    let incoming = received.iter_mut().enumerate().filter(|(from, _)| *from != rank);
    let mut incoming: Vec<_> = incoming.map(|(from, bytes)| Incoming { from, bytes }).collect();
    ranks.exchange(&outgoing, &mut incoming, &mut || ())?;
    Ok(received)
}
