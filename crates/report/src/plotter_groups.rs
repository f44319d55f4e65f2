//! Plots of a fit that show its run or the arrays stored with it.

use sgmcmc_fit::{NoisePoint, NoiseReport, Thresholds};

use crate::draws::{Probabilities, divergent, predictive, stored_prior};
use crate::error::{Error, Result};
use crate::plot::{self, Line, Plot};
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

    /// Draws the noise of minibatch gradients over iterations, as measured by
    /// [`Fit::gradient_noise`](sgmcmc_fit::Fit::gradient_noise): the base-10 logarithm of the total variance, of plain
    /// minibatches in the color of chain 0 and with control variates in that of chain 1.
    ///
    /// # Errors
    ///
    /// Returns an error if the plotting crate fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 0.0], [4])?)?;
    /// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
    /// let start = zeros([1]);
    /// let fit = sgld(&model, &data, 0.1).minibatch(2).seed(1).sample(&start, 500)?;
    /// let noise = fit.gradient_noise(&model.with(&data), &start, 2)?;
    /// assert!(fit.plot().gradient_noise(&noise)?.svg().contains("gradient noise"));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn gradient_noise(&self, noise: &NoiseReport) -> Result<Plot> {
        let line = |variance: fn(&NoisePoint) -> f64| Line {
            iterations: noise.points.iter().map(|point| point.iteration).collect(),
            values: noise.points.iter().map(|point| variance(point).log10()).collect(),
        };
        let lines = [line(|point| point.plain), line(|point| point.controlled)];
        let title = "log10 of the gradient noise: minibatches (blue), control variates (orange)";
        let frame = self.frame.titled(self.title.as_deref().unwrap_or(title)).legend(false);
        plot::over_iterations(&lines, &frame)
    }

    /// Draws parallel coordinates of the values that the patterns `names` select, with divergent transitions in another
    /// color. See [`Fit::find_values`](sgmcmc_fit::Fit::find_values) for patterns.
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
    /// Returns an error if the fit has no [log-likelihood](sgmcmc_fit::Fit::log_likelihood), or if LOO cannot be computed from it.
    pub fn pareto_k(&self) -> Result<Plot> {
        let loo = self.fit.log_likelihood()?.loo()?;
        plot::pareto_k(&loo.pareto_k, loo.good_k, &self.frame.titled(self.title.as_deref().unwrap_or("Pareto k")))
    }

    /// Draws the histogram of the leave-one-out probability integral transforms of an observed variable; see
    /// [`Fit::loo_pit`](sgmcmc_fit::Fit::loo_pit).
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

    /// Draws the share of ones among the observed values of a variable against its predicted probability: the mean of the
    /// predictive draws. See [`plot::reliability`].
    ///
    /// # Errors
    ///
    /// Returns an error if the fit lacks observed data or predictive draws of the variable, if an observed value is
    /// neither 0 nor 1, or if a mean is not a probability.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::fit::Predictions;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([1]), 2)?;
    /// let drawn = Predictions { shape: vec![2, 3], values: vec![0.0, 1.0, 1.0, 0.0, 0.0, 1.0] };
    /// let fit = fit.with_observed_data("y", &[0.0, 0.0, 1.0], &[3])?.with_posterior_predictive("y", &drawn)?;
    /// assert!(fit.plot().reliability("y")?.svg().contains("predicted probability"));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn reliability(&self, name: &str) -> Result<Plot> {
        let Probabilities { predicted, outcomes } = Probabilities::new(self.fit, name)?;
        let title = self.title.clone().unwrap_or_else(|| format!("reliability of {name}"));
        plot::reliability(&predicted, outcomes, &self.frame.titled(title))
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
