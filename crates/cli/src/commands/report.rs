//! `sgmcmc report`: a page with verdict, table and plots.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use sgmcmc_gradient::text::printable;
use sgmcmc_storage::fits;

use super::print::print;
use crate::error::Error;
use crate::output;

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc report fit.zarr --output fit.html --title 'Logistic regression'")]
pub(crate) struct Arguments {
    /// The fit
    pub(crate) fit: PathBuf,
    /// The output file [default: the name of the fit with the extension .html]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
    /// The title of the page [default: the name of the fit]
    #[arg(long, short)]
    pub(crate) title: Option<String>,
    /// The largest number of parameters with plots; selects those with the worst R-hat and ESS
    #[arg(long, default_value_t = 100, value_name = "COUNT")]
    pub(crate) limit: usize,
}

/// Writes the report.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let output = arguments.output.clone().unwrap_or_else(|| default_page(&arguments.fit));
    output::check(&arguments.fit, &output, arguments.force)?;
    let fit = fits::open(&arguments.fit)?;
    let name = arguments.fit.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let title = arguments.title.clone().unwrap_or(name);
    sgmcmc_report::Report::new(&fit).title(title).limit(arguments.limit).write(&output)?;
    print(&format!("wrote {}", printable(&output.to_string_lossy())))
}

/// Returns the default output of a report: `runs/fit.html` for `runs/fit.sgmcmc`.
fn default_page(fit: &Path) -> PathBuf {
    // A path such as `..` has no file name.
    if fit.file_name().is_some() { fit.with_extension("html") } else { PathBuf::from("report.html") }
}
