//! What `#[tree(…)]` may say.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Expr, LitStr, Path, Result, Token, parenthesized, parse_quote};

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
    /// The variant of `Constraint`, with its bounds.
    pub(crate) constraint: Option<TokenStream>,
}

const KNOWN: &str = "a field may have `rename = \"name\"`, `skip`, or one of the constraints `positive`, `lower(a)`, `upper(b)`, \
                     `interval(a, b)`, `unit_interval`, `simplex`, `ordered`, `positive_ordered`, `unit_vector`, `cholesky_correlation`";

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
                let Some(constraint) = constraint(&meta)? else {
                    return Err(meta.error(format!("unknown attribute of a leaf: {KNOWN}")));
                };
                match field.constraint.replace(constraint) {
                    Some(_) => Err(meta.error("a leaf has at most one constraint")),
                    None => Ok(()),
                }
            })?;
        }
        Ok(field)
    }
}

/// The constraint that `meta` names, if it names one.
fn constraint(meta: &ParseNestedMeta<'_>) -> Result<Option<TokenStream>> {
    let Some(name) = meta.path.get_ident().map(ToString::to_string) else { return Ok(None) };
    let bounds = |wanted: usize| {
        let content;
        parenthesized!(content in meta.input);
        let bounds = Punctuated::<Expr, Token![,]>::parse_terminated(&content)?;
        if bounds.len() == wanted {
            Ok(bounds.into_iter().map(|bound| quote!(::core::convert::Into::<f64>::into(#bound))))
        } else {
            Err(meta.error(format!("`{name}` takes {wanted} bound(s)")))
        }
    };
    Ok(Some(match name.as_str() {
        "positive" => quote!(Positive),
        "unit_interval" => quote!(UnitInterval),
        "simplex" => quote!(Simplex),
        "ordered" => quote!(Ordered),
        "positive_ordered" => quote!(PositiveOrdered),
        "unit_vector" => quote!(UnitVector),
        "cholesky_correlation" => quote!(CholeskyCorrelation),
        "lower" => {
            let bound = bounds(1)?;
            quote!(Lower(#(#bound),*))
        }
        "upper" => {
            let bound = bounds(1)?;
            quote!(Upper(#(#bound),*))
        }
        "interval" => {
            let bound = bounds(2)?;
            quote!(Interval(#(#bound),*))
        }
        _ => return Ok(None),
    }))
}

/// Names become parts of paths such as `layer.weight[3]`, which must be read back.
fn checked_name(name: &LitStr) -> Result<String> {
    let text = name.value();
    if text.is_empty() || text.contains(['.', '[', ']']) {
        return Err(Error::new(name.span(), "a leaf's name is not empty and has no `.`, `[` or `]`"));
    }
    Ok(text)
}
