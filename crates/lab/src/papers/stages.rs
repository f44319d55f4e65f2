//! Progress lines of the replications.

use sgmcmc::run::ProgressOption;

/// Writes a line to standard error when a stage begins, unless `--quiet` was given.
#[derive(Clone, Copy, Debug)]
pub struct Stages {
    are_shown: bool,
}

impl Stages {
    /// Creates the lines of a command whose flags ended with `progress`.
    pub fn new(progress: &ProgressOption) -> Self {
        Self { are_shown: !matches!(progress, ProgressOption::Off) }
    }

    /// Shows that a stage begins.
    pub fn begin(self, stage: &str) {
        if self.are_shown {
            eprintln!("{stage} …");
        }
    }
}
