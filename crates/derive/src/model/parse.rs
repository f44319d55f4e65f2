//! Parsing of `model!`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::token::{Brace, Bracket, Paren};
use syn::{Attribute, Error, Expr, Ident, Result, Token, Type, Visibility, braced, bracketed, parenthesized};

/// A parsed model.
pub(crate) struct Description {
    pub(super) attributes: Vec<Attribute>,
    pub(super) visibility: Visibility,
    pub(super) name: Ident,
    /// The sizes that are known only at run time.
    pub(super) sizes: Vec<Ident>,
    pub(super) data: Vec<DataLeaf>,
    pub(super) statements: Vec<Statement>,
}

/// A leaf of the data.
pub(super) struct DataLeaf {
    pub(super) attributes: Vec<Attribute>,
    pub(super) name: Ident,
    pub(super) ty: Type,
}

/// A statement of a model.
pub(super) enum Statement {
    /// `constraint name[shape] ~ distribution;`
    Draw(Draw),
    /// `let name = value;`
    Let(Named),
    /// `generate name = value;`
    Quantity(Named),
    /// `factor value;`
    Factor(Expr),
}

impl Statement {
    /// Returns the expression at the end of the statement.
    pub(super) fn expression(&self) -> &Expr {
        match self {
            Self::Draw(draw) => &draw.distribution,
            Self::Let(named) | Self::Quantity(named) => &named.value,
            Self::Factor(value) => value,
        }
    }
}

/// A parameter with its prior, or the distribution of observations.
pub(super) struct Draw {
    pub(super) attributes: Vec<Attribute>,
    /// The constraint, as in `#[tree(…)]`.
    pub(super) constraint: Option<TokenStream>,
    pub(super) name: Ident,
    pub(super) shape: Option<Punctuated<Expr, Token![,]>>,
    pub(super) distribution: Expr,
}

/// A value with a name.
pub(super) struct Named {
    pub(super) name: Ident,
    pub(super) value: Expr,
}

mod keyword {
    syn::custom_keyword!(data);
    syn::custom_keyword!(generate);
    syn::custom_keyword!(factor);
}

impl Parse for Description {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let name: Ident = input.parse().map_err(|error| {
            let remedy = "a model begins with its name: `model! { Line data { x: Tensor<1>, y: Tensor<1> } … }`";
            Error::new(error.span(), remedy)
        })?;
        if input.peek(Token![~]) || input.peek(Bracket) {
            let remedy = "the first word is the name of the model: add it, as in `model! { Line … }`";
            return Err(Error::new(name.span(), remedy));
        }
        let mut sizes = Vec::new();
        if input.peek(Paren) {
            let content;
            parenthesized!(content in input);
            let names = Punctuated::<Ident, Token![,]>::parse_terminated(&content).map_err(|error| {
                let remedy = "the parentheses contain the names of sizes that are known only at run time: `Line(covariates)`; \
                              numbers are written in shapes, `beta[3] ~ …;`";
                Error::new(error.span(), remedy)
            })?;
            sizes = names.into_iter().collect();
        }
        let mut data = Vec::new();
        if input.peek(keyword::data) && input.peek2(Brace) {
            input.parse::<keyword::data>()?;
            let content;
            braced!(content in input);
            data = Punctuated::<DataLeaf, Token![,]>::parse_terminated(&content)?.into_iter().collect();
        }
        if input.peek(Brace) {
            return Err(input
                .error("the data begin with the word `data`, `data { x: Tensor<1> }`, and statements have no braces"));
        }
        let mut statements = Vec::new();
        while !input.is_empty() {
            statements.push(input.parse()?);
        }
        Ok(Self { attributes, visibility, name, sizes, data, statements })
    }
}

impl Parse for DataLeaf {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let name: Ident = input.parse()?;
        if input.peek(Token![~]) {
            let remedy = format!(
                "write the distribution of `{name}` below: `data {{ {name}: Tensor<1> }} … {name} ~ Distribution(…);`"
            );
            return Err(Error::new(name.span(), remedy));
        }
        if !input.peek(Token![:]) {
            return Err(Error::new(name.span(), format!("a leaf of the data has a type: `{name}: Tensor<1>`")));
        }
        input.parse::<Token![:]>()?;
        let ty = input.parse()?;
        if !input.is_empty() && !input.peek(Token![,]) {
            return Err(Error::new_spanned(ty, "leaves of the data are separated by commas: add `,` here"));
        }
        Ok(Self { attributes, name, ty })
    }
}

