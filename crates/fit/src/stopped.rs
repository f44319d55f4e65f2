//! Chains that were stopped.

use crate::text::count;
use crate::{ChainOutcome, Fit};

impl Fit {
    /// Returns a sentence about the chains that were stopped, or `None` if there are none.
    pub(crate) fn describe_stopped(&self) -> Option<String> {
        let stopped: Vec<(usize, usize)> = (self.outcomes().iter().zip(self.chains()).enumerate())
            .filter(|(_, (outcome, _))| **outcome == ChainOutcome::Stopped)
            .map(|(number, (_, chain))| (number, chain.len()))
            .collect();
        let shortest = stopped.iter().map(|(_, draws)| *draws).min()?;
        let longest = stopped.iter().map(|(_, draws)| *draws).max()?;
        let draws = count(longest, "draw");
        let draws = if shortest < longest { format!("{shortest} to {draws}") } else { draws };
        Some(match &stopped[..] {
            [(number, _)] => format!("chain {number} was stopped after {draws}"),
            all if all.len() == self.chains().len() => format!("all {} chains were stopped after {draws}", all.len()),
            some => {
                let numbers: Vec<String> = some.iter().map(|(number, _)| number.to_string()).collect();
                format!("chains {} were stopped after {draws}", numbers.join(", "))
            }
        })
    }
}
