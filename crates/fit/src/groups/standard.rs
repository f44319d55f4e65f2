//! The groups of the ArviZ schema.

use sgmcmc_gradient::{Error, Result};

use crate::group::{Group, Variable};
use crate::pointwise::PointwiseLogLikelihood;
use crate::predictions::Predictions;
use crate::{ChainDraws, Fit};

impl Fit {
    /// Returns this fit with the log-likelihood of every observation at every draw, under the name of the observed
    /// variable. Files keep it, so that `arviz.loo` and `sgmcmc compare` work on them.
    ///
    /// # Errors
    ///
    /// Returns an error if `pointwise` was not computed from the draws of this fit.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
    /// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 0.0], [4])?)?;
    /// let fit = hmc(&model, &data, 0.006).seed(1).chains(2).sample(&zeros([1]), 200)?;
    /// let pointwise = fit.pointwise_log_likelihood(&model.with(&data), &zeros([1]))?;
    /// let fit = fit.with_log_likelihood("x", &pointwise)?;
    /// assert_eq!(fit.log_likelihood()?.loo()?, pointwise.loo()?);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn with_log_likelihood(self, name: &str, pointwise: &PointwiseLogLikelihood) -> Result<Self> {
        let shape = [pointwise.observations()];
        let variable = self.by_draw(name, pointwise.values(), &shape, pointwise.chains())?;
        self.with_group(Group { name: "log_likelihood".into(), variables: vec![variable] })
    }

    /// Returns the stored log-likelihood of every observation at every draw. Several observed variables are joined.
    ///
    /// # Errors
    ///
    /// Returns an error if the fit has no log-likelihood.
    pub fn log_likelihood(&self) -> Result<PointwiseLogLikelihood> {
        let variables: Vec<&Variable> = self
            .group("log_likelihood")
            .map(|group| group.variables.iter().filter(|variable| variable.has_draws()).collect())
            .unwrap_or_default();
        if variables.is_empty() {
            let reason = "the fit has no log-likelihood: add it with `fit.with_log_likelihood(name, &fit.pointwise_log_likelihood(…)?)` \
                          and save the fit again";
            return Err(Error::Draws { reason: reason.into() });
        }
        let observations = variables.iter().map(|variable| variable.width()).sum();
        let mut values = Vec::new();
        for (chain, draws) in self.chains.iter().map(ChainDraws::len).enumerate() {
            for draw in 0..draws {
                variables.iter().for_each(|variable| values.extend_from_slice(variable.row(chain, draw)));
            }
        }
        Ok(PointwiseLogLikelihood::from_values(self, observations, values))
    }

    /// Returns this fit with observed data, whose first dimension is the observation.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of values does not match the shape.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.025).sample(&zeros([2]), 20)?;
    /// let fit = fit.with_observed_data("y", &[0.5, 1.5, 1.0], &[3])?;
    /// assert_eq!(fit.group("observed_data").unwrap().variables[0].dimensions, ["y_dim_0"]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn with_observed_data(self, name: &str, values: &[f64], shape: &[usize]) -> Result<Self> {
        let variable = Variable {
            name: name.to_owned(),
            dimensions: dimensions(name, shape.len()),
            shape: shape.to_vec(),
            values: values.to_vec(),
        };
        self.with_variable("observed_data", variable)
    }

    /// Returns this fit with data sets drawn from the posterior predictive distribution, one per draw. `drawn` has the
    /// draws of all chains as its first axis, as [`Predictions`] of every draw have.
    ///
    /// # Errors
    ///
    /// Returns an error if `drawn` does not have one row per draw of this fit.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::fit::Predictions;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.025).sample(&zeros([2]), 20)?;
    /// let drawn = Predictions { shape: vec![20, 3], values: vec![0.5; 60] };
    /// let fit = fit.with_posterior_predictive("y", &drawn)?;
    /// assert_eq!(fit.group("posterior_predictive").unwrap().variables[0].shape, [1, 20, 3]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn with_posterior_predictive(self, name: &str, drawn: &Predictions) -> Result<Self> {
        let lengths: Vec<usize> = self.chains.iter().map(ChainDraws::len).collect();
        let (rows, shape) = drawn.shape.split_first().map_or((0, &[][..]), |(rows, shape)| (*rows, shape));
        let (expected, found) = (lengths.iter().sum(), rows);
        if expected != found {
            return Err(Error::Length {
                what: "the first axis of predictive draws (one row per draw)",
                expected,
                found,
            });
        }
        let variable = self.by_draw(name, &drawn.values, shape, &lengths)?;
        self.with_variable("posterior_predictive", variable)
    }

    /// Returns this fit with draws of the prior of the parameter `name`, of shape `[draw, …]`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter, or if the shape of a draw is not that of the parameter.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.025).sample(&zeros([2]), 20)?;
    /// let fit = fit.with_prior("theta", &[0.1, -0.2, 1.5, 0.3])?;
    /// assert_eq!(fit.group("prior").unwrap().variables[0].shape, [1, 2, 2]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn with_prior(self, name: &str, draws: &[f64]) -> Result<Self> {
        let block = self.layout.block(name)?;
        let width = block.values.len().max(1);
        if !draws.len().is_multiple_of(width) {
            let (expected, found) = (draws.len().div_ceil(width) * width, draws.len());
            return Err(Error::Length { what: "the draws of the prior (a whole number of draws)", expected, found });
        }
        let inner: &[usize] = if block.shape == [1] { &[] } else { &block.shape };
        let variable = Variable {
            name: name.to_owned(),
            dimensions: draw_dimensions(name, inner.len()),
            shape: [1, draws.len() / width].into_iter().chain(inner.iter().copied()).collect(),
            values: draws.to_vec(),
        };
        self.with_variable("prior", variable)
    }

    /// Adds an array to a group, or replaces the array of its name.
    fn with_variable(self, group: &str, variable: Variable) -> Result<Self> {
        let mut variables = self.group(group).map_or_else(Vec::new, |group| group.variables.clone());
        variables.retain(|known| known.name != variable.name);
        variables.push(variable);
        self.with_group(Group { name: group.to_owned(), variables })
    }

    /// Creates an array of rows, one per draw, chains after one another. Short chains are padded with NaN.
    fn by_draw(&self, name: &str, values: &[f64], inner: &[usize], lengths: &[usize]) -> Result<Variable> {
        let found: Vec<usize> = self.chains.iter().map(ChainDraws::len).collect();
        let width: usize = inner.iter().product();
        if found != lengths || values.len() != width * found.iter().sum::<usize>() {
            let reason = format!(
                "`{name}` has chains of {lengths:?} draws, but the fit has {found:?}: compute it from this fit"
            );
            return Err(Error::Draws { reason });
        }
        let [chains, longest] = self.draw_shape();
        let (mut padded, mut rest) = (Vec::with_capacity(chains * longest * width), values);
        for length in lengths {
            let (chain, after) = rest.split_at(length * width);
            padded.extend_from_slice(chain);
            padded.extend(std::iter::repeat_n(f64::NAN, (longest - length) * width));
            rest = after;
        }
        let shape = [chains, longest].into_iter().chain(inner.iter().copied()).collect();
        Ok(Variable { name: name.to_owned(), dimensions: draw_dimensions(name, inner.len()), shape, values: padded })
    }
}

