//! The native format of this library. It keeps a whole fit bit for bit and is appended block by block.
//!
//! ```text
//! file   = "\x89sgmcmc\n"  version: u32  record…
//! record = tag: 4 bytes  length: u32  crc32: u32  payload        (the checksum is of tag, length and payload)
//!   "plan"  CBOR of the number of chains; in a file that holds a whole fit
//!   "head"  CBOR of the schema: layout with constraints, planned draws, number of the chain, names of stats
//!   "draw"  draws of the chain of the last head: iteration: u64, weight, log posterior, stats…, values…: f64
//!   "vars"  a part of an array of another group: the length of its CBOR header: u32, the header, and numbers: f64
//!   "ends"  CBOR of the outcomes of the chains, the mode and the run information
//! ```
//!
//! Numbers are little-endian. A file may hold several chains, one after another. A streaming run writes one file per
//! chain into a directory, and a directory is read as one fit. All whole records of a truncated file are read, and the
//! chain counts as stopped. A damaged record is an error that names its offset. All chains of a whole fit count as
//! stopped if its last record is missing.

mod reader;
mod record;
mod writer;

use std::path::Path;

pub use reader::read;
pub(super) use reader::read_within;
pub use writer::{NativeDraws, write};

use serde::{Deserialize, Serialize};
use sgmcmc_fit::{ChainOutcome, RunInfo};
use sgmcmc_gradient::Mode;

/// The extension of file names.
pub const EXTENSION: &str = "sgmcmc";

/// The first bytes of every file.
const MAGIC: [u8; 8] = *b"\x89sgmcmc\n";
const VERSION: u32 = 1;

const PLAN: [u8; 4] = *b"plan";
const HEAD: [u8; 4] = *b"head";
const DRAW: [u8; 4] = *b"draw";
const VARS: [u8; 4] = *b"vars";
const ENDS: [u8; 4] = *b"ends";

/// The first record of a file with a whole fit.
#[derive(Debug, Serialize, Deserialize)]
struct Plan {
    chains: usize,
}

/// The header of a part of an array. The parts of an array follow each other.
#[derive(Debug, Serialize, Deserialize)]
struct VariablePart {
    group: String,
    name: String,
    dimensions: Vec<String>,
    shape: Vec<usize>,
    /// The index of the first number of the part.
    first: usize,
}

/// The last record of a file with a whole fit.
#[derive(Debug, Serialize, Deserialize)]
struct Ends {
    outcomes: Vec<ChainOutcome>,
    mode: Option<Mode>,
    info: RunInfo,
}

/// Returns whether the first bytes of a file are those of this format. A truncated header is recognized, too.
pub(super) fn recognize(start: &[u8]) -> bool {
    MAGIC.starts_with(&start[..start.len().min(MAGIC.len())])
}

/// Returns whether a file has this format.
pub(super) fn is_native(path: &Path) -> bool {
    super::recognize::file_start(path).is_some_and(|start| start.starts_with(&MAGIC))
}
