//! A summary on a terminal: aligned, with as many digits as the spread of each value calls for.

use std::fmt;

use sgmcmc_core::text::printable;

use super::{COLUMNS, Summary, SummaryRow};

/// Parameters of more values than this are folded.
const LONG: usize = 20;

/// Values that are shown of a folded parameter.
const SHOWN: usize = 5;

/// Decimals beyond which numbers are written with a power of ten.
const MOST_DECIMALS: i32 = 6;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<Line> =
            self.blocks.iter().flat_map(|(name, range)| self.lines(name, &self.rows[range.clone()])).collect();
        let mut widths = COLUMNS.map(str::len);
        let mut first = 0;
        for line in &lines {
            if let Line::Row(name, cells) = line {
                first = first.max(name.chars().count());
                widths.iter_mut().zip(cells).for_each(|(width, cell)| *width = (*width).max(cell.len()));
            }
        }
        write!(f, "{:<first$}", "")?;
        widths.iter().zip(COLUMNS).try_for_each(|(width, name)| write!(f, "  {name:>width$}"))?;
        writeln!(f)?;
        for line in &lines {
            match line {
                Line::Row(name, cells) => {
                    write!(f, "{name:<first$}")?;
                    widths.iter().zip(cells).try_for_each(|(width, cell)| write!(f, "  {cell:>width$}"))?;
                    writeln!(f)?;
                }
                Line::Folded(text) => writeln!(f, "{text}")?,
            }
        }
        write!(f, "{} draws of {} chain(s)", self.draws, self.chains)?;
        self.warnings.iter().try_for_each(|warning| write!(f, "\n{warning}"))
    }
}

enum Line {
    Row(String, Vec<String>),
    Folded(String),
}

impl Summary {
    fn lines(&self, name: &str, rows: &[SummaryRow]) -> Vec<Line> {
        let shown = if self.folded && rows.len() > LONG { SHOWN } else { rows.len() };
        let mut lines: Vec<Line> =
            rows[..shown].iter().map(|row| Line::Row(printable(&row.name).into_owned(), cells(row).into())).collect();
        let hidden = &rows[shown..];
        if !hidden.is_empty() {
            let least = hidden.iter().map(|row| row.ess_bulk).fold(f64::INFINITY, f64::min);
            let largest = hidden.iter().map(|row| row.r_hat).fold(f64::NEG_INFINITY, f64::max);
            lines.push(Line::Folded(format!(
                "… {} more of `{}` not shown (ess_bulk ≥ {}, r_hat ≤ {}): print `summary.unfolded()`, or `row(\"{}\")`",
                hidden.len(),
                printable(name),
                whole(least),
                decimals(largest, 3),
                printable(&hidden[0].name)
            )));
        }
        lines
    }
}

/// The numbers of a row: three digits of the spread, and mean and interval as exact as that; two digits of errors.
pub(super) fn cells(row: &SummaryRow) -> [String; 9] {
    let spread = if row.sd > 0.0 { row.sd } else { row.mean.abs() };
    let places = places(spread, 3);
    let close = |value: f64| number(value, places);
    let error = |value: f64| number(value, self::places(value, 2));
    [
        close(row.mean),
        close(row.sd),
        close(row.eti89_lb),
        close(row.eti89_ub),
        whole(row.ess_bulk),
        whole(row.ess_tail),
        decimals(row.r_hat, 3),
        error(row.mcse_mean),
        error(row.mcse_sd),
    ]
}

/// Decimals that show `digits` digits of `value`.
fn places(value: f64, digits: i32) -> i32 {
    if value > 0.0 && value.is_finite() { digits - 1 - value.log10().floor() as i32 } else { 0 }
}

fn number(value: f64, places: i32) -> String {
    let large = value.abs() >= 1e7;
    if !value.is_finite() || !(large || places > MOST_DECIMALS) {
        decimals(value, places.clamp(0, MOST_DECIMALS) as usize)
    } else {
        // As many digits as `places` decimals would show.
        let digits = places + value.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
        format!("{value:.*e}", digits.clamp(1, 6) as usize)
    }
}

fn decimals(value: f64, places: usize) -> String {
    if value.is_finite() { format!("{value:.places$}") } else { value.to_string() }
}

fn whole(value: f64) -> String {
    decimals(value, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_spread() {
        let row = |mean, sd, mcse| SummaryRow {
            name: "x".into(),
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
