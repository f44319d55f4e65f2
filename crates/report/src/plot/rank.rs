//! Rank histograms.

use plotters::prelude::*;
use sgmcmc_diagnostics::rank_histogram;

use super::canvas::{Axes, SCALE, drawing, line, message};
use super::ticks::{Ticks, range_of};
use super::{Area, Frame, Plot, palette, pooled};
use crate::error::Result;

/// The number of bins.
const BINS: usize = 20;
/// The largest number of chains that are shown. More would not be legible.
const MAX_CHAINS: usize = 16;

/// Draws rank histograms: the ranks of the draws of each chain among the draws of all chains. If all chains have the
/// same distribution, the bars of each chain are close to its horizontal line. With one chain there is nothing to compare;
/// the plot is a message.
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
/// let plot = plot::rank(&chains, &Frame::new("beta"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn rank<C: AsRef<[f64]>>(chains: &[C], frame: &Frame) -> Result<Plot> {
    Plot::draw(frame, |area| draw(area, frame, chains))
}

/// Draws the plot in `area`.
pub(crate) fn draw<C: AsRef<[f64]>>(area: &Area<'_>, frame: &Frame, chains: &[C]) -> Result<()> {
    let finite: Vec<Vec<f64>> =
        chains.iter().map(|chain| chain.as_ref().iter().copied().filter(|v| v.is_finite()).collect()).collect();
    if range_of(pooled(&finite), 0.0).is_none() {
        return message(area, frame.title(), "no finite draws");
    }
    // The ranks of one chain among its own draws have the same histogram for all draws.
    if finite.iter().filter(|chain| !chain.is_empty()).count() < 2 {
        return message(area, frame.title(), "ranks compare chains: there is only one");
    }
    let bins = BINS.min(pooled(&finite).count());
    let counts = rank_histogram(&finite, bins);
    let total = pooled(&finite).count();
    let rows = counts.len().min(MAX_CHAINS);
    let mut axes = Axes::new(frame.title(), 0.0..total as f64, 0.5..rows as f64 + 0.5).labels("rank", "chain");
    axes.y_ticks = Ticks::named((0..rows).map(|chain| chain.to_string()).collect());
    let mut chart = axes.draw(area)?;
    let highest = counts.iter().flatten().copied().max().unwrap_or(1).max(1) as f64;
    for (chain, counts) in counts.iter().take(rows).enumerate() {
        let base = (rows - chain) as f64 - 0.42;
        let edge = |bin: usize| (bin * total) as f64 / bins as f64;
        let height = |count: f64| base + 0.84 * count / highest;
        let bars = counts.iter().enumerate().map(|(bin, count)| {
            let corners = [(edge(bin), height(*count as f64)), (edge(bin + 1), base)];
            Rectangle::new(corners, palette::chain(chain).mix(0.75).filled())
        });
        chart.draw_series(bars).map_err(drawing)?;
        let level = height(counts.iter().sum::<usize>() as f64 / bins as f64);
        line(&mut chart, vec![(0.0, level), (total as f64, level)], palette::INK.stroke_width(SCALE))?;
    }
    Ok(())
}
