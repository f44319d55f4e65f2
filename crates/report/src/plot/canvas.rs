//! The frame and axes of all plots.
//!
//! Plots are drawn [`SCALE`] times larger than they are displayed, because the SVG backend rounds coordinates to
//! integers.

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

/// The number of coordinate units per CSS pixel.
pub(crate) const SCALE: u32 = 4;
/// The font size in CSS pixels.
const FONT_SIZE: f64 = 11.0;

/// A drawing area of the SVG backend.
pub(crate) type Area<'s> = DrawingArea<SVGBackend<'s>, Shift>;
/// A chart with linear axes.
pub(crate) type Chart<'a, 's> = ChartContext<'a, SVGBackend<'s>, Cartesian2d<Axis, Axis>>;

/// A linear axis with the ticks of [`Ticks`].
pub(crate) struct Axis {
    range: Range<f64>,
    ticks: Option<Ticks>,
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (low, high): (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        // Lines may leave the plot. Clamp them to the range of integer coordinates.
        low + (share.clamp(-1.0, 2.0) * f64::from(high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let ticks = self.ticks.as_ref().filter(|_| !hint.weight().allow_light_points());
        ticks.map_or_else(Vec::new, |ticks| ticks.positions.clone())
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

/// The title, axes and legend of a plot.
#[derive(Clone, Debug)]
pub(crate) struct Axes<'t> {
    pub(crate) title: &'t str,
    pub(crate) x: Range<f64>,
    pub(crate) y: Range<f64>,
    pub(crate) x_ticks: Ticks,
    pub(crate) y_ticks: Ticks,
    pub(crate) x_label: &'t str,
    pub(crate) y_label: &'t str,
    /// The number of chains in the legend.
    pub(crate) legend: usize,
    /// True if the vertical axis has tick labels.
    pub(crate) numbered: bool,
    /// The width of the tick labels of the vertical axis, if panels are to be aligned.
    pub(crate) label_width: Option<i32>,
}

impl<'t> Axes<'t> {
    /// Creates axes with these ranges.
    pub(crate) fn new(title: &'t str, x: Range<f64>, y: Range<f64>) -> Self {
        let (x_ticks, y_ticks) = (Ticks::new(&x, 5), Ticks::new(&y, 4));
        Self { title, x, y, x_ticks, y_ticks, x_label: "", y_label: "", legend: 0, numbered: true, label_width: None }
    }

    /// Sets the titles of the axes.
    pub(crate) fn labels(mut self, x_label: &'t str, y_label: &'t str) -> Self {
        (self.x_label, self.y_label) = (x_label, y_label);
        self
    }

    /// Sets the number of chains in the legend.
    pub(crate) fn legend(mut self, chains: usize) -> Self {
        self.legend = chains;
        self
    }

    /// Sets the width of the tick labels of the vertical axis.
    pub(crate) fn label_width(mut self, width: i32) -> Self {
        self.label_width = Some(width);
        self
    }

    /// Removes the tick labels of the vertical axis.
    pub(crate) fn unnumbered(mut self) -> Self {
        self.numbered = false;
        self
    }

    /// Draws the frame, the ticks and the title in `area`.
    pub(crate) fn draw<'a, 's>(self, area: &'a Area<'s>) -> Result<Chart<'a, 's>> {
        let s = SCALE as i32;
        header(area, self.title, self.legend)?;
        let longest =
            |ticks: &Ticks| ticks.positions.iter().map(|p| ticks.label(*p).chars().count()).max().unwrap_or(1);
        let numbers = if self.numbered { 8 + (6.2 * longest(&self.y_ticks) as f64) as i32 } else { 6 };
        let numbers = self.label_width.unwrap_or(numbers);
        let title_size = |label: &str, size: i32| if label.is_empty() { 0 } else { size };
        let mut chart = ChartBuilder::on(area)
            .margin_top(if self.title.is_empty() && self.legend < 2 { 8 } else { 20 } * s)
            .margin_right(19 * s)
            .margin_left(4 * s)
            .margin_bottom(2 * s)
            .x_label_area_size((18 + title_size(self.x_label, 14)) * s)
            .y_label_area_size((numbers + title_size(self.y_label, 16)) * s)
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
            .label_style(font(FONT_SIZE).color(&MUTED))
            .axis_desc_style(font(FONT_SIZE).color(&MUTED))
            .x_desc(clean(self.x_label))
            .y_desc(clean(self.y_label))
            .draw()
            .map_err(drawing)?;
        Ok(chart)
    }
}

/// Draws the title at the left and the legend of the chains at the right.
fn header(area: &Area<'_>, title: &str, chains: usize) -> Result<()> {
    let s = SCALE as i32;
    if !title.is_empty() {
        let style = font(FONT_SIZE + 1.0).style(FontStyle::Bold).color(&INK);
        area.draw(&Text::new(clean(title), (6 * s, 4 * s), style)).map_err(drawing)?;
    }
    let right = area.dim_in_pixel().0 as i32 - 19 * s;
    let corner = |text: String, x: i32, color: RGBColor| {
        let style = font(FONT_SIZE).color(&color).pos(Pos::new(HPos::Right, VPos::Top));
        area.draw(&Text::new(text, (x, 5 * s), style)).map_err(drawing)
    };
    // More chains do not fit, and colors would repeat.
    if (2..=8).contains(&chains) {
        for chain in (0..chains).rev() {
            corner(chain.to_string(), right - (chains - 1 - chain) as i32 * 11 * s, palette::chain(chain))?;
        }
        corner("chain".to_owned(), right - chains as i32 * 11 * s, MUTED)?;
    }
    Ok(())
}

/// Draws a legend of named lines above the plot, at the right.
pub(crate) fn legend(area: &Area<'_>, entries: &[(&str, RGBColor)]) -> Result<()> {
    let s = SCALE as i32;
    let mut right = area.dim_in_pixel().0 as i32 - 19 * s;
    for (name, color) in entries.iter().rev() {
        let style = font(FONT_SIZE).color(color).pos(Pos::new(HPos::Right, VPos::Top));
        area.draw(&Text::new((*name).to_owned(), (right, 5 * s), style)).map_err(drawing)?;
        right -= (6.2 * name.chars().count() as f64) as i32 * s + 9 * s;
    }
    Ok(())
}

/// Draws a line of text instead of a plot.
pub(crate) fn message(area: &Area<'_>, title: &str, why: &str) -> Result<()> {
    header(area, title, 0)?;
    let (width, height) = area.dim_in_pixel();
    let style = font(FONT_SIZE).color(&MUTED).pos(Pos::new(HPos::Center, VPos::Center));
    area.draw(&Text::new(why.to_owned(), (width as i32 / 2, height as i32 / 2), style)).map_err(drawing)
}

/// Draws a solid line. A single point is drawn as a dot.
pub(crate) fn line(chart: &mut Chart<'_, '_>, points: Vec<(f64, f64)>, style: impl Into<ShapeStyle>) -> Result<()> {
    if points.len() > 1 {
        chart.plotting_area().draw(&PathElement::new(points, style)).map_err(drawing)?;
    } else if let Some(point) = points.first() {
        // A line of one point would not be visible.
        let style = style.into();
        chart.plotting_area().draw(&Circle::new(*point, 2 * SCALE, style.color.filled())).map_err(drawing)?;
    }
    Ok(())
}

/// Draws a dashed line.
pub(crate) fn dashed(chart: &mut Chart<'_, '_>, points: Vec<(f64, f64)>, style: impl Into<ShapeStyle>) -> Result<()> {
    let dashes = DashedPathElement::new(points, 7 * SCALE, 4 * SCALE, style);
    chart.plotting_area().draw(&dashes).map_err(drawing)
}

/// Returns the font of a label. The SVG backend divides font sizes by 1.24.
fn font(size: f64) -> FontDesc<'static> {
    ("sans-serif", size * 1.24 * f64::from(SCALE)).into_font()
}

/// Replaces characters that are not valid in XML by spaces.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') { ' ' } else { c }).collect()
}

/// Converts an error of the plotting crate.
pub(crate) fn drawing(error: impl std::fmt::Display) -> Error {
    Error::Drawing(error.to_string())
}
