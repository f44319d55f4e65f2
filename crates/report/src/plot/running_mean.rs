//! Running means.

use plotters::prelude::*;
use sgmcmc_diagnostics::{mcse_mean, mean};

use super::canvas::{Axes, SCALE, drawing, line, message};
use super::decimate::spread;
use super::density::weight;
use super::ticks::{Ticks, range_of};
use super::{Area, Frame, Plot, palette};
use crate::error::Result;

/// The number of points at which the standard error is computed.
const ERROR_POINTS: usize = 20;
/// The number of points at which means are computed.
const MEAN_POINTS: usize = 100;

/// Draws the running mean of each chain, and of all chains with a band of two Monte Carlo standard errors.
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
/// let plot = plot::running_mean(&chains, &[], &Frame::new("beta"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn running_mean<C: AsRef<[f64]>>(chains: &[C], weights: &[C], frame: &Frame) -> Result<Plot> {
    Plot::draw(frame, |area| draw(area, frame, chains, weights))
}

/// Draws the plot in `area`.
pub(crate) fn draw<C: AsRef<[f64]>>(area: &Area<'_>, frame: &Frame, chains: &[C], weights: &[C]) -> Result<()> {
    let length = chains.iter().map(|chain| chain.as_ref().len()).max().unwrap_or(0);
    let lines: Vec<Vec<(f64, f64)>> =
        chains.iter().enumerate().map(|(i, chain)| means(chain.as_ref(), weight(weights, i))).collect();
    let band: Vec<(f64, f64, f64)> =
        spread(length, ERROR_POINTS).filter_map(|last| pooled_mean(chains, weights, last + 1)).collect();
    // The first means vary widely. They do not determine the range of the axis.
    let late = lines.iter().flatten().filter(|point| point.0 >= 0.05 * length as f64).map(|point| point.1);
    let shown = late.chain(band.iter().skip(1).flat_map(|(_, mean, error)| [mean - error, mean + error]));
    let Some(y) = range_of(shown, 0.06) else { return message(area, frame.title(), "no finite draws") };
    let x = 1.0 - 1e-9..(length as f64).max(1.5);
    let mut axes =
        Axes::new(frame.title(), x.clone(), y.clone()).labels("draw", "").legend(frame.legend_chains(chains.len()));
    axes.x_ticks = Ticks::whole(&x, 5);
    let mut chart = axes.draw(area)?;
    let inside = |value: f64| value.clamp(y.start, y.end);
    let upper = band.iter().map(|(x, mean, error)| (*x, inside(mean + error)));
    let lower = band.iter().rev().map(|(x, mean, error)| (*x, inside(mean - error)));
    if band.len() > 1 {
        let shape = Polygon::new(upper.chain(lower).collect::<Vec<_>>(), palette::MUTED.mix(0.2));
        chart.plotting_area().draw(&shape).map_err(drawing)?;
    }
    for (i, points) in lines.into_iter().enumerate() {
        let points = points.into_iter().skip_while(|point| inside(point.1).to_bits() != point.1.to_bits());
        let points = points.map(|(x, mean)| (x, inside(mean))).collect();
        line(&mut chart, points, palette::chain(i).stroke_width(SCALE))?;
    }
    line(
        &mut chart,
        band.iter().map(|(x, mean, _)| (*x, inside(*mean))).collect(),
        palette::INK.stroke_width(SCALE * 3 / 2),
    )
}

/// Returns the number of draws and their mean at evenly spaced points.
pub(crate) fn means(draws: &[f64], weights: &[f64]) -> Vec<(f64, f64)> {
    let (mut sum, mut total) = (0.0, 0.0);
    let mut shown = spread(draws.len(), MEAN_POINTS).peekable();
    let mut points = Vec::new();
    for (i, x) in draws.iter().enumerate() {
        let w = weights.get(i).copied().unwrap_or(1.0);
        sum += w * x;
        total += w;
        if shown.next_if_eq(&i).is_some() && (sum / total).is_finite() {
            points.push(((i + 1) as f64, sum / total));
        }
    }
    points
}

/// Returns `count`, the mean of the first `count` draws of all chains, and two standard errors. Returns `None` if they
/// are not defined.
fn pooled_mean<C: AsRef<[f64]>>(chains: &[C], weights: &[C], count: usize) -> Option<(f64, f64, f64)> {
    let first = |values: &'_ [f64]| values[..count.min(values.len())].to_vec();
    let parts: Vec<Vec<f64>> = chains.iter().map(|chain| first(chain.as_ref())).collect();
    let weights: Vec<f64> = if weights.is_empty() {
        vec![1.0; parts.iter().map(Vec::len).sum()]
    } else {
        weights.iter().flat_map(|weights| first(weights.as_ref())).collect()
    };
    let mean = mean(&parts.concat(), &weights);
    let error = 2.0 * mcse_mean(&parts);
    (mean.is_finite() && error.is_finite()).then_some((count as f64, mean, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_means_are_weighted() {
        assert_eq!(means(&[1.0, 3.0, 5.0], &[1.0, 1.0, 2.0]), [(1.0, 1.0), (2.0, 2.0), (3.0, 3.5)]);
        assert_eq!(means(&[1.0, 3.0, 5.0], &[]), [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]);
    }

    #[test]
    fn all_chains_together_have_a_band_of_two_standard_errors() {
        let chain = |shift: f64| (0..40).map(|i| shift + (f64::from(i) * 1.7).sin()).collect::<Vec<_>>();
        let chains = [chain(0.0), chain(1.0)];
        let weights = [vec![3.0; 40], vec![1.0; 40]];
        let (count, plain, error) = pooled_mean(&chains, &[], 20).unwrap();
        let parts = [&chains[0][..20], &chains[1][..20]];
        assert!((count - 20.0).abs() < 1e-12);
        assert!((plain - mean(&parts.concat(), &[1.0; 40])).abs() < 1e-12);
        assert!((error - 2.0 * mcse_mean(&parts)).abs() < 1e-12);
        // The second chain is 1 higher and has a quarter of the weight instead of half.
        let (_, weighted, _) = pooled_mean(&chains, &weights, 20).unwrap();
        assert!((plain - weighted - 0.25).abs() < 1e-12, "{plain} {weighted}");
    }
}
