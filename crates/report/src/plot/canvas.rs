//! Paper, frame and axes, the same for all plots.
//!
//! Plots are drawn [`SCALE`] times as large as they are shown, because the SVG backend knows whole coordinates only.

use std::ops::Range;

use plotters::chart::ChartContext;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::palette::{self, GRID, INK, MUTED};
use super::ticks::Ticks;
use crate::error::{Error, Result};

/// Coordinates per unit of length.
pub(crate) const SCALE: u32 = 4;
/// Size of letters.
const LETTERS: f64 = 11.0;

pub(crate) type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;
pub(crate) type Chart<'a, 's> = ChartContext<'a, SVGBackend<'s>, Cartesian2d<Axis, Axis>>;

/// A linear axis with ticks of our own.
pub(crate) struct Axis {
    range: Range<f64>,
    ticks: Option<Ticks>,
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (low, high): (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        // Lines may leave the picture, but not the range of coordinates.
        low + (share.clamp(-1.0, 2.0) * f64::from(high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let ticks = self.ticks.as_ref().filter(|_| !hint.weight().allow_light_points());
        ticks.map_or_else(Vec::new, |ticks| ticks.places.clone())
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        self.ticks.as_ref().map_or_else(String::new, |ticks| ticks.label(*value))
    }
}

/// What stands around a plot.
#[derive(Clone, Debug)]
pub(crate) struct Axes<'t> {
    pub(crate) title: &'t str,
    pub(crate) x: Range<f64>,
    pub(crate) y: Range<f64>,
    pub(crate) x_ticks: Ticks,
    pub(crate) y_ticks: Ticks,
    pub(crate) x_label: &'t str,
    pub(crate) y_label: &'t str,
    /// How many chains are named in the corner.
    pub(crate) legend: usize,
    /// Whether the vertical axis has numbers.
    pub(crate) numbered: bool,
    /// The width left for them, where panels are to stand in columns.
    pub(crate) room: Option<i32>,
}

impl<'t> Axes<'t> {
    pub(crate) fn new(title: &'t str, x: Range<f64>, y: Range<f64>) -> Self {
        let (x_ticks, y_ticks) = (Ticks::new(&x, 5), Ticks::new(&y, 4));
        Self { title, x, y, x_ticks, y_ticks, x_label: "", y_label: "", legend: 0, numbered: true, room: None }
    }

    pub(crate) fn labels(mut self, x_label: &'t str, y_label: &'t str) -> Self {
        (self.x_label, self.y_label) = (x_label, y_label);
        self
    }

    pub(crate) fn legend(mut self, chains: usize) -> Self {
        self.legend = chains;
        self
    }

    pub(crate) fn room(mut self, room: i32) -> Self {
        self.room = Some(room);
        self
    }

    pub(crate) fn unnumbered(mut self) -> Self {
        self.numbered = false;
        self
    }

    /// Draws frame, ticks and title into `area`.
    pub(crate) fn draw<'a, 's>(self, area: &'a Area<'s>) -> Result<Chart<'a, 's>> {
        let s = SCALE as i32;
        header(area, self.title, self.legend)?;
        let longest = |ticks: &Ticks| ticks.places.iter().map(|p| ticks.label(*p).chars().count()).max().unwrap_or(1);
        let numbers = if self.numbered { 8 + (6.2 * longest(&self.y_ticks) as f64) as i32 } else { 6 };
        let numbers = self.room.unwrap_or(numbers);
        let named = |label: &str, room: i32| if label.is_empty() { 0 } else { room };
        let mut chart = ChartBuilder::on(area)
            .margin_top(if self.title.is_empty() && self.legend < 2 { 8 } else { 20 } * s)
            .margin_right(19 * s)
            .margin_left(4 * s)
            .margin_bottom(2 * s)
            .x_label_area_size((18 + named(self.x_label, 14)) * s)
            .y_label_area_size((numbers + named(self.y_label, 16)) * s)
            .build_cartesian_2d(
                Axis { range: self.x, ticks: Some(self.x_ticks) },
                Axis { range: self.y, ticks: self.numbered.then_some(self.y_ticks) },
            )
            .map_err(drawing)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID.stroke_width(SCALE))
            .axis_style(MUTED.stroke_width(SCALE))
            .set_all_tick_mark_size(3 * s)
            .label_style(letters(LETTERS).color(&MUTED))
            .axis_desc_style(letters(LETTERS).color(&MUTED))
            .x_desc(clean(self.x_label))
            .y_desc(clean(self.y_label))
            .draw()
            .map_err(drawing)?;
        Ok(chart)
    }
}

/// The title on the left and the numbers of the chains in their colours on the right.
fn header(area: &Area<'_>, title: &str, chains: usize) -> Result<()> {
    let s = SCALE as i32;
    if !title.is_empty() {
        let style = letters(LETTERS + 1.0).style(FontStyle::Bold).color(&INK);
        area.draw(&Text::new(clean(title), (6 * s, 4 * s), style)).map_err(drawing)?;
    }
    let right = area.dim_in_pixel().0 as i32 - 19 * s;
    let corner = |text: String, x: i32, colour: RGBColor| {
        let style = letters(LETTERS).color(&colour).pos(Pos::new(HPos::Right, VPos::Top));
        area.draw(&Text::new(text, (x, 5 * s), style)).map_err(drawing)
    };
    // More would not fit, and colours begin again.
    if (2..=8).contains(&chains) {
        for chain in (0..chains).rev() {
            corner(chain.to_string(), right - (chains - 1 - chain) as i32 * 11 * s, palette::chain(chain))?;
        }
        corner("chain".to_owned(), right - chains as i32 * 11 * s, MUTED)?;
    }
    Ok(())
}

/// A line of text where there is nothing to draw.
pub(crate) fn nothing(area: &Area<'_>, title: &str, why: &str) -> Result<()> {
    header(area, title, 0)?;
    let (width, height) = area.dim_in_pixel();
    let style = letters(LETTERS).color(&MUTED).pos(Pos::new(HPos::Center, VPos::Center));
    area.draw(&Text::new(why.to_owned(), (width as i32 / 2, height as i32 / 2), style)).map_err(drawing)
}

/// A thin, solid line.
pub(crate) fn line(chart: &mut Chart<'_, '_>, points: Vec<(f64, f64)>, style: impl Into<ShapeStyle>) -> Result<()> {
    if points.len() > 1 {
        chart.plotting_area().draw(&PathElement::new(points, style)).map_err(drawing)?;
    } else if let Some(point) = points.first() {
        // A line of one point is not seen.
        let style = style.into();
        chart.plotting_area().draw(&Circle::new(*point, 2 * SCALE, style.color.filled())).map_err(drawing)?;
    }
    Ok(())
}

/// A line of dashes.
pub(crate) fn dashed(chart: &mut Chart<'_, '_>, points: Vec<(f64, f64)>, style: impl Into<ShapeStyle>) -> Result<()> {
    let dashes = DashedPathElement::new(points, 7 * SCALE, 4 * SCALE, style);
    chart.plotting_area().draw(&dashes).map_err(drawing)
}

/// The letters of labels; the SVG backend writes 1/1.24 of the size it is told.
fn letters(size: f64) -> FontDesc<'static> {
    ("sans-serif", size * 1.24 * f64::from(SCALE)).into_font()
}

/// Letters an SVG may hold.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') { ' ' } else { c }).collect()
}

pub(crate) fn drawing(error: impl std::fmt::Display) -> Error {
    Error::Drawing(error.to_string())
}
