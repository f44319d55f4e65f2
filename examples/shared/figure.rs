//! The figure of an example, which `--figure` writes.

use std::path::Path;

use sgmcmc::report::{Result, plot::Plot};

use crate::flags::Flags;

/// Returns the file of the figure: `--figure`, empty without one.
pub fn path(flags: &mut Flags) -> String {
    flags.get("figure", String::new(), "figure, .svg; empty: not written")
}

/// Writes the figure to `path`, unless it is empty.
pub fn write(path: &str, draw: impl FnOnce() -> Result<Plot>) -> Result<()> {
    if path.is_empty() {
        return Ok(());
    }
    draw()?.save(Path::new(path))?;
    println!("wrote {path}");
    Ok(())
}
