//! Autocorrelation plots.

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, line, message};
use super::decimate::spread;
use super::ticks::Ticks;
use super::{Area, Frame, Plot, palette};
use crate::error::Result;

/// Draws the autocorrelation function of each chain, up to the lag where all autocorrelations are negligible, or a
/// third of the chain. The band ±2/√n contains most autocorrelations of independent draws.
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
/// let plot = plot::autocorrelation(&chains, &Frame::new("beta"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn autocorrelation<C: AsRef<[f64]>>(chains: &[C], frame: &Frame) -> Result<Plot> {
    Plot::draw(frame, |area| draw(area, frame, chains))
}

/// Draws the plot in `area`.
pub(crate) fn draw<C: AsRef<[f64]>>(area: &Area<'_>, frame: &Frame, chains: &[C]) -> Result<()> {
    let correlations: Vec<Vec<f64>> = chains
        .iter()
        .map(|chain| sgmcmc_diagnostics::autocorrelation(chain.as_ref()))
        .map(|rho| if rho.iter().all(|r| r.is_finite()) { rho } else { Vec::new() })
        .collect();
    let length = correlations.iter().map(Vec::len).max().unwrap_or(0);
    if length < 4 {
        return message(area, frame.title(), "needs at least four draws that vary");
    }
    let noise = 2.0 / (length as f64).sqrt();
    let last = cutoff_lag(&correlations, noise, length);
    let lowest = correlations.iter().flat_map(|rho| rho.iter().take(last + 1)).copied().fold(0.0, f64::min);
    let x = 0.0..last as f64;
    let mut axes = Axes::new(frame.title(), x.clone(), (lowest - 0.05).min(-1.2 * noise).max(-1.05)..1.05)
        .labels("lag", "")
        .legend(frame.legend_chains(chains.len()));
    axes.x_ticks = Ticks::whole(&x, 5);
    let mut chart = axes.draw(area)?;
    let band = Rectangle::new([(0.0, -noise), (last as f64, noise)], palette::MUTED.mix(0.18).filled());
    chart.plotting_area().draw(&band).map_err(super::canvas::drawing)?;
    for (i, rho) in correlations.iter().enumerate() {
        let rho = &rho[..rho.len().min(last + 1)];
        // Show lag 0 and evenly spaced lags.
        let lags = std::iter::once(0).chain(spread(rho.len(), 120)).filter(|lag| *lag < rho.len());
        let mut lags: Vec<usize> = lags.collect();
        lags.dedup();
        let points = lags.into_iter().map(|lag| (lag as f64, rho[lag])).collect();
        line(&mut chart, points, palette::chain(i).stroke_width(SCALE * 5 / 4))?;
    }
    Ok(())
}

/// Returns twice the lag at which the autocorrelations of all chains have fallen below `noise`, within limits.
fn cutoff_lag(correlations: &[Vec<f64>], noise: f64, length: usize) -> usize {
    let first = |rho: &Vec<f64>| rho.iter().position(|r| *r < noise).unwrap_or(rho.len());
    let slowest = correlations.iter().map(first).max().unwrap_or(1);
    (2 * slowest).clamp(20, (length / 3).max(20)).min(length - 1)
}
