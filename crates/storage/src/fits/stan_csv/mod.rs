//! CmdStan's text format, one file per chain. `cmdstanpy.from_csv(directory)`, `stansummary` and R's `read_cmdstan_csv`
//! read it.
//!
//! ```text
//! # model = sgmcmc_model            settings, as comments
//! …
//! # sgmcmc = {…}                    names, shapes and constraints, for this library
//! lp__,stepsize__,iteration__,…,beta.1,beta.2,W.1.1,W.2.1,…     subscripts from 1, in column-major order
//! -3.5,0.001,…
//! #  Elapsed Time: 0 seconds (Warm-up)
//! …
//! ```
//!
//! The comments name Stan's method `fixed_param`, because the algorithms of this library are not those of Stan. Numbers
//! read back exactly; numbers that are not finite are `NaN`, `inf` and `-inf`. Characters that Stan does not allow in
//! names become `_` in the names of columns.
//!
//! The footer and the number of draws in the comments are updated with every block, so that cmdstanpy also reads the
//! files of a killed run.

mod names;
mod reader;
mod writer;

use std::path::Path;

pub use reader::read;
pub(super) use reader::read_within;
pub(super) use writer::write_into;
pub use writer::{StanCsvDraws, write};

use super::recognize::has_line_with;

/// Sample statistics: ArviZ's name and the name of Stan's column.
const RENAMED: [(&str, &str); 6] = [
    ("acceptance_rate", "accept_stat__"),
    ("step_size", "stepsize__"),
    ("tree_depth", "treedepth__"),
    ("n_steps", "n_leapfrog__"),
    ("diverging", "divergent__"),
    ("energy", "energy__"),
];

/// The start of the comment with the metadata of this library.
const OWN: &str = "# sgmcmc = ";

/// Returns whether the first bytes of a file are those of this format.
pub(super) fn recognize(start: &[u8]) -> bool {
    let text = start.trim_ascii_start();
    text.starts_with(b"#") || text.starts_with(b"lp__")
}

/// Returns whether a file has the comments or the first column of Stan's files.
pub(super) fn is_stan_csv(path: &Path) -> bool {
    has_line_with(path, &["# stan_version", "lp__"])
}

/// Returns whether this library wrote a file.
pub(super) fn is_own(path: &Path) -> bool {
    has_line_with(path, &[OWN])
}
