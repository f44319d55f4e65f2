//! The place of this process among the ranks of a job: see [`launch`].

use std::fmt;
use std::sync::Arc;

use super::{Collective, Error, Result, ThreadRank};

/// The program that started this process as one of several ranks.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::collective::Launcher;
///
/// // Without `mpirun` or `srun` a program runs alone.
/// assert_eq!(Launcher::detect(|_| None), None);
/// let environment = |name: &str| (name == "OMPI_COMM_WORLD_SIZE").then(|| "4".to_owned());
/// assert_eq!(Launcher::detect(environment), Some(Launcher { name: "mpirun (OpenMPI)", ranks: 4 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The name of the program.
    pub name: &'static str,
    /// The number of ranks.
    pub ranks: usize,
}

/// Environment variables with the number of ranks, and the programs that set them.
const VARIABLES: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_SIZE", "mpirun (OpenMPI)"),
    ("PMI_SIZE", "mpiexec (MPICH)"),
    ("SLURM_STEP_NUM_TASKS", "srun (Slurm)"),
];

impl Launcher {
    /// Finds the launcher by environment variables, which `variable` returns by name: `|name| std::env::var(name).ok()`
    /// for those of this process. Returns `None` if the process runs alone.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let found =
            VARIABLES.iter().find_map(|(name, launcher)| Some((variable(name)?.trim().parse().ok()?, launcher)));
        found.filter(|(ranks, _)| *ranks > 0).map(|(ranks, name)| Self { name, ranks })
    }
}

/// Runs `body` as one rank of the job that started this process, or as its only rank.
///
/// A program that calls this function runs alone with `cargo run`, and as four ranks with
/// `mpirun -n 4 target/release/program` if the feature `mpi` is enabled. If `body` returns an error or panics, the ranks of the
/// job end and the message names the rank.
///
/// # Errors
///
/// Returns the error of `body`, and an error if the process was started as one of several ranks without the feature
/// `mpi`, or if MPI cannot be initialized.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::collective::{self, launch};
///
/// let rank = launch(|ranks| Ok::<_, collective::Error>(ranks.rank()))?;
/// assert_eq!(rank, 0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn launch<T, E: From<Error> + fmt::Display>(
    body: impl FnOnce(Arc<dyn Collective>) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let ranks = connect()?;
    let guard = PanicGuard(ranks.clone());
    let result = body(ranks);
    if let Err(error) = &result {
        guard.0.fail(&error.to_string());
    }
    result
}

/// Ends the run of all ranks if this one panics.
struct PanicGuard(Arc<dyn Collective>);

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail("it panicked");
        }
    }
}

/// Connects to the other ranks.
fn connect() -> Result<Arc<dyn Collective>> {
    match Launcher::detect(|name| std::env::var(name).ok()) {
        #[cfg(feature = "mpi")]
        Some(_) => Ok(Arc::new(super::Mpi::start()?)),
        #[cfg(not(feature = "mpi"))]
        Some(Launcher { name, ranks }) if ranks > 1 => {
            let reason = format!(
                "{name} started this program as {ranks} ranks, but it was built without MPI, so that each would do all of \
                 the work: enable the feature `mpi` of the crate `sgmcmc`"
            );
            Err(Error::Launch { reason })
        }
        _ => Ok(Arc::new(ThreadRank::alone())),
    }
}
