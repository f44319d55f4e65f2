//! Damaged files of all formats, read with limits of memory and time.

use crate::Result;
use crate::suites::Outcome;

/// The default number of damaged files.
const DEFAULT_COUNT: u64 = 1_000_000;

/// Reads damaged files and prints the numbers of outcomes.
///
/// Criterion: no panic, and no file takes longer than five seconds. If a reader uses too much memory or does not
/// terminate, the process ends with the number of the case.
pub(crate) fn run(options: &[&str]) -> Result<Outcome> {
    let (mut count, mut seed) = (DEFAULT_COUNT, 1);
    let mut options = options.iter();
    while let Some(name) = options.next() {
        let value = options.next().ok_or_else(|| format!("{name} needs a number"))?.parse()?;
        match *name {
            "--count" => count = value,
            "--seed" => seed = value,
            other => return Err(format!("there is no option {other}").into()),
        }
    }
    // Panics are counted; their messages would clutter the output.
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
    Ok(Outcome::from_failures(failures as usize))
}
