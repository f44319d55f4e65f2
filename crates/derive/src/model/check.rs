//! Checks of the names of a model.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Error, Expr, Ident, Result};

use super::parse::{Description, Draw, Statement};
use super::{Model, mistakes, names};

impl<'a> Model<'a> {
    /// Checks the names of a model.
    pub(super) fn new(description: &'a Description) -> Result<Self> {
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
                Statement::Draw(draw) if draw.shape.is_some() && model.is_parameter(&draw.name.to_string()) => {
                    let name = &draw.name;
                    let message = format!(
                        "`{name}` is declared twice: brackets are the shape of the whole parameter, and a list of distributions \
                         has one for each entry, `{name}[2] ~ [Normal(0, 10), Normal(0, 1)];`"
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
            mistakes::check(expression, &|name: &str| self.is_parameter(name) || self.is_data(name))?;
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
}
