//! Predictive densities.

use sgmcmc_gradient::{Error, Result};

use super::data::Observations;
use super::draw::MixtureDraw;
use super::family::Family;
use super::random::log_sum_exp;

/// The log posterior predictive densities of observations, averaged over draws: log (1/T) Σ_t p(xᵢ | mixture t).
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Counts, DirichletProcess};
///
/// let data = Counts::new(2, [vec![(0, 9)], vec![(0, 8)], vec![(1, 9)]])?;
/// let scores = DirichletProcess::multinomial(0.5).seed(1).fit(&data, 200)?.log_predictive(&data)?;
/// assert_eq!(scores.each().len(), 3);
/// assert!(scores.standard_error() > 0.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LogPredictive {
    each: Vec<f64>,
}

impl LogPredictive {
    /// Returns the log density of each observation.
    pub fn each(&self) -> &[f64] {
        &self.each
    }

    /// Returns the mean over the observations.
    pub fn mean(&self) -> f64 {
        self.each.iter().sum::<f64>() / self.each.len() as f64
    }

    /// Returns the standard error of the mean, from the spread of the observations.
    pub fn standard_error(&self) -> f64 {
        let (n, mean) = (self.each.len() as f64, self.mean());
        (self.each.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt()
    }
}

/// An evaluation of predictive densities of the same data in several mixtures.
///
/// The components that a mixture does not have yet contribute their prior predictive density: with weight
/// [`MixtureDraw::log_remaining_weight`], nothing is truncated.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Counts, DirichletProcess, Evaluation, Multinomial};
///
/// let data = Counts::new(2, [vec![(0, 9)], vec![(0, 8)], vec![(1, 9)]])?;
/// let family = Multinomial::symmetric(2, 0.5)?;
/// let mut evaluation = Evaluation::new(&family, &data)?;
/// let mut sampler = DirichletProcess::multinomial(0.5).seed(1).sampler(&data)?;
/// for _ in 0..10 {
///     sampler.step()?;
///     evaluation.add(&sampler.mixture())?;
/// }
/// assert_eq!(evaluation.finish()?.each().len(), 3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct Evaluation<'a, F: Family> {
    family: &'a F,
    data: &'a F::Data,
    /// The log prior predictive density of each observation.
    log_prior: Vec<f64>,
    /// The log of the sum of the densities of each observation over mixtures.
    log_sums: Vec<f64>,
    mixtures: usize,
}

impl<'a, F: Family> Evaluation<'a, F> {
    /// Creates an evaluation without mixtures.
    ///
    /// # Errors
    ///
    /// Returns an error if the data do not match the family.
    pub fn new(family: &'a F, data: &'a F::Data) -> Result<Self> {
        family.check(data)?;
        let marginal = |observation: usize| {
            let mut statistics = family.no_statistics();
            family.add(&mut statistics, data, observation, 1.0);
            family.log_marginal(&statistics)
        };
        let log_prior = (0..data.observations()).map(marginal).collect::<Result<Vec<f64>>>()?;
        let log_sums = vec![f64::NEG_INFINITY; log_prior.len()];
        Ok(Self { family, data, log_prior, log_sums, mixtures: 0 })
    }

    /// Adds a mixture, and returns the mean log predictive density of this mixture alone.
    ///
    /// # Errors
    ///
    /// Returns an error if a density is NaN.
    pub fn add(&mut self, mixture: &MixtureDraw<F::Parameters>) -> Result<f64> {
        let (mut total, mut terms) = (0.0, Vec::new());
        for observation in 0..self.log_sums.len() {
            self.log_terms(mixture, observation, &mut terms);
            let log_density = log_sum_exp(&terms);
            if log_density.is_nan() {
                return Err(Error::Draws { reason: format!("the density of observation {observation} is NaN") });
            }
            self.log_sums[observation] = log_sum_exp(&[self.log_sums[observation], log_density]);
            total += log_density;
        }
        self.mixtures += 1;
        Ok(total / self.log_sums.len() as f64)
    }

    /// Returns the log predictive densities averaged over the mixtures.
    ///
    /// # Errors
    ///
    /// Returns an error if no mixture was added.
    pub fn finish(&self) -> Result<LogPredictive> {
        if self.mixtures == 0 {
            return Err(Error::Draws { reason: "no mixture was added".into() });
        }
        let log_count = (self.mixtures as f64).ln();
        Ok(LogPredictive { each: self.log_sums.iter().map(|log_sum| log_sum - log_count).collect() })
    }

    /// Returns the probabilities that an observation belongs to each component of a mixture. The rest is the
    /// probability of another component.
    pub(super) fn component_probabilities(&self, mixture: &MixtureDraw<F::Parameters>, observation: usize) -> Vec<f64> {
        let mut terms = Vec::new();
        self.log_terms(mixture, observation, &mut terms);
        let log_density = log_sum_exp(&terms);
        terms.pop();
        terms.iter().map(|term| (term - log_density).exp()).collect()
    }

    /// Writes log wⱼ f(x|θⱼ) of every component, and of the remaining ones together, into `terms`.
    fn log_terms(&self, mixture: &MixtureDraw<F::Parameters>, observation: usize, terms: &mut Vec<f64>) {
        terms.clear();
        let components = mixture.log_weights.iter().zip(&mixture.components);
        terms
            .extend(components.map(|(log_weight, component)| {
                log_weight + self.family.log_density(component, self.data, observation)
            }));
        terms.push(mixture.log_remaining_weight + self.log_prior[observation]);
    }
}
