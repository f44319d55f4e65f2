//! Pareto k of leave-one-out cross-validation.

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, dashed, drawing, message};
use super::ticks::{Ticks, range_of};
use super::{Frame, Plot, palette};
use crate::error::Result;

/// Draws the Pareto k of every observation. Values above `good_k` (dashed line) are drawn in another color: the estimates
/// of these observations are not reliable.
///
/// # Errors
///
/// Returns an error if the plotting crate fails.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::{self, Frame};
///
/// let plot = plot::pareto_k(&[0.1, 0.3, 0.9], 0.7, &Frame::new("Pareto k"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn pareto_k(k: &[f64], good_k: f64, frame: &Frame) -> Result<Plot> {
    Plot::draw(frame, |area| {
        let Some(y) = range_of(k.iter().copied().chain([0.0, good_k]), 0.05) else {
            return message(area, frame.title(), "no finite values");
        };
        let x = -0.5..k.len() as f64 - 0.5;
        let above = k.iter().filter(|k| **k > good_k).count();
        let label = format!("observation; {above} of {} above {good_k:.2}", k.len());
        let mut axes = Axes::new(frame.title(), x.clone(), y).labels(&label, "Pareto k");
        axes.x_ticks = Ticks::whole(&x, 5);
        let mut chart = axes.draw(area)?;
        dashed(&mut chart, vec![(x.start, good_k), (x.end, good_k)], palette::MUTED.stroke_width(SCALE))?;
        let dots = k.iter().enumerate().filter(|(_, k)| k.is_finite()).map(|(index, k)| {
            let color = palette::chain(usize::from(*k > good_k));
            Circle::new((index as f64, *k), SCALE * 2, color.mix(0.7).filled())
        });
        chart.draw_series(dots).map_err(drawing)?;
        Ok(())
    })
}
