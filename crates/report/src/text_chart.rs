//! Plots of characters, for terminals.

use crate::plot::{Ticks, range_of};

/// The bit of each of the 2 × 4 dots of a Braille character, by row and column.
const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
/// The codes of the colors of the chains on a terminal with 256 colors.
const COLORS: [u8; 8] = [33, 208, 42, 170, 178, 75, 137, 105];

/// A line chart of Braille characters, with one color per line.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::TextChart;
///
/// let line = (0..100).map(|i| (f64::from(i), (0.1 * f64::from(i)).sin())).collect();
/// let chart = TextChart::new("sin").size(40, 8).line(line);
/// assert!(chart.to_string().contains("sin"));
/// assert_eq!(chart.to_string().lines().count(), 10);
/// ```
#[derive(Clone, Debug)]
pub struct TextChart {
    title: String,
    width: usize,
    height: usize,
    colors: bool,
    lines: Vec<Vec<(f64, f64)>>,
}

impl TextChart {
    /// Creates a chart of 72 × 14 characters.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), width: 72, height: 14, colors: false, lines: Vec::new() }
    }

    /// Sets the width and height of the area of the lines in characters. They are clamped to 16 × 4 and 400 × 100.
    #[must_use]
    pub fn size(mut self, width: usize, height: usize) -> Self {
        (self.width, self.height) = (width.clamp(16, 400), height.clamp(4, 100));
        self
    }

    /// Sets whether lines have colors, written as ANSI escape sequences.
    #[must_use]
    pub fn colors(mut self, colors: bool) -> Self {
        self.colors = colors;
        self
    }

    /// Adds a line. Points that are not finite are left out.
    #[must_use]
    pub fn line(mut self, points: Vec<(f64, f64)>) -> Self {
        self.lines.push(points.into_iter().filter(|point| point.0.is_finite() && point.1.is_finite()).collect());
        self
    }

    /// Returns the dots of every cell and the line that was drawn there last.
    fn cells(&self, x: &std::ops::Range<f64>, y: &std::ops::Range<f64>) -> Vec<(u32, usize)> {
        let (columns, rows) = (2 * self.width, 4 * self.height);
        let mut cells = vec![(0, 0); self.width * self.height];
        let place = |share: f64, count: usize| ((share * (count - 1) as f64).round().max(0.0) as usize).min(count - 1);
        for (number, line) in self.lines.iter().enumerate() {
            let dots: Vec<(usize, usize)> = line
                .iter()
                .map(|(a, b)| {
                    let column = place((a - x.start) / (x.end - x.start), columns);
                    (column, rows - 1 - place((b - y.start) / (y.end - y.start), rows))
                })
                .collect();
            let mut mark = |column: usize, row: usize| {
                let cell = &mut cells[(row / 4) * self.width + column / 2];
                *cell = (cell.0 | DOTS[row % 4][column % 2], number);
            };
            if let [only] = dots[..] {
                mark(only.0, only.1);
            }
            for pair in dots.windows(2) {
                let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
                let steps = x0.abs_diff(x1).max(y0.abs_diff(y1)).max(1);
                let between = |a: usize, b: usize, step: usize| {
                    let share = step as f64 / steps as f64;
                    (a as f64 + share * (b as f64 - a as f64)).round() as usize
                };
                (0..=steps).for_each(|step| mark(between(x0, x1, step), between(y0, y1, step)));
            }
        }
        cells
    }
}

impl std::fmt::Display for TextChart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = || self.lines.iter().flatten();
        let (Some(x), Some(y)) =
            (range_of(all().map(|point| point.0), 0.0), range_of(all().map(|point| point.1), 0.02))
        else {
            return write!(f, "{}: nothing to draw", self.title);
        };
        let ticks = Ticks::new(&y, (self.height / 4).max(2));
        let row_of = |position: f64| {
            let share = (position - y.start) / (y.end - y.start);
            self.height - 1 - ((share * self.height as f64) as usize).min(self.height - 1)
        };
        let labels: Vec<(usize, String)> =
            ticks.positions.iter().map(|position| (row_of(*position), ticks.label(*position))).collect();
        let margin = labels.iter().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
        writeln!(f, "{:margin$}  {}", "", self.title)?;
        let cells = self.cells(&x, &y);
        for (row, line) in cells.chunks_exact(self.width).enumerate() {
            let label = labels.iter().find(|(at, _)| *at == row).map_or("", |(_, label)| label.as_str());
            write!(f, "{label:>margin$} {}", if label.is_empty() { '│' } else { '┤' })?;
            let last = line.iter().rposition(|cell| cell.0 > 0).map_or(0, |last| last + 1);
            for (dots, number) in &line[..last] {
                let character = if *dots == 0 { ' ' } else { char::from_u32(0x2800 + dots).unwrap_or(' ') };
                if self.colors && *dots > 0 {
                    write!(f, "\x1b[38;5;{}m{character}\x1b[0m", COLORS[number % COLORS.len()])?;
                } else {
                    write!(f, "{character}")?;
                }
            }
            writeln!(f)?;
        }
        // The labels of the horizontal axis: its ends and, if there is space, ticks between them.
        let ticks = Ticks::new(&x, (self.width / 14).max(2));
        let mut axis = vec![' '; self.width + 12];
        let mut free = 0;
        for position in &ticks.positions {
            let label: Vec<char> = ticks.label(*position).chars().collect();
            let center = ((position - x.start) / (x.end - x.start) * (self.width - 1) as f64).round() as usize;
            let start = center.saturating_sub(label.len() / 2);
            if start >= free && start + label.len() <= axis.len() {
                label.iter().enumerate().for_each(|(i, c)| axis[start + i] = *c);
                free = start + label.len() + 1;
            }
        }
        write!(f, "{:margin$}  {}", "", axis.iter().collect::<String>().trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rising_line_goes_from_corner_to_corner() {
        let chart = TextChart::new("line").size(16, 4).line(vec![(0.0, 0.0), (1.0, 1.0)]);
        let text = chart.to_string();
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows.len(), 6, "{text}");
        assert!(rows[1].ends_with('⠉') || rows[1].trim_end().chars().last().is_some_and(|c| c > '\u{2800}'), "{text}");
        let first = rows[4].chars().find(|c| ('\u{2801}'..='\u{28ff}').contains(c));
        assert!(first.is_some() && rows[5].contains("0.0") && rows[5].contains("1.0"), "{text}");
        assert!(!text.contains('\x1b') && chart.colors(true).to_string().contains("\x1b[38;5;33m"));
    }

    #[test]
    fn charts_without_finite_points_say_so() {
        assert_eq!(TextChart::new("x").line(vec![(f64::NAN, 1.0)]).to_string(), "x: nothing to draw");
        assert!(TextChart::new("x").line(vec![(1.0, 1.0)]).to_string().lines().count() > 3);
    }
}
