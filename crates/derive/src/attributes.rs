//! Parsing of the attribute `#[tree(…)]`.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::token::Paren;
use syn::{Attribute, Error, Expr, ExprLit, Lit, LitStr, Path, Result, Token, parenthesized, parse_quote};

/// The attributes `#[tree(…)]` of the struct.
pub(crate) struct Container {
    /// The path of the crate `sgmcmc`.
    pub(crate) library: Path,
}

impl Container {
    /// Parses the attributes of the struct.
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

/// The attributes `#[tree(…)]` of a field.
#[derive(Default)]
pub(crate) struct Field {
    /// The name of the field in paths.
    pub(crate) rename: Option<String>,
    /// True if the field has no leaves.
    pub(crate) skip: bool,
    /// The expression that constructs the constraint.
    pub(crate) constraint: Option<TokenStream>,
    /// The expression of the prior: a distribution, or a closure from the parameters to a distribution.
    pub(crate) prior: Option<Expr>,
    /// The names of the dimensions.
    pub(crate) dimensions: Vec<LitStr>,
}

/// The valid attributes of a field, for error messages.
const KNOWN: &str = "a field may have `rename = \"name\"`, `skip`, `dims = \"name\"` or `dims = [\"name\", …]`, `prior = distribution`, or a constraint such as `positive` or `interval(a, b)`";

impl Field {
    /// Parses the attributes of a field.
    pub(crate) fn parse(attributes: &[Attribute], library: &Path) -> Result<Self> {
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
                if meta.path.is_ident("dims") {
                    field.dimensions = dimensions(meta.value()?.parse()?)?;
                    return Ok(());
                }
                if meta.path.is_ident("prior") {
                    if !meta.input.peek(Token![=]) {
                        return Err(meta.error("a prior is written `prior = Normal::new(0.0, 1.0)`"));
                    }
                    let prior = ungrouped(meta.value()?.parse()?);
                    check_prior(&prior)?;
                    return match field.prior.replace(prior) {
                        Some(_) => Err(meta.error("a field has at most one prior")),
                        None => Ok(()),
                    };
                }
                match field.constraint.replace(constraint(&meta, library)?) {
                    Some(_) => Err(meta.error("a leaf has at most one constraint")),
                    None => Ok(()),
                }
            })?;
        }
        if field.skip && (field.prior.is_some() || field.constraint.is_some() || !field.dimensions.is_empty()) {
            let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("tree"));
            let message =
                "a skipped field is not a parameter, so that it has no prior, no constraint and no named dimensions";
            return Err(Error::new_spanned(attribute, message));
        }
        Ok(field)
    }
}

/// Returns the names of dimensions: a string, or a list of strings.
fn dimensions(expression: Expr) -> Result<Vec<LitStr>> {
    match ungrouped(expression) {
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => Ok(vec![name]),
        Expr::Array(array) => array.elems.into_iter().map(dimensions).collect::<Result<Vec<_>>>().map(|n| n.concat()),
        other => Err(Error::new_spanned(
            other,
            "dimensions are written `dims = \"county\"` or `dims = [\"county\", \"year\"]`",
        )),
    }
}

/// Returns an expression without the invisible groups in which macros pass their arguments.
fn ungrouped(expression: Expr) -> Expr {
    match expression {
        Expr::Group(group) => ungrouped(*group.expr),
        other => other,
    }
}

/// Checks that a closure in a prior has one argument, the parameters.
fn check_prior(prior: &Expr) -> Result<()> {
    match prior {
        Expr::Closure(closure) if closure.inputs.len() != 1 => Err(Error::new_spanned(
            &closure.inputs,
            "the closure of a prior has one argument, the parameters: `prior = |p| Normal::new(p.mu, p.tau)`",
        )),
        _ => Ok(()),
    }
}

/// Returns the expression that constructs a constraint: a call of the function of that name in `sgmcmc::constraint`.
///
/// The macro has no list of constraints. For an unknown name or a wrong number of bounds the compiler reports an
/// error at the attribute.
fn constraint(meta: &ParseNestedMeta<'_>, library: &Path) -> Result<TokenStream> {
    let Some(name) = meta.path.get_ident() else {
        return Err(meta.error(format!("unknown attribute of a leaf: {KNOWN}")));
    };
    // All tokens of the call have spans in the attribute, so that the compiler reports errors there.
    let respan = |mut token: TokenTree| {
        token.set_span(name.span());
        token
    };
    let library: TokenStream = library.to_token_stream().into_iter().map(respan).collect();
    let mut call = quote_spanned!(name.span()=> #library::constraint::#name);
    if meta.input.peek(Paren) {
        let content;
        let parentheses = parenthesized!(content in meta.input);
        let bounds = Punctuated::<Expr, Token![,]>::parse_terminated(&content)?;
        parentheses.surround(&mut call, |tokens| bounds.to_tokens(tokens));
    } else {
        Paren(name.span()).surround(&mut call, |_| ());
    }
    Ok(call)
}

/// Checks a name. Names are parts of paths such as `layer.weight[3]`, which must be parsed unambiguously.
fn checked_name(name: &LitStr) -> Result<String> {
    let text = name.value();
    if text.is_empty() || text.contains(['.', '[', ']']) {
        return Err(Error::new(name.span(), "the name of a leaf must not be empty or contain `.`, `[` or `]`"));
    }
    Ok(text)
}
