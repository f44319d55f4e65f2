//! Pair plots.

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, drawing, message};
use super::decimate::spread;
use super::ticks::{Ticks, range_of};
use super::{Area, Frame, KernelDensity, Plot, density, palette};
use crate::error::{Error, Result};

/// The largest number of points of all chains in a panel.
const POINTS: usize = 400;
/// The largest number of variables. More panels would be too small.
pub(crate) const MAX_VARIABLES: usize = 8;
/// The width of the tick labels at the left of each panel.
const LABEL_WIDTH: i32 = 36;

/// One variable of a pair plot.
///
/// # Examples
///
/// See [`pair`].
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name of the variable.
    pub name: String,
    /// The draws of each chain.
    pub chains: Vec<Vec<f64>>,
}

/// Draws scatter plots of all pairs of two to eight variables, with their densities on the diagonal.
///
/// # Errors
///
/// Returns an error if there are fewer than two or more than eight variables, or if their chains differ in number or
/// length.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::{self, Frame, Variable};
///
/// let variable = |name: &str, draws: &[f64]| Variable { name: name.into(), chains: vec![draws.to_vec()] };
/// let variables = [variable("a", &[0.1, 0.4, 0.2]), variable("b", &[1.0, 0.5, 0.8])];
/// let plot = plot::pair(&variables, &Frame::new("").size(400, 400))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn pair(variables: &[Variable], frame: &Frame) -> Result<Plot> {
    pair_with_divergences(variables, &[], frame)
}

/// Draws a pair plot like [`pair`], with rings around the draws of divergent transitions. `divergent` has one
/// flag per draw of each chain, or is empty.
///
/// # Errors
///
/// Returns an error in the cases of [`pair`].
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::{self, Frame, Variable};
///
/// let variable = |name: &str, draws: &[f64]| Variable { name: name.into(), chains: vec![draws.to_vec()] };
/// let variables = [variable("a", &[0.1, 0.4, 0.2]), variable("b", &[1.0, 0.5, 0.8])];
/// let plot = plot::pair_with_divergences(&variables, &[vec![false, false, true]], &Frame::new("").size(400, 400))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn pair_with_divergences(variables: &[Variable], divergent: &[Vec<bool>], frame: &Frame) -> Result<Plot> {
    let invalid = |reason: String| Error::Input { plot: "pair plot", reason };
    if !(2..=MAX_VARIABLES).contains(&variables.len()) {
        return Err(invalid(format!("{} values were given, it takes 2 to {MAX_VARIABLES}", variables.len())));
    }
    let lengths = |variable: &Variable| variable.chains.iter().map(Vec::len).collect::<Vec<_>>();
    if let Some(other) = variables.iter().find(|other| lengths(other) != lengths(&variables[0])) {
        return Err(invalid(format!("`{}` and `{}` have chains of different lengths", variables[0].name, other.name)));
    }
    Plot::draw(frame, |area| {
        let panels = area.split_evenly((variables.len(), variables.len()));
        for (row, lower) in variables.iter().enumerate() {
            for (column, left) in variables.iter().enumerate().take(row + 1) {
                let panel = &panels[row * variables.len() + column];
                if row == column { diagonal(panel, left)? } else { scatter(panel, left, lower, divergent)? }
            }
        }
        Ok(())
    })
}

/// Draws the density of a variable.
fn diagonal(area: &Area<'_>, variable: &Variable) -> Result<()> {
    let draws = variable.chains.concat();
    let Some(x) = range_of(draws.iter().copied(), 0.03) else { return message(area, &variable.name, "") };
    let Some(mut density) = KernelDensity::from_draws(&draws, &[]) else {
        return message(area, &variable.name, "constant");
    };
    // The axis is that of the panels below. The density may extend beyond it.
    density.points.retain(|point| x.contains(&point.0));
    let mut axes =
        Axes::new(&variable.name, x.clone(), 0.0..1.06 * density.peak()).unnumbered().label_width(LABEL_WIDTH);
    axes.x_ticks = Ticks::new(&x, 3);
    density::curve(&mut axes.draw(area)?, &density, palette::INK.stroke_width(SCALE))
}

/// Draws the scatter plot of two variables.
fn scatter(area: &Area<'_>, left: &Variable, lower: &Variable, divergent: &[Vec<bool>]) -> Result<()> {
    let range = |variable: &Variable| range_of(variable.chains.iter().flatten().copied(), 0.03);
    let (Some(x), Some(y)) = (range(left), range(lower)) else { return Ok(()) };
    let mut axes = Axes::new("", x.clone(), y.clone()).label_width(LABEL_WIDTH);
    (axes.x_ticks, axes.y_ticks) = (Ticks::new(&x, 3), Ticks::new(&y, 3));
    let mut chart = axes.draw(area)?;
    let points_per_chain = POINTS / left.chains.len().max(1);
    for (i, (a, b)) in left.chains.iter().zip(&lower.chains).enumerate() {
        let points = spread(a.len(), points_per_chain)
            .map(|draw| (a[draw], b[draw]))
            .filter(|p| p.0.is_finite() && p.1.is_finite());
        let dots = points.map(|point| Circle::new(point, SCALE * 3 / 2, palette::chain(i).mix(0.55).filled()));
        chart.draw_series(dots).map_err(drawing)?;
    }
    for ((a, b), flags) in left.chains.iter().zip(&lower.chains).zip(divergent) {
        let points =
            a.iter().zip(b).zip(flags).filter(|(point, bad)| **bad && point.0.is_finite() && point.1.is_finite());
        let points: Vec<(f64, f64)> = points.map(|((x, y), _)| (*x, *y)).collect();
        // A ring around the dot, in the color of text, is seen on every color.
        let rings = spread(points.len(), POINTS)
            .map(|i| Circle::new(points[i], SCALE * 5 / 2, palette::INK.stroke_width(SCALE * 5 / 4)));
        chart.draw_series(rings).map_err(drawing)?;
    }
    Ok(())
}
