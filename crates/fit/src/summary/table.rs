//! The table of a summary for a terminal. The number of digits depends on the standard deviation of each value.

use std::fmt;
use std::ops::Range;

use sgmcmc_diagnostics::Description;
use sgmcmc_gradient::text::printable;

use super::{COLUMNS, Summary};
use crate::text::count;

/// The number of values above which a parameter is folded.
const FOLD_ABOVE: usize = 20;

/// The number of values that are shown of a folded parameter.
const SHOWN: usize = 5;

/// The number of decimals above which numbers are in scientific notation.
const MAX_DECIMALS: i32 = 6;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<TableLine> =
            self.blocks.iter().flat_map(|(name, range)| self.lines(name, range.clone())).collect();
        let mut widths = COLUMNS.map(str::len);
        let mut first = 0;
        for line in &lines {
            if let TableLine::Row(name, cells) = line {
                first = first.max(name.chars().count());
                widths.iter_mut().zip(cells).for_each(|(width, cell)| *width = (*width).max(cell.len()));
            }
        }
        write!(f, "{:<first$}", "")?;
        widths.iter().zip(COLUMNS).try_for_each(|(width, name)| write!(f, "  {name:>width$}"))?;
        writeln!(f)?;
        for line in &lines {
            match line {
                TableLine::Row(name, cells) => {
                    write!(f, "{name:<first$}")?;
                    widths.iter().zip(cells).try_for_each(|(width, cell)| write!(f, "  {cell:>width$}"))?;
                    writeln!(f)?;
                }
                TableLine::Folded(text) => writeln!(f, "{text}")?,
            }
        }
        write!(f, "{} of {}", count(self.draws, "draw"), count(self.chains, "chain"))?;
        self.warnings.iter().try_for_each(|warning| write!(f, "\n{warning}"))
    }
}

/// A line of the table.
enum TableLine {
    Row(String, Vec<String>),
    Folded(String),
}

impl Summary {
    /// Returns the lines of one parameter, folded if it is long.
    fn lines(&self, name: &str, range: Range<usize>) -> Vec<TableLine> {
        let (names, rows) = (&self.names[range.clone()], &self.rows[range]);
        let shown = if self.folded && rows.len() > FOLD_ABOVE { SHOWN } else { rows.len() };
        let mut lines: Vec<TableLine> = (names.iter().zip(rows).take(shown))
            .map(|(name, row)| TableLine::Row(printable(name).into_owned(), cells(row).into()))
            .collect();
        let hidden = &rows[shown..];
        if !hidden.is_empty() {
            let least = hidden.iter().map(|row| row.ess_bulk).fold(f64::INFINITY, f64::min);
            let largest = hidden.iter().map(|row| row.r_hat).fold(f64::NEG_INFINITY, f64::max);
            lines.push(TableLine::Folded(format!(
                "… {} more of `{}` not shown (ess_bulk ≥ {}, r_hat ≤ {}): print `summary.unfolded()`, or `row(\"{}\")`",
                hidden.len(),
                printable(name),
                whole(least),
                fixed(largest, 3),
                printable(&names[shown])
            )));
        }
        lines
    }
}

/// Formats the numbers of a row. The standard deviation has three significant digits. Mean and interval have the same
/// number of decimals. Monte Carlo errors have two significant digits.
pub(super) fn cells(row: &Description) -> [String; 9] {
    let spread = if row.sd > 0.0 { row.sd } else { row.mean.abs() };
    let decimals = decimals_for(spread, 3);
    let close = |value: f64| number(value, decimals);
    let error = |value: f64| number(value, decimals_for(value, 2));
    [
        close(row.mean),
        close(row.sd),
        close(row.eti89_lb),
        close(row.eti89_ub),
        whole(row.ess_bulk),
        whole(row.ess_tail),
        fixed(row.r_hat, 3),
        error(row.mcse_mean),
        error(row.mcse_sd),
    ]
}

/// Returns the number of decimals that shows `digits` significant digits of `value`.
fn decimals_for(value: f64, digits: i32) -> i32 {
    if value > 0.0 && value.is_finite() { digits - 1 - value.log10().floor() as i32 } else { 0 }
}

/// Formats a number with `decimals` decimals, or in scientific notation if it is very large or small.
fn number(value: f64, decimals: i32) -> String {
    let large = value.abs() >= 1e7;
    if !value.is_finite() || !(large || decimals > MAX_DECIMALS) {
        fixed(value, decimals.clamp(0, MAX_DECIMALS) as usize)
    } else {
        // The number of digits that fixed notation with `decimals` decimals would show.
        let digits = decimals + value.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
        format!("{value:.*e}", digits.clamp(1, 6) as usize)
    }
}

/// Formats a number in fixed notation.
fn fixed(value: f64, decimals: usize) -> String {
    if value.is_finite() { format!("{value:.decimals$}") } else { value.to_string() }
}

/// Formats a number as an integer.
fn whole(value: f64) -> String {
    fixed(value, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_spread() {
        let row = |mean, sd, mcse| Description {
            mean,
            sd,
            eti89_lb: mean - sd,
            eti89_ub: mean + sd,
            ess_bulk: 812.4,
            ess_tail: f64::NAN,
            r_hat: 1.00214,
            mcse_mean: mcse,
            mcse_sd: mcse,
        };
        let text = |mean, sd, mcse| cells(&row(mean, sd, mcse)).join(" ");
        assert_eq!(text(1.234567, 0.0123, 0.00045), "1.2346 0.0123 1.2223 1.2469 812 NaN 1.002 0.00045 0.00045");
        assert_eq!(text(12345.6, 321.0, 11.2), "12346 321 12025 12667 812 NaN 1.002 11 11");
        assert_eq!(text(1.5e-9, 2e-10, 1e-12), "1.500e-9 2.00e-10 1.300e-9 1.700e-9 812 NaN 1.002 1.0e-12 1.0e-12");
        assert_eq!(text(2.0, 0.0, f64::NAN), "2.00 0.00 2.00 2.00 812 NaN 1.002 NaN NaN");
    }
}
