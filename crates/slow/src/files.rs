//! Damaged files of every format under a limit on memory and time.

use crate::{Outcome, Result};

/// Files that are damaged unless `--count` says otherwise.
const COUNT: u64 = 1_000_000;

/// Reads damaged files and prints what became of them. Criterion: no panic, and no file that takes longer than five seconds. A reader
/// that takes too much memory or hangs ends the process with the number of the case.
pub(crate) fn run(options: &[&str]) -> Result<Outcome> {
    let (mut count, mut seed) = (COUNT, 1);
    let mut options = options.iter();
    while let Some(name) = options.next() {
        let value = options.next().ok_or_else(|| format!("{name} needs a number"))?.parse()?;
        match *name {
            "--count" => count = value,
            "--seed" => seed = value,
            other => return Err(format!("there is no option {other}").into()),
        }
    }
    // Panics are counted; their messages would hide the table.
    std::panic::set_hook(Box::new(|_| {}));
    let counts = sgmcmc_fuzzing::run(count, seed)?;
    let _ = std::panic::take_hook();
    println!("{:<16} {:>10} {:>10} {:>10} {:>10}", "file", "read", "refused", "panicked", "slow");
    let (mut files, mut failures) = (0, 0);
    for (name, tally) in &counts {
        println!("{name:<16} {:>10} {:>10} {:>10} {:>10}", tally.read, tally.refused, tally.panicked, tally.slow);
        files += tally.read + tally.refused + tally.panicked;
        failures += tally.panicked + tally.slow;
    }
    println!("{files} files, seed {seed}");
    Ok(Outcome::of(failures as usize))
}
