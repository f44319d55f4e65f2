//! The criteria of a workload, each printed with its numbers and `pass` or `FAIL`.
//!
//! | workload | criterion |
//! |---|---|
//! | all | `auto` agrees with the reference, or its check finds a problem |
//! | quickstart | check without problems and warnings, smallest ESS at least 400, at most 30 steps per effective draw; at least 20 times the ESS per second of the guessed settings, in less time |
//! | covertype | agreement with the reference without a problem, R-hat at most 1.01, at least 300 times the ESS per second of NUTS, at least 1/1.5 of that of the best setting of the grid |
//!
//! A criterion whose other side did not run is printed as not judged, and is no failure.

use sgmcmc::Fit;
use sgmcmc::fit::Severity;

use super::comparison::Verdict;
use super::methods::Row;

/// The results of a workload that the criteria are about.
pub(super) struct Results<'a> {
    /// The run of `auto`.
    pub(super) fit: &'a Fit,
    pub(super) auto: &'a Row,
    /// The verdict on `auto`, if there is a reference.
    pub(super) verdict: Option<&'a Verdict>,
    pub(super) by_hand: Option<&'a Row>,
    pub(super) guessed: Option<&'a Row>,
    /// The run of NUTS whose speed counts.
    pub(super) nuts: Option<&'a Row>,
}

/// A criterion with its result.
#[derive(Debug)]
pub(super) struct Criterion {
    /// The criterion and the numbers.
    text: String,
    /// `None` if it was not judged.
    passes: Option<bool>,
}

impl Criterion {
    fn new(text: String, passes: bool) -> Self {
        Self { text, passes: Some(passes) }
    }

    /// Compares the ESS per second of `auto` with `least` times that of another method.
    fn faster(auto: &Row, other: Option<&Row>, name: &str, least: f64) -> Self {
        match other {
            None => Self { text: format!("speed relative to {name}: it did not run"), passes: None },
            Some(other) => {
                let ratio = auto.rate() / other.rate();
                let text = format!(
                    "{:.4} ESS/s is {ratio:.2} times the {:.4} of {name} ({}), at least {least:.2}",
                    auto.rate(),
                    other.rate(),
                    other.method
                );
                Self::new(text, ratio >= least)
            }
        }
    }

    /// Returns whether the criterion was judged and does not hold.
    pub(super) fn failed(&self) -> bool {
        self.passes == Some(false)
    }

    /// Returns whether the criterion was judged.
    pub(super) fn judged(&self) -> bool {
        self.passes.is_some()
    }

    /// Returns the criterion as a line of text.
    pub(super) fn line(&self) -> String {
        let result = match self.passes {
            None => "not judged",
            Some(true) => "pass",
            Some(false) => "FAIL",
        };
        format!("{}: {result}", self.text)
    }
}

/// The smallest effective sample size of `quickstart`, and the largest number of steps per effective draw.
const EFFECTIVE: f64 = 400.0;
const STEPS_PER_DRAW: f64 = 30.0;
/// The speeds relative to guessed settings, to NUTS on all data, and to the best setting of the grid.
const FASTER_THAN_GUESSED: f64 = 20.0;
const FASTER_THAN_NUTS: f64 = 300.0;
const SPEED_OF_GRID: f64 = 1.0 / 1.5;
/// The largest R-hat.
const R_HAT: f64 = 1.01;

/// Judges the workload called `name`.
pub(super) fn judge(name: &str, results: &Results<'_>) -> Vec<Criterion> {
    let Results { fit, auto, verdict, by_hand, guessed, nuts } = results;
    let agreement = match verdict {
        None => Criterion { text: "agreement with a reference: there is none".into(), passes: None },
        Some(verdict) => {
            // Real data must be answered, not refused.
            let fails = verdict.failed() || name == "covertype" && **verdict != Verdict::Agrees;
            Criterion::new(format!("agreement with the reference ({})", verdict.describe()), !fails)
        }
    };
    let mut criteria = vec![agreement];
    match name {
        "quickstart" => {
            let check = fit.check();
            let severe = check.findings().iter().filter(|finding| finding.severity != Severity::Note).count();
            let steps = fit.info().iterations.iter().sum::<u64>() as f64 / auto.ess;
            criteria
                .push(Criterion::new(format!("{severe} problems and warnings of the check, 0 allowed"), severe == 0));
            let text = format!("smallest ESS {:.0}, at least {EFFECTIVE:.0}", auto.ess);
            criteria.push(Criterion::new(text, auto.ess >= EFFECTIVE));
            let text = format!("{steps:.1} steps per effective draw, at most {STEPS_PER_DRAW:.0}");
            criteria.push(Criterion::new(text, steps <= STEPS_PER_DRAW));
            criteria.push(Criterion::faster(auto, *guessed, "guessed settings", FASTER_THAN_GUESSED));
            criteria.extend(guessed.map(|guessed| {
                let text = format!(
                    "{:.2} s in total, less than the {:.2} s of guessed settings",
                    auto.seconds, guessed.seconds
                );
                Criterion::new(text, auto.seconds < guessed.seconds)
            }));
        }
        "covertype" => {
            let text = format!("largest R-hat {:.4}, at most {R_HAT}", auto.r_hat);
            criteria.push(Criterion::new(text, auto.r_hat <= R_HAT));
            criteria.push(Criterion::faster(auto, *nuts, "NUTS", FASTER_THAN_NUTS));
            criteria.push(Criterion::faster(auto, *by_hand, "the best setting of the grid", SPEED_OF_GRID));
        }
        _ => {}
    }
    criteria
}

