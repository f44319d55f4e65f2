//! Forest plots.

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, drawing, line, message};
use super::ticks::{Ticks, range_of};
use super::{Frame, Plot, palette};
use crate::error::Result;

/// One row of a forest plot.
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
/// outer interval. Unreliable values have another color and a hollow dot. The height is that of the frame, or larger if
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
    let ends = intervals.iter().flat_map(|row| [row.mean, row.outer.0, row.outer.1]);
    Plot::draw(&frame, |area| {
        let Some(x) = range_of(ends.clone(), 0.04) else { return message(area, frame.title(), "no finite values") };
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
            for (ends, width) in [(row.outer, SCALE * 3 / 2), (row.inner, 4 * SCALE)] {
                if ends.0.is_finite() && ends.1.is_finite() {
                    line(&mut chart, vec![(ends.0, y), (ends.1, y)], color.stroke_width(width))?;
                }
            }
            if row.mean.is_finite() {
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
