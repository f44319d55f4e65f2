//! The fits of a command: one file or several whose chains belong together, and the parts of them that are used.

use std::path::{Path, PathBuf};

use clap::Args;
use sgmcmc_fit::Fit;
use sgmcmc_storage::fits;

use crate::error::Error;

/// The fit of a command, followed by the names of parameters.
#[derive(Args, Debug)]
pub(super) struct FitAndParameters {
    /// The fit, further files whose chains are added to it, and the parameters to use [default: all]. A parameter is a
    /// name (beta), an element (beta[5]), a pattern (beta*, W[*,2]) or an exclusion (~z); quote the last three
    #[arg(required = true, value_name = "FIT]... [PARAMETER")]
    pub(super) arguments: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) part: Part,
}

/// A part of the draws.
#[derive(Args, Debug)]
pub(super) struct Part {
    /// The chains to use, counted from 0, such as 0,2 [default: all]
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    pub(super) chains: Vec<usize>,
    /// Leave out the first COUNT draws of every chain
    #[arg(long, default_value_t = 0, value_name = "COUNT")]
    pub(super) skip: usize,
    /// Use every COUNT-th draw
    #[arg(long, default_value_t = 1, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) thin: u32,
}

impl FitAndParameters {
    /// Returns the path of the first fit.
    pub(super) fn path(&self) -> &Path {
        // The parser requires one argument.
        self.arguments.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Reads the fit and selects the chains, draws and parameters.
    pub(super) fn read(&self) -> Result<Fit, Error> {
        let (fit, patterns) = self.read_whole()?;
        if patterns.is_empty() { Ok(fit) } else { fit.select(&patterns).map_err(|source| self.error(source)) }
    }

    /// Reads the fit, selects the chains and draws, and returns it with the patterns of parameters.
    pub(super) fn read_whole(&self) -> Result<(Fit, Vec<String>), Error> {
        let mut fit = fits::open(self.path())?;
        let mut patterns = Vec::new();
        for argument in self.arguments.iter().skip(1) {
            let text = argument.to_string_lossy().into_owned();
            let selects = fit.find_values(&[&text]);
            match (argument.exists(), &selects) {
                (true, Ok(_)) if !text.contains(std::path::MAIN_SEPARATOR) => return Err(Error::Ambiguous(text)),
                (true, _) => {
                    let path = argument.clone();
                    fit = fit.join_chains(fits::open(argument)?).map_err(|source| Error::Parameter { path, source })?;
                }
                (false, Err(source)) => {
                    // Exclusions are checked together with the other patterns.
                    if !text.starts_with('~') {
                        return Err(self.error(source.clone()));
                    }
                    patterns.push(text);
                }
                (false, Ok(_)) => patterns.push(text),
            }
        }
        Ok((self.part.of(fit).map_err(|source| self.error(source))?, patterns))
    }

    /// Reads the fit of the first argument and selects the chains and draws. The other arguments are names.
    pub(super) fn read_named(&self) -> Result<(Fit, Vec<String>), Error> {
        let fit = self.part.of(fits::open(self.path())?).map_err(|source| self.error(source))?;
        Ok((fit, self.arguments.iter().skip(1).map(|name| name.to_string_lossy().into_owned()).collect()))
    }

    fn error(&self, source: sgmcmc_gradient::Error) -> Error {
        Error::Parameter { path: self.path().to_owned(), source }
    }
}

/// A part of the draws and of the parameters, for commands whose arguments are files.
#[derive(Args, Debug)]
pub(super) struct Selection {
    #[command(flatten)]
    pub(super) part: Part,
    /// The parameters to use, such as 'beta*,W[0,2],~z' [default: all]
    #[arg(long, value_name = "LIST")]
    pub(super) parameters: Option<String>,
}

impl Selection {
    /// Reads a fit and selects the chains, draws and parameters.
    pub(super) fn open(&self, path: &Path) -> Result<Fit, Error> {
        let fit = self.part.open(path)?;
        let Some(list) = &self.parameters else { return Ok(fit) };
        fit.select(&patterns(list)).map_err(|source| Error::Parameter { path: path.to_owned(), source })
    }
}

/// Splits a list of patterns at the commas that are not between brackets.
fn patterns(list: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let separates = |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    };
    list.split(separates).map(str::trim).filter(|pattern| !pattern.is_empty()).collect()
}

impl Part {
    /// Reads a fit and selects the chains and draws.
    pub(super) fn open(&self, path: &Path) -> Result<Fit, Error> {
        self.of(fits::open(path)?).map_err(|source| Error::Parameter { path: path.to_owned(), source })
    }

    /// Returns the part of a fit.
    pub(super) fn of(&self, mut fit: Fit) -> Result<Fit, sgmcmc_gradient::Error> {
        if !self.chains.is_empty() {
            fit = fit.only_chains(&self.chains)?;
        }
        if self.skip > 0 {
            fit = fit.without_first(self.skip);
        }
        if self.thin > 1 {
            fit = fit.thinned(self.thin as usize);
        }
        Ok(fit)
    }
}

#[cfg(test)]
mod tests {
    use super::patterns;

    #[test]
    fn lists_are_split_between_brackets_only() {
        assert_eq!(patterns("beta*, W[0,2],~z"), ["beta*", "W[0,2]", "~z"]);
        assert!(patterns(" ,").is_empty());
    }
}
