//! All parameters at a glance.

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, drawing, line, nothing};
use super::ticks::{Ticks, range_of};
use super::{Frame, Plot, palette};
use crate::error::Result;

/// One row of a forest plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// The parameter.
    pub name: String,
    /// Where its dot is.
    pub mean: f64,
    /// The ends of the thin line.
    pub outer: (f64, f64),
    /// The ends of the thick line.
    pub inner: (f64, f64),
    /// Whether it is shown as one not to be trusted.
    pub doubtful: bool,
}

/// A row per parameter: the mean, a thick line for the inner and a thin one for the outer interval. Doubtful rows have another colour
/// and a hollow dot. The frame gives the width; the height is that of the rows where it is larger.
pub fn forest(intervals: &[Interval], frame: &Frame) -> Result<Plot> {
    let frame = Frame { height: frame.height.max(60 + 15 * intervals.len() as u32), ..frame.clone() };
    let ends = intervals.iter().flat_map(|row| [row.mean, row.outer.0, row.outer.1]);
    Plot::draw(&frame, |area| {
        let Some(x) = range_of(ends.clone(), 0.04) else { return nothing(area, frame.title(), "nothing is finite") };
        let mut axes = Axes::new(frame.title(), x.clone(), 0.3..intervals.len() as f64 + 0.7);
        axes.y_ticks = Ticks::named(intervals.iter().map(|row| shortened(&row.name)).collect());
        let mut chart = axes.draw(area)?;
        let rows = intervals.len() as f64 + 0.7;
        if x.contains(&0.0) {
            line(&mut chart, vec![(0.0, 0.3), (0.0, rows)], palette::MUTED.stroke_width(SCALE))?;
        }
        for (i, row) in intervals.iter().enumerate() {
            let y = (intervals.len() - i) as f64;
            let colour = palette::chain(usize::from(row.doubtful));
            for (ends, width) in [(row.outer, SCALE * 3 / 2), (row.inner, 4 * SCALE)] {
                if ends.0.is_finite() && ends.1.is_finite() {
                    line(&mut chart, vec![(ends.0, y), (ends.1, y)], colour.stroke_width(width))?;
                }
            }
            if row.mean.is_finite() {
                let dot = |size, fill: RGBColor| Circle::new((row.mean, y), size, fill.filled());
                chart.plotting_area().draw(&dot(4 * SCALE, colour)).map_err(drawing)?;
                if row.doubtful {
                    chart.plotting_area().draw(&dot(2 * SCALE, palette::PAPER)).map_err(drawing)?;
                }
            }
        }
        Ok(())
    })
}

/// A name that leaves room for the picture.
fn shortened(name: &str) -> String {
    let name = super::canvas::clean(name);
    let count = name.chars().count();
    if count <= 24 {
        return name;
    }
    // The end tells elements of one parameter apart.
    let (start, end): (String, String) = (name.chars().take(11).collect(), name.chars().skip(count - 12).collect());
    format!("{start}…{end}")
}
