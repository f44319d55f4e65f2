//! Where the draws of each chain stand among the draws of all.

use plotters::prelude::*;
use sgmcmc_diagnostics::rank_histogram;

use super::canvas::{Axes, SCALE, drawing, line, nothing};
use super::ticks::{Ticks, range_of};
use super::{Area, Frame, Plot, palette, pooled};
use crate::error::Result;

const BINS: usize = 20;
/// More lanes are too low to be read.
const LANES: usize = 16;

/// Rank histograms, a lane per chain: level with its line where the chains have the same law.
pub fn rank<C: AsRef<[f64]>>(chains: &[C], frame: &Frame) -> Result<Plot> {
    Plot::draw(frame, |area| draw(area, frame, chains))
}

pub(crate) fn draw<C: AsRef<[f64]>>(area: &Area<'_>, frame: &Frame, chains: &[C]) -> Result<()> {
    let finite: Vec<Vec<f64>> =
        chains.iter().map(|chain| chain.as_ref().iter().copied().filter(|v| v.is_finite()).collect()).collect();
    if range_of(pooled(&finite), 0.0).is_none() {
        return nothing(area, frame.title(), "no finite draws");
    }
    let bins = BINS.min(pooled(&finite).count());
    let counts = rank_histogram(&finite, bins);
    let total = pooled(&finite).count();
    let lanes = counts.len().min(LANES);
    let mut axes = Axes::new(frame.title(), 0.0..total as f64, 0.5..lanes as f64 + 0.5).labels("rank", "chain");
    axes.y_ticks = Ticks::named((0..lanes).map(|chain| chain.to_string()).collect());
    let mut chart = axes.draw(area)?;
    let highest = counts.iter().flatten().copied().max().unwrap_or(1).max(1) as f64;
    for (chain, counts) in counts.iter().take(lanes).enumerate() {
        let floor = (lanes - chain) as f64 - 0.42;
        let place = |bin: usize| (bin * total) as f64 / bins as f64;
        let height = |count: f64| floor + 0.84 * count / highest;
        let bars = counts.iter().enumerate().map(|(bin, count)| {
            let corners = [(place(bin), height(*count as f64)), (place(bin + 1), floor)];
            Rectangle::new(corners, palette::chain(chain).mix(0.75).filled())
        });
        chart.draw_series(bars).map_err(drawing)?;
        let level = height(counts.iter().sum::<usize>() as f64 / bins as f64);
        line(&mut chart, vec![(0.0, level), (total as f64, level)], palette::INK.stroke_width(SCALE))?;
    }
    Ok(())
}
