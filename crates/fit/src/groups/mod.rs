//! Arrays that belong to a fit beside its draws: log-likelihoods, predictions, data, draws of the prior.

mod standard;

use sgmcmc_gradient::{Error, Result};

use crate::Fit;
use crate::group::{Group, Variable};

/// The names of the groups that hold the draws themselves.
const RESERVED: [&str; 2] = ["posterior", "sample_stats"];

impl Fit {
    /// Returns this fit with a group of arrays, which files keep. It replaces a group of the same name.
    ///
    /// [`with_log_likelihood`](Self::with_log_likelihood), [`with_observed_data`](Self::with_observed_data) and
    /// [`with_posterior_predictive`](Self::with_posterior_predictive) make the usual groups. In all groups but those of
    /// the prior and of data, an array whose first dimensions are `chain` and `draw` has a row for each draw of the fit.
    /// Subsets of the draws keep the rows of their draws.
    ///
    /// # Errors
    ///
    /// Returns an error if the name of the group is `posterior` or `sample_stats`, if the shape of an array does not match
    /// its values, its dimensions or the draws of the fit, or if two arrays have the same name.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::fit::{Group, Variable};
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.025).sample(&zeros([2]), 20)?;
    /// let x = Variable { name: "x".into(), dimensions: vec!["i".into()], shape: vec![2], values: vec![0.5, 1.0] };
    /// let fit = fit.with_group(Group { name: "constant_data".into(), variables: vec![x] })?;
    /// assert_eq!(fit.group("constant_data").unwrap().variables[0].values, [0.5, 1.0]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn with_group(mut self, group: Group) -> Result<Self> {
        self.check_group(&group)?;
        self.groups.retain(|known| known.name != group.name);
        self.groups.push(group);
        Ok(self)
    }

    /// Returns whether [`with_group`](Self::with_group) accepts a group.
    pub fn accepts_group(&self, group: &Group) -> bool {
        self.check_group(group).is_ok()
    }

    /// Returns the groups of arrays beside the draws.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns the group `name`, or `None` if there is no such group.
    pub fn group(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// Returns the number of chains and the largest number of draws of a chain.
    fn draw_shape(&self) -> [usize; 2] {
        [self.chains.len(), self.chains.iter().map(|chain| chain.len()).max().unwrap_or(0)]
    }

    fn check_group(&self, group: &Group) -> Result<()> {
        let invalid = |what: String| Err(Error::Draws { reason: format!("group `{}`: {what}", group.name) });
        if RESERVED.contains(&group.name.as_str()) || group.name.is_empty() {
            return invalid("this name belongs to the draws; use another one".into());
        }
        for (position, variable) in group.variables.iter().enumerate() {
            let Variable { name, dimensions, shape, values } = variable;
            let count = shape.iter().try_fold(1_usize, |count, size| count.checked_mul(*size));
            if count != Some(values.len()) || shape.len() != dimensions.len() {
                let (values, named) = (values.len(), dimensions.len());
                return invalid(format!(
                    "`{name}` has {values} values and {named} named dimensions for the shape {shape:?}"
                ));
            }
            if group.variables[..position].iter().any(|other| other.name == *name) {
                return invalid(format!("there are two arrays `{name}`"));
            }
            if group.follows_draws() && variable.has_draws() && shape[..2] != self.draw_shape() {
                let expected = self.draw_shape();
                return invalid(format!(
                    "`{name}` has the shape {shape:?}, but the fit has {expected:?} chains and draws"
                ));
            }
        }
        Ok(())
    }

    /// Returns the groups for the draws with these indices of the chains with these indices.
    pub(crate) fn groups_of(&self, draws: &[(usize, Vec<usize>)]) -> Vec<Group> {
        let longest = draws.iter().map(|(_, indices)| indices.len()).max().unwrap_or(0);
        let variable = |variable: &Variable| {
            let missing = vec![f64::NAN; variable.width()];
            let mut values = Vec::with_capacity(draws.len() * longest * variable.width());
            for (chain, indices) in draws {
                indices.iter().for_each(|draw| values.extend_from_slice(variable.row(*chain, *draw)));
                (indices.len()..longest).for_each(|_| values.extend_from_slice(&missing));
            }
            let shape = [draws.len(), longest].into_iter().chain(variable.shape[2..].iter().copied()).collect();
            Variable { values, shape, ..variable.clone() }
        };
        let subset = |group: &Group| {
            let part = |one: &Variable| {
                if group.follows_draws() && one.has_draws() { variable(one) } else { one.clone() }
            };
            Group { name: group.name.clone(), variables: group.variables.iter().map(part).collect() }
        };
        self.groups.iter().map(subset).collect()
    }
}
