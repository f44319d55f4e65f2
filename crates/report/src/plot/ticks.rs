//! Ranges and ticks of axes.
//!
//! Steps are 1, 2 or 5 times a power of ten. The ticks of the plotting crate are not used, because its search does not
//! terminate for ranges that are small relative to their position, as for nearly constant draws.

use std::ops::Range;

/// The largest absolute value of a range. Larger values would overflow.
const LARGEST: f64 = 1e300;
/// The smallest length of a range.
const SMALLEST: f64 = 1e-200;

/// The positions and labels of the ticks of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticks {
    pub(crate) positions: Vec<f64>,
    decimals: usize,
    scientific: bool,
    names: Vec<String>,
}

impl Ticks {
    /// Creates about `count` ticks in `range`.
    pub(crate) fn new(range: &Range<f64>, count: usize) -> Self {
        let span = range.end - range.start;
        let rough = span / count.max(1) as f64;
        let power = rough.log10().floor();
        let unit = 10f64.powf(power);
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|f| f * unit).find(|step| *step >= rough).unwrap_or(span);
        // An axis with one tick has no scale.
        let inside = |step: f64| (range.end / step + 1e-9).floor() - (range.start / step - 1e-9).ceil() + 1.0;
        let mut step = step;
        for _ in 0..3 {
            if count > 1 && inside(step) < 2.0 {
                step = smaller(step);
            }
        }
        // Allow for rounding, so that an end that is a multiple of the step has a tick.
        let first = (range.start / step - 1e-9).ceil();
        let count = (((range.end / step + 1e-9).floor() - first).max(0.0) as usize).min(4 * count);
        let positions: Vec<f64> = (0..=count).map(|i| (first + i as f64) * step).collect();
        let largest = range.start.abs().max(range.end.abs());
        let step_power = step.log10().floor();
        let scientific = !(1e-3..1e6).contains(&largest);
        let decimals = if scientific { largest.log10().floor() - step_power } else { -step_power };
        Self { positions, decimals: decimals.clamp(0.0, 12.0) as usize, scientific, names: Vec::new() }
    }

    /// Creates ticks with names on a vertical axis. The last name is at position 1, and the first at the top.
    pub(crate) fn named(names: Vec<String>) -> Self {
        let positions = (0..names.len()).map(|row| (names.len() - row) as f64).collect();
        Self { positions, decimals: 0, scientific: false, names }
    }

    /// Creates ticks with names at 0, 1, 2, … on a horizontal axis.
    pub(crate) fn at_integers(names: Vec<String>) -> Self {
        Self { positions: (0..names.len()).map(|i| i as f64).collect(), decimals: 0, scientific: false, names }
    }

    /// Creates about `count` ticks at integers in `range`.
    pub(crate) fn whole(range: &Range<f64>, count: usize) -> Self {
        let mut ticks = Self::new(range, count);
        ticks.positions.retain(|position| (position - position.round()).abs() < 1e-9);
        ticks.decimals = if ticks.scientific { ticks.decimals } else { 0 };
        ticks
    }

    /// Returns the label of the tick at `position`.
    pub(crate) fn label(&self, position: f64) -> String {
        if !self.names.is_empty() {
            let row = self.positions.iter().position(|p| (p - position).abs() < 0.5);
            return row.and_then(|row| self.names.get(row)).cloned().unwrap_or_default();
        }
        let position = if position.abs() < SMALLEST { 0.0 } else { position };
        if self.scientific && position.abs() > 0.0 {
            format!("{position:.*e}", self.decimals)
        } else {
            format!("{position:.*}", if self.scientific { 0 } else { self.decimals })
        }
        .replace('-', "\u{2212}")
    }
}

/// Returns the next smaller step of 1, 2 or 5 times a power of ten.
fn smaller(step: f64) -> f64 {
    let unit = 10f64.powf((step * (1.0 + 1e-9)).log10().floor());
    if step > 3.0 * unit { 2.0 * unit } else { 0.5 * step }
}

/// Returns the range of the finite `values`, extended at each end by `margin` times its length. Constant values have a
/// range around them. Returns `None` if no value is finite.
pub(crate) fn range_of(values: impl Iterator<Item = f64>, margin: f64) -> Option<Range<f64>> {
    let (low, high) = (values.filter(|v| v.is_finite()))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return None;
    }
    let (low, high) = (low.clamp(-LARGEST, LARGEST), high.clamp(-LARGEST, LARGEST));
    let size = low.abs().max(high.abs());
    let span = high - low;
    // In smaller ranges, ticks cannot be distinguished because of rounding.
    if span < (1e-9 * size).max(SMALLEST) {
        let around = if size < SMALLEST { 1.0 } else { 0.05 * size };
        return Some(low - around..high + around);
    }
    Some(low - margin * span..high + margin * span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        let ticks = Ticks::new(&(low..high), 4);
        ticks.positions.iter().map(|position| ticks.label(*position)).collect()
    }

    #[test]
    fn numbers_are_round_and_short() {
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(-3.2, 4.1), ["\u{2212}2", "0", "2", "4"]);
        assert_eq!(labels(0.011, 0.0195), ["0.012", "0.014", "0.016", "0.018"]);
        assert_eq!(labels(0.36, 0.62), ["0.4", "0.5", "0.6"]);
        assert_eq!(labels(0.0, 2000.0), ["0", "500", "1000", "1500", "2000"]);
        assert_eq!(labels(0.0, 4e7), ["0", "1e7", "2e7", "3e7", "4e7"]);
        assert_eq!(
            labels(1e-5, 3e-5),
            ["1.0e\u{2212}5", "1.5e\u{2212}5", "2.0e\u{2212}5", "2.5e\u{2212}5", "3.0e\u{2212}5"]
        );
    }

    #[test]
    fn ticks_are_integers() {
        let ticks = Ticks::whole(&(0.5..2.5), 4);
        assert_eq!(ticks.positions.iter().map(|position| ticks.label(*position)).collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn ranges_are_finite_and_not_empty() {
        for (low, high) in [(1e16, 1e16 + 2.0), (0.0, 0.0), (5e-324, 5e-324), (-f64::MAX, f64::MAX), (1e-250, 2e-250)] {
            let range = range_of([low, high, f64::NAN].into_iter(), 0.05).unwrap();
            assert!(range.start < range.end && (range.end - range.start).is_finite(), "{low} {high}");
            assert!(Ticks::new(&range, 5).positions.len() < 30);
        }
        assert_eq!(range_of([f64::NAN, f64::INFINITY].into_iter(), 0.1), None);
        assert_eq!(range_of([1.0, 3.0].into_iter(), 0.5), Some(0.0..4.0));
    }
}
