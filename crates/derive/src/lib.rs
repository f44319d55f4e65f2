//! The derive macro `TensorTree`, for structs of tensors. Use it as `sgmcmc::TensorTree`.

mod attributes;
mod expand;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `TensorTree` for a struct whose fields are trees of tensors.
///
/// The name of a field is part of the path of its leaves.
///
/// | attribute | on | meaning |
/// |---|---|---|
/// | `#[tree(rename = "w")]` | field | The name of the field in paths. |
/// | `#[tree(skip)]` | field | The field has no leaves. Its value is cloned. |
/// | `#[tree(positive)]`, `#[tree(interval(a, b))]`, … | field | The constraint of the leaves of the field. |
/// | `#[tree(crate = path)]` | struct | The path of the crate `sgmcmc`, if it is not `::sgmcmc`. |
///
/// A constraint attribute has the name and the arguments of a function of the module `sgmcmc::constraint`.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::{Layout, TreeLayout};
///
/// #[derive(TensorTree)]
/// struct Regression {
///     #[tree(rename = "w")]
///     weights: Tensor<1>,
///     #[tree(positive)]
///     sigma: Tensor<1>,
///     #[tree(skip)]
///     label: String,
/// }
///
/// let start = Regression { weights: zeros([3]), sigma: ones([1]), label: "linear".into() };
/// let layout = Layout::from_tree(&start)?;
/// let names: Vec<&str> = layout.blocks().iter().map(|block| block.name.as_str()).collect();
/// assert_eq!(names, ["w", "sigma"]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[proc_macro_derive(TensorTree, attributes(tree))]
pub fn derive_tensor_tree(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::tensor_tree(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
