//! The macro `model!`: tilde statements as sugar for a struct with priors, `Model::observe` and generated quantities.

mod names;
mod parse;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, Ident, Result, Token};

use crate::expand::at;
pub(crate) use parse::Description;
use parse::{DataLeaf, Draw, Named, Statement};

/// Generates the code of a model.
pub(crate) fn expand(description: &Description) -> Result<TokenStream> {
    Model::new(description)?.tokens()
}

/// A model whose names have been checked.
struct Model<'a> {
    description: &'a Description,
    parameters: Vec<&'a Draw>,
    observations: Vec<&'a Draw>,
    /// The computed values, by name, with their position.
    computed: BTreeMap<String, &'a Named>,
}

impl<'a> Model<'a> {
    /// Checks the names of a model.
    fn new(description: &'a Description) -> Result<Self> {
        let mut known = BTreeSet::new();
        let mut declare = |name: &Ident| {
            let message =
                format!("`{name}` is declared twice: give each parameter, leaf of the data and value its own name");
            if known.insert(name.to_string()) { Ok(()) } else { Err(Error::new(name.span(), message)) }
        };
        let is_data = |name: &Ident| description.data.iter().any(|leaf| leaf.name == *name);
        description.sizes.iter().try_for_each(&mut declare)?;
        description.data.iter().try_for_each(|leaf| declare(&leaf.name))?;
        let mut model =
            Self { description, parameters: Vec::new(), observations: Vec::new(), computed: BTreeMap::new() };
        for statement in &description.statements {
            match statement {
                Statement::Draw(draw) if is_data(&draw.name) => model.observe(draw)?,
                Statement::Draw(draw) if model.computed.contains_key(&draw.name.to_string()) => {
                    let name = &draw.name;
                    let message = format!(
                        "`{name}` is a computed value, which has no distribution of its own: observe a leaf of the data, or add \
                         a term of the log density with `factor`"
                    );
                    return Err(Error::new(name.span(), message));
                }
                Statement::Draw(draw) => {
                    declare(&draw.name)?;
                    model.check_prior(draw)?;
                    model.parameters.push(draw);
                }
                Statement::Let(value) => {
                    declare(&value.name)?;
                    model.check_sizes(&value.value)?;
                    model.check_order(&value.name, &value.value, &format!("the value `{}`", value.name))?;
                    model.computed.insert(value.name.to_string(), value);
                }
                Statement::Quantity(value) => {
                    // A quantity can repeat the name of a computed value: `generate theta = theta;`
                    if !model.computed.contains_key(&value.name.to_string()) {
                        declare(&value.name)?;
                    }
                    model.check_parameters_only(&value.value, "a generated quantity")?;
                }
                Statement::Factor(value) => model.check_parameters_only(value, "a factor")?,
            }
        }
        model.check_names()?;
        if model.parameters.is_empty() {
            let message = "a model has at least one parameter: `name ~ Distribution(…);`";
            return Err(Error::new(description.name.span(), message));
        }
        if let (Some(leaf), true) = (description.data.last(), model.observations.is_empty()) {
            let name = &leaf.name;
            let message =
                format!("no statement says which leaf of the data is observed: add `{name} ~ Distribution(…);`");
            return Err(Error::new(name.span(), message));
        }
        Ok(model)
    }

    /// Adds the distribution of an observed leaf.
    fn observe(&mut self, draw: &'a Draw) -> Result<()> {
        let name = &draw.name;
        if self.observations.iter().any(|known| known.name == *name) {
            return Err(Error::new(
                name.span(),
                format!("`{name}` is observed twice: combine the distributions, or remove one"),
            ));
        }
        if draw.constraint.is_some() || draw.shape.is_some() {
            let message = format!("`{name}` is data: its shape is that of the data, and it has no constraint");
            return Err(Error::new(name.span(), message));
        }
        if let Some(own) = names::used(&draw.distribution, |used| *name == used).first() {
            return Err(Error::new(own.span(), format!("the distribution of `{name}` uses `{name}` itself")));
        }
        self.check_sizes(&draw.distribution)?;
        self.observations.push(draw);
        Ok(())
    }

    /// Checks that a prior uses only parameters that are declared above.
    fn check_prior(&self, draw: &Draw) -> Result<()> {
        self.check_order(&draw.name, &draw.distribution, &format!("the prior of `{}`", draw.name))?;
        self.check_parameters_only(&draw.distribution, "a prior")
    }