#[cfg(test)]
mod tests {
    use sgmcmc::fit::{ChainDraws, RunInfo};
    use sgmcmc::{Fit, Layout};

    use super::super::methods::{Gradients, Row};
    use super::{Results, Verdict, judge};

    fn row(seconds: f64, ess: f64, r_hat: f64) -> Row {
        let gradients = Gradients { tuning: 0.0, sampling: 0.0 };
        Row { method: "m".into(), seconds, gradients, ess, r_hat, moments: Vec::new() }
    }

    /// A run of `steps` iterations.
    fn fit(steps: u64) -> Fit {
        let layout = Layout::new([("x".into(), vec![1], None)]).unwrap();
        let info = RunInfo { iterations: vec![steps], ..RunInfo::default() };
        Fit::new(layout, vec![ChainDraws::new(1, Vec::new())]).unwrap().with_info(info)
    }

    /// Returns the criteria that fail and those that were not judged.
    fn counts(name: &str, results: &Results<'_>) -> (usize, usize) {
        let criteria = judge(name, results);
        (criteria.iter().filter(|c| c.failed()).count(), criteria.iter().filter(|c| !c.judged()).count())
    }

    #[test]
    fn covertype_must_be_right_and_fast() {
        let (fit, auto, grid) = (fit(100), row(10.0, 400.0, 1.005), row(10.0, 590.0, 1.0));
        let (nuts, fast) = (row(1000.0, 130.0, 1.0), row(1000.0, 140.0, 1.0));
        let agrees = Verdict::Agrees;
        let right = Results {
            fit: &fit,
            auto: &auto,
            verdict: Some(&agrees),
            by_hand: Some(&grid),
            guessed: None,
            nuts: Some(&nuts),
        };
        assert_eq!(counts("covertype", &right), (0, 0));
        assert_eq!(counts("covertype", &Results { nuts: Some(&fast), ..right }), (1, 0));
        assert_eq!(counts("covertype", &Results { nuts: None, by_hand: None, verdict: None, ..right }), (0, 3));
        let slow = row(10.0, 390.0, 1.02);
        assert_eq!(counts("covertype", &Results { auto: &slow, ..right }), (2, 0));
        // A refusal is not an answer on this workload, and is one on others.
        let refused = Verdict::Distrusted("p".into());
        assert_eq!(counts("covertype", &Results { verdict: Some(&refused), ..right }), (1, 0));
        assert_eq!(counts("mixture", &Results { verdict: Some(&refused), ..right }), (0, 0));
        let wrong = Verdict::Wrong("w".into());
        assert_eq!(counts("mixture", &Results { verdict: Some(&wrong), ..right }), (1, 0));
    }

    #[test]
    fn the_quickstart_must_be_clean_and_cheap() {
        let (auto, guessed) = (row(1.0, 400.0, 1.0), row(2.0, 40.0, 1.0));
        let agrees = Verdict::Agrees;
        let judged = |steps, auto: &Row, guessed: &Row| {
            let fit = fit(steps);
            let results =
                Results { fit: &fit, auto, verdict: Some(&agrees), by_hand: None, guessed: Some(guessed), nuts: None };
            judge("quickstart", &results).iter().map(|c| !c.failed()).collect::<Vec<_>>()
        };
        // The fit has no draws, so that its check is not clean.
        assert_eq!(judged(12_000, &auto, &guessed), [true, false, true, true, true, true]);
        assert_eq!(judged(12_001, &row(2.0, 399.0, 1.0), &guessed), [true, false, false, false, false, false]);
    }
}
