//! `sgmcmc completions` and `sgmcmc man`: files for shells and for `man`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;
use sgmcmc_storage::output::write_atomically;

use super::print::{print, print_complete};
use crate::error::Error;
use crate::output;

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc completions bash > ~/.local/share/bash-completion/completions/sgmcmc")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args, Debug)]
#[command(after_help = "Example: sgmcmc man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// The directory, which must exist
    directory: PathBuf,
    /// Replace existing pages
    #[arg(long, short)]
    force: bool,
}

/// Prints the completions of a shell.
pub(super) fn completions(arguments: &Completions, mut program: clap::Command) -> Result<ExitCode, Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "sgmcmc", &mut script);
    print_complete(&String::from_utf8_lossy(&script))
}

/// Writes the manual page of the program and of every command.
pub(super) fn man(arguments: &Man, mut program: clap::Command) -> Result<ExitCode, Error> {
    program.build();
    let mut pages = vec![("sgmcmc".to_owned(), program.clone())];
    let shown = program.get_subcommands().filter(|part| part.get_name() != "help" && !part.is_hide_set());
    pages.extend(shown.map(|part| (format!("sgmcmc-{}", part.get_name()), part.clone())));
    let files: Vec<_> =
        pages.into_iter().map(|(name, page)| (arguments.directory.join(format!("{name}.1")), name, page)).collect();
    for (path, _, _) in &files {
        output::check_new(path, arguments.force)?;
    }
    let count = files.len();
    for (path, name, page) in files {
        // The parser of manual pages keeps static names only.
        let page = clap_mangen::Man::new(page.name(name.leak() as &'static str));
        let mut text = Vec::new();
        page.render(&mut text)?;
        write_atomically(&path, |file| file.write_all(&text)).map_err(|source| Error::Write { path, source })?;
    }
    print(&format!("wrote {count} pages to {}", arguments.directory.display()))
}
