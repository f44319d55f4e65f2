//! Colours: of Okabe and Ito, told apart by the colour-blind, darkened or lightened where the background asks for it.
//!
//! Plots are drawn in the light colours. On a page, [`inline`](super::Plot::inline) exchanges each for a variable, so that the style
//! sheet can choose the dark ones.

use plotters::style::RGBColor;

/// Axes and text.
pub(crate) const INK: RGBColor = RGBColor(0x22, 0x26, 0x2B);
/// Labels that matter less.
pub(crate) const MUTED: RGBColor = RGBColor(0x5C, 0x63, 0x6B);
/// Lines across the plot.
pub(crate) const GRID: RGBColor = RGBColor(0xE3, 0xE5, 0xE8);
/// Behind the plot.
pub(crate) const PAPER: RGBColor = RGBColor(0xFF, 0xFF, 0xFE);

/// One colour per chain, again from the start where there are more chains.
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

/// The colour of a chain.
pub(crate) fn chain(index: usize) -> RGBColor {
    CHAINS[index % CHAINS.len()]
}

/// Every colour as it stands in an SVG, and the variable that takes its place on a page.
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    let named = [(INK, "ink"), (MUTED, "muted"), (GRID, "grid"), (PAPER, "paper")];
    let named = named.into_iter().map(|(colour, name)| (hex(colour), format!("var(--{name})")));
    named.chain(CHAINS.into_iter().enumerate().map(|(i, colour)| (hex(colour), format!("var(--c{i})"))))
}

fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}
