//! Parts of commands that run on several ranks: over MPI with the feature `mpi`, as threads of this process without it.
//!
//! Over MPI, `mpirun` starts this program again with the command [`COMMAND`], which runs the part.

use std::fmt;
use std::process::{Command, Stdio};
use std::sync::Arc;

use sgmcmc::distributed::collective::{self, Collective, Launcher, launch, on_threads};

use crate::Result;
use crate::bench::communication;
use crate::papers::movielens;

/// The command that `mpirun` starts.
pub(crate) const COMMAND: &str = "rank";

/// A part of a command that all ranks run with its arguments. The text of rank 0 is the result.
type Part = fn(&Arc<dyn Collective>, &[String]) -> collective::Result<String>;

/// Returns the part of the command with this name.
fn part(name: &str) -> Result<Part> {
    match name {
        "communication" => Ok(communication::measure),
        "movielens" => Ok(movielens::sample),
        other => Err(format!("`{other}` has no part that runs on several ranks").into()),
    }
}

/// The transport of messages between ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Threads,
    Mpi,
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Threads => "threads",
            Self::Mpi => "MPI",
        })
    }
}

impl Transport {
    /// Returns MPI if the program was built with it and `mpirun` can be started, and threads otherwise.
    pub(crate) fn best() -> Self {
        let mpirun = || Command::new("mpirun").arg("--version").output().is_ok();
        if cfg!(feature = "mpi") && mpirun() { Self::Mpi } else { Self::Threads }
    }

    /// Runs the part of the command `name` on `size` ranks. Returns the text of rank 0.
    pub(crate) fn run(self, size: usize, name: &str, arguments: &[String]) -> Result<String> {
        match self {
            Self::Threads => {
                let part = part(name)?;
                Ok(on_threads(size, |ranks| part(&ranks, arguments))?.swap_remove(0))
            }
            Self::Mpi => mpirun(size, name, arguments),
        }
    }
}

/// Starts this program as `size` ranks, and returns what they print.
fn mpirun(size: usize, name: &str, arguments: &[String]) -> Result<String> {
    let version = Command::new("mpirun").arg("--version").output()?;
    let mut command = Command::new("mpirun");
    // MPICH has neither the options nor the need for them.
    if String::from_utf8_lossy(&version.stdout).contains("Open MPI") {
        command.args(["--allow-run-as-root", "--oversubscribe"]);
        // Ranks on one machine use shared memory, and ranks that wait yield the processor.
        command.env("OMPI_MCA_btl", "^tcp").env("OMPI_MCA_mpi_yield_when_idle", "1");
    }
    command.args(["-n", &size.to_string()]).arg(std::env::current_exe()?).args([COMMAND, name]).args(arguments);
    let output = command.env("RAYON_NUM_THREADS", "1").stderr(Stdio::inherit()).output()?;
    if output.status.success() {
        Ok(String::from_utf8(output.stdout)?)
    } else {
        Err(format!("`mpirun -n {size}` of {name} failed").into())
    }
}

/// Runs the part of a command as one rank. Rank 0 prints its text.
pub(crate) fn run_rank(arguments: &[String]) -> Result<()> {
    let Some((name, arguments)) = arguments.split_first() else {
        return Err(format!("`{COMMAND}` is for `mpirun`").into());
    };
    if Launcher::detect(|name| std::env::var(name).ok()).is_none() {
        return Err(format!("`{COMMAND}` is for `mpirun`: run `{name}`").into());
    }
    let part = part(name)?;
    launch(|ranks| {
        let text = part(&ranks, arguments)?;
        if ranks.rank() == 0 {
            print!("{text}");
        }
        Ok::<_, collective::Error>(())
    })?;
    Ok(())
}
