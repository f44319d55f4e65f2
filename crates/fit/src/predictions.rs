//! Predictions and their accuracy: log loss, accuracy, root mean square error.

use sgmcmc_gradient::{Error, Result};

/// Predictions for observations: class probabilities, or numbers.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::Predictions;
///
/// let predicted = Predictions { shape: vec![3], values: vec![0.9, 0.2, 0.6] };
/// assert_eq!(predicted.accuracy(&[1.0, 0.0, 1.0])?, 1.0);
/// assert!(predicted.log_loss(&[1.0, 0.0, 1.0])? < 0.3);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// The number of observations, followed by the shape of one prediction. Predictions that are not averaged over the
    /// draws have the number of draws as the first axis.
    pub shape: Vec<usize>,
    /// The predictions in row-major order.
    pub values: Vec<f64>,
}

impl Predictions {
    /// Returns the log loss −mean log p(yᵢ) of predicted probabilities.
    ///
    /// Probabilities of shape `[n]` are those of class 1 of the classes 0 and 1. Probabilities of shape `[n, k]` are
    /// those of the classes 0, …, k − 1.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not one outcome per observation, if an outcome is not a class, or if the
    /// predictions have another shape.
    pub fn log_loss(&self, outcomes: &[f64]) -> Result<f64> {
        self.average(outcomes, |row, class| -probability(row, class).ln())
    }

    /// Returns the proportion of observations whose most probable class is the outcome. The shapes are those of
    /// [`log_loss`](Self::log_loss).
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`log_loss`](Self::log_loss).
    pub fn accuracy(&self, outcomes: &[f64]) -> Result<f64> {
        self.average(outcomes, |row, class| {
            let best = match row {
                [p] => usize::from(*p > 0.5),
                _ => (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap_or(0),
            };
            f64::from(u8::from(best == class))
        })
    }

    /// Returns the root mean square error √mean (yᵢ − ŷᵢ)² over all entries.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not one outcome per prediction.
    pub fn rmse(&self, outcomes: &[f64]) -> Result<f64> {
        check(self.values.len(), outcomes.len())?;
        let squares: f64 = self.values.iter().zip(outcomes).map(|(predicted, y)| (predicted - y).powi(2)).sum();
        Ok((squares / outcomes.len() as f64).sqrt())
    }

    /// Returns the mean over observations of `score`, which takes the probabilities and the class.
    fn average(&self, outcomes: &[f64], score: impl Fn(&[f64], usize) -> f64) -> Result<f64> {
        let (observations, classes) = match self.shape[..] {
            [n] => (n, 1),
            [n, k] if k > 0 => (n, k),
            _ => {
                let (value, expected) =
                    (format!("{:?}", self.shape), "it must be [observations] or [observations, classes]");
                return Err(Error::Setting { name: "the shape of predicted probabilities", value, expected });
            }
        };
        check(observations, outcomes.len())?;
        let mut total = 0.0;
        for (row, outcome) in self.values.chunks_exact(classes).zip(outcomes) {
            let is_class = outcome.fract().abs() <= 0.0 && *outcome >= 0.0 && *outcome < classes.max(2) as f64;
            if !is_class {
                let (value, expected) = (outcome.to_string(), "classes are numbered 0, 1, …, k − 1");
                return Err(Error::Setting { name: "an outcome", value, expected });
            }
            total += score(row, *outcome as usize);
        }
        Ok(total / observations as f64)
    }
}

/// Returns the probability of `class`. A row of one entry is the probability of class 1.
fn probability(row: &[f64], class: usize) -> f64 {
    match (row, class) {
        ([p], 0) => 1.0 - p,
        ([p], _) => *p,
        _ => row[class],
    }
}

/// Checks the number of outcomes.
fn check(expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::Length { what: "the list of outcomes", expected, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_known_predictions() {
        let two = Predictions { shape: vec![3], values: vec![0.9, 0.2, 0.6] };
        let expected = -(0.9_f64.ln() + 0.8_f64.ln() + 0.4_f64.ln()) / 3.0;
        assert!((two.log_loss(&[1.0, 0.0, 0.0]).unwrap() - expected).abs() < 1e-12);
        assert!((two.accuracy(&[1.0, 0.0, 0.0]).unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert!((two.rmse(&[1.0, 0.0, 0.6]).unwrap() - (0.05_f64 / 3.0).sqrt()).abs() < 1e-12);
        let three = Predictions { shape: vec![2, 3], values: vec![0.2, 0.5, 0.3, 0.6, 0.3, 0.1] };
        let expected = -(0.3_f64.ln() + 0.6_f64.ln()) / 2.0;
        assert!((three.log_loss(&[2.0, 0.0]).unwrap() - expected).abs() < 1e-12);
        assert!((three.accuracy(&[2.0, 0.0]).unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn invalid_outcomes_are_errors() {
        let two = Predictions { shape: vec![2], values: vec![0.9, 0.2] };
        let message = |outcomes: &[f64]| two.log_loss(outcomes).unwrap_err().to_string();
        assert!(message(&[1.0]).contains("length 1, expected 2"));
        for wrong in [2.0, -1.0, 0.5, f64::NAN] {
            assert!(message(&[1.0, wrong]).contains("an outcome"), "{wrong}");
        }
    }
}
