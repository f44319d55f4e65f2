//! The library's own format: everything a fit knows, bit for bit, appended block by block.
//!
//! ```text
//! file   = "\x89sgmcmc\n"  version: u32  record…
//! record = tag: 4 bytes  length: u32  crc32: u32  payload        (the checksum is of tag, length and payload)
//!   "plan"  CBOR of the number of chains; in a file that holds a whole fit
//!   "head"  CBOR of the schema: layout with constraints, planned draws, number of the chain, names of stats
//!   "draw"  rows of the chain of the last head: iteration: u64, weight, log posterior, stats…, values…: f64
//!   "ends"  CBOR of what is known when all is over: endings, mode, run
//! ```
//!
//! Numbers are little-endian. A file may hold several chains, one after another; a run that streams writes one file per chain into
//! a directory, and a directory is read as one fit. A file that was cut anywhere gives all its whole records, and the chain counts
//! as stopped; a record that is there but damaged is an error that names its place. All chains of a whole fit count as stopped if
//! its last record is not there.

mod reader;
mod record;
mod writer;

pub use reader::read;
pub(super) use reader::read_within;
pub use writer::{NativeDraws, write};

use serde::{Deserialize, Serialize};
use sgmcmc_core::Mode;
use sgmcmc_samplers::run::{Ending, RunInfo};

/// The ending of the names of such files.
pub const EXTENSION: &str = "sgmcmc";

/// The first bytes of every file.
pub(super) const MAGIC: [u8; 8] = *b"\x89sgmcmc\n";
const VERSION: u32 = 1;

const PLAN: [u8; 4] = *b"plan";
const HEAD: [u8; 4] = *b"head";
const DRAW: [u8; 4] = *b"draw";
const ENDS: [u8; 4] = *b"ends";

/// What a file with a whole fit starts with.
#[derive(Debug, Serialize, Deserialize)]
struct Plan {
    chains: usize,
}

/// What is known when all chains are over.
#[derive(Debug, Serialize, Deserialize)]
struct Ends {
    endings: Vec<Ending>,
    mode: Option<Mode>,
    info: RunInfo,
}
