//! The movement of blocks of H between ranks.

use std::ops::Range;

use super::block::FactorBlock;
use super::grid::owner;
use crate::collective::{Collective, Incoming, Outgoing, Result};

/// A movement of all blocks of H from the places that one part needs to those that another part needs.
///
/// In part s, the rank of row b of blocks holds column (b + s) mod B of blocks.
#[derive(Clone, Debug)]
pub(super) struct Movement {
    /// The number B of blocks.
    pub(super) blocks: usize,
    /// The rows of blocks of this rank.
    pub(super) own: Range<usize>,
    pub(super) from_part: usize,
    pub(super) to_part: usize,
}

impl Movement {
    /// Returns the column of blocks that row `row` holds in part `part`.
    pub(super) fn column(&self, row: usize, part: usize) -> usize {
        (row + part) % self.blocks
    }

    /// Returns the row that holds column `column` in part `part`.
    fn row(&self, column: usize, part: usize) -> usize {
        (column + self.blocks - part) % self.blocks
    }

    /// Sends the vectors `vectors` of the held blocks to the ranks that need them, and receives those that this rank needs
    /// into `arriving`, whose blocks have the right numbers and lengths. `meanwhile` is called while the blocks are on their way.
    pub(super) fn exchange(
        &self,
        ranks: &dyn Collective,
        held: &[FactorBlock],
        arriving: &mut [FactorBlock],
        vectors: Range<usize>,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<()> {
        let place = |block: &FactorBlock| vectors.start * block.length..vectors.end * block.length;
        let rank_of = |row: usize| owner(row, self.blocks, ranks.size());
        let mut outgoing = Vec::with_capacity(held.len());
        for block in held {
            let row = self.row(block.number, self.to_part);
            if self.own.contains(&row) {
                arriving[row - self.own.start].memory[place(block)].copy_from_slice(&block.memory[place(block)]);
            } else {
                outgoing.push((block.number, rank_of(row), &block.memory[place(block)]));
            }
        }
        let mut incoming = Vec::with_capacity(held.len());
        for block in arriving {
            let row = self.row(block.number, self.from_part);
            if !self.own.contains(&row) {
                let range = place(block);
                incoming.push((block.number, rank_of(row), &mut block.memory[range]));
            }
        }
        // Messages between two ranks arrive in the order in which they are sent: that of the columns.
        outgoing.sort_by_key(|(column, _, _)| *column);
        incoming.sort_by_key(|(column, _, _)| *column);
        let outgoing: Vec<_> =
            outgoing.into_iter().map(|(_, to, v)| Outgoing { to, bytes: bytemuck::cast_slice(v) }).collect();
        let incoming = incoming.into_iter().map(|(_, from, v)| Incoming { from, bytes: bytemuck::cast_slice_mut(v) });
        ranks.exchange(&outgoing, &mut incoming.collect::<Vec<_>>(), meanwhile)
    }
}
