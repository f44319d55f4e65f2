//! Figures of the examples: panels of lines and points, as SVG.

use std::error::Error;
use std::ops::Range;

use plotters::prelude::*;

/// What an axis shows.
#[derive(Clone, Copy)]
pub struct Axis {
    pub label: &'static str,
    pub log: bool,
}

/// A line, or points.
pub struct Series {
    /// What it is called in the corner, unless that is empty.
    pub name: String,
    pub colour: usize,
    pub dots: bool,
    pub points: Vec<(f64, f64)>,
}

/// One picture.
pub struct Panel {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
}

const WIDTH: u32 = 420;
const HEIGHT: u32 = 320;
/// Panels in a row.
const ABREAST: usize = 4;
/// Lines are thinned to so many points.
const MOST_POINTS: usize = 2000;

/// Colours that the colour-blind can tell apart (Okabe & Ito).
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
];

impl Axis {
    /// Where a value is on the axis; nowhere if it has no logarithm.
    fn place(self, value: f64) -> Option<f64> {
        let place = if self.log { value.log10() } else { value };
        place.is_finite().then_some(place)
    }

    /// The range of some values, with a margin.
    fn range(self, values: impl Iterator<Item = f64>) -> Range<f64> {
        let places = values.filter_map(|value| self.place(value));
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if low > high {
            return 0.0..1.0;
        }
        let margin = if high > low { 0.04 * (high - low) } else { 1.0 };
        low - margin..high + margin
    }

    fn tick(self, place: f64) -> String {
        let value = if self.log { 10.0_f64.powf(place) } else { place };
        let size = value.abs();
        match size {
            0.0 => "0".into(),
            0.01..10.0 => format!("{value:.2}"),
            10.0..100_000.0 => format!("{value:.0}"),
            _ => format!("{value:.0e}"),
        }
    }
}

/// Draws the panels into the file at `path`.
pub fn save(path: &str, panels: &[Panel]) -> Result<(), Box<dyn Error>> {
    let (rows, columns) = (panels.len().div_ceil(ABREAST), panels.len().min(ABREAST));
    let paper = SVGBackend::new(path, (WIDTH * columns as u32, HEIGHT * rows as u32)).into_drawing_area();
    paper.fill(&WHITE)?;
    for (area, panel) in paper.split_evenly((rows, columns)).iter().zip(panels) {
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
            .x_label_formatter(&|place| panel.x.tick(*place))
            .y_label_formatter(&|place| panel.y.tick(*place))
            .draw()?;
        for series in &panel.series {
            let colour = COLOURS[series.colour % COLOURS.len()];
            let thin = series.points.len().div_ceil(MOST_POINTS).max(1);
            let places = series.points.iter().step_by(thin);
            let places = places.filter_map(|(x, y)| Some((panel.x.place(*x)?, panel.y.place(*y)?)));
            if series.dots {
                let style = colour.mix(0.4).filled();
                chart.draw_series(places.map(|place| Circle::new(place, 2, style)))?;
            } else {
                let line = PathElement::new(places.collect::<Vec<_>>(), colour.stroke_width(2));
                chart.draw_series([line])?;
            }
        }
        let named = panel.series.iter().filter(|series| !series.name.is_empty());
        for (row, series) in named.enumerate() {
            let style = ("sans-serif", 14).into_font().color(&COLOURS[series.colour % COLOURS.len()]);
            let at = (area.dim_in_pixel().0 as i32 - 118, 34 + 16 * row as i32);
            area.draw(&Text::new(series.name.clone(), at, style))?;
        }
    }
    paper.present()?;
    println!("figure: {path}");
    Ok(())
}
