//! Trace plots.

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, line, message};
use super::ticks::{Ticks, range_of};
use super::{Area, Frame, Plot, decimate, palette, pooled};
use crate::error::Result;

/// Draws a trace plot: the draws of each chain in order.
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
/// let chains = [vec![0.1, 0.4, 0.2, 0.3], vec![0.2, 0.1, 0.5, 0.3]];
/// let plot = plot::trace(&chains, &Frame::new("beta"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn trace<C: AsRef<[f64]>>(chains: &[C], frame: &Frame) -> Result<Plot> {
    Plot::draw(frame, |area| draw(area, frame, chains))
}

/// Draws the plot in `area`.
pub(crate) fn draw<C: AsRef<[f64]>>(area: &Area<'_>, frame: &Frame, chains: &[C]) -> Result<()> {
    let Some(y) = range_of(pooled(chains), 0.04) else { return message(area, frame.title(), "no finite draws") };
    let length = chains.iter().map(|chain| chain.as_ref().len()).max().unwrap_or(0);
    let x = 1.0 - 1e-9..(length as f64).max(1.5);
    let mut axes = Axes::new(frame.title(), x.clone(), y).labels("draw", "").legend(frame.legend_chains(chains.len()));
    axes.x_ticks = Ticks::whole(&x, 5);
    let mut chart = axes.draw(area)?;
    for (i, chain) in chains.iter().enumerate() {
        let points = chain.as_ref().iter().enumerate().map(|(i, y)| ((i + 1) as f64, *y));
        // Limit the plot to about a thousand points in total.
        let columns = (600 / chains.len().max(1)).clamp(60, 300);
        line(&mut chart, decimate(points, columns), palette::chain(i).mix(0.8).stroke_width(SCALE * 7 / 10))?;
    }
    Ok(())
}
