//! The generated code.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Expr, Fields, LitStr, Pat, PatType, Path, Result, Token, Type, parse_quote};

use crate::attributes::{Container, Field};

/// Generates the implementation of `TensorTree`.
pub(crate) fn tensor_tree(input: &DeriveInput) -> Result<TokenStream> {
    let Container { library } = Container::parse(&input.attrs)?;
    let fields = struct_fields(input)?;
    let mut methods = Methods::default();
    let mut generics = input.generics.clone();
    let bounds = generics.make_where_clause();
    for (position, field) in fields.iter().enumerate() {
        let attributes = Field::parse(&field.attrs, &library)?;
        let member = field
            .ident
            .as_ref()
            .map_or_else(|| syn::Index::from(position).to_token_stream(), ToTokens::to_token_stream);
        if !attributes.skip && !input.generics.params.is_empty() {
            let ty = &field.ty;
            bounds.predicates.push(parse_quote!(#ty: #library::TensorTree));
        }
        methods.add(&library, &member, &field.ty, attributes);
    }
    let name = &input.ident;
    let Methods { visits, rebuilds, has_prior, log_priors, draws } = methods;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics #library::TensorTree for #name #type_generics #where_clause {
            fn visit<__V: #library::tree::Visitor>(&self, path: &mut #library::tree::Path, visitor: &mut __V) {
                #(#visits)*
            }

            fn rebuild<__S: #library::tree::Source>(&self, source: &mut __S) -> Self {
                Self { #(#rebuilds),* }
            }

            const HAS_PRIOR: bool = false #(|| #has_prior)*;

            fn log_prior(&self) -> ::core::option::Option<#library::burn::Tensor<1>> {
                let sum = ::core::option::Option::None;
                #(let sum = #library::tree::prior::sum(sum, #log_priors);)*
                sum
            }

            fn draw_prior(&self, draws: &mut #library::tree::PriorDraws<'_>) -> Self {
                let mut drawn = #library::tree::prior::undrawn(self);
                #(#draws)*
                drawn
            }
        }
    })
}

/// The parts of the generated methods, one for each field.
#[derive(Default)]
struct Methods {
    visits: Vec<TokenStream>,
    rebuilds: Vec<TokenStream>,
    has_prior: Vec<TokenStream>,
    log_priors: Vec<TokenStream>,
    draws: Vec<TokenStream>,
}

impl Methods {
    /// Adds the parts of the field `member`.
    fn add(&mut self, library: &Path, member: &TokenStream, ty: &Type, attributes: Field) {
        let Field { rename, skip, constraint, prior, dimensions } = attributes;
        if skip {
            self.rebuilds.push(quote!(#member: ::core::clone::Clone::clone(&self.#member)));
            return;
        }
        let name = rename.unwrap_or_else(|| member.to_string().trim_start_matches("r#").to_owned());
        let tree = quote!(<#ty as #library::TensorTree>);
        self.rebuilds.push(quote!(#member: #tree::rebuild(&self.#member, source)));
        let Some(prior) = prior else {
            let inner = quote!(|path| #tree::visit(&self.#member, path, visitor));
            let visit = match constraint {
                Some(constraint) => quote!(path.within_constrained(#name, #constraint, #inner);),
                None => quote!(path.within(#name, #inner);),
            };
            self.visits.push(with_dimensions(&dimensions, visit));
            self.has_prior.push(quote!(#tree::HAS_PRIOR));
            self.log_priors.push(quote!(#tree::log_prior(&self.#member)));
            self.draws
                .push(quote!(drawn.#member = draws.within(#name, |draws| #tree::draw_prior(&self.#member, draws));));
            return;
        };
        let explicit = match constraint {
            Some(constraint) => quote!(::core::option::Option::Some(#constraint)),
            None => quote!(::core::option::Option::None),
        };
        let (given_self, given_drawn) = (distribution(library, &prior, "self"), distribution(library, &prior, "drawn"));
        // Errors about the distribution are reported at its expression.
        let span = at(&prior);
        let inner = quote!(|field: &#ty, path| #tree::visit(field, path, visitor));
        let visit = quote_spanned!(span=>
            #library::tree::prior::within_prior(path, #name, #explicit, || #given_self, #inner, &self.#member);
        );
        self.visits.push(with_dimensions(&dimensions, visit));
        self.has_prior.push(quote!(true));
        self.log_priors.push(quote_spanned!(span=> ::core::option::Option::Some(
            #library::tree::prior::term(&#given_self, #library::tree::prior::copy(&self.#member))
        )));
        self.draws.push(quote_spanned!(span=>
            drawn.#member = draws.field(#name, #explicit, &#given_drawn, &self.#member);
        ));
    }
}

/// Returns the visit of a field whose dimensions have names.
fn with_dimensions(names: &[LitStr], visit: TokenStream) -> TokenStream {
    if names.is_empty() { visit } else { quote!(path.with_dimensions(&[#(#names),*], |path| { #visit });) }
}

/// Returns the span of generated code about `expression`: errors point at it, and names are those of the generated code,
/// also if a macro passed the expression.
pub(crate) fn at(expression: &Expr) -> Span {
    Span::call_site().located_at(expression.span())
}

/// Returns the expression of the distribution given the parameters `params`.
fn distribution(library: &Path, prior: &Expr, params: &str) -> TokenStream {
    let Expr::Closure(closure) = prior else { return prior.to_token_stream() };
    let mut closure = closure.clone();
    if let Some(argument) = closure.inputs.first_mut()
        && !matches!(argument, Pat::Type(_))
    {
        *argument = Pat::Type(PatType {
            attrs: Vec::new(),
            pat: Box::new(argument.clone()),
            colon_token: Token![:](prior.span()),
            ty: parse_quote!(Self),
        });
    }
    let params = match params {
        "self" => quote!(self),
        _ => quote!(&drawn),
    };
    quote_spanned!(at(prior)=> (#closure)(#library::tree::prior::copy(#params)))
}

/// Returns the fields of a struct, or an error for other types and for structs without fields.
fn struct_fields(input: &DeriveInput) -> Result<&Fields> {
    let error = |what: &str| {
        let remedy = "write a struct whose fields are tensors or trees of tensors";
        Err(Error::new_spanned(&input.ident, format!("{what} cannot be a tree of tensors: {remedy}")))
    };
    match &input.data {
        Data::Struct(data) if data.fields.is_empty() => error("a struct without fields"),
        Data::Struct(data) => Ok(&data.fields),
        Data::Enum(_) => error("an enum"),
        Data::Union(_) => error("a union"),
    }
}
