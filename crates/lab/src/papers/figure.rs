//! Figures of the papers: SVG files with panels of lines and points.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

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

    /// Returns the label of the axis at a coordinate.
    fn label_at(self, coordinate: f64) -> String {
        let value = if self.log { 10.0_f64.powf(coordinate) } else { coordinate };
        let size = value.abs();
        match size {
            0.0 => "0".into(),
            0.01..10.0 => format!("{value:.2}"),
            10.0..100_000.0 => format!("{value:.0}"),
            _ => format!("{value:.0e}"),
        }
    }
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
        let (x, y) = (panel.x.range(points().map(|point| point.0)), panel.y.range(points().map(|point| point.1)));
        let mut chart = ChartBuilder::on(area)
            .caption(&panel.title, ("sans-serif", 17))
            .margin(10)
            .margin_top(4)
            .x_label_area_size(36)
            .y_label_area_size(56)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(WHITE)
            .x_labels(5)
            .y_labels(6)
            .x_desc(panel.x.label)
            .y_desc(panel.y.label)
            .x_label_formatter(&|coordinate| panel.x.label_at(*coordinate))
            .y_label_formatter(&|coordinate| panel.y.label_at(*coordinate))
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
        let named = panel.series.iter().filter(|series| !series.name.is_empty());
        for (row, series) in named.enumerate() {
            let style = ("sans-serif", 14).into_font().color(&COLORS[series.color % COLORS.len()]);
            let position = (area.dim_in_pixel().0 as i32 - 118, 34 + 16 * row as i32);
            area.draw(&Text::new(series.name.clone(), position, style))?;
        }
    }
    canvas.present()?;
    println!("figure: {path}");
    Ok(())
}
