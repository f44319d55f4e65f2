//! Parallel coordinates.

use plotters::prelude::*;
use sgmcmc_diagnostics::{mean, standard_deviation};

use super::canvas::{Axes, SCALE, clean, legend, line, message};
use super::decimate::spread;
use super::ticks::{Ticks, range_of};
use super::{Frame, Plot, Variable, palette};
use crate::error::{Error, Result};

/// The largest number of draws that are shown.
const DRAWS: usize = 150;
/// The largest number of variables.
const MAX_VARIABLES: usize = 60;

/// Draws parallel coordinates: one position per variable and one line per draw, in standard deviations from the mean.
/// `divergent` has one flag per draw of each chain, or is empty; lines of divergent transitions are drawn on top in
/// another color, so that they show where the chain got stuck.
///
/// # Errors
///
/// Returns an error if there are fewer than two or more than 60 variables.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::{self, Frame, Variable};
///
/// let variable = |name: &str, draws: &[f64]| Variable { name: name.into(), chains: vec![draws.to_vec()] };
/// let variables = [variable("a", &[0.1, 0.4, 0.2]), variable("b", &[1.0, 0.5, 0.8])];
/// let plot = plot::parallel(&variables, &[vec![false, true, false]], &Frame::new(""))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn parallel(variables: &[Variable], divergent: &[Vec<bool>], frame: &Frame) -> Result<Plot> {
    if !(2..=MAX_VARIABLES).contains(&variables.len()) {
        let reason = format!("{} values were given, it takes 2 to {MAX_VARIABLES}", variables.len());
        return Err(Error::Input { plot: "parallel coordinates", reason });
    }
    let standardized: Vec<Vec<f64>> = variables.iter().map(standardized).collect();
    let length = standardized.iter().map(Vec::len).min().unwrap_or(0);
    let flags = divergent.concat();
    let is_divergent = |draw: usize| flags.get(draw).copied().unwrap_or(false);
    let bad: Vec<usize> = (0..length).filter(|draw| is_divergent(*draw)).collect();
    let shown: Vec<usize> = spread(length, DRAWS).filter(|draw| !is_divergent(*draw)).collect();
    let frame = &Frame { width: frame.width.max(60 + 26 * variables.len() as u32), ..frame.clone() };
    Plot::draw(frame, |area| {
        let drawn = shown.iter().chain(&bad).flat_map(|draw| standardized.iter().map(move |column| column[*draw]));
        let Some(y) = range_of(drawn, 0.04) else { return message(area, frame.title(), "no finite draws") };
        let x = 0.0..variables.len() as f64 - 1.0;
        let mut axes = Axes::new(frame.title(), x, y).labels("", "standard deviations from the mean");
        axes.x_ticks = Ticks::at_integers(variables.iter().map(|variable| brief(&variable.name)).collect());
        let mut chart = axes.draw(area)?;
        if !bad.is_empty() {
            legend(area, &[("draws", palette::chain(0)), ("divergent", palette::chain(1))])?;
        }
        let bad = spread(bad.len(), DRAWS).map(|index| (bad[index], palette::chain(1).mix(0.8)));
        for (draw, color) in shown.iter().map(|draw| (*draw, palette::chain(0).mix(0.25))).chain(bad) {
            let points = standardized.iter().enumerate().map(|(i, column)| (i as f64, column[draw]));
            line(&mut chart, points.filter(|point| point.1.is_finite()).collect(), color.stroke_width(SCALE * 3 / 4))?;
        }
        Ok(())
    })
}

/// Returns the draws of all chains in standard deviations from their mean. Constant draws are zero.
fn standardized(variable: &Variable) -> Vec<f64> {
    let draws = variable.chains.concat();
    let weights = vec![1.0; draws.len()];
    let (center, sd) = (mean(&draws, &weights), standard_deviation(&draws, &weights));
    draws.iter().map(|draw| if sd > 0.0 { (draw - center) / sd } else { 0.0 }).collect()
}

/// Returns a name of at most ten characters.
fn brief(name: &str) -> String {
    let name = clean(name);
    if name.chars().count() <= 10 {
        return name;
    }
    let end: String = name.chars().skip(name.chars().count() - 6).collect();
    let start: String = name.chars().take(3).collect();
    format!("{start}…{end}")
}
