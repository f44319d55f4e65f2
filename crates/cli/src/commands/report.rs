//! `sgmcmc report`: a page with verdict, table and plots.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use sgmcmc_fit::Fit;
use sgmcmc_gradient::text::printable;

use super::print::print;
use super::source::Selection;
use crate::error::Error;
use crate::output;

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc report fit.zarr --output fit.html --title 'Logistic regression'")]
pub(crate) struct Arguments {
    /// The fit; several fits make a page that compares them
    #[arg(required = true, num_args = 1.., value_name = "FIT")]
    pub(crate) fits: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) selection: Selection,
    /// The output file [default: the name of the fit with the extension .html, or comparison.html]
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
    let output = arguments.output.clone().unwrap_or_else(|| match &arguments.fits[..] {
        [fit] => default_page(fit),
        _ => PathBuf::from("comparison.html"),
    });
    for path in &arguments.fits {
        output::check(path, &output, arguments.force)?;
    }
    let fits = arguments.fits.iter().map(|path| arguments.selection.open(path)).collect::<Result<Vec<Fit>, _>>()?;
    let names: Vec<String> = arguments.fits.iter().map(|path| name(path)).collect();
    match &fits[..] {
        [fit] => {
            let title = arguments.title.clone().unwrap_or_else(|| names.concat());
            sgmcmc_report::Report::new(fit).title(title).limit(arguments.limit).write(&output)?;
        }
        fits => {
            let named: Vec<(&str, &Fit)> = names.iter().map(String::as_str).zip(fits).collect();
            let page = sgmcmc_report::comparison(&named)?;
            let page = match &arguments.title {
                Some(title) => page.title(title),
                None => page,
            };
            page.write(&output)?;
        }
    }
    print(&format!("wrote {}", printable(&output.to_string_lossy())))
}

/// Returns the name of a fit in titles.
fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Returns the default output of a report: `runs/fit.html` for `runs/fit.sgmcmc`.
fn default_page(fit: &Path) -> PathBuf {
    // A path such as `..` has no file name.
    if fit.file_name().is_some() { fit.with_extension("html") } else { PathBuf::from("report.html") }
}
