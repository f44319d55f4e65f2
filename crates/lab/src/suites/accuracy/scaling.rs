//! The cost of runs without settings as the number of observations grows, on the model of `quickstart`.
//!
//! With control variates centered at the mode, the cost of an effective draw does not depend on N once minibatches are
//! used. Criterion: the log-log slope of sampling gradients per effective draw over the sizes that use minibatches is at
//! most 0.1. Smaller data sets use the full gradient, whose cost is proportional to N. Tuning reads all data a few
//! times, so that its slope is at most about one; it has no criterion.

use super::methods::{Gradients, algorithm, auto};
use super::workloads;
use crate::Result;
use crate::suites::Outcome;

/// The largest log-log slope of sampling.
const LARGEST_SLOPE: f64 = 0.1;
/// The smallest number of observations.
const SMALLEST: f64 = 1e3;

/// The cost at one size.
struct Cost {
    observations: f64,
    /// True if the run used minibatches.
    minibatches: bool,
    tuning: f64,
    per_draw: f64,
}

/// Runs all sizes up to `largest`, two per decade.
///
/// # Errors
///
/// Returns an error if fewer than two sizes use minibatches, and the errors of the runs.
pub(super) fn run(largest: f64, seed: u64) -> Result<Outcome> {
    println!(
        "{:>9} {:<15} {:>9} {:>9} {:>9} {:>7} {:>22} {:>9}  check",
        "N", "algorithm", "minibatch", "tuning", "sampling", "ESS", "sampling/effective draw", "seconds"
    );
    let sizes = (0..).map(|k| SMALLEST * 10.0_f64.powf(0.5 * f64::from(k)));
    let mut costs = Vec::new();
    for size in sizes.take_while(|size| *size <= largest * (1.0 + 1e-9)) {
        let n = size.round() as usize;
        let workload = workloads::quickstart(Some(n))?;
        let (fit, row) = auto(&workload.target, &workload.start, seed)?;
        let (info, Gradients { tuning, sampling }) = (fit.info(), row.gradients);
        let per_draw = sampling / row.ess;
        println!(
            "{n:>9} {:<15} {:>9} {tuning:>9.1e} {sampling:>9.1e} {:>7.0} {per_draw:>22.0} {:>9.2}  {}",
            algorithm(info),
            info.minibatch.map_or("all".to_owned(), |size| size.to_string()),
            row.ess,
            row.seconds,
            if fit.check().passed() { "passed" } else { "problem" }
        );
        costs.push(Cost { observations: n as f64, minibatches: info.minibatch.is_some(), tuning, per_draw });
    }
    let with_minibatches = || costs.iter().filter(|cost| cost.minibatches);
    let tuning = slope(costs.iter().map(|cost| (cost.observations, cost.tuning)));
    let tuning_with_minibatches = slope(with_minibatches().map(|cost| (cost.observations, cost.tuning)));
    let all = slope(costs.iter().map(|cost| (cost.observations, cost.per_draw)));
    println!("slope of tuning: {tuning:.3}; over the sizes with minibatches: {tuning_with_minibatches:.3}");
    println!("slope of sampling per effective draw over all sizes: {all:.3}");
    if with_minibatches().count() < 2 {
        return Err("fewer than two sizes use minibatches, so that the slope is not judged; use a larger --max".into());
    }
    let sampling = slope(with_minibatches().map(|cost| (cost.observations, cost.per_draw)));
    let passes = sampling <= LARGEST_SLOPE;
    println!(
        "slope of sampling per effective draw over the sizes with minibatches: {sampling:.3}, at most {LARGEST_SLOPE}: {}",
        if passes { "pass" } else { "FAIL" }
    );
    Ok(Outcome::from_failures(usize::from(!passes)))
}

/// Returns the least-squares slope of log y against log x, or NaN if there are fewer than two points.
fn slope(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let points: Vec<(f64, f64)> = points.map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let products: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    products / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::slope;

    #[test]
    fn powers_have_their_exponent_as_slope() {
        let power = |exponent: f64| [1e3_f64, 1e4, 1e5, 1e6].into_iter().map(move |x| (x, 7.0 * x.powf(exponent)));
        for exponent in [-0.5, 0.0, 0.1, 1.0] {
            assert!((slope(power(exponent)) - exponent).abs() < 1e-12);
        }
        assert!(slope([(1.0, 2.0)].into_iter()).is_nan());
    }
}