    /// Checks that the expression of `name` uses only parameters and values that are declared above.
    fn check_order(&self, name: &Ident, expression: &Expr, what: &str) -> Result<()> {
        let is_later = |used: &str| {
            let statements = self.description.statements.iter();
            let mut names = statements.filter_map(|statement| match statement {
                Statement::Draw(draw) => Some(&draw.name),
                Statement::Let(value) => Some(&value.name),
                _ => None,
            });
            let is_known = self.is_parameter(used) || self.is_data(used) || self.computed.contains_key(used);
            !is_known && names.any(|known| known == used)
        };
        let Some(used) = names::used(expression, is_later).into_iter().next() else { return Ok(()) };
        let message = if used == *name {
            format!("{what} uses `{name}` itself")
        } else {
            format!("{what} uses `{used}`, which is declared below: move `{used}` above `{name}`")
        };
        Err(Error::new(used.span(), message))
    }

    /// Checks that every name is declared, and that distributions have the names of types.
    fn check_names(&self) -> Result<()> {
        for statement in &self.description.statements {
            let expression = statement.expression();
            if let (Statement::Draw(_), Expr::Call(call)) = (statement, expression)
                && let Expr::Path(function) = &*call.func
                && let Some(name) = function.path.get_ident()
                && let Some(meant) = names::type_of(&name.to_string())
            {
                return Err(Error::new(
                    name.span(),
                    format!("distributions begin with capital letters: write `{meant}(…)`"),
                ));
            }
            let is_size = |name: &str| self.description.sizes.iter().any(|size| size == name);
            let sizes = match statement {
                Statement::Draw(draw) => {
                    draw.shape.iter().flatten().flat_map(|size| names::unknown(size, &is_size)).next()
                }
                _ => None,
            };
            if let Some(size) = sizes {
                let message = format!(
                    "`{size}` is no size of this model: declare it after the name, `{}({size})`",
                    self.description.name
                );
                return Err(Error::new(size.span(), message));
            }
            let is_known =
                |name: &str| self.is_parameter(name) || self.is_data(name) || self.computed.contains_key(name);
            if let Some(unknown) = names::unknown(expression, &is_known).first() {
                let message = format!(
                    "nothing is called `{unknown}` in this model: declare a parameter `{unknown} ~ Distribution(…);`, a leaf \
                     `data {{ {unknown}: Tensor<1> }}`, or a value `let {unknown} = …;` above"
                );
                return Err(Error::new(unknown.span(), message));
            }
        }
        Ok(())
    }

    /// Checks that an expression uses neither data nor sizes.
    fn check_parameters_only(&self, expression: &Expr, what: &str) -> Result<()> {
        self.check_sizes(expression)?;
        for used in names::used(expression, |name| self.is_data(name) || self.computed.contains_key(name)) {
            if let Some(leaf) = self.data_below(&used.to_string()) {
                let message = format!("{what} depends on parameters only, but `{used}` depends on the data `{leaf}`");
                return Err(Error::new(used.span(), message));
            }
        }
        Ok(())
    }

    /// Checks that an expression uses no size.
    fn check_sizes(&self, expression: &Expr) -> Result<()> {
        let is_size = |name: &str| self.description.sizes.iter().any(|size| size == name);
        match names::used(expression, is_size).first() {
            Some(used) => {
                let message = format!("`{used}` is a size, which only shapes can use: `beta[{used}] ~ …;`");
                Err(Error::new(used.span(), message))
            }
            None => Ok(()),
        }
    }

    fn is_parameter(&self, name: &str) -> bool {
        self.parameters.iter().any(|draw| draw.name == name)
    }

    fn is_data(&self, name: &str) -> bool {
        self.description.data.iter().any(|leaf| leaf.name == name)
    }

    /// Returns a leaf of the data on which the value `name` depends.
    fn data_below(&self, name: &str) -> Option<String> {
        if self.is_data(name) {
            return Some(name.to_owned());
        }
        let value = self.computed.get(name)?;
        let names =
            names::used(&value.value, |used| self.is_data(used) || (used != name && self.computed.contains_key(used)));
        names.iter().find_map(|used| self.data_below(&used.to_string()))
    }

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

    fn data_name(&self) -> Ident {
        format_ident!("{}Data", self.description.name)
    }

    fn tokens(&self) -> Result<TokenStream> {
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
            quote!(::sgmcmc::Model::<#name>::described())
        } else {
            let expressions: Vec<&Expr> = self.observations.iter().map(|draw| &draw.distribution).collect();
            let bindings = self.bindings(&expressions);
            let distributions: Vec<_> = self.observations.iter().map(|draw| self.distribution(draw)).collect();
            let leaves: Vec<_> = self.observations.iter().map(|draw| &draw.name).collect();
            let (distributions, observed) = match (&distributions[..], &leaves[..]) {
                ([distribution], [leaf]) => (quote!(#distribution), quote!(__data.#leaf)),
                _ => (quote!((#(#distributions),*)), quote!((#(__data.#leaves),*))),
            };
            quote! {
                ::sgmcmc::Model::observe(
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
