//! Ranges of axes and the numbers on them.
//!
//! Steps are 1, 2 or 5 times a power of ten. They are not the plotting crate's: its search does not end where the range is small
//! against its place, as for draws that hardly vary.

use std::ops::Range;

/// Beyond this size plotting would leave the range of floats.
const LARGEST: f64 = 1e300;
/// Ranges are no smaller than this.
const SMALLEST: f64 = 1e-200;

/// Where the numbers of an axis stand, and how they are written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticks {
    pub(crate) places: Vec<f64>,
    decimals: usize,
    scientific: bool,
    names: Vec<String>,
}

impl Ticks {
    /// About `count` ticks in `range`.
    pub(crate) fn new(range: &Range<f64>, count: usize) -> Self {
        let span = range.end - range.start;
        let rough = span / count.max(1) as f64;
        let power = rough.log10().floor();
        let unit = 10f64.powf(power);
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|f| f * unit).find(|step| *step >= rough).unwrap_or(span);
        // An end that is a tick but for rounding has one.
        let first = (range.start / step - 1e-9).ceil();
        let count = (((range.end / step + 1e-9).floor() - first).max(0.0) as usize).min(4 * count);
        let places: Vec<f64> = (0..=count).map(|i| (first + i as f64) * step).collect();
        let largest = range.start.abs().max(range.end.abs());
        let step_power = step.log10().floor();
        let scientific = !(1e-3..1e6).contains(&largest);
        let decimals = if scientific { largest.log10().floor() - step_power } else { -step_power };
        Self { places, decimals: decimals.clamp(0.0, 12.0) as usize, scientific, names: Vec::new() }
    }

    /// `names` on a vertical axis, the first on top at the place that is their number, the last at 1.
    pub(crate) fn named(names: Vec<String>) -> Self {
        let places = (0..names.len()).map(|row| (names.len() - row) as f64).collect();
        Self { places, decimals: 0, scientific: false, names }
    }

    /// Ticks at whole numbers only.
    pub(crate) fn whole(range: &Range<f64>, count: usize) -> Self {
        let mut ticks = Self::new(range, count);
        ticks.places.retain(|place| (place - place.round()).abs() < 1e-9);
        ticks.decimals = if ticks.scientific { ticks.decimals } else { 0 };
        ticks
    }

    /// The number at `place` as it is written.
    pub(crate) fn label(&self, place: f64) -> String {
        if !self.names.is_empty() {
            let row = self.places.iter().position(|p| (p - place).abs() < 0.5);
            return row.and_then(|row| self.names.get(row)).cloned().unwrap_or_default();
        }
        let place = if place.abs() < SMALLEST { 0.0 } else { place };
        if self.scientific && place.abs() > 0.0 {
            format!("{place:.*e}", self.decimals)
        } else {
            format!("{place:.*}", if self.scientific { 0 } else { self.decimals })
        }
        .replace('-', "\u{2212}")
    }
}

/// The range of the finite `values` with `margin` of its length at each end; one around them where they do not vary. `None` where there
/// are none.
pub(crate) fn range_of(values: impl Iterator<Item = f64>, margin: f64) -> Option<Range<f64>> {
    let (low, high) = (values.filter(|v| v.is_finite()))
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return None;
    }
    let (low, high) = (low.clamp(-LARGEST, LARGEST), high.clamp(-LARGEST, LARGEST));
    let size = low.abs().max(high.abs());
    let span = high - low;
    // Less than this is lost in rounding when ticks are counted.
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
        ticks.places.iter().map(|place| ticks.label(*place)).collect()
    }

    #[test]
    fn numbers_are_round_and_short() {
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(-3.2, 4.1), ["\u{2212}2", "0", "2", "4"]);
        assert_eq!(labels(0.011, 0.0195), ["0.015"]);
        assert_eq!(labels(0.0, 2000.0), ["0", "500", "1000", "1500", "2000"]);
        assert_eq!(labels(0.0, 4e7), ["0", "1e7", "2e7", "3e7", "4e7"]);
        assert_eq!(
            labels(1e-5, 3e-5),
            ["1.0e\u{2212}5", "1.5e\u{2212}5", "2.0e\u{2212}5", "2.5e\u{2212}5", "3.0e\u{2212}5"]
        );
    }

    #[test]
    fn whole_numbers_only() {
        let ticks = Ticks::whole(&(0.5..2.5), 4);
        assert_eq!(ticks.places.iter().map(|place| ticks.label(*place)).collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn every_range_has_an_end() {
        for (low, high) in [(1e16, 1e16 + 2.0), (0.0, 0.0), (5e-324, 5e-324), (-f64::MAX, f64::MAX), (1e-250, 2e-250)] {
            let range = range_of([low, high, f64::NAN].into_iter(), 0.05).unwrap();
            assert!(range.start < range.end && (range.end - range.start).is_finite(), "{low} {high}");
            assert!(Ticks::new(&range, 5).places.len() < 30);
        }
        assert_eq!(range_of([f64::NAN, f64::INFINITY].into_iter(), 0.1), None);
        assert_eq!(range_of([1.0, 3.0].into_iter(), 0.5), Some(0.0..4.0));
    }
}
