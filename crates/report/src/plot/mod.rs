//! Plots of draws as functions of slices. Chains are slices of draws. Weights have the same shape as the draws, or are
//! empty.
//!
//! # Examples
//!
//! ```
//! use sgmcmc::report::plot::{self, Frame};
//!
//! let chains = [[0.1, 0.4, 0.2, 0.3], [0.2, 0.1, 0.5, 0.3]];
//! let plot = plot::trace(&chains, &Frame::new("beta"))?;
//! assert!(plot.svg().starts_with("<svg"));
//! # Ok::<(), sgmcmc::Error>(())
//! ```

mod autocorrelation;
mod calibration;
mod canvas;
mod decimate;
mod density;
mod energy;
mod evolution;
mod forest;
mod inline;
mod kernel_density;
mod over_iterations;
mod pair;
mod palette;
mod parallel;
mod pareto;
#[cfg(feature = "png")]
mod png;
mod predictive;
mod rank;
mod reliability;
mod running_mean;
#[cfg(test)]
mod tests;
mod ticks;
mod trace;

use std::path::Path;

use plotters::prelude::{IntoDrawingArea, SVGBackend};
use sgmcmc_fit::notebook::{Content, show};
use sgmcmc_gradient::text::printable_lines;

pub use autocorrelation::autocorrelation;
pub use calibration::calibration;
pub use decimate::decimate;
pub use density::{Prior, density, prior_posterior};
pub use energy::{bfmi, energy};
pub use evolution::{ess_evolution, r_hat_evolution};
pub use forest::{Interval, forest};
pub use kernel_density::KernelDensity;
pub use over_iterations::{Line, over_iterations};
pub use pair::{Variable, pair, pair_with_divergences};
pub use parallel::parallel;
pub use pareto::pareto_k;
pub use predictive::predictive;
pub use rank::rank;
pub use reliability::{integral_transforms, reliability};
pub use running_mean::running_mean;
pub use trace::trace;

pub(crate) use autocorrelation::draw as draw_autocorrelation;
pub(crate) use canvas::Area;
pub(crate) use decimate::spread;
pub(crate) use density::draw as draw_density;
pub(crate) use evolution::{EarlyDiagnostics, draw_ess as draw_ess_evolution, draw_r_hat as draw_r_hat_evolution};
pub(crate) use pair::MAX_VARIABLES as MAX_PAIRED;
pub(crate) use rank::draw as draw_rank;
pub(crate) use running_mean::{draw as draw_running_mean, means as running_means};
pub(crate) use ticks::{Ticks, range_of};
pub(crate) use trace::draw as draw_trace;

use crate::error::{Error, Result};

/// The title, size and legend of a plot.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::{self, Frame};
///
/// let frame = Frame::new("beta").size(300, 200).legend(false);
/// let plot = plot::trace(&[vec![0.1, 0.4, 0.2]], &frame)?;
/// assert!(plot.svg().contains("width=\"300\" height=\"200\""));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    title: String,
    width: u32,
    height: u32,
    legend: bool,
}

impl Frame {
    /// Creates a frame of 480 × 280 CSS pixels with this title. An empty title is not shown.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), width: 480, height: 280, legend: true }
    }

    /// Sets the width and height in CSS pixels. They are clamped to 120 × 80 and 10,000 × 10,000.
    pub fn size(mut self, width: u32, height: u32) -> Self {
        (self.width, self.height) = (width.clamp(120, 10_000), height.clamp(80, 10_000));
        self
    }

    /// Sets whether the plot has a legend of the chains. The default is `true`.
    pub fn legend(mut self, legend: bool) -> Self {
        self.legend = legend;
        self
    }

    /// Returns the number of chains in the legend.
    pub(crate) fn legend_chains(&self, chains: usize) -> usize {
        if self.legend { chains } else { 0 }
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// Returns this frame with another title.
    pub(crate) fn titled(&self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self.clone() }
    }
}

/// A finished plot.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::{self, Frame};
///
/// let plot = plot::trace(&[vec![0.1, 0.4, 0.2]], &Frame::new("beta"))?;
/// plot.save(std::env::temp_dir().join("sgmcmc-doc-plot.svg"))?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    svg: String,
}

impl Plot {
    /// Returns the plot as a self-contained SVG with a white background.
    pub fn svg(&self) -> &str {
        &self.svg
    }

    /// Writes the plot to a file. The extension is `.svg`, or `.png` with the feature `png`.
    ///
    /// # Errors
    ///
    /// Returns an error if the file has another extension or cannot be written, or if a PNG is requested and no font is
    /// installed.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        let bytes = match extension.as_str() {
            "svg" => self.svg.clone().into_bytes(),
            #[cfg(feature = "png")]
            "png" => png::render(&self.svg, path)?,
            _ => return Err(Error::Format { path: path.to_owned() }),
        };
        crate::error::write_file(path, &bytes)
    }

    /// Shows the plot in a notebook with the Rust kernel evcxr, which calls this method for the last expression of a cell.
    /// It prints to standard output.
    pub fn evcxr_display(&self) {
        show(&[
            Content { media_type: "text/plain", text: "a plot, as SVG" },
            Content { media_type: "image/svg+xml", text: &self.svg },
        ]);
    }

    /// Draws a plot of one panel.
    pub(crate) fn draw(frame: &Frame, draw: impl FnOnce(&Area<'_>) -> Result<()>) -> Result<Self> {
        Self::render(frame.width, frame.height, &frame.title, draw)
    }

    /// Draws a grid of `count` panels. Each panel has the size of `frame`.
    pub(crate) fn panels(
        frame: &Frame,
        count: usize,
        mut draw: impl FnMut(usize, &Area<'_>) -> Result<()>,
    ) -> Result<Self> {
        let columns = match count {
            0..=1 => 1,
            2..=4 => 2,
            _ => 3,
        };
        let rows = count.div_ceil(columns).max(1);
        Self::render(frame.width * columns as u32, frame.height * rows as u32, &frame.title, |area| {
            area.split_evenly((rows, columns)).iter().take(count).enumerate().try_for_each(|(i, area)| draw(i, area))
        })
    }

    fn render(width: u32, height: u32, title: &str, draw: impl FnOnce(&Area<'_>) -> Result<()>) -> Result<Self> {
        let scale = canvas::SCALE;
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, (width * scale, height * scale)).into_drawing_area();
        area.fill(&palette::PAPER).map_err(canvas::drawing)?;
        draw(&area)?;
        area.present().map_err(canvas::drawing)?;
        drop(area);
        // Control characters are not valid in XML, and bidirectional control characters can disguise names.
        Ok(Self { svg: printable_lines(&inline::sized(&svg, width, height, title)).into_owned() })
    }
}

/// Returns an iterator over the draws of all chains.
pub(crate) fn pooled<C: AsRef<[f64]>>(chains: &[C]) -> impl Iterator<Item = f64> + '_ {
    chains.iter().flat_map(|chain| chain.as_ref().iter().copied())
}
