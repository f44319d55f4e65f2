//! Checks that the chains of a run do not share files.

use std::collections::HashMap;
use std::path::{Path, PathBuf, absolute};

use sgmcmc_gradient::{Error, Result};

use sgmcmc_fit::sink::Sink;

/// Returns an error if two sinks, or two parts of one sink, write the same file.
pub(super) fn check_distinct<S: Sink>(sinks: &[S]) -> Result<()> {
    let mut owners: HashMap<PathBuf, usize> = HashMap::new();
    for (chain, sink) in sinks.iter().enumerate() {
        for file in sink.files() {
            if let Some(other) = owners.insert(resolved(&file), chain) {
                let chains =
                    if other == chain { format!("chain {chain} twice") } else { format!("chains {other} and {chain}") };
                let reason = format!(
                    "{chains} would write to `{}`. Give every chain a file of its own, named after the number that the closure is given",
                    file.display()
                );
                return Err(Error::Setting {
                    name: "the file of a sink",
                    value: reason,
                    expected: "one writer per file",
                });
            }
        }
    }
    Ok(())
}

/// Resolves links in the existing part of `path`.
fn resolved(path: &Path) -> PathBuf {
    let path = absolute(path).unwrap_or_else(|_| path.to_owned());
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    match (path.parent().and_then(|parent| parent.canonicalize().ok()), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path,
    }
}
