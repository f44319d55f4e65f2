//! The macro `model!`: tilde statements as sugar for a struct with priors, `Model::observe` and generated quantities.

mod check;
mod generate;
mod mistakes;
mod names;
mod parse;

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use syn::Result;

pub(crate) use parse::Description;
use parse::{Draw, Named};

/// Generates the code of a model.
pub(crate) fn expand(description: &Description) -> Result<TokenStream> {
    Model::new(description)?.tokens()
}

/// A model whose names have been checked.
struct Model<'a> {
    description: &'a Description,
    parameters: Vec<&'a Draw>,
    observations: Vec<&'a Draw>,
    /// The computed values, by name.
    computed: BTreeMap<String, &'a Named>,
}

impl Model<'_> {
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
}
