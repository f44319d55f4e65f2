//! Colors: the palette of Okabe and Ito, which color-blind readers can distinguish, adjusted for contrast with the
//! background.
//!
//! Plots are drawn in the colors of the light theme. On a page, [`inline`](super::Plot::inline) replaces each color by
//! a CSS variable, so that the style sheet can select the dark theme.

use plotters::style::RGBColor;

/// The color of text.
pub(crate) const INK: RGBColor = RGBColor(0x22, 0x26, 0x2B);
/// The color of axes and labels.
pub(crate) const MUTED: RGBColor = RGBColor(0x5C, 0x63, 0x6B);
/// The color of grid lines.
pub(crate) const GRID: RGBColor = RGBColor(0xE3, 0xE5, 0xE8);
/// The color of the background.
pub(crate) const PAPER: RGBColor = RGBColor(0xFF, 0xFF, 0xFE);

/// The colors of the chains. More than eight chains repeat the colors.
const CHAINS: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x8F, 0x68),
    RGBColor(0xB8, 0x5A, 0x91),
    RGBColor(0xB8, 0x7F, 0x00),
    RGBColor(0x2F, 0x97, 0xD0),
    RGBColor(0x6B, 0x5B, 0x4B),
    RGBColor(0x8A, 0x7F, 0xC9),
];

/// Returns the color of a chain.
pub(crate) fn chain(index: usize) -> RGBColor {
    CHAINS[index % CHAINS.len()]
}

/// Returns every color as it is written in an SVG, with its CSS variable.
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    let named = [(INK, "ink"), (MUTED, "muted"), (GRID, "grid"), (PAPER, "paper")];
    let named = named.into_iter().map(|(color, name)| (hex(color), format!("var(--{name})")));
    named.chain(CHAINS.into_iter().enumerate().map(|(i, color)| (hex(color), format!("var(--c{i})"))))
}

/// Returns a color in hexadecimal notation, as in the SVG.
fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}
