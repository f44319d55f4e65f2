//! `sgmcmc convert`: a fit in another format.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use sgmcmc_gradient::text::printable;
use sgmcmc_storage::fits;

use super::print::print;
use crate::error::Error;
use crate::output;

/// Returns the text below the arguments of `convert`.
fn help() -> String {
    let endings: Vec<String> = fits::endings().into_iter().map(|ending| format!(".{ending}")).collect();
    format!(
        "Example: sgmcmc convert fit.sgmcmc fit.zarr\n\nExtensions: {}\n\n\
         The output is written to a temporary name and renamed when it is complete. With --force, a directory is replaced\n\
         only if all of its files belong to a fit that was written by this program or the library.",
        endings.join(", ")
    )
}

#[derive(Args, Debug)]
#[command(after_help = help())]
pub(crate) struct Arguments {
    /// The fit
    pub(crate) fit: PathBuf,
    /// The output; its extension gives the format
    pub(crate) output: PathBuf,
    /// Replace an existing fit
    #[arg(long, short)]
    pub(crate) force: bool,
}

/// Writes the fit in another format.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let Arguments { fit, output, force } = arguments;
    // Check the name before reading the fit, which can take long.
    if fits::Format::of_name(output).is_none() {
        return Err(Error::UnknownExtension(output.clone()));
    }
    output::check(fit, output, *force)?;
    let read = fits::open(fit)?;
    if *force {
        fits::replace(&read, output)?
    } else {
        fits::save(&read, output)?
    }
    print(&format!("wrote {}", printable(&output.to_string_lossy())))
}
