//! Figures of the papers: SVG files with panels of lines and points.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;

/// The label and the scale of an axis.
#[derive(Clone, Copy)]
pub struct Axis {
    pub label: &'static str,
    /// True if the scale is logarithmic.
    pub log: bool,
}

/// A line or a set of points.
pub struct Series {
    /// The name in the legend; a series with an empty name has no entry there.
    pub name: String,
    /// The index of the color.
    pub color: usize,
    /// True if the points are drawn as dots instead of a line.
    pub dots: bool,
    pub points: Vec<(f64, f64)>,
}

/// One chart of a figure.
pub struct Panel {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
}

const WIDTH: u32 = 420;
const HEIGHT: u32 = 320;
/// The largest number of panels side by side.
const PANELS_PER_ROW: usize = 4;
/// The left edge of the legend.
const LEFT: i32 = 60;
/// The height of a row of the legend.
const ROW: i32 = 18;
/// The width of the sign of a series in the legend, with the gap after it.
const SWATCH: i32 = 20;
/// The approximate number of ticks of an axis.
const TICKS: f64 = 5.0;
/// The largest number of points of a series; longer series are thinned.
const MAX_POINTS: usize = 2000;

/// Colors that are distinct for color-blind readers (Okabe & Ito).
const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
];

impl Axis {
    /// Returns the coordinate of a value on the axis, or `None` if it is not finite.
    fn coordinate(self, value: f64) -> Option<f64> {
        let coordinate = if self.log { value.log10() } else { value };
        coordinate.is_finite().then_some(coordinate)
    }

    /// Returns the range of the coordinates of `values`, with a margin.
    fn range(self, values: impl Iterator<Item = f64>) -> Range<f64> {
        let coordinates = values.filter_map(|value| self.coordinate(value));
        let (low, high) =
            coordinates.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if low > high {
            return 0.0..1.0;
        }
        let margin = if high > low { 0.04 * (high - low) } else { 1.0 };
        low - margin..high + margin
    }

    /// Returns the ticks of the axis in a range of coordinates.
    fn ticks(self, range: &Range<f64>) -> Vec<Tick> {
        let inside = |tick: &Tick| range.contains(&tick.coordinate);
        if !self.log {
            let step = step((range.end - range.start) / TICKS);
            let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
            let (first, last) = ((range.start / step).ceil() as i64, (range.end / step).floor() as i64);
            let tick = |k: i64| {
                let coordinate = k as f64 * step;
                Tick { coordinate, label: plain(coordinate, decimals) }
            };
            return (first..=last).map(tick).collect();
        }
        let (first, last) = (range.start.floor() as i32, range.end.ceil() as i32);
        // Powers of ten, and 2 and 5 times them on an axis of few powers.
        let factors: &[u32] = if range.end - range.start < 2.0 { &[1, 2, 5] } else { &[1] };
        let stride = ((last - first) as f64 / (2.0 * TICKS)).ceil().max(1.0) as usize;
        let powers = (first..=last).step_by(stride);
        let tick = |(power, factor): (i32, &u32)| {
            let coordinate = f64::from(power) + f64::from(*factor).log10();
            let label = match power {
                0..=4 => format!("{}", f64::from(*factor) * 10.0_f64.powi(power)),
                -3..0 => format!("{:.*}", -power as usize, f64::from(*factor) * 10.0_f64.powi(power)),
                _ => format!("{factor}e{power}"),
            };
            Tick { coordinate, label }
        };
        powers.flat_map(|power| factors.iter().map(move |factor| (power, factor))).map(tick).filter(inside).collect()
    }
}

/// A mark on an axis.
struct Tick {
    coordinate: f64,
    label: String,
}

/// Returns the smallest of 1, 2 and 5 times a power of ten that is not below `least`.
fn step(least: f64) -> f64 {
    let power = 10.0_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= least).unwrap_or(power)
}

/// Formats a number of a linear axis.
fn plain(value: f64, decimals: usize) -> String {
    if value.abs() >= 100_000.0 { format!("{value:e}") } else { format!("{value:.decimals$}") }
}

/// An axis with its range and its ticks.
struct Scale {
    range: Range<f64>,
    ticks: Vec<Tick>,
}

