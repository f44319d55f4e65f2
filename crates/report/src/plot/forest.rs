//! Forest plots.

use std::ops::Range;

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, drawing, line, message};
use super::ticks::{Ticks, range_of};
use super::{Frame, Plot, palette};
use crate::error::Result;

/// One row of a forest plot.
///
/// # Examples
///
/// See [`forest`].
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// The name of the value.
    pub name: String,
    /// The mean, shown as a dot.
    pub mean: f64,
    /// The outer interval, shown as a thin line.
    pub outer: (f64, f64),
    /// The inner interval, shown as a thick line.
    pub inner: (f64, f64),
    /// True if the value is marked as unreliable.
    pub doubtful: bool,
}

/// Draws a forest plot, with one row per value: the mean, a thick line for the inner interval and a thin line for the
/// outer interval. Unreliable values have another color and a hollow dot. If a few values are far away from the others, the
/// axis leaves them out and arrows point to them. The height is that of the frame, or larger if
/// the rows need it.
///
/// # Errors
///
/// Returns an error if the plotting crate fails.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::{self, Frame, Interval};
///
/// let row = |name: &str, mean: f64| Interval {
///     name: name.into(),
///     mean,
///     outer: (mean - 2.0, mean + 2.0),
///     inner: (mean - 1.0, mean + 1.0),
///     doubtful: false,
/// };
/// let rows = [row("beta[0]", 0.5), row("beta[1]", -1.0)];
/// let plot = plot::forest(&rows, &Frame::new("coefficients"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn forest(intervals: &[Interval], frame: &Frame) -> Result<Plot> {
    let frame = Frame { height: frame.height.max(60 + 15 * intervals.len() as u32), ..frame.clone() };
    Plot::draw(&frame, |area| {
        let Some(x) = axis_range(intervals) else { return message(area, frame.title(), "no finite values") };
        let mut axes = Axes::new(frame.title(), x.clone(), 0.3..intervals.len() as f64 + 0.7);
        axes.y_ticks = Ticks::named(intervals.iter().map(|row| shortened(&row.name)).collect());
        let mut chart = axes.draw(area)?;
        let rows = intervals.len() as f64 + 0.7;
        if x.contains(&0.0) {
            line(&mut chart, vec![(0.0, 0.3), (0.0, rows)], palette::MUTED.stroke_width(SCALE))?;
        }
        for (i, row) in intervals.iter().enumerate() {
            let y = (intervals.len() - i) as f64;
            let color = palette::chain(usize::from(row.doubtful));
            let inside = |value: f64| value.clamp(x.start, x.end);
            for (ends, width) in [(row.outer, SCALE * 3 / 2), (row.inner, 4 * SCALE)] {
                let visible = ends.0 <= x.end && ends.1 >= x.start;
                if ends.0.is_finite() && ends.1.is_finite() && visible {
                    line(&mut chart, vec![(inside(ends.0), y), (inside(ends.1), y)], color.stroke_width(width))?;
                }
            }
            // Arrows point to values outside of the axis.
            let reach = 0.012 * (x.end - x.start);
            for (outside, tip, back) in [
                (row.outer.1.max(row.mean) > x.end, x.end, -reach),
                (row.outer.0.min(row.mean) < x.start, x.start, reach),
            ] {
                if outside {
                    let arrow = vec![(tip + back, y + 0.3), (tip, y), (tip + back, y - 0.3)];
                    line(&mut chart, arrow, color.stroke_width(SCALE * 3 / 2))?;
                }
            }
            if row.mean.is_finite() && x.contains(&row.mean) {
                let dot = |size, fill: RGBColor| Circle::new((row.mean, y), size, fill.filled());
                chart.plotting_area().draw(&dot(4 * SCALE, color)).map_err(drawing)?;
                if row.doubtful {
                    chart.plotting_area().draw(&dot(2 * SCALE, palette::PAPER)).map_err(drawing)?;
                }
            }
        }
        Ok(())
    })
}

/// Returns the range of the axis. If a few values are so far away that the intervals of the others would be too small to
/// see, the range is that of the others.
fn axis_range(intervals: &[Interval]) -> Option<Range<f64>> {
    let ends = |row: &Interval| [row.mean, row.outer.0, row.outer.1];
    let all = range_of(intervals.iter().flat_map(ends), 0.04)?;
    let mut means: Vec<f64> = intervals.iter().map(|row| row.mean).filter(|mean| mean.is_finite()).collect();
    let mut widths: Vec<f64> =
        intervals.iter().map(|row| row.outer.1 - row.outer.0).filter(|width| width.is_finite()).collect();
    if means.len() < 5 || widths.is_empty() {
        return Some(all);
    }
    means.sort_by(f64::total_cmp);
    widths.sort_by(f64::total_cmp);
    let at = |sorted: &[f64], share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    let (low, high) = (at(&means, 0.25), at(&means, 0.75));
    let reach = 3.0 * (high - low) + 3.0 * at(&widths, 0.75);
    let near = |row: &&Interval| row.mean >= low - reach && row.mean <= high + reach;
    let robust = range_of(
        intervals.iter().filter(near).flat_map(|row| {
            // A wide interval does not widen the axis beyond its reach.
            [row.mean, row.outer.0.max(low - reach), row.outer.1.min(high + reach)]
        }),
        0.04,
    )?;
    Some(if all.end - all.start > 2.5 * (robust.end - robust.start) { robust } else { all })
}

/// Returns a name of at most 24 characters.
fn shortened(name: &str) -> String {
    let name = super::canvas::clean(name);
    let count = name.chars().count();
    if count <= 24 {
        return name;
    }
    // Keep the end, which has the index of the value.
    let (start, end): (String, String) = (name.chars().take(11).collect(), name.chars().skip(count - 12).collect());
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_distant_value_does_not_flatten_the_others() {
        let row = |mean: f64| Interval {
            name: String::new(),
            mean,
            outer: (mean - 0.1, mean + 0.1),
            inner: (mean - 0.05, mean + 0.05),
            doubtful: false,
        };
        let mut rows: Vec<Interval> = (0..20).map(|i| row(0.1 * f64::from(i % 5))).collect();
        let near = axis_range(&rows).unwrap();
        rows.push(row(70.0));
        let robust = axis_range(&rows).unwrap();
        assert!(robust.end < 5.0 && robust.contains(&near.start) && robust.contains(&0.5), "{robust:?}");
        rows.truncate(3);
        rows.push(row(70.0));
        assert!(axis_range(&rows).unwrap().end > 70.0, "a few values are all shown");
    }
}
