//! The division of a matrix into blocks.

use std::ops::Range;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Result, settings};

use crate::chains::part;

/// The division of the rows and columns of a matrix into B blocks each, at random, so that all blocks have about the same number
/// of entries.
///
/// All ranks create the same grid from the same arguments.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::factorization::Grid;
///
/// let grid = Grid::new(100, 60, 4, 1)?;
/// assert_eq!(grid.blocks(), 4);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    blocks: usize,
    rows: Order,
    columns: Order,
}

/// A random order of the rows or columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// The place of each line.
    place: Vec<u32>,
    blocks: usize,
}

/// A line as part of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) block: usize,
    /// The index in the block.
    pub(super) index: usize,
}

impl Order {
    fn new(count: usize, blocks: usize, rng: &mut StreamRng) -> Self {
        let mut place: Vec<u32> = (0..count as u32).collect();
        place.shuffle(rng);
        Self { place, blocks }
    }

    /// Returns the number of lines.
    pub(super) fn count(&self) -> usize {
        self.place.len()
    }

    /// Returns the places of the lines of `block`.
    pub(super) fn range(&self, block: usize) -> Range<usize> {
        part(self.count(), block, self.blocks)
    }

    /// Returns the block of `line`, and its index there.
    pub(super) fn place(&self, line: usize) -> Place {
        let place = self.place[line] as usize;
        let block = owner(place, self.count(), self.blocks);
        Place { block, index: place - self.range(block).start }
    }

    /// Returns `values`, `width` per line in the order of the places, in the order of the lines.
    pub(super) fn restored(&self, values: &[f64], width: usize) -> Vec<f64> {
        let of = |place: &u32| &values[*place as usize * width..(*place as usize + 1) * width];
        self.place.iter().flat_map(of).copied().collect()
    }

    /// Returns the part of `values`, `width` per line in the order of the lines, that belongs to `block`.
    pub(super) fn block_of(&self, values: &[f64], width: usize, block: usize) -> Vec<f64> {
        let range = self.range(block);
        let mut part = vec![0.0; range.len() * width];
        for (line, place) in self.place.iter().enumerate() {
            if range.contains(&(*place as usize)) {
                let index = *place as usize - range.start;
                part[index * width..(index + 1) * width].copy_from_slice(&values[line * width..(line + 1) * width]);
            }
        }
        part
    }
}

/// Returns the part to which `index` belongs, if `count` things are divided into `parts` parts by [`part`].
pub(super) fn owner(index: usize, count: usize, parts: usize) -> usize {
    ((index as u128 + 1) * parts as u128).saturating_sub(1) as usize / count.max(1)
}

impl Grid {
    /// Divides `rows` rows and `columns` columns into `blocks` blocks each. `seed` determines their order.
    ///
    /// # Errors
    ///
    /// Returns an error if there are fewer rows or columns than blocks, or no blocks.
    pub fn new(rows: usize, columns: usize, blocks: usize, seed: u64) -> Result<Self> {
        let most = rows.min(columns).min(u32::MAX as usize);
        let expected = "it must be at least 1, and at most the number of rows and of columns";
        settings::within("the number of blocks", blocks, 1..=most, expected)?;
        settings::within("the number of rows", rows.max(columns), 1..=u32::MAX as usize, "it must fit in 32 bits")?;
        let mut rng = StreamRng::seed_from_u64(seed);
        let rows = Order::new(rows, blocks, &mut rng);
        let columns = Order::new(columns, blocks, &mut rng);
        Ok(Self { blocks, rows, columns })
    }

    /// Returns the number B of blocks of rows, and of columns.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// Returns the number of rows of the matrix.
    pub fn row_count(&self) -> usize {
        self.rows.count()
    }

    /// Returns the number of columns of the matrix.
    pub fn column_count(&self) -> usize {
        self.columns.count()
    }

    /// Returns the order of the rows.
    pub(super) fn rows(&self) -> &Order {
        &self.rows
    }

    /// Returns the order of the columns.
    pub(super) fn columns(&self) -> &Order {
        &self.columns
    }
}
