//! Predictions of entries, averaged over draws.

use sgmcmc_gradient::{Error, Result, settings};

use super::super::entries::Entries;
use super::model::Shape;

/// The posterior predictions of some entries.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::{BayesianFactorization, Entries};
///
/// let (train, test) = Entries::simulate_ratings(30, 20, 300, 2, 1)?.split(0.9, 1)?;
/// let fit = BayesianFactorization::new(2).burn_in(20).fit(&train, 50)?;
/// let predictions = fit.predict(&test)?;
/// assert_eq!(predictions.mean.len(), test.len());
/// assert!(predictions.predictive_sd[0] > predictions.sd[0]);
/// assert!(predictions.rmse(&test)? < 2.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// The posterior mean of the expectation of each entry.
    pub mean: Vec<f64>,
    /// The posterior standard deviation of the expectation of each entry.
    pub sd: Vec<f64>,
    /// The standard deviation of a new observation of each entry, which includes the noise.
    pub predictive_sd: Vec<f64>,
}

impl Predictions {
    /// Returns the root mean square difference between the posterior means and the values of `entries`.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of entries is not the number of predictions.
    pub fn rmse(&self, entries: &Entries) -> Result<f64> {
        rmse(&self.mean, entries)
    }
}

/// Returns the root mean square difference between predictions and values.
fn rmse(predictions: &[f64], entries: &Entries) -> Result<f64> {
    if predictions.len() != entries.len() {
        let (expected, found) = (entries.len(), predictions.len());
        return Err(Error::Length { what: "the list of predictions", expected, found });
    }
    let squares = predictions.iter().zip(entries.values()).map(|(mean, value)| (mean - value).powi(2));
    Ok((squares.sum::<f64>() / entries.len() as f64).sqrt())
}

/// Averages of the predictions of some entries over the draws of a sampler, without storing the draws.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::{BayesianFactorization, Entries, RunningPredictions};
///
/// let (train, test) = Entries::simulate_ratings(30, 20, 300, 2, 1)?.split(0.9, 1)?;
/// let mut sampler = BayesianFactorization::new(2).sampler(&train)?;
/// let mut predictions = RunningPredictions::new(test.clone()).clip(1.0, 5.0)?;
/// for step in 0..100 {
///     sampler.step()?;
///     if step >= 50 {
///         predictions.push(&sampler)?;
///     }
/// }
/// assert!(predictions.rmse()? < 2.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RunningPredictions {
    entries: Entries,
    bounds: Option<[f64; 2]>,
    weight: f64,
    mean: Vec<f64>,
    /// The weighted sum of the squared differences from the mean.
    squares: Vec<f64>,
    noise_variance: f64,
}

/// One draw as predictions need it.
#[derive(Clone, Copy)]
pub(super) struct PredictedDraw<'a> {
    pub(super) shape: Shape,
    pub(super) offset: f64,
    pub(super) values: &'a [f64],
    /// The precision τ of the noise.
    pub(super) noise: f64,
    pub(super) weight: f64,
}

impl RunningPredictions {
    /// Creates averages of the predictions of `entries`. Their values are used by [`rmse`](Self::rmse) only.
    pub fn new(entries: Entries) -> Self {
        let zeros = vec![0.0; entries.len()];
        Self { entries, bounds: None, weight: 0.0, mean: zeros.clone(), squares: zeros, noise_variance: 0.0 }
    }

    /// Clips the prediction of every draw to the range from `low` to `high`, such as that of the ratings.
    ///
    /// # Errors
    ///
    /// Returns an error if `low` is not less than `high`.
    pub fn clip(self, low: f64, high: f64) -> Result<Self> {
        settings::finite("the lower bound of predictions", low)?;
        settings::at_least("the upper bound of predictions", high, low, "it must be at least the lower bound")?;
        Ok(Self { bounds: Some([low, high]), ..self })
    }

    /// Adds the current draw of a sampler.
    ///
    /// # Errors
    ///
    /// Returns an error if the matrix of the sampler has another shape.
    pub fn push(&mut self, sampler: &super::FactorizationSampler) -> Result<()> {
        self.add(&sampler.predicted_draw())
    }

    /// Adds a draw.
    pub(super) fn add(&mut self, draw: &PredictedDraw<'_>) -> Result<()> {
        self.entries.check_same_shape(draw.shape.rows, draw.shape.columns)?;
        let factors = draw.shape.split(draw.values);
        self.weight += draw.weight;
        let share = draw.weight / self.weight;
        let [low, high] = self.bounds.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        for ((entry, mean), squares) in self.entries.iter().zip(&mut self.mean).zip(&mut self.squares) {
            let score = draw.offset + factors.score(entry.row, entry.column, draw.shape.rank);
            let difference = score.clamp(low, high) - *mean;
            *mean += share * difference;
            *squares += draw.weight * (1.0 - share) * difference * difference;
        }
        self.noise_variance += share * (1.0 / draw.noise - self.noise_variance);
        Ok(())
    }

    /// Returns the predictions.
    ///
    /// # Errors
    ///
    /// Returns an error if no draw was added.
    pub fn predictions(&self) -> Result<Predictions> {
        self.check()?;
        let variances = self.squares.iter().map(|squares| squares / self.weight);
        let sd = variances.clone().map(f64::sqrt).collect();
        let predictive_sd = variances.map(|variance| (variance + self.noise_variance).sqrt()).collect();
        Ok(Predictions { mean: self.mean.clone(), sd, predictive_sd })
    }

    /// Returns the root mean square difference between the averages and the values of the entries.
    ///
    /// # Errors
    ///
    /// Returns an error if no draw was added.
    pub fn rmse(&self) -> Result<f64> {
        self.check()?;
        rmse(&self.mean, &self.entries)
    }

    /// Checks that there is a draw.
    fn check(&self) -> Result<()> {
        if self.weight > 0.0 { Ok(()) } else { Err(Error::Draws { reason: "there are none".into() }) }
    }
}
