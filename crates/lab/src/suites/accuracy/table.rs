//! The table of a workload.

use super::comparison::{Differences, Estimate, Moments, STANDARD_ERRORS};
use super::methods::Row;
use crate::Result;

/// A method with its results or its error.
pub(super) struct Entry {
    /// The name of the method, for errors.
    method: &'static str,
    pub(super) row: std::result::Result<Row, String>,
}

impl Entry {
    pub(super) fn new(method: &'static str, row: Result<Row>) -> Self {
        Self { method, row: row.map_err(|error| error.to_string()) }
    }

    /// Returns the results.
    pub(super) fn row(&self) -> Option<&Row> {
        self.row.as_ref().ok()
    }
}

/// Prints the table of all methods; the first is `auto`.
///
/// # Errors
///
/// Returns an error if a method has no draws of a value of the reference.
pub(super) fn print(title: &str, entries: &[Entry], reference: Option<&[Moments]>) -> Result<()> {
    let rate_of_auto = entries.first().and_then(Entry::row).map_or(f64::NAN, Row::rate);
    println!("\n{title}");
    println!(
        "{:<48} {:>9} {:>9} {:>9} {:>7} {:>6} {:>9} {:>7} {:>15} {:>15}",
        "method", "seconds", "tuning", "sampling", "ESS", "R-hat", "ESS/s", "÷ auto", "|Δmean|/sd", "|Δsd|/sd"
    );
    for entry in entries {
        let row = match &entry.row {
            Ok(row) => row,
            Err(error) => {
                println!("{:<48} {error}", entry.method);
                continue;
            }
        };
        // A method is not its own reference.
        let differences = match reference {
            Some(reference) if reference != row.moments => Some(Differences::new(&row.moments, reference)?),
            _ => None,
        };
        let [mean, sd] = match &differences {
            Some(differences) => [differences.worst_mean().mean, differences.worst_sd().sd].map(error),
            None => ["–".to_owned(), "–".to_owned()],
        };
        println!(
            "{:<48} {:>9.2} {:>9.1e} {:>9.1e} {:>7.0} {:>6} {:>9.2} {:>7.3} {mean:>15} {sd:>15}",
            row.method,
            row.seconds,
            row.gradients.tuning,
            row.gradients.sampling,
            row.ess,
            // One chain of independent draws has no R-hat.
            if row.r_hat.is_nan() { "–".to_owned() } else { format!("{:.3}", row.r_hat) },
            row.rate(),
            row.rate() / rate_of_auto
        );
    }
    println!(
        "seconds: wall clock, tuning included; tuning, sampling: gradients of single observations; ESS: smallest bulk or tail ESS of \
         all values; R-hat: largest; ÷ auto: ESS/s relative to auto\n\
         errors: largest of all values, ± the Monte Carlo error of both sides; judged with {STANDARD_ERRORS} of them added to the tolerance\n\
         SGLD-CV is the best of a grid of step sizes, minibatches and metrics; the cost of the grid is NOT counted\n\
         the Laplace approximation has no gradients of sampling, but evaluates the density of all observations once per draw"
    );
    Ok(())
}

fn error(estimate: Estimate) -> String {
    format!("{:.3} ± {:.3}", estimate.error, estimate.noise)
}
