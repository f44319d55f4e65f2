//! The generated code of a model.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Result, Token, Type};

use super::parse::{DataLeaf, Description, Draw, Named, Statement};
use super::{Model, names};
use crate::expand::at;

impl Model<'_> {
    /// Returns statements that bind the names that `expressions` use: parameters, data and computed values.
    fn bindings(&self, expressions: &[&Expr]) -> TokenStream {
        let mut needed = BTreeSet::new();
        expressions.iter().for_each(|expression| self.need(expression, &mut needed));
        let name = &self.description.name;
        let parameters: Vec<_> =
            self.parameters.iter().map(|draw| &draw.name).filter(|name| needed.contains(&name.to_string())).collect();
        let data: Vec<_> = self
            .description
            .data
            .iter()
            .map(|leaf| &leaf.name)
            .filter(|name| needed.contains(&name.to_string()))
            .collect();
        let params = (!parameters.is_empty()).then(|| quote!(let #name { #(#parameters,)* .. } = __params;));
        let data_name = self.data_name();
        let data = (!data.is_empty()).then(|| quote!(let #data_name { #(#data,)* .. } = __data;));
        let values = self.description.statements.iter().filter_map(|statement| match statement {
            Statement::Let(value) if needed.contains(&value.name.to_string()) => {
                let (name, value) = (&value.name, self.cloned(&value.value));
                Some(quote!(let #name = #value;))
            }
            _ => None,
        });
        quote!(#params #data #(#values)*)
    }

    /// Adds the names that `expression` uses, also through computed values.
    fn need(&self, expression: &Expr, needed: &mut BTreeSet<String>) {
        let known = |name: &str| self.is_parameter(name) || self.is_data(name) || self.computed.contains_key(name);
        for used in names::used(expression, known) {
            let used = used.to_string();
            if needed.insert(used.clone())
                && let Some(value) = self.computed.get(&used)
            {
                self.need(&value.value, needed);
            }
        }
    }

    /// Returns `expression` with clones of the tensors.
    fn cloned(&self, expression: &Expr) -> Expr {
        let parameters = self.parameters.iter().map(|draw| draw.name.to_string());
        let data = self.description.data.iter().map(|leaf| leaf.name.to_string());
        let tensors = parameters.chain(data).chain(self.computed.keys().cloned()).collect();
        names::cloned(&names::constructed(expression), &tensors)
    }

    /// Returns the expression of a distribution, with the distributions of the library in scope.
    fn distribution(&self, draw: &Draw) -> TokenStream {
        let distribution = self.cloned(&draw.distribution);
        quote_spanned!(at(&draw.distribution)=> {
            #[allow(unused_imports)]
            use ::sgmcmc::distributions::*;
            #[allow(unused_imports)]
            use ::sgmcmc::sequence::{HiddenMarkov, TimeSeries};
            #distribution
        })
    }

    /// Returns the type of a leaf of the data.
    fn type_of(&self, leaf: &Ident) -> Option<&Type> {
        self.description.data.iter().find(|data| data.name == *leaf).map(|data| &data.ty)
    }

    fn data_name(&self) -> Ident {
        format_ident!("{}Data", self.description.name)
    }

    /// Returns the generated code.
    pub(super) fn tokens(&self) -> Result<TokenStream> {
        let Description { attributes, visibility, name, sizes, data, .. } = self.description;
        let fields = self.parameters.iter().map(|draw| self.field(draw));
        let values = self.parameters.iter().map(|draw| {
            let name = &draw.name;
            let shape = draw.shape.as_ref().map_or_else(|| quote!(1), |shape| quote!(#shape));
            quote!(#name: ::sgmcmc::zeros([#shape]))
        });
        let data_struct = (!data.is_empty()).then(|| self.data_struct());
        let (model_type, model) = (self.model_type(), self.model());
        let doc = format!("The parameters of the model `{name}`.");
        Ok(quote! {
            #(#attributes)*
            #[doc = #doc]
            #[derive(::core::fmt::Debug, ::sgmcmc::TensorTree)]
            #visibility struct #name { #(#fields),* }

            #data_struct

            impl #name {
                /// Returns the model: its priors, the distribution of its observations, and its generated quantities.
                #visibility fn model() -> #model_type {
                    #model
                }

                /// Returns parameters of the given sizes, in the middle of their constraints, to start from.
                ///
                /// # Errors
                ///
                /// Returns an error if a shape does not allow the constraint, or a prior is invalid.
                #visibility fn start(#(#sizes: usize),*) -> ::core::result::Result<Self, ::sgmcmc::gradient::Error> {
                    ::sgmcmc::tree::prior::centered(&Self { #(#values),* })
                }
            }
        })
    }

    /// Returns the field of a parameter.
    fn field(&self, draw: &Draw) -> TokenStream {
        let Draw { attributes, constraint, name, shape, .. } = draw;
        let visibility = &self.description.visibility;
        let rank = shape.as_ref().map_or(1, |shape| shape.len().max(1));
        let (bindings, distribution) = (self.bindings(&[&draw.distribution]), self.distribution(draw));
        let prior = if bindings.is_empty() {
            distribution
        } else {
            quote_spanned!(at(&draw.distribution)=> |__params| { #bindings #distribution })
        };
        let constraint = constraint.as_ref().map(|constraint| quote!(#constraint,));
        let doc = format!("The parameter `{name}`.");
        let dimensions = shape.as_ref().and_then(named_sizes).map(|names| quote!(dims = [#(#names),*],));
        quote!(#(#attributes)* #[doc = #doc] #[tree(#constraint #dimensions prior = #prior)] #visibility #name: ::sgmcmc::burn::Tensor<#rank>)
    }

    /// Returns the struct of the data.
    fn data_struct(&self) -> TokenStream {
        let Description { visibility, name, data, .. } = self.description;
        let data_name = self.data_name();
        let leaves = data.iter().map(|DataLeaf { attributes, name, ty }| {
            let doc = format!("The leaf `{name}`.");
            quote!(#(#attributes)* #[doc = #doc] #visibility #name: #ty)
        });
        let doc = format!("The data of the model `{name}`. The first axis of every leaf is the observation.");
        quote! {
            #[doc = #doc]
            #[derive(::core::fmt::Debug, ::sgmcmc::TensorTree)]
            #visibility struct #data_name { #(#leaves),* }
        }
    }

    fn model_type(&self) -> TokenStream {
        let (name, data_name) = (&self.description.name, self.data_name());
        let data = if self.description.data.is_empty() { quote!(()) } else { quote!(#data_name) };
        quote!(::sgmcmc::Model<#name, #data>)
    }

    /// Returns the expression of the model.
    fn model(&self) -> TokenStream {
        let (name, data_name) = (&self.description.name, self.data_name());
        let mut model = if self.observations.is_empty() {
            quote!(::sgmcmc::Model::<#name>::from_priors())
        } else {
            let expressions: Vec<&Expr> = self.observations.iter().map(|draw| &draw.distribution).collect();
            let bindings = self.bindings(&expressions);
            let distributions: Vec<_> = self.observations.iter().map(|draw| self.distribution(draw)).collect();
            let leaves: Vec<_> = self.observations.iter().map(|draw| &draw.name).collect();
            let types: Vec<_> = leaves.iter().filter_map(|leaf| self.type_of(leaf)).collect();
            let (distributions, observed, types) = match (&distributions[..], &leaves[..], &types[..]) {
                ([distribution], [leaf], [ty]) => (quote!(#distribution), quote!(__data.#leaf), quote!(#ty)),
                _ => (quote!((#(#distributions),*)), quote!((#(__data.#leaves),*)), quote!((#(#types),*))),
            };
            // The type of the observations is written, so that the compiler compares the distribution with it.
            quote! {
                ::sgmcmc::Model::observe::<#types, _>(
                    |__params: #name, __data: #data_name| { #bindings #distributions },
                    |__data: #data_name| #observed,
                )
            }
        };
        for statement in &self.description.statements {
            match statement {
                Statement::Quantity(Named { name: quantity, value }) => {
                    let (bindings, value, quantity) =
                        (self.bindings(&[value]), self.cloned(value), quantity.to_string());
                    model.extend(quote_spanned!(at(&value)=>
                        .quantity(#quantity, |__params: #name| { #bindings #value })
                    ));
                }
                Statement::Factor(value) => {
                    let (bindings, value) = (self.bindings(&[value]), self.cloned(value));
                    model.extend(quote_spanned!(at(&value)=> .factor(|__params: #name| { #bindings #value })));
                }
                Statement::Draw(_) | Statement::Let(_) => {}
            }
        }
        model
    }
}
/// Returns the names of the sizes of a parameter, which become those of its dimensions, if all sizes are different names.
fn named_sizes(shape: &Punctuated<Expr, Token![,]>) -> Option<Vec<String>> {
    let name = |size: &Expr| match size {
        Expr::Path(path) => {
            path.path.get_ident().map(ToString::to_string).filter(|name| name != "chain" && name != "draw")
        }
        _ => None,
    };
    let names: Vec<String> = shape.iter().map(name).collect::<Option<_>>()?;
    let differ = names.iter().enumerate().all(|(number, name)| !names[..number].contains(name));
    (differ && !names.is_empty()).then_some(names)
}
