//! What a chain reported while it ran: step size, threshold, log posterior, any statistic.

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, line, nothing};
use super::ticks::{Ticks, range_of};
use super::{Frame, Plot, decimate, palette};
use crate::error::Result;

/// One chain's statistic.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The iterations it was recorded in.
    pub iterations: Vec<u64>,
    /// Its values.
    pub values: Vec<f64>,
}

/// A statistic of each chain against the iteration.
pub fn over_iterations(chains: &[Line], frame: &Frame) -> Result<Plot> {
    Plot::draw(frame, |area| {
        let values = chains.iter().flat_map(|chain| chain.values.iter().copied());
        let iterations = chains.iter().flat_map(|chain| chain.iterations.iter().map(|i| *i as f64));
        let (Some(x), Some(y)) = (range_of(iterations, 0.0), range_of(values, 0.05)) else {
            return nothing(area, frame.title(), "no finite values");
        };
        let mut axes = Axes::new(frame.title(), x.clone(), y).labels("iteration", "").legend(frame.named(chains.len()));
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