impl Scale {
    fn new(axis: Axis, values: impl Iterator<Item = f64>) -> Self {
        let range = axis.range(values);
        Self { ticks: axis.ticks(&range), range }
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (low, high): (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        low + (share * f64::from(high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let light = hint.weight().allow_light_points();
        self.ticks.iter().filter(|_| !light).map(|tick| tick.coordinate).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        let near = |tick: &&Tick| (tick.coordinate - value).abs() < 1e-9;
        self.ticks.iter().find(near).map_or_else(String::new, |tick| tick.label.clone())
    }
}

/// An entry of a legend.
struct Entry<'a> {
    series: &'a Series,
    /// The offset from the left edge of the panel and the row, in pixels.
    position: (i32, i32),
}

/// Returns the entries of the legend in rows of the width of a panel.
fn legend(panel: &Panel) -> Vec<Entry<'_>> {
    let (mut x, mut y) = (LEFT, 0);
    let mut entries = Vec::new();
    for series in panel.series.iter().filter(|series| !series.name.is_empty()) {
        let width = SWATCH + 8 * series.name.chars().count() as i32 + 12;
        if x > LEFT && x + width > WIDTH as i32 {
            (x, y) = (LEFT, y + ROW);
        }
        entries.push(Entry { series, position: (x, y) });
        x += width;
    }
    entries
}

/// Draws the panels and writes them to the file at `path`. Creates its directory if necessary.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub fn save(path: &str, panels: &[Panel]) -> Result<(), Box<dyn Error>> {
    if let Some(directory) = Path::new(path).parent() {
        std::fs::create_dir_all(directory)?;
    }
    let (rows, columns) = (panels.len().div_ceil(PANELS_PER_ROW), panels.len().min(PANELS_PER_ROW));
    let canvas = SVGBackend::new(path, (WIDTH * columns as u32, HEIGHT * rows as u32)).into_drawing_area();
    canvas.fill(&WHITE)?;
    for (area, panel) in canvas.split_evenly((rows, columns)).iter().zip(panels) {
        let points = || panel.series.iter().flat_map(|series| &series.points);
        let x = Scale::new(panel.x, points().map(|point| point.0));
        let y = Scale::new(panel.y, points().map(|point| point.1));
        // The legend has a strip of its own below the caption, so that it covers no data.
        let entries = legend(panel);
        let rows = entries.last().map_or(0, |entry| entry.position.1 + ROW);
        let (strip, area) = area.titled(&panel.title, ("sans-serif", 17))?.split_vertically(rows);
        for Entry { series, position: (x, y) } in entries {
            let color = COLORS[series.color % COLORS.len()];
            if series.dots {
                strip.draw(&Circle::new((x + 6, y + 8), 3, color.filled()))?;
            } else {
                strip.draw(&PathElement::new(vec![(x, y + 8), (x + SWATCH - 6, y + 8)], color.stroke_width(2)))?;
            }
            let style = ("sans-serif", 14).into_font().color(&COLORS[6]);
            strip.draw(&Text::new(series.name.clone(), (x + SWATCH, y + 1), style))?;
        }
        let mut chart = ChartBuilder::on(&area)
            .margin(10)
            .margin_top(4)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(WHITE)
            .x_desc(panel.x.label)
            .y_desc(panel.y.label)
            .draw()?;
        for series in &panel.series {
            let color = COLORS[series.color % COLORS.len()];
            let thin = series.points.len().div_ceil(MAX_POINTS).max(1);
            let points = series.points.iter().step_by(thin);
            let points = points.filter_map(|(x, y)| Some((panel.x.coordinate(*x)?, panel.y.coordinate(*y)?)));
            if series.dots {
                let style = color.mix(0.4).filled();
                chart.draw_series(points.map(|point| Circle::new(point, 2, style)))?;
            } else {
                let line = PathElement::new(points.collect::<Vec<_>>(), color.stroke_width(2));
                chart.draw_series([line])?;
            }
        }
    }
    canvas.present()?;
    println!("figure: {path}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(log: bool, range: Range<f64>) -> Vec<String> {
        Axis { label: "", log }.ticks(&range).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_plain_numbers() {
        assert_eq!(labels(false, -0.2..5.2), ["0", "2", "4"]);
        assert_eq!(labels(false, -0.1..0.42), ["0.0", "0.2", "0.4"]);
        assert_eq!(labels(false, 0.0..1.1e6), ["0", "5e5", "1e6"]);
        assert_eq!(labels(true, -3.1..2.1), ["0.001", "0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(true, 2.9..4.0), ["1000", "2000", "5000"]);
        assert_eq!(labels(true, -8.2..-5.9), ["1e-8", "1e-7", "1e-6"]);
    }

    #[test]
    fn legends_are_above_the_data() {
        let series =
            |name: &str| Series { name: name.into(), color: 0, dots: false, points: vec![(0.0, 1.0), (1.0, 2.0)] };
        let axis = Axis { label: "x", log: false };
        let names = ["a long name of a series", "another long name of it", "a third name"];
        let panel = Panel { title: "t".into(), x: axis, y: axis, series: names.map(series).into() };
        let rows: Vec<i32> = legend(&panel).iter().map(|entry| entry.position.1).collect();
        assert_eq!(rows, [0, ROW, ROW]);
        assert!(legend(&panel).iter().all(|entry| entry.position.0 >= LEFT));
    }
}
