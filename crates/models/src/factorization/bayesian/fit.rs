//! The draws of a Bayesian matrix factorization, and predictions from them.

use sgmcmc_fit::Fit;
use sgmcmc_gradient::{Error, Result};

use super::super::entries::Entries;
use super::model::Shape;
use super::predictions::{PredictedDraw, Predictions, RunningPredictions};

/// The draws of a [`BayesianFactorization`](super::BayesianFactorization).
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::{BayesianFactorization, Entries};
///
/// let entries = Entries::simulate_ratings(30, 20, 300, 2, 1)?;
/// let fit = BayesianFactorization::new(2).fit(&entries, 50)?;
/// let unseen = Entries::dense(30, 20, &[0.0; 600])?;
/// let predictions = fit.predict(&unseen)?;
/// println!("{:.2} ± {:.2}", predictions.mean[7], predictions.sd[7]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FactorizationFit {
    draws: Fit,
    shape: Shape,
    offset: f64,
    /// The precision of the noise, or `None` if it is the last value of a draw.
    noise: Option<f64>,
}

impl FactorizationFit {
    pub(super) fn new(draws: Fit, shape: Shape, offset: f64, noise: Option<f64>) -> Self {
        Self { draws, shape, offset, noise }
    }

    /// Returns the draws of factors, biases and hyperparameters.
    ///
    /// A rotation of U and V does not change the likelihood, so that their elements have no meaning of their own.
    pub fn draws(&self) -> &Fit {
        &self.draws
    }

    /// Returns the predictions of `entries`, averaged over all draws. The values of the entries are not used.
    ///
    /// # Errors
    ///
    /// Returns an error if the matrix has another shape, or if there are no draws.
    pub fn predict(&self, entries: &Entries) -> Result<Predictions> {
        let mut running = RunningPredictions::new(entries.clone());
        self.add_to(&mut running)?;
        running.predictions()
    }

    /// Adds all draws to averages of predictions, for instance averages of clipped predictions.
    ///
    /// # Errors
    ///
    /// Returns an error if the matrix has another shape.
    pub fn add_to(&self, running: &mut RunningPredictions) -> Result<()> {
        for chain in self.draws.chains() {
            for (values, weight) in chain.rows().zip(chain.weights()) {
                let noise = match self.noise {
                    Some(noise) => noise,
                    None => *values.last().ok_or(Error::Draws { reason: "a draw has no values".into() })?,
                };
                let Self { shape, offset, .. } = *self;
                running.add(&PredictedDraw { shape, offset, values, noise, weight: *weight })?;
            }
        }
        Ok(())
    }
}
