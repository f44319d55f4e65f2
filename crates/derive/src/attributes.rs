//! What `#[tree(…)]` may say.

use syn::{Attribute, Error, LitStr, Path, Result, parse_quote};

/// `#[tree(…)]` on the struct.
pub(crate) struct Container {
    /// Where `sgmcmc` is found.
    pub(crate) library: Path,
}

impl Container {
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut library: Path = parse_quote!(::sgmcmc);
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("tree")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("crate") {
                    library = meta.value()?.parse()?;
                    return Ok(());
                }
                Err(meta.error("unknown attribute of a tree: a struct may have `crate = path`"))
            })?;
        }
        Ok(Self { library })
    }
}

/// `#[tree(…)]` on a field.
#[derive(Default)]
pub(crate) struct Field {
    /// The name used in paths.
    pub(crate) rename: Option<String>,
    /// Whether the field has no leaves.
    pub(crate) skip: bool,
}

impl Field {
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut field = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("tree")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("skip") {
                    field.skip = true;
                    return Ok(());
                }
                if meta.path.is_ident("rename") {
                    let name: LitStr = meta.value()?.parse()?;
                    field.rename = Some(checked_name(&name)?);
                    return Ok(());
                }
                Err(meta.error("unknown attribute of a leaf: a field may have `rename = \"name\"` or `skip`"))
            })?;
        }
        Ok(field)
    }
}

/// Names become parts of paths such as `layer.weight[3]`, which must be read back.
fn checked_name(name: &LitStr) -> Result<String> {
    let text = name.value();
    if text.is_empty() || text.contains(['.', '[', ']']) {
        return Err(Error::new(name.span(), "a leaf's name is not empty and has no `.`, `[` or `]`"));
    }
    Ok(text)
}
