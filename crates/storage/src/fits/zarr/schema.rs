//! The arrays of a fit: their names, dimensions and offsets in a row of numbers.

use sgmcmc_gradient::{Axis, Layout};

use crate::fits::table::{self, unique};

/// The groups of the sinks.
pub(super) const GROUPS: [&str; 2] = ["posterior", "sample_stats"];
/// The dimensions of every array of draws.
pub(super) const DIMENSIONS: [&str; 2] = ["chain", "draw"];
/// The sample statistics of every fit, in the order of a row of numbers.
pub(super) const FIRST: [&str; 3] = ["iteration", "weight", "lp"];

/// An array of draws.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) group: &'static str,
    pub(super) name: String,
    /// The shape of one draw.
    pub(super) shape: Vec<usize>,
    /// The names of the dimensions of one draw and of the positions along them.
    pub(super) axes: Vec<Axis>,
    /// The offset in a row of numbers, which starts with [`FIRST`].
    pub(super) offset: usize,
}

impl Array {
    /// Returns the number of elements of one draw.
    pub(super) fn width(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns whether the elements are integers.
    pub(super) fn is_integer(&self) -> bool {
        self.group == GROUPS[1] && self.offset == 0
    }

    /// Returns the path in the store.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.group, self.name)
    }

    /// Returns the metadata of the array for the given numbers of chains and draws, with `block` draws per chunk.
    pub(super) fn metadata(&self, chains: u64, draws: u64, block: u64) -> serde_json::Value {
        let inner = || self.shape.iter().map(|size| *size as u64);
        let shape: Vec<u64> = [chains, draws].into_iter().chain(inner()).collect();
        let chunk: Vec<u64> = [1, block].into_iter().chain(inner()).map(|size| size.max(1)).collect();
        let axes = self.axes.iter().map(|axis| axis.name.clone());
        let names: Vec<String> = DIMENSIONS.map(str::to_owned).into_iter().chain(axes).collect();
        super::array::metadata(&shape, &chunk, self.is_integer(), &names)
    }
}

/// Returns the arrays of a fit with this layout and these sample statistics. Parameters without elements are skipped.
pub(super) fn arrays(layout: &Layout, stats: &[String]) -> Vec<Array> {
    let plain = |name: &str| {
        let plain = name.replace(['/', '\\'], "_");
        // File systems and Zarr reserve these names.
        if plain.is_empty() || plain.starts_with('.') || plain.starts_with("__") {
            format!("_{}", plain.trim_start_matches('_'))
        } else {
            plain
        }
    };
    let mut taken = DIMENSIONS.to_vec();
    let stat_names: Vec<String> = stats.iter().map(|name| plain(name)).collect();
    let block_names: Vec<String> = layout.blocks().iter().map(|block| plain(&block.name)).collect();
    let posterior = unique(block_names.iter().map(String::as_str), &taken);
    taken.extend(FIRST);
    let others = unique(stat_names.iter().map(String::as_str), &taken);
    let statistics = FIRST.iter().map(|name| (*name).to_owned()).chain(others).enumerate();
    let statistics =
        statistics.map(|(offset, name)| Array { group: GROUPS[1], name, shape: Vec::new(), axes: Vec::new(), offset });
    let first = FIRST.len() + stats.len();
    let axes = table::axes(layout, &posterior);
    let values = layout.blocks().iter().zip(posterior).zip(axes).map(|((block, name), axes)| {
        let shape = if axes.is_empty() { Vec::new() } else { block.shape.clone() };
        Array { group: GROUPS[0], name, shape, axes, offset: first + block.values.start }
    });
    values.filter(|array| array.width() > 0).chain(statistics).collect()
}
