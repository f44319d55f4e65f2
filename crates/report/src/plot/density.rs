//! Density plots, and comparisons of prior and posterior.

use plotters::prelude::*;
use sgmcmc_diagnostics::quantiles;

use super::canvas::{Axes, Chart, SCALE, dashed, legend, line, message};
use super::ticks::range_of;
use super::{Area, Frame, KernelDensity, Plot, palette, pooled};
use crate::error::{Error, Result};

/// The height of a prior, relative to the posterior, below which it is drawn larger.
const LOW_PRIOR: f64 = 0.25;

/// The prior distribution of a value, for a comparison with the posterior.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::{self, Frame, Prior};
///
/// let chains = [vec![0.1, 0.4, 0.2, 0.3]];
/// let prior = Prior::density(|x| (-x.abs()).exp() / 2.0);
/// let plot = plot::prior_posterior(&chains, &[], &prior, &Frame::new("beta"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub enum Prior {
    /// Draws from the prior.
    Draws(Vec<f64>),
    /// The density of the prior.
    Density(Box<dyn Fn(f64) -> f64 + Send + Sync>),
}

impl Prior {
    /// Creates a prior from its density.
    pub fn density(density: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Self {
        Self::Density(Box::new(density))
    }
}

impl std::fmt::Debug for Prior {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Draws(draws) => f.debug_tuple("Draws").field(&draws.len()).finish(),
            Self::Density(_) => f.write_str("Density"),
        }
    }
}

/// Draws the kernel density estimate of each chain. A constant chain is a vertical line.
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
/// let plot = plot::density(&chains, &[], &Frame::new("beta"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn density<C: AsRef<[f64]>>(chains: &[C], weights: &[C], frame: &Frame) -> Result<Plot> {
    Plot::draw(frame, |area| draw(area, frame, chains, weights))
}

/// Draws the plot in `area`.
pub(crate) fn draw<C: AsRef<[f64]>>(area: &Area<'_>, frame: &Frame, chains: &[C], weights: &[C]) -> Result<()> {
    let densities: Vec<Option<KernelDensity>> = chains
        .iter()
        .enumerate()
        .map(|(i, chain)| KernelDensity::from_draws(chain.as_ref(), weight(weights, i)))
        .collect();
    let positions = densities.iter().flatten().flat_map(|density| density.points.iter().map(|point| point.0));
    let Some(x) = range_of(pooled(chains).chain(positions), 0.01) else {
        return message(area, frame.title(), "no finite draws");
    };
    let peak = densities.iter().flatten().map(KernelDensity::peak).fold(0.0, f64::max);
    let peak = if peak > 0.0 { peak } else { 1.0 };
    let axes = Axes::new(frame.title(), x, 0.0..1.06 * peak).legend(frame.legend_chains(chains.len())).unnumbered();
    let mut chart = axes.draw(area)?;
    for (i, (density, chain)) in densities.iter().zip(chains).enumerate() {
        let style = palette::chain(i).stroke_width(SCALE * 3 / 2);
        match density {
            Some(density) => curve(&mut chart, density, style)?,
            None => spike(&mut chart, chain.as_ref(), peak, style)?,
        }
    }
    Ok(())
}

