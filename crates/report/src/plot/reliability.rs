//! Reliability of predicted probabilities, and probability integral transforms.

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, dashed, drawing, line, message};
use super::{Frame, Plot, palette};
use crate::error::{Error, Result};

/// The number of bins of predicted probabilities.
const BINS: usize = 10;

/// Draws the share of positive outcomes against the predicted probability, in ten bins of equal width. For calibrated
/// predictions the points are close to the dashed diagonal. Vertical lines are intervals of 95 % (Wilson 1927), and the
/// size of a point grows with the number of predictions in its bin.
///
/// # Errors
///
/// Returns an error if there is not one outcome per probability, or if an outcome is neither 0 nor 1.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::{self, Frame};
///
/// let plot = plot::reliability(&[0.1, 0.8, 0.9, 0.3], &[0.0, 1.0, 1.0, 0.0], &Frame::new("y"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn reliability(probabilities: &[f64], outcomes: &[f64], frame: &Frame) -> Result<Plot> {
    let invalid = |reason: String| Err(Error::Input { plot: "reliability plot", reason });
    if probabilities.len() != outcomes.len() {
        return invalid(format!("{} probabilities and {} outcomes were given", probabilities.len(), outcomes.len()));
    }
    if let Some(outcome) = outcomes.iter().find(|y| !matches!(**y, 0.0 | 1.0)) {
        return invalid(format!("an outcome is {outcome}, expected 0 or 1"));
    }
    let bins = Bin::all(probabilities, outcomes);
    Plot::draw(frame, |area| {
        if bins.is_empty() {
            return message(area, frame.title(), "no predictions");
        }
        let axes = Axes::new(frame.title(), -0.02..1.02, -0.02..1.02);
        let mut chart = axes.labels("predicted probability", "share of outcomes").draw(area)?;
        dashed(&mut chart, vec![(0.0, 0.0), (1.0, 1.0)], palette::MUTED.stroke_width(SCALE))?;
        let largest = bins.iter().map(|bin| bin.count).fold(1.0, f64::max);
        for bin in &bins {
            let (low, high) = bin.interval();
            line(&mut chart, vec![(bin.predicted, low), (bin.predicted, high)], palette::chain(0).stroke_width(SCALE))?;
            let size = SCALE as f64 * (2.0 + 3.0 * (bin.count / largest).sqrt());
            let dot = Circle::new((bin.predicted, bin.observed), size as i32, palette::chain(0).filled());
            chart.plotting_area().draw(&dot).map_err(drawing)?;
        }
        line(
            &mut chart,
            bins.iter().map(|bin| (bin.predicted, bin.observed)).collect(),
            palette::chain(0).mix(0.6).stroke_width(SCALE),
        )
    })
}

/// The predictions in a bin.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bin {
    /// The mean predicted probability.
    predicted: f64,
    /// The share of positive outcomes.
    observed: f64,
    count: f64,
}

impl Bin {
    /// Returns the bins with predictions.
    fn all(probabilities: &[f64], outcomes: &[f64]) -> Vec<Self> {
        let mut sums = [(0.0, 0.0, 0.0); BINS];
        for (p, y) in probabilities.iter().zip(outcomes).filter(|(p, _)| p.is_finite()) {
            let sum = &mut sums[((p * BINS as f64) as usize).min(BINS - 1)];
            (sum.0, sum.1, sum.2) = (sum.0 + p, sum.1 + y, sum.2 + 1.0);
        }
        let bin = |(p, y, count): (f64, f64, f64)| Self { predicted: p / count, observed: y / count, count };
        sums.into_iter().filter(|sum| sum.2 > 0.0).map(bin).collect()
    }

    /// Returns Wilson's interval of probability 95 % for the share of positive outcomes.
    fn interval(self) -> (f64, f64) {
        let z = 1.959_963_984_540_054_f64;
        let (n, p) = (self.count, self.observed);
        let center = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        (center - half, center + half)
    }
}

/// Draws the histogram of probability integral transforms, such as those of leave-one-out cross-validation, in ten bins. If
/// the predictions are calibrated, they are uniform, and the gray band contains each bin with probability 99 %. A hump shows
/// predictions that are too wide, and a trough predictions that are too narrow.
///
/// # Errors
///
/// Returns an error if a number is not in [0, 1].
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::{self, Frame};
///
/// let plot = plot::integral_transforms(&[0.1, 0.4, 0.7, 0.95], &Frame::new("LOO-PIT"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn integral_transforms(values: &[f64], frame: &Frame) -> Result<Plot> {
    if let Some(value) = values.iter().find(|value| !(0.0..=1.0).contains(*value)) {
        let reason = format!("a transform is {value}, expected a number from 0 to 1");
        return Err(Error::Input { plot: "histogram of probability integral transforms", reason });
    }
    let mut counts = [0_usize; BINS];
    values.iter().for_each(|value| counts[((value * BINS as f64) as usize).min(BINS - 1)] += 1);
    super::calibration::histogram(&counts, "probability integral transform", frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_means_and_wilson_intervals() {
        let bins = Bin::all(&[0.12, 0.18, 0.95, 1.0, f64::NAN], &[0.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(bins.len(), 2);
        assert!((bins[0].predicted - 0.15).abs() < 1e-12 && (bins[0].observed - 0.5).abs() < 1e-12);
        // The interval of 8 successes in 10 trials is a textbook value.
        let (low, high) = Bin { predicted: 0.8, observed: 0.8, count: 10.0 }.interval();
        assert!((low - 0.4902).abs() < 1e-4 && (high - 0.9433).abs() < 1e-4, "{low} {high}");
    }

    #[test]
    fn invalid_predictions_are_refused() {
        let frame = Frame::new("");
        assert!(reliability(&[0.5], &[], &frame).is_err());
        assert!(reliability(&[0.5], &[0.5], &frame).unwrap_err().to_string().contains("expected 0 or 1"));
        assert!(integral_transforms(&[1.5], &frame).is_err());
    }
}
