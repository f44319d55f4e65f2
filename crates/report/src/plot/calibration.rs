//! Rank histograms of simulation-based calibration.

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, drawing, line, message};
use super::{Frame, Plot, palette};
use crate::error::Result;

/// The probability that the band contains a bin if the ranks are uniform.
const BAND: f64 = 0.99;

/// Draws the rank histogram of simulation-based calibration. `counts` has the number of true values whose rank is in
/// each bin. The bins have equal width, from the lowest to the highest ranks. For a calibrated sampler, the band
/// contains each bin with probability 99 %.
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
/// let plot = plot::calibration(&[18, 22, 25, 17, 18], &Frame::new("beta"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn calibration(counts: &[usize], frame: &Frame) -> Result<Plot> {
    histogram(counts, "rank", frame)
}

/// Draws a histogram of numbers that should be uniform, with a band for each bin.
pub(super) fn histogram(counts: &[usize], label: &str, frame: &Frame) -> Result<Plot> {
    Plot::draw(frame, |area| {
        let total: usize = counts.iter().sum();
        if total == 0 {
            return message(area, frame.title(), "no ranks");
        }
        let bins = counts.len();
        let (low, high) = band(total, 1.0 / bins as f64);
        let highest = counts.iter().copied().max().unwrap_or(0).max(high) as f64;
        let x = 0.0..bins as f64;
        let mut axes = Axes::new(frame.title(), x.clone(), 0.0..1.08 * highest).labels(label, "");
        axes.x_ticks.positions.clear();
        let mut chart = axes.draw(area)?;
        let corners = [(x.start, high as f64), (x.end, low as f64)];
        chart.draw_series([Rectangle::new(corners, palette::MUTED.mix(0.2).filled())]).map_err(drawing)?;
        let bars = counts.iter().enumerate().map(|(bin, count)| {
            let corners = [(bin as f64 + 0.06, *count as f64), (bin as f64 + 0.94, 0.0)];
            Rectangle::new(corners, palette::chain(0).mix(0.75).filled())
        });
        chart.draw_series(bars).map_err(drawing)?;
        let level = total as f64 / bins as f64;
        line(&mut chart, vec![(x.start, level), (x.end, level)], palette::INK.stroke_width(SCALE))
    })
}

/// Returns quantiles of a binomial distribution that enclose a probability of at least [`BAND`].
fn band(total: usize, share: f64) -> (usize, usize) {
    if share >= 1.0 {
        return (total, total);
    }
    let tail = 0.5 * (1.0 - BAND);
    // Computed with logarithms, because the probability of zero successes underflows for many draws.
    let mut log_mass = total as f64 * (1.0 - share).ln();
    let (mut cumulative, mut low) = (log_mass.exp(), None);
    for count in 0..total {
        if low.is_none() && cumulative >= tail {
            low = Some(count);
        }
        if cumulative >= 1.0 - tail {
            return (low.unwrap_or(count), count);
        }
        log_mass += ((total - count) as f64 / (count + 1) as f64).ln() + (share / (1.0 - share)).ln();
        cumulative += log_mass.exp();
    }
    (low.unwrap_or(total), total)
}

#[cfg(test)]
mod tests {
    use super::band;

    /// The expected values were computed with log gamma functions.
    #[test]
    fn the_band_has_the_quantiles_of_the_binomial_distribution() {
        assert_eq!(band(200, 0.1), (10, 32));
        assert_eq!(band(300, 0.05), (6, 25));
        assert_eq!(band(100_000, 0.5), (49_593, 50_407));
        assert_eq!(band(7, 1.0), (7, 7));
    }
}
