//! The generated code.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Error, Fields, Result, parse_quote};

use crate::attributes::{Container, Field};

/// Generates the implementation of `TensorTree`.
pub(crate) fn tensor_tree(input: &DeriveInput) -> Result<TokenStream> {
    let Container { library } = Container::parse(&input.attrs)?;
    let fields = struct_fields(input)?;
    let (mut visits, mut rebuilds) = (Vec::new(), Vec::new());
    let mut generics = input.generics.clone();
    let bounds = generics.make_where_clause();
    for (position, field) in fields.iter().enumerate() {
        let Field { rename, skip, constraint } = Field::parse(&field.attrs, &library)?;
        let member = field
            .ident
            .as_ref()
            .map_or_else(|| syn::Index::from(position).to_token_stream(), ToTokens::to_token_stream);
        let ty = &field.ty;
        if skip {
            rebuilds.push(quote!(#member: ::core::clone::Clone::clone(&self.#member)));
            continue;
        }
        let name = rename.unwrap_or_else(|| member.to_string().trim_start_matches("r#").to_owned());
        let inner = quote!(|path| <#ty as #library::tree::TensorTree>::visit(&self.#member, path, visitor));
        visits.push(match constraint {
            Some(constraint) => quote!(path.within_constrained(#name, #constraint, #inner);),
            None => quote!(path.within(#name, #inner);),
        });
        rebuilds.push(quote!(#member: <#ty as #library::tree::TensorTree>::rebuild(&self.#member, source)));
        if !input.generics.params.is_empty() {
            bounds.predicates.push(parse_quote!(#ty: #library::tree::TensorTree));
        }
    }
    let name = &input.ident;
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics #library::tree::TensorTree for #name #type_generics #where_clause {
            fn visit<__V: #library::tree::Visitor>(&self, path: &mut #library::tree::Path, visitor: &mut __V) {
                #(#visits)*
            }

            fn rebuild<__S: #library::tree::Source>(&self, source: &mut __S) -> Self {
                Self { #(#rebuilds),* }
            }
        }
    })
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
