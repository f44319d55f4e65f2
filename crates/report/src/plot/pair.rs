//! How parameters go together.

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, drawing, nothing};
use super::decimate::spread;
use super::ticks::{Ticks, range_of};
use super::{Area, Frame, KernelDensity, Plot, density, palette};
use crate::error::{Error, Result};

/// Points of one chain in one panel.
const POINTS: usize = 400;
/// More parameters are too small to be seen.
const MOST: usize = 8;
/// Width of the numbers at the left of each panel.
const ROOM: i32 = 36;

/// One parameter of a pair plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its draws, chain by chain.
    pub chains: Vec<Vec<f64>>,
}

/// Scatter plots of each two of two to eight parameters, and their densities on the diagonal.
///
/// # Errors
///
/// If there are fewer than two or more than eight parameters, or their chains differ in number or length.
pub fn pair(variables: &[Variable], frame: &Frame) -> Result<Plot> {
    let wrong = |reason: String| Error::Input { plot: "pair plot", reason };
    if !(2..=MOST).contains(&variables.len()) {
        return Err(wrong(format!("{} parameters were given, it takes 2 to {MOST}", variables.len())));
    }
    let lengths = |variable: &Variable| variable.chains.iter().map(Vec::len).collect::<Vec<_>>();
    if let Some(other) = variables.iter().find(|other| lengths(other) != lengths(&variables[0])) {
        return Err(wrong(format!("`{}` and `{}` have chains of other lengths", variables[0].name, other.name)));
    }
    Plot::draw(frame, |area| {
        let panels = area.split_evenly((variables.len(), variables.len()));
        for (row, lower) in variables.iter().enumerate() {
            for (column, left) in variables.iter().enumerate().take(row + 1) {
                let panel = &panels[row * variables.len() + column];
                if row == column { diagonal(panel, left)? } else { scatter(panel, left, lower)? }
            }
        }
        Ok(())
    })
}

fn diagonal(area: &Area<'_>, variable: &Variable) -> Result<()> {
    let draws = variable.chains.concat();
    let Some(x) = range_of(draws.iter().copied(), 0.03) else { return nothing(area, &variable.name, "") };
    let Some(mut density) = KernelDensity::of(&draws, &[]) else { return nothing(area, &variable.name, "constant") };
    // The axis is that of the panels below, where the density may reach farther.
    density.points.retain(|point| x.contains(&point.0));
    let mut axes = Axes::new(&variable.name, x.clone(), 0.0..1.06 * density.peak()).unnumbered().room(ROOM);
    axes.x_ticks = Ticks::new(&x, 3);
    density::curve(&mut axes.draw(area)?, &density, palette::INK.stroke_width(SCALE))
}

fn scatter(area: &Area<'_>, left: &Variable, lower: &Variable) -> Result<()> {
    let range = |variable: &Variable| range_of(variable.chains.iter().flatten().copied(), 0.03);
    let (Some(x), Some(y)) = (range(left), range(lower)) else { return Ok(()) };
    let mut axes = Axes::new("", x.clone(), y.clone()).room(ROOM);
    (axes.x_ticks, axes.y_ticks) = (Ticks::new(&x, 3), Ticks::new(&y, 3));
    let mut chart = axes.draw(area)?;
    let each = POINTS / left.chains.len().max(1);
    for (i, (a, b)) in left.chains.iter().zip(&lower.chains).enumerate() {
        let points =
            spread(a.len(), each).map(|draw| (a[draw], b[draw])).filter(|p| p.0.is_finite() && p.1.is_finite());
        let dots = points.map(|point| Circle::new(point, SCALE * 3 / 2, palette::chain(i).mix(0.55).filled()));
        chart.draw_series(dots).map_err(drawing)?;
    }
    Ok(())
}
