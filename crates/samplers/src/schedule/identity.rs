//! Comparison of schedules, for checkpoints.

use serde::{Deserialize, Serialize};

use super::SharedSchedule;

/// The identity of a schedule: its description or, for a closure, its values at a grid of iterations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ScheduleIdentity {
    /// The description of the schedule and its parameters.
    Described(String),
    /// The iterations of the grid and the values there.
    Sampled(Vec<(u64, f64)>),
}

/// The grid has all iterations below this one.
const EVERY: u64 = 1024;

/// Beyond [`EVERY`], the distance of two iterations of the grid is the iteration divided by this number.
const PART: u64 = 64;

impl SharedSchedule {
    /// Returns the identity of this schedule for iterations before `end`.
    pub(crate) fn identity(&self, end: u64) -> ScheduleIdentity {
        match self.description() {
            Some(words) => ScheduleIdentity::Described(words),
            None => ScheduleIdentity::Sampled(grid(end).map(|t| (t, self.at(t))).collect()),
        }
    }
}

impl ScheduleIdentity {
    /// Describes how `self`, of a run, differs from `saved`, of a checkpoint. Iterations that only one of them has are
    /// not compared.
    pub(crate) fn difference(&self, saved: &Self) -> Option<String> {
        match (self, saved) {
            (Self::Sampled(run), Self::Sampled(saved)) => {
                let pairs = run.iter().zip(saved);
                let (run, saved) = pairs.into_iter().find(|((_, a), (_, b))| a.to_bits() != b.to_bits())?;
                Some(format!("is {} at iteration {}, but that of this run is {}", saved.1, saved.0, run.1))
            }
            (Self::Described(run), Self::Described(saved)) => {
                (run != saved).then(|| format!("is {saved}, but that of this run is {run}"))
            }
            _ => Some("is given by a closure in one of the runs and by its parameters in the other".to_owned()),
        }
    }
}

/// Returns the iterations before `end` at which closures are evaluated. The grid of a smaller `end` is a prefix of this
/// one.
fn grid(end: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(0), |t: &u64| t.checked_add(if *t < EVERY { 1 } else { t / PART }))
        .take_while(move |t| *t < end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Polynomial;

    #[test]
    fn closures_that_differ_late_are_distinguished() {
        let early = SharedSchedule::from(|t: u64| if t < 900 { 0.1 } else { 0.2 });
        let late = SharedSchedule::from(|t: u64| if t < 40_000 { 0.1 } else { 0.2 });
        let constant = SharedSchedule::from(|_: u64| 0.1);
        assert!(early.identity(1000).difference(&constant.identity(5000)).unwrap().contains("at iteration 900"));
        assert!(late.identity(50_000).difference(&constant.identity(50_000)).is_some());
        // A longer run of the same schedule may resume.
        assert_eq!(late.identity(90_000).difference(&late.identity(1000)), None);
        assert!(grid(u64::MAX).count() < 5000);
    }

    #[test]
    fn schedules_are_distinguished_by_their_parameters() {
        let schedule = |gamma| SharedSchedule::from(Polynomial { a: 0.1, b: 1.0, gamma });
        assert_eq!(schedule(0.5).identity(10).difference(&schedule(0.5).identity(20)), None);
        assert!(schedule(0.5).identity(10).difference(&schedule(0.500_001).identity(10)).is_some());
        assert!(schedule(0.5).identity(10).difference(&SharedSchedule::from(0.1).identity(10)).is_some());
    }
}
