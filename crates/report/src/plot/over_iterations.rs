//! Statistics over iterations: step size, log posterior, and statistics of the algorithm.

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, line, message};
use super::ticks::{Ticks, range_of};
use super::{Frame, Plot, decimate, palette};
use crate::error::Result;

/// The values of a statistic in one chain.
///
/// # Examples
///
/// See [`over_iterations`].
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The iteration of each value.
    pub iterations: Vec<u64>,
    /// The values of the statistic.
    pub values: Vec<f64>,
}

/// Draws a statistic of each chain over iterations.
///
/// # Errors
///
/// Returns an error if the plotting crate fails.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::{self, Frame, Line};
///
/// let chains = [Line { iterations: vec![1, 2, 3], values: vec![0.3, 0.2, 0.1] }];
/// let plot = plot::over_iterations(&chains, &Frame::new("step size"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn over_iterations(chains: &[Line], frame: &Frame) -> Result<Plot> {
    Plot::draw(frame, |area| {
        let values = chains.iter().flat_map(|chain| chain.values.iter().copied());
        let iterations = chains.iter().flat_map(|chain| chain.iterations.iter().map(|i| *i as f64));
        let (Some(x), Some(y)) = (range_of(iterations, 0.0), range_of(values, 0.05)) else {
            return message(area, frame.title(), "no finite values");
        };
        let mut axes =
            Axes::new(frame.title(), x.clone(), y).labels("iteration", "").legend(frame.legend_chains(chains.len()));
        axes.x_ticks = Ticks::whole(&x, 5);
        let mut chart = axes.draw(area)?;
        let columns = (800 / chains.len().max(1)).clamp(60, 400);
        for (i, chain) in chains.iter().enumerate() {
            let points = chain.iterations.iter().zip(&chain.values).map(|(x, y)| (*x as f64, *y));
            line(&mut chart, decimate(points, columns), palette::chain(i).mix(0.85).stroke_width(SCALE * 4 / 5))?;
        }
        Ok(())
    })
}
