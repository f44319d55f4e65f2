//! Pictures of pixels: the SVG drawn by `resvg`, twice as large as it is shown.

use std::path::Path;
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::error::{Error, Result};

const ZOOM: f32 = 2.0;

/// The bytes of a PNG of `svg`, to be written to `path`.
pub(super) fn render(svg: &str, path: &Path) -> Result<Vec<u8>> {
    let mut options = Options::default();
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_system_fonts();
    // The generic family names one that may not be there: any font is better than none.
    let family = (fonts.faces()).flat_map(|face| face.families.first()).map(|(name, _)| name.clone());
    let family = family.min_by_key(|name| (!name.contains("Sans"), name.contains("Mono"), name.clone()));
    let Some(family) = family else { return Err(Error::NoFont { path: path.to_owned() }) };
    fonts.set_sans_serif_family(family);
    let drawing = |error: &dyn std::fmt::Display| Error::Drawing(error.to_string());
    let tree = Tree::from_str(svg, &options).map_err(|error| drawing(&error))?;
    let size = tree.size();
    let (width, height) = ((size.width() * ZOOM).ceil() as u32, (size.height() * ZOOM).ceil() as u32);
    let mut pixels = Pixmap::new(width, height).ok_or_else(|| drawing(&"the picture is too large"))?;
    resvg::render(&tree, Transform::from_scale(ZOOM, ZOOM), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| drawing(&error))
}
