//! From the SVG of the plotting crate to one that stands alone, and to one for a page.

use std::fmt::Write as _;

use super::{Plot, palette};

/// What the plotting crate repeats on every element and a page says once (or SVG takes for granted).
const REPEATED: [&str; 3] = [" opacity=\"1\"", " font-family=\"sans-serif\"", " text-anchor=\"start\""];

/// The root element with the size at which the picture is shown, and the title for those who do not see it.
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
    /// The picture as part of a page: colours are the variables `--ink`, `--muted`, `--grid`, `--paper` and `--c0` … `--c7` of its
    /// style sheet, and what the page says once is not repeated.
    pub fn inline(&self) -> String {
        let mut svg = self.svg.replace("</text>\n", "</text>");
        for repeated in REPEATED {
            svg = svg.replace(repeated, "");
        }
        for (colour, variable) in palette::variables() {
            svg = svg.replace(&colour, &variable);
        }
        let mut out = String::with_capacity(svg.len());
        for line in svg.lines() {
            match path(line) {
                Some(path) => out.push_str(&path),
                None => out.push_str(line),
            }
        }
        out
    }
}

/// A line through points as a path of differences, which takes half the letters.
fn path(element: &str) -> Option<String> {
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
        // A minus sign separates as well as a space does. Writing to a string does not fail.
        let _ = write!(out, "{}{dx}{}{dy}", separator(i > 0, dx), separator(true, dy));
    }
    let _ = write!(out, "\"{after}");
    Some(out)
}

fn separator(needed: bool, next: i32) -> &'static str {
    if needed && next >= 0 { " " } else { "" }
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn differences_lead_through_the_same_points() {
        let line = "<polyline fill=\"none\" points=\"1,2 4,0 4,10 \"/>";
        assert_eq!(path(line).as_deref(), Some("<path fill=\"none\" d=\"M1 2l3-2 0 10\"/>"));
        assert_eq!(path("<line x1=\"1\"/>"), None);
    }
}
