//! The derive macro `TensorTree`, for structs of tensors, and the macro `model!`. Use them from the crate `sgmcmc`.

mod attributes;
mod expand;
mod model;

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
/// | `#[tree(prior = Normal::new(0.0, 1.0))]` | field | The prior of the field, which is a tensor. |
/// | `#[tree(prior = \|p\| Normal::new(p.mu, p.tau))]` | field | A prior that depends on fields above. |
/// | `#[tree(crate = path)]` | struct | The path of the crate `sgmcmc`, if it is not `::sgmcmc`. |
///
/// A constraint attribute has the name and the arguments of a function of the module `sgmcmc::constraint`.
///
/// A prior is any distribution of the module `sgmcmc::distributions`, or a closure from the parameters to one. The
/// support of the prior implies the constraint of the field: `HalfCauchy::new(1.0)` makes it positive. A constraint
/// attribute restricts the prior further. A model whose parameters have priors needs no closure for the log-prior, and
/// can draw from it: see `Model::draw_prior`.
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

/// Describes a model by its parameters with their priors, its data, and the distribution of the observations.
///
/// | statement | meaning |
/// |---|---|
/// | `Name(size, …)` | The name of the model, and the sizes of parameters that are known only at run time. |
/// | `data { x: Tensor<2>, y: Tensor<1> }` | The data. The first axis of every leaf is the observation. |
/// | `name ~ Normal(0, 1);` | A parameter and its prior. The prior can use parameters above. |
/// | `name[3, k] ~ Normal(0, 1);` | A parameter with a shape. |
/// | `ordered name[3] ~ Normal(0, 1);` | A parameter with a constraint. The support of the prior is always one. |
/// | `let name = expression;` | A value computed from parameters and data. |
/// | `y ~ Normal(mean, sigma);` | The distribution of a leaf of the data. |
/// | `generate name = expression;` | A generated quantity, a function of the parameters. |
/// | `factor expression;` | A term of the log density, a function of the parameters. |
///
/// `Normal(0, 1)` is short for `Normal::new(0, 1)`, for all distributions of `sgmcmc::distributions`. Names of tensors can be
/// used any number of times: the macro clones them. Everything else is ordinary Rust.
///
/// The macro generates the struct `Name` of the parameters, with the priors as attributes `#[tree(prior = …)]`, the struct
/// `NameData` of the data, the function `Name::model()`, which calls `Model::observe`, and `Name::start(size, …)`. It adds
/// nothing that these do not offer.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// model! {
///     Schools(schools)
///     data { school: Tensor<1, Int>, error: Tensor<1>, effect: Tensor<1> }
///     mu ~ Normal(0, 5);
///     tau ~ HalfCauchy(5);
///     eta[schools] ~ Normal(0, 1);
///     let theta = mu + tau * eta;
///     effect ~ Normal(theta.by(school), error);
///     generate theta = theta;
/// }
///
/// let data = Dataset::new(SchoolsData {
///     school: array((0..8_i64).collect(), [8])?,
///     error: array(vec![15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0], [8])?,
///     effect: array(vec![28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0], [8])?,
/// })?;
/// let (model, start) = (Schools::model(), Schools::start(8)?);
/// let fit = hmc(&model, &data, 0.2).seed(1).burn_in(200).sample(&start, 500)?;
/// let fit = model.with_quantities(&fit, &start)?;
/// assert_eq!(fit.layout().value_name(10), "theta[0]");
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[proc_macro]
pub fn model(input: TokenStream) -> TokenStream {
    let description = parse_macro_input!(input as model::Description);
    model::expand(&description).unwrap_or_else(|error| error.to_compile_error()).into()
}
