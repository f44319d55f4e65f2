//! `sgmcmc convert`: a fit in another format.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use sgmcmc_gradient::text::printable;
use sgmcmc_storage::fits;

use super::print::{print, warn};
use super::source::Selection;
use crate::error::Error;
use crate::output;

/// Returns the text below the arguments of `convert`.
fn help() -> String {
    let extensions: Vec<String> = fits::extensions().into_iter().map(|ending| format!(".{ending}")).collect();
    format!(
        "Example: sgmcmc convert fit.sgmcmc fit.zarr\n\nExtensions: {}\n\n\
         The output is written to a temporary name and renamed when it is complete. With --force, a directory is replaced\n\
         only if all of its files belong to a fit that was written by this program or the library.",
        extensions.join(", ")
    )
}

#[derive(Args, Debug)]
#[command(after_help = help())]
pub(crate) struct Arguments {
    /// The fit
    pub(crate) fit: PathBuf,
    /// The output; its extension gives the format
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(super) selection: Selection,
    /// Replace weighted draws by draws of equal weight, for tools that do not support weights
    #[arg(long)]
    pub(crate) resample: bool,
    /// Replace an existing fit
    #[arg(long, short)]
    pub(crate) force: bool,
}

/// Writes the fit in another format.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let Arguments { fit, output, selection, force, resample } = arguments;
    // Check the name before reading the fit, which can take long.
    if fits::Format::from_name(output).is_none() {
        return Err(Error::UnknownExtension(output.clone()));
    }
    output::check(fit, output, *force)?;
    let mut read = selection.open(fit)?;
    let format = fits::Format::from_name(output);
    if *resample {
        read = read.resampled();
    } else if read.is_weighted() && format != Some(fits::Format::Native) {
        warn("the draws have different weights, which most tools ignore: use --resample for them");
    }
    if !read.groups().is_empty() && !format.is_some_and(fits::Format::has_groups) {
        let names: Vec<&str> = read.groups().iter().map(|group| group.name.as_str()).collect();
        warn(&format!("the format has no place for {}: left out", printable(&names.join(", "))));
    }
    if *force {
        fits::replace(&read, output)?
    } else {
        fits::save(&read, output)?
    }
    print(&format!("wrote {}", printable(&output.to_string_lossy())))
}