/// Draws the prior and the posterior of all chains. See [`Prior`] for an example.
///
/// # Errors
///
/// Returns an error if the prior has no finite draw.
pub fn prior_posterior<C: AsRef<[f64]>>(chains: &[C], weights: &[C], prior: &Prior, frame: &Frame) -> Result<Plot> {
    let draws: Vec<f64> = pooled(chains).collect();
    let weights: Vec<f64> = pooled(weights).collect();
    let Some(posterior) = range_of(draws.iter().copied(), 0.0) else {
        return Plot::draw(frame, |area| message(area, frame.title(), "no finite draws"));
    };
    let x = range_with(prior, &posterior)?;
    let prior_density = match prior {
        Prior::Draws(draws) => KernelDensity::from_draws(draws, &[]),
        Prior::Density(density) => {
            let position = |i: usize| x.start + (x.end - x.start) * i as f64 / 200.0;
            let points = (0..=200).map(|i| (position(i), density(position(i)))).filter(|p| p.1.is_finite()).collect();
            Some(KernelDensity { points })
        }
    };
    let posterior_density = KernelDensity::from_draws(&draws, &weights);
    let inside = |mut density: KernelDensity| {
        density.points.retain(|point| x.contains(&point.0));
        density
    };
    let (before, after) = (prior_density.map(inside), posterior_density.map(inside));
    let peak = [&before, &after].into_iter().flatten().map(KernelDensity::peak).fold(0.0, f64::max);
    let peak = if peak > 0.0 && peak.is_finite() { peak } else { 1.0 };
    // A wide prior would be a line at zero. It is drawn larger, and the legend says so.
    let prior_peak = before.as_ref().map_or(0.0, KernelDensity::peak);
    let scale = if prior_peak > 0.0 && prior_peak < LOW_PRIOR * peak { LOW_PRIOR * peak / prior_peak } else { 1.0 };
    let prior_name = if scale > 1.0 { format!("prior \u{d7} {}", round_factor(scale)) } else { "prior".to_owned() };
    let scale = if scale > 1.0 { round_factor(scale) } else { 1.0 };
    Plot::draw(frame, |area| {
        let axes = Axes::new(frame.title(), x.clone(), 0.0..1.06 * peak);
        let mut chart = axes.unnumbered().draw(area)?;
        legend(area, &[("posterior", palette::chain(0)), (&prior_name, palette::MUTED)])?;
        if let Some(before) = &before {
            let points = before.points.iter().copied().map(|(x, y)| (x, (scale * y).min(2.0 * peak))).collect();
            dashed(&mut chart, points, palette::MUTED.stroke_width(SCALE * 3 / 2))?;
        }
        let style = palette::chain(0).stroke_width(SCALE * 2);
        match &after {
            Some(after) => curve(&mut chart, after, style),
            None => spike(&mut chart, &draws, peak, style),
        }
    })
}

/// Rounds a factor down to one significant digit.
fn round_factor(factor: f64) -> f64 {
    let unit = 10f64.powf(factor.log10().floor());
    (factor / unit).floor() * unit
}

/// Returns a range that shows both distributions, but not all of a wide prior, next to which the posterior would be a
/// spike.
fn range_with(prior: &Prior, posterior: &std::ops::Range<f64>) -> Result<std::ops::Range<f64>> {
    let length = (posterior.end - posterior.start).max(1e-9 * posterior.start.abs()).max(1e-12);
    let wide = posterior.start - 2.0 * length..posterior.end + 2.0 * length;
    let Prior::Draws(draws) = prior else { return Ok(wide) };
    let draws: Vec<f64> = draws.iter().copied().filter(|v| v.is_finite()).collect();
    if draws.is_empty() {
        let reason = "the prior has no finite draw; at least one is needed".to_owned();
        return Err(Error::Input { plot: "prior-posterior overlay", reason });
    }
    let ends = quantiles(&draws, &vec![1.0; draws.len()], &[0.005, 0.995]);
    let (low, high) = (ends[0].max(wide.start).min(posterior.start), ends[1].min(wide.end).max(posterior.end));
    range_of([low, high].into_iter(), 0.02).ok_or_else(|| Error::Drawing("no range to draw in".to_owned()))
}

/// Draws a density as a line of every second grid point, which is enough for the resolution of the plot.
pub(super) fn curve(chart: &mut Chart<'_, '_>, density: &KernelDensity, style: ShapeStyle) -> Result<()> {
    line(chart, density.points.iter().copied().step_by(2).collect(), style)
}

/// Draws a vertical line at the first finite draw.
fn spike(chart: &mut Chart<'_, '_>, draws: &[f64], peak: f64, style: ShapeStyle) -> Result<()> {
    let position = draws.iter().copied().find(|v| v.is_finite());
    position.map_or(Ok(()), |x| line(chart, vec![(x, 0.0), (x, peak)], style))
}

/// Returns the weights of a chain. Empty if there are no weights.
pub(super) fn weight<C: AsRef<[f64]>>(weights: &[C], chain: usize) -> &[f64] {
    weights.get(chain).map_or(&[], AsRef::as_ref)
}
