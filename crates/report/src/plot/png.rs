//! PNG images, rendered from the SVG by `resvg` at twice the displayed size.

use std::path::Path;
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::error::{Error, Result};

/// The ratio of the size in pixels to the displayed size.
const ZOOM: f32 = 2.0;

/// Renders `svg` as a PNG and returns its bytes. `path` is for error messages.
pub(super) fn render(svg: &str, path: &Path) -> Result<Vec<u8>> {
    let mut options = Options::default();
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_system_fonts();
    // The default sans-serif family may not be installed. Use any installed font, preferably sans-serif.
    let family = (fonts.faces()).flat_map(|face| face.families.first()).map(|(name, _)| name.clone());
    let family = family.min_by_key(|name| (!name.contains("Sans"), name.contains("Mono"), name.clone()));
    let Some(family) = family else { return Err(Error::NoFont { path: path.to_owned() }) };
    fonts.set_sans_serif_family(family);
    let drawing = |error: &dyn std::fmt::Display| Error::Drawing(error.to_string());
    let tree = Tree::from_str(svg, &options).map_err(|error| drawing(&error))?;
    let size = tree.size();
    let (width, height) = ((size.width() * ZOOM).ceil() as u32, (size.height() * ZOOM).ceil() as u32);
    let mut pixels = Pixmap::new(width, height).ok_or_else(|| drawing(&"the plot is too large"))?;
    resvg::render(&tree, Transform::from_scale(ZOOM, ZOOM), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| drawing(&error))
}
