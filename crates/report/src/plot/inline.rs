//! Conversion of the SVG of the plotting crate to a self-contained SVG and to an inline SVG for a page.

use std::fmt::Write as _;

use super::{Plot, palette};

/// Attributes that the plotting crate repeats on every element. The style sheet of the page or the defaults of SVG have
/// the same effect.
const REPEATED: [&str; 3] = [" opacity=\"1\"", " font-family=\"sans-serif\"", " text-anchor=\"start\""];

/// Replaces the root element by one with the displayed size and an accessible label.
pub(super) fn sized(svg: &str, width: u32, height: u32, title: &str) -> String {
    let scale = super::canvas::SCALE;
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    let mut label = String::new();
    for c in super::canvas::clean(title).chars() {
        match c {
            '<' => label.push_str("&lt;"),
            '>' => label.push_str("&gt;"),
            '&' => label.push_str("&amp;"),
            '"' => label.push_str("&quot;"),
            c => label.push(c),
        }
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\" role=\"img\" \
         aria-label=\"{label}\">{body}",
        width * scale,
        height * scale
    )
}

impl Plot {
    /// Returns the plot as an SVG element for an HTML page. Colors are the CSS variables `--ink`, `--muted`, `--grid`,
    /// `--paper` and `--c0` to
    /// `--c7`. The style sheet of the page must define them and set a sans-serif font.
    pub fn inline(&self) -> String {
        let mut svg = self.svg.replace("</text>\n", "</text>");
        for repeated in REPEATED {
            svg = svg.replace(repeated, "");
        }
        for (color, variable) in palette::variables() {
            svg = svg.replace(&color, &variable);
        }
        let mut out = String::with_capacity(svg.len());
        for line in svg.lines() {
            match relative_path(line) {
                Some(path) => out.push_str(&path),
                None => out.push_str(line),
            }
        }
        out
    }
}

/// Converts a polyline to a path with relative coordinates, which is half as long. Returns `None` for other elements.
fn relative_path(element: &str) -> Option<String> {
    let rest = element.strip_prefix("<polyline ")?;
    let (before, rest) = rest.split_once("points=\"")?;
    let (points, after) = rest.split_once('"')?;
    let points: Option<Vec<(i32, i32)>> = (points.split_whitespace())
        .map(|point| point.split_once(',').and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?))))
        .collect();
    let points = points?;
    let first = points.first()?;
    let mut out = format!("<path {before}d=\"M{} {}l", first.0, first.1);
    for (i, pair) in points.windows(2).enumerate() {
        let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        // A minus sign needs no space before it. Writing to a string does not fail.
        let _ = write!(out, "{}{dx}{}{dy}", separator(i > 0, dx), separator(true, dy));
    }
    let _ = write!(out, "\"{after}");
    Some(out)
}

/// Returns the separator before the number `next`.
fn separator(needed: bool, next: i32) -> &'static str {
    if needed && next >= 0 { " " } else { "" }
}

#[cfg(test)]
mod tests {
    use super::relative_path;

    #[test]
    fn relative_paths_have_the_same_points() {
        let line = "<polyline fill=\"none\" points=\"1,2 4,0 4,10 \"/>";
        assert_eq!(relative_path(line).as_deref(), Some("<path fill=\"none\" d=\"M1 2l3-2 0 10\"/>"));
        assert_eq!(relative_path("<line x1=\"1\"/>"), None);
    }
}