impl Parse for Statement {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(keyword::data) && input.peek2(Brace) {
            return Err(input.error("`data { … }` comes first, after the name of the model: move it up"));
        }
        let statement = if input.peek(Token![let]) {
            input.parse::<Token![let]>()?;
            Self::Let(input.parse()?)
        } else if input.peek(keyword::generate) && input.peek2(Ident) {
            input.parse::<keyword::generate>()?;
            Self::Quantity(input.parse()?)
        } else if input.peek(keyword::factor) && !input.peek2(Token![~]) && !input.peek2(Bracket) {
            input.parse::<keyword::factor>()?;
            Self::Factor(input.parse()?)
        } else {
            Self::Draw(input.parse()?)
        };
        if !input.peek(Token![;]) {
            let last = statement.expression().to_token_stream().into_iter().last();
            let span = last.map_or_else(|| input.span(), |token| token.span());
            return Err(Error::new(span, "a statement ends with `;`: add it here"));
        }
        input.parse::<Token![;]>()?;
        Ok(statement)
    }
}

impl Parse for Named {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(Token![mut]) {
            return Err(
                input.error("values do not change: leave out `mut`, and give a changed value a name of its own")
            );
        }
        let name: Ident = input.parse().map_err(|error| {
            let remedy = "`let` and `generate` give one value a name, `let name = expression;`";
            keyword_as_name(input).unwrap_or_else(|| Error::new(error.span(), remedy))
        })?;
        if input.peek(Token![~]) {
            return Err(input
                .error("`let` and `generate` compute a value: write `=`, or leave out the word for a distribution"));
        }
        if input.peek(Token![:]) || input.peek(Bracket) {
            return Err(
                input.error(format!("a value has the type and the shape of its expression: `{name} = expression;`"))
            );
        }
        if !input.peek(Token![=]) {
            return Err(input.error(format!("expected `=`, as in `{name} = expression;`")));
        }
        input.parse::<Token![=]>()?;
        Ok(Self { name, value: input.parse()? })
    }
}

impl Parse for Draw {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let mut name: Ident = input.parse().map_err(|error| {
            let remedy = "expected a statement: `name ~ Distribution(…);`, `let`, `generate` or `factor`";
            keyword_as_name(input).unwrap_or_else(|| Error::new(error.span(), remedy))
        })?;
        let mut constraint = None;
        if input.peek(Ident) {
            let first = name;
            name = input.parse()?;
            if input.peek(Paren) || input.peek(Token![::]) {
                return Err(missing_tilde(&name, &first, None));
            }
            constraint = Some(quote!(#first));
        } else if input.peek(Paren) && input.peek2(Ident) {
            let content;
            parenthesized!(content in input);
            let bounds: TokenStream = content.parse()?;
            constraint = Some(quote!(#name(#bounds)));
            name = input.parse()?;
        }
        let mut shape = None;
        if input.peek(Bracket) {
            let content;
            bracketed!(content in input);
            shape = Some(Punctuated::parse_terminated(&content)?);
        }
        if input.peek(Token![<]) {
            let remedy = format!(
                "a constraint stands before the name, `positive {name} ~ …;` or `interval(0, 1) {name} ~ …;`; a prior with \
                 bounds, such as `HalfNormal`, implies its constraint"
            );
            return Err(input.error(remedy));
        }
        if input.peek(Ident) && (input.peek2(Paren) || input.peek2(Token![::])) {
            return Err(missing_tilde(&input.parse()?, &name, shape.as_ref()));
        }
        if shape.is_some() && input.peek(Ident) {
            return Err(input.error("the shape stands after the name, `beta[3] ~ Normal(0, 1);`"));
        }
        if input.peek(Token![+=]) {
            return Err(input.error("a term of the log density is a factor: `factor expression;`"));
        }
        if input.peek(Token![=]) {
            let remedy = format!(
                "write `{name} ~ Distribution(…);` for a parameter or an observation, `let {name} = …;` for a computed value, or \
                 `generate {name} = …;` for a computed value that is reported with the parameters"
            );
            return Err(input.error(remedy));
        }
        if input.peek(Token![:]) {
            return Err(
                input.error("a parameter has no type: write its shape after the name, as in `beta[3] ~ Normal(0, 1);`")
            );
        }
        if !input.peek(Token![~]) {
            return Err(input.error(format!("expected `~`, as in `{name} ~ Normal(0, 1);`")));
        }
        input.parse::<Token![~]>()?;
        Ok(Self { attributes, constraint, name, shape, distribution: input.parse()? })
    }
}

/// Returns the error of a distribution that follows the name of a parameter.
fn missing_tilde(distribution: &Ident, name: &Ident, shape: Option<&Punctuated<Expr, Token![,]>>) -> Error {
    let shape = shape.map_or_else(String::new, |shape| format!("[{}]", shape.to_token_stream()));
    Error::new(distribution.span(), format!("`~` is missing: `{name}{shape} ~ {distribution}(…);`"))
}

/// Returns the error of a keyword in the place of a name.
fn keyword_as_name(input: ParseStream<'_>) -> Option<Error> {
    let (word, rest) = input.cursor().ident()?;
    let is_name = rest.punct().is_some_and(|(next, _)| matches!(next.as_char(), '~' | '=' | ':'));
    let message = format!("`{word}` is a keyword of Rust: choose another name");
    is_name.then(|| Error::new(word.span(), message))
}
