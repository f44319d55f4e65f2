//! Posterior predictive checks.

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, legend, message};
use super::decimate::spread;
use super::ticks::range_of;
use super::{Frame, KernelDensity, Plot, density, palette};
use crate::error::Result;

/// The largest number of replications that are shown.
const SHOWN: usize = 40;

/// Draws the density of the observed data, and those of data sets drawn from the posterior predictive distribution.
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
/// let replications = [vec![0.2, 0.1, 0.4], vec![0.3, 0.2, 0.1]];
/// let plot = plot::predictive(&[0.1, 0.3, 0.2], &replications, &Frame::new("y"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn predictive<C: AsRef<[f64]>>(observed: &[f64], replications: &[C], frame: &Frame) -> Result<Plot> {
    let shown: Vec<&[f64]> = spread(replications.len(), SHOWN).map(|i| replications[i].as_ref()).collect();
    let data = KernelDensity::from_draws(observed, &[]);
    let densities: Vec<KernelDensity> = shown.iter().filter_map(|data| KernelDensity::from_draws(data, &[])).collect();
    let peak = densities.iter().chain(&data).map(KernelDensity::peak).fold(0.0, f64::max);
    Plot::draw(frame, |area| {
        let positions = densities.iter().chain(&data).flat_map(|density| density.points.iter().map(|point| point.0));
        let Some(x) = range_of(positions, 0.01).filter(|_| peak > 0.0) else {
            return message(area, frame.title(), "needs data that vary");
        };
        let mut chart = Axes::new(frame.title(), x, 0.0..1.06 * peak).unnumbered().draw(area)?;
        legend(area, &[("observed", palette::INK), ("replicated", palette::chain(5))])?;
        for density in &densities {
            density::curve(&mut chart, density, palette::chain(5).mix(0.35).stroke_width(SCALE))?;
        }
        let style = palette::INK.stroke_width(SCALE * 2);
        data.as_ref().map_or(Ok(()), |data| density::curve(&mut chart, data, style))
    })
}
