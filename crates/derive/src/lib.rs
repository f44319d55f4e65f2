//! `#[derive(TensorTree)]`: structs of tensors as trees of tensors.
//!
//! Every field must be a tree of tensors itself; its name is its part of the path of its leaves.
//!
//! | attribute | on | meaning |
//! |---|---|---|
//! | `#[tree(rename = "w")]` | field | the name used in paths |
//! | `#[tree(skip)]` | field | no leaves in here: the value is cloned from the template |
//! | `#[tree(positive)]`, `#[tree(lower(a))]`, `#[tree(upper(b))]`, `#[tree(interval(a, b))]`, `#[tree(unit_interval)]`, `#[tree(simplex)]`, `#[tree(ordered)]`, `#[tree(positive_ordered)]`, `#[tree(unit_vector)]`, `#[tree(cholesky_correlation)]` | field | the values its leaves can take |
//! | `#[tree(crate = path)]` | struct | where `sgmcmc` is found, if not at `::sgmcmc` |

mod attributes;
mod expand;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `TensorTree` for a struct whose fields are trees of tensors.
#[proc_macro_derive(TensorTree, attributes(tree))]
pub fn derive_tensor_tree(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::tensor_tree(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