/// Returns the names of `count` dimensions as ArviZ names them.
fn dimensions(name: &str, count: usize) -> Vec<String> {
    (0..count).map(|axis| format!("{name}_dim_{axis}")).collect()
}

/// Returns `chain`, `draw` and the names of `count` dimensions.
fn draw_dimensions(name: &str, count: usize) -> Vec<String> {
    ["chain", "draw"].map(str::to_owned).into_iter().chain(dimensions(name, count)).collect()
}

#[cfg(test)]
mod tests {
    use sgmcmc_gradient::Layout;

    use super::*;
    use crate::sink::Draw;

    /// Two chains of 3 and 2 draws, with a predictive draw y = 10 chain + draw for two observations.
    fn fit() -> Fit {
        let chain = |draws: usize| {
            let mut chain = ChainDraws::new(1, vec![]);
            for index in 0..draws {
                let (iteration, values) = (index as u64 + 1, [index as f64]);
                chain.push(&Draw { iteration, values: &values, weight: 1.0, log_posterior: 0.0, stats: &[] }).unwrap();
            }
            chain
        };
        let fit = Fit::new(Layout::vector("x", 1), vec![chain(3), chain(2)]).unwrap();
        let values = vec![0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 10.0, 10.5, 11.0, 11.5];
        let fit = fit.with_posterior_predictive("y", &Predictions { shape: vec![5, 2], values }).unwrap();
        fit.with_observed_data("y", &[4.0, 5.0], &[2]).unwrap().with_prior("x", &[7.0, 8.0, 9.0]).unwrap()
    }

    #[test]
    fn subsets_keep_the_rows_of_their_draws() {
        let drawn = |fit: &Fit| fit.group("posterior_predictive").unwrap().variables[0].clone();
        let all = drawn(&fit());
        assert_eq!(all.shape, [2, 3, 2]);
        assert!(all.row(1, 2).iter().all(|value| value.is_nan()), "the short chain is padded");
        let last = drawn(&fit().without_first(1));
        assert_eq!(
            (last.shape.as_slice(), last.row(0, 1), last.row(1, 0)),
            (&[2, 2, 2][..], &[2.0, 2.5][..], &[11.0, 11.5][..])
        );
        let other = fit().only_chains(&[1]).unwrap();
        assert_eq!((drawn(&other).shape, drawn(&other).values), (vec![1, 2, 2], vec![10.0, 10.5, 11.0, 11.5]));
        for part in [fit().thinned(2), other, fit().only(&["x"]).unwrap()] {
            assert_eq!(part.group("observed_data").unwrap().variables[0].values, [4.0, 5.0]);
            assert_eq!(part.group("prior").unwrap().variables[0].values, [7.0, 8.0, 9.0]);
            let shape = &drawn(&part).shape;
            assert_eq!(shape[..2], part.draw_shape(), "the group is valid for the subset");
        }
    }

    #[test]
    fn arrays_that_do_not_belong_to_the_fit_are_refused() {
        let message = |result: Result<Fit>| result.unwrap_err().to_string();
        let array = |shape: Vec<usize>, count: usize| Variable {
            name: "y".into(),
            dimensions: vec!["chain".into(), "draw".into()],
            shape,
            values: vec![0.0; count],
        };
        let group = |name: &str, variables| fit().with_group(Group { name: name.into(), variables });
        assert!(message(group("posterior", vec![])).contains("another one"));
        assert!(message(group("other", vec![array(vec![2, 3], 5)])).contains("5 values"));
        assert!(message(group("other", vec![array(vec![1, 3], 3)])).contains("[2, 3] chains and draws"));
        assert!(message(group("other", vec![array(vec![2, 3], 6), array(vec![2, 3], 6)])).contains("two arrays"));
        assert!(group("prior_predictive", vec![array(vec![1, 9], 9)]).is_ok());
        let short = Predictions { shape: vec![4, 1], values: vec![0.0; 4] };
        assert!(message(fit().with_posterior_predictive("y", &short)).contains("expected 5"));
        assert!(fit().log_likelihood().unwrap_err().to_string().contains("with_log_likelihood"));
    }
}
