//! Plots of a fit that show its run or the arrays stored with it.

use sgmcmc_fit::{Fit, Thresholds, Variable};

use crate::error::{Error, Result};
use crate::plot::{self, Plot};
use crate::plotter::{Plotter, variable};

impl Plotter<'_> {
    /// Draws how the effective sample sizes of a parameter grow with the number of draws.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter, or if it has more than 24 values.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.5).seed(1).chains(2).sample(&zeros([2]), 100)?;
    /// assert!(fit.plot().ess_evolution("theta[0]")?.svg().contains("draws per chain"));
    /// assert!(fit.plot().r_hat_evolution("theta")?.svg().starts_with("<svg"));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn ess_evolution(&self, name: &str) -> Result<Plot> {
        let least = Thresholds::default().ess_per_chain * self.fit.chains().len() as f64;
        self.panels(name, |area, frame, draws| plot::draw_ess_evolution(area, frame, &draws.chains, least))
    }

    /// Draws how R-hat of a parameter falls with the number of draws.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such parameter, or if it has more than 24 values.
    pub fn r_hat_evolution(&self, name: &str) -> Result<Plot> {
        let most = Thresholds::default().r_hat;
        self.panels(name, |area, frame, draws| plot::draw_r_hat_evolution(area, frame, &draws.chains, most))
    }

    /// Draws the energy of a run by Hamiltonian Monte Carlo and its changes between transitions.
    ///
    /// # Errors
    ///
    /// Returns an error if the chains recorded no `energy`, as stochastic-gradient algorithms do.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.5).seed(1).sample(&zeros([2]), 100)?;
    /// assert!(fit.plot().energy()?.svg().contains("fraction of missing information"));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn energy(&self) -> Result<Plot> {
        let chains: Vec<&[f64]> = self.fit.chains().iter().filter_map(|chain| chain.stat("energy")).collect();
        if chains.is_empty() {
            return Err(self.unknown_statistic("energy"));
        }
        plot::energy(&chains, &self.frame.titled(self.title.as_deref().unwrap_or("energy")))
    }

    /// Draws parallel coordinates of the values that the patterns `names` select, with divergent transitions in another
    /// color. See [`Fit::find_values`] for patterns.
    ///
    /// # Errors
    ///
    /// Returns an error if a pattern matches no value, or if there are fewer than two or more than 60 values.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.5).seed(1).sample(&zeros([5]), 100)?;
    /// assert!(fit.plot().parallel(&["theta", "~theta[2]"])?.svg().starts_with("<svg"));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn parallel(&self, names: &[&str]) -> Result<Plot> {
        let indices = self.fit.find_values(names)?;
        let variables: Vec<_> = indices.into_iter().map(|index| variable(self.fit, index)).collect();
        plot::parallel(&variables, &divergent(self.fit), &self.frame.titled(self.title.as_deref().unwrap_or_default()))
    }

    /// Draws the Pareto k of leave-one-out cross-validation for every observation.
    ///
    /// # Errors
    ///
    /// Returns an error if the fit has no [log-likelihood](Fit::log_likelihood), or if LOO cannot be computed from it.
    pub fn pareto_k(&self) -> Result<Plot> {
        let loo = self.fit.log_likelihood()?.loo()?;
        plot::pareto_k(&loo.pareto_k, loo.good_k, &self.frame.titled(self.title.as_deref().unwrap_or("Pareto k")))
    }

    /// Draws the histogram of the leave-one-out probability integral transforms of an observed variable; see
    /// [`Fit::loo_pit`].
    ///
    /// # Errors
    ///
    /// Returns an error if the fit lacks log-likelihoods, observed data or predictive draws of the variable.
    pub fn loo_pit(&self, name: &str) -> Result<Plot> {
        let values = self.fit.loo_pit(name)?;
        let title = self.title.clone().unwrap_or_else(|| format!("LOO-PIT of {name}"));
        plot::integral_transforms(&values, &self.frame.titled(title))
    }

    /// Draws a predictive check of a variable: the density of the observed data and those of data sets drawn from the
    /// posterior predictive distribution.
    ///
    /// # Errors
    ///
    /// Returns an error if the fit lacks observed data or predictive draws of the variable.
    pub fn predictive(&self, name: &str) -> Result<Plot> {
        let (observed, replications) = predictive(self.fit, name)?;
        let title = self.title.as_deref().unwrap_or(name);
        plot::predictive(&observed.values, &replications, &self.frame.titled(title))
    }

    /// Draws the prior, from the draws stored in the group `prior`, and the posterior of one value.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such value, or if the fit has no draws of its prior.
    pub fn stored_prior(&self, name: &str) -> Result<Plot> {
        let index = self.fit.layout().index(name)?;
        let prior = stored_prior(self.fit, index).ok_or_else(|| Error::Input {
            plot: "prior and posterior",
            reason: format!("the fit has no prior draws of `{name}`; add them with `fit.with_prior`"),
        })?;
        self.prior_posterior(name, &plot::Prior::Draws(prior))
    }
}

/// Returns the draws of the prior of a value that are stored with the fit.
pub(crate) fn stored_prior(fit: &Fit, index: usize) -> Option<Vec<f64>> {
    let block = fit.layout().blocks().iter().find(|block| block.values.contains(&index))?;
    let prior = fit.group("prior")?.variable(&block.name)?;
    let width = block.values.len();
    let first = index - block.values.start;
    (prior.width() == width).then(|| prior.values.iter().skip(first).step_by(width).copied().collect())
}

/// Returns the observed data of a variable and the data sets drawn at evenly spaced draws.
pub(crate) fn predictive<'f>(fit: &'f Fit, name: &str) -> Result<(&'f Variable, Vec<Vec<f64>>)> {
    let find = |group: &str| fit.group(group).and_then(|group| group.variable(name));
    let missing = |what: &str, remedy: &str| Error::Input {
        plot: "predictive check",
        reason: format!("the fit has no {what} of `{name}`; add them with `fit.{remedy}`"),
    };
    let observed = find("observed_data").ok_or_else(|| missing("observed data", "with_observed_data"))?;
    let drawn =
        find("posterior_predictive").filter(|drawn| drawn.has_draws() && drawn.width() == observed.values.len());
    let drawn = drawn.ok_or_else(|| missing("predictive draws of this shape", "with_posterior_predictive"))?;
    let lengths: Vec<usize> = fit.chains().iter().map(|chain| chain.len()).collect();
    let rows: Vec<&[f64]> = lengths
        .iter()
        .enumerate()
        .flat_map(|(chain, length)| (0..*length).map(move |draw| drawn.row(chain, draw)))
        .collect();
    Ok((observed, plot::spread(rows.len(), 40).map(|index| rows[index].to_vec()).collect()))
}

/// Returns whether each draw of each chain was made by a divergent transition. Empty if no chain recorded it.
pub(crate) fn divergent(fit: &Fit) -> Vec<Vec<bool>> {
    let flags = |chain: &sgmcmc_fit::ChainDraws| -> Vec<bool> {
        chain.stat("diverging").map_or_else(|| vec![false; chain.len()], |stat| stat.iter().map(|x| *x > 0.0).collect())
    };
    if fit.chains().iter().all(|chain| chain.stat("diverging").is_none()) {
        return Vec::new();
    }
    fit.chains().iter().map(flags).collect()
}
