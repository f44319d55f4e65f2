//! CmdStan's text format, one file per chain: `cmdstanpy.from_csv(directory)`, `stansummary` and R's `read_cmdstan_csv` read it.
//!
//! ```text
//! # model = sgmcmc_model            settings, as comments
//! …
//! # sgmcmc = {…}                    names and shapes as they really are, for this library
//! lp__,stepsize__,iteration__,…,beta.1,beta.2,W.1.1,W.2.1,…     subscripts from 1, the first the fastest
//! -3.5,0.001,…
//! #  Elapsed Time: 0 seconds (Warm-up)
//! …
//! ```
//!
//! The run counts as one of Stan's `fixed_param`: Stan's own samplers are none of ours. Numbers are written so that they read back
//! exactly; those that are not finite are `NaN`, `inf` and `-inf`. Characters that Stan's names cannot have become `_` in the names
//! of columns.
//!
//! The footer and the number of draws in the comments are renewed with every block, so that cmdstanpy also reads what a killed run
//! left.

mod names;
mod reader;
mod writer;

pub use reader::read;
pub(super) use reader::read_within;
pub(super) use writer::write_into;
pub use writer::{StanCsvDraws, write};

/// Sample statistics: the names of ArviZ, and those of Stan's columns.
const RENAMED: [(&str, &str); 6] = [
    ("acceptance_rate", "accept_stat__"),
    ("step_size", "stepsize__"),
    ("tree_depth", "treedepth__"),
    ("n_steps", "n_leapfrog__"),
    ("diverging", "divergent__"),
    ("energy", "energy__"),
];

/// The comment that has what only this library knows.
pub(super) const OWN: &str = "# sgmcmc = ";
