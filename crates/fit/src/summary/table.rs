//! The table of a summary for a terminal. The number of digits depends on the standard deviation of each value.

use std::fmt;
use std::ops::Range;

use sgmcmc_gradient::text::printable;

use super::Summary;
use super::columns::{Column, ColumnKind};
use crate::text::count;

/// The default number of significant digits of a standard deviation.
pub(super) const DIGITS: usize = 3;

/// The number of values above which a parameter is folded.
const FOLD_ABOVE: usize = 20;

/// The number of values that are shown of a folded parameter.
const SHOWN: usize = 5;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.table_lines();
        let mut widths: Vec<usize> = self.columns.iter().map(|column| column.name.len()).collect();
        let mut first = 0;
        for line in &lines {
            if let TableLine::Row(name, cells) = line {
                first = first.max(name.chars().count());
                widths.iter_mut().zip(cells).for_each(|(width, cell)| *width = (*width).max(cell.len()));
            }
        }
        write!(f, "{:<first$}", "")?;
        widths.iter().zip(&self.columns).try_for_each(|(width, column)| write!(f, "  {:>width$}", column.name))?;
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
        if self.rows.len() < self.values {
            write!(f, "{} of {}; ", self.rows.len(), count(self.values, "value"))?;
        }
        write!(f, "{} of {}", count(self.draws, "draw"), count(self.chains, "chain"))?;
        self.warnings.iter().try_for_each(|warning| write!(f, "\n{warning}"))
    }
}

/// A line of the table.
pub(super) enum TableLine {
    /// The name of a value and its cells.
    Row(String, Vec<String>),
    /// The number of values that are not shown, and how to see them.
    Folded(String),
}

impl Summary {
    /// Returns the lines of all parameters.
    pub(super) fn table_lines(&self) -> Vec<TableLine> {
        self.blocks.iter().flat_map(|(name, range)| self.lines(name, range.clone())).collect()
    }

    /// Returns the lines of one parameter, folded if it is long.
    fn lines(&self, name: &str, range: Range<usize>) -> Vec<TableLine> {
        let (names, rows) = (&self.names[range.clone()], &self.rows[range.clone()]);
        let shown = if self.folded && rows.len() > FOLD_ABOVE { SHOWN } else { rows.len() };
        let mut lines: Vec<TableLine> = (names.iter().zip(range).take(shown))
            .map(|(name, row)| TableLine::Row(printable(name).into_owned(), self.cells(row)))
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

impl Summary {
    /// Formats the numbers of a row. The standard deviation has the significant digits of the summary. Numbers on the
    /// scale of the parameter have the same number of decimals. Monte Carlo errors have one significant digit fewer.
    pub(super) fn cells(&self, row: usize) -> Vec<String> {
        let description = &self.rows[row];
        let spread = if description.sd > 0.0 { description.sd } else { description.mean.abs() };
        let digits = self.digits as i32;
        let decimals = decimals_for(spread, digits);
        let cell = |column: &Column| {
            let value = column.numbers[row];
            match column.kind {
                ColumnKind::Location => number(value, decimals, digits + 3),
                ColumnKind::Size => whole(value),
                ColumnKind::RHat => fixed(value, self.digits),
                ColumnKind::Error => number(value, decimals_for(value, (digits - 1).max(1)), digits + 3),
                ColumnKind::Rate => number(value, decimals_for(value, digits).max(0), digits + 3),
            }
        };
        self.columns.iter().map(cell).collect()
    }
}

/// Returns the number of decimals that shows `digits` significant digits of `value`.
fn decimals_for(value: f64, digits: i32) -> i32 {
    if value > 0.0 && value.is_finite() { digits - 1 - value.log10().floor() as i32 } else { 0 }
}

/// Formats a number with `decimals` decimals, or in scientific notation if it is very large or has more than
/// `most_decimals` decimals.
fn number(value: f64, decimals: i32, most_decimals: i32) -> String {
    let large = value.abs() >= 1e7;
    if !value.is_finite() || !(large || decimals > most_decimals) {
        fixed(value, decimals.clamp(0, most_decimals) as usize)
    } else {
        // The number of digits that fixed notation with `decimals` decimals would show.
        let digits = decimals + value.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
        format!("{value:.*e}", digits.clamp(1, most_decimals) as usize)
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
    use sgmcmc_diagnostics::Description;
    use sgmcmc_gradient::Layout;

    use crate::{ChainDraws, Fit, SummaryOptions};

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
        let fit = Fit::new(Layout::vector("x", 1), vec![ChainDraws::new(1, vec![])]).unwrap();
        let text = |mean, sd, mcse, digits| {
            let mut summary = fit.summary();
            summary.rows = vec![row(mean, sd, mcse)];
            summary.columns = super::super::columns(&fit, &summary.rows, &[0], &SummaryOptions::default());
            summary.digits = digits;
            summary.cells(0).join(" ")
        };
        assert_eq!(text(1.234567, 0.0123, 0.00045, 3), "1.2346 0.0123 1.2223 1.2469 812 NaN 1.002 0.00045 0.00045");
        assert_eq!(text(12345.6, 321.0, 11.2, 3), "12346 321 12025 12667 812 NaN 1.002 11 11");
        assert_eq!(text(1.5e-9, 2e-10, 1e-12, 3), "1.500e-9 2.00e-10 1.300e-9 1.700e-9 812 NaN 1.002 1.0e-12 1.0e-12");
        assert_eq!(text(2.0, 0.0, f64::NAN, 3), "2.00 0.00 2.00 2.00 812 NaN 1.002 NaN NaN");
        assert_eq!(
            text(1.234567, 0.0123, 0.00045, 5),
            "1.234567 0.012300 1.222267 1.246867 812 NaN 1.00214 0.0004500 0.0004500"
        );
    }
}
