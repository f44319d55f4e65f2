//! The evolution of effective sample sizes and of R-hat with the number of draws.

use plotters::prelude::*;
use sgmcmc_diagnostics::Sample;

use super::canvas::{Axes, SCALE, dashed, legend, line, message};
use super::decimate::spread;
use super::ticks::{Ticks, range_of};
use super::{Area, Frame, Plot, palette};
use crate::error::Result;

/// The number of points at which the diagnostics are computed.
const POINTS: usize = 20;

/// The diagnostics of the first draws of all chains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlyDiagnostics {
    /// The number of draws per chain.
    pub(crate) draws: f64,
    pub(crate) bulk: f64,
    pub(crate) tail: f64,
    pub(crate) r_hat: f64,
}

impl EarlyDiagnostics {
    /// Computes the diagnostics at evenly spaced numbers of draws.
    pub(crate) fn all<C: AsRef<[f64]>>(chains: &[C]) -> Vec<Self> {
        let length = chains.iter().map(|chain| chain.as_ref().len()).filter(|length| *length > 0).min().unwrap_or(0);
        let at = |last: usize| {
            let first = last + 1;
            let parts: Vec<&[f64]> = chains
                .iter()
                .map(AsRef::as_ref)
                .filter(|chain| chain.len() >= first)
                .map(|chain| &chain[..first])
                .collect();
            let sample = Sample::new(&parts);
            let (bulk, tail) = (sample.ess_bulk(), sample.ess_tail());
            Self { draws: first as f64, bulk, tail, r_hat: sample.r_hat_of_halves() }
        };
        spread(length, POINTS).map(at).collect()
    }
}

/// Draws the effective sample sizes of the first draws of all chains, of bulk and tails. They should grow in proportion
/// to the number of draws. A dashed line is at `least`, the size that is needed.
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
/// let chain = |seed: u32| (0..200).map(|i| f64::from((i * 7919 + seed) % 101)).collect::<Vec<_>>();
/// let plot = plot::ess_evolution(&[chain(1), chain(50)], 200.0, &Frame::new("beta"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn ess_evolution<C: AsRef<[f64]>>(chains: &[C], least: f64, frame: &Frame) -> Result<Plot> {
    Plot::draw(frame, |area| draw_ess(area, frame, chains, least))
}

/// Draws the plot in `area`.
pub(crate) fn draw_ess<C: AsRef<[f64]>>(area: &Area<'_>, frame: &Frame, chains: &[C], least: f64) -> Result<()> {
    let all = EarlyDiagnostics::all(chains);
    let sizes = all.iter().flat_map(|early| [early.bulk, early.tail]);
    let Some(y) = range_of(sizes.chain([0.0, least]), 0.05) else {
        return message(area, frame.title(), "no finite draws");
    };
    if !all.iter().any(|early| early.bulk.is_finite()) {
        return message(area, frame.title(), "needs at least four draws");
    }
    let x = 0.0..all.last().map_or(1.0, |last| last.draws);
    let mut axes = Axes::new(frame.title(), x.clone(), 0.0..y.end).labels("draws per chain", "ESS");
    axes.x_ticks = Ticks::whole(&x, 5);
    let mut chart = axes.draw(area)?;
    legend(area, &[("bulk", palette::chain(0)), ("tails", palette::chain(1))])?;
    dashed(&mut chart, vec![(x.start, least), (x.end, least)], palette::MUTED.stroke_width(SCALE))?;
    for (number, size) in
        [|early: &EarlyDiagnostics| early.bulk, |early: &EarlyDiagnostics| early.tail].into_iter().enumerate()
    {
        let points = all.iter().map(|early| (early.draws, size(early))).filter(|point| point.1.is_finite()).collect();
        line(&mut chart, points, palette::chain(number).stroke_width(SCALE * 3 / 2))?;
    }
    Ok(())
}

/// Draws R-hat of the first draws of all chains. It should fall to 1. A dashed line is at `most`, the largest accepted
/// value. For one chain, R-hat compares its halves.
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
/// let chain = |seed: u32| (0..200).map(|i| f64::from((i * 7919 + seed) % 101)).collect::<Vec<_>>();
/// let plot = plot::r_hat_evolution(&[chain(1), chain(50)], 1.01, &Frame::new("beta"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn r_hat_evolution<C: AsRef<[f64]>>(chains: &[C], most: f64, frame: &Frame) -> Result<Plot> {
    Plot::draw(frame, |area| draw_r_hat(area, frame, chains, most))
}

/// Draws the plot in `area`.
pub(crate) fn draw_r_hat<C: AsRef<[f64]>>(area: &Area<'_>, frame: &Frame, chains: &[C], most: f64) -> Result<()> {
    let all = EarlyDiagnostics::all(chains);
    let points: Vec<(f64, f64)> =
        all.iter().map(|early| (early.draws, early.r_hat)).filter(|point| point.1.is_finite()).collect();
    if points.is_empty() {
        return message(area, frame.title(), "needs at least four draws that vary");
    }
    let Some(y) = range_of(points.iter().map(|point| point.1).chain([1.0, most]), 0.05) else { return Ok(()) };
    let x = 0.0..all.last().map_or(1.0, |last| last.draws);
    let mut axes = Axes::new(frame.title(), x.clone(), y).labels("draws per chain", "R-hat");
    axes.x_ticks = Ticks::whole(&x, 5);
    let mut chart = axes.draw(area)?;
    dashed(&mut chart, vec![(x.start, most), (x.end, most)], palette::MUTED.stroke_width(SCALE))?;
    line(&mut chart, points, palette::chain(0).stroke_width(SCALE * 3 / 2))
}
