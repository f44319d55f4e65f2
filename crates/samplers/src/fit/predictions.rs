//! How good predictions are: log loss, accuracy, root mean square error.

use sgmcmc_core::{Error, Result};

/// Predictions for observations: probabilities of classes, or numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    /// Observations, and the shape of one prediction; before them draws, where predictions were not averaged.
    pub shape: Vec<usize>,
    /// The numbers, row-major.
    pub values: Vec<f64>,
}

impl Predictions {
    /// −mean log p(yᵢ), for probabilities: of shape `[n]`, that y is 1 and not 0; of shape `[n, k]`, of each of the classes 0, …, k − 1.
    ///
    /// # Errors
    ///
    /// If there is not one outcome per observation, an outcome is no class, or the predictions have another shape.
    pub fn log_loss(&self, outcomes: &[f64]) -> Result<f64> {
        self.average(outcomes, |row, class| -probability(row, class).ln())
    }

    /// The share of observations whose most probable class is the outcome; shapes as for [`log_loss`](Self::log_loss).
    ///
    /// # Errors
    ///
    /// As [`log_loss`](Self::log_loss).
    pub fn accuracy(&self, outcomes: &[f64]) -> Result<f64> {
        self.average(outcomes, |row, class| {
            let best = match row {
                [p] => usize::from(*p > 0.5),
                _ => (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap_or(0),
            };
            f64::from(u8::from(best == class))
        })
    }

    /// √mean (yᵢ − ŷᵢ)², over all entries.
    ///
    /// # Errors
    ///
    /// If there are not as many outcomes as predictions.
    pub fn rmse(&self, outcomes: &[f64]) -> Result<f64> {
        check(self.values.len(), outcomes.len())?;
        let squares: f64 = self.values.iter().zip(outcomes).map(|(predicted, y)| (predicted - y).powi(2)).sum();
        Ok((squares / outcomes.len() as f64).sqrt())
    }

    fn average(&self, outcomes: &[f64], of: impl Fn(&[f64], usize) -> f64) -> Result<f64> {
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
            let known = outcome.fract().abs() <= 0.0 && *outcome >= 0.0 && *outcome < classes.max(2) as f64;
            if !known {
                let (value, expected) =
                    (outcome.to_string(), "classes are counted 0, 1, … up to one less than there are");
                return Err(Error::Setting { name: "an outcome", value, expected });
            }
            total += of(row, *outcome as usize);
        }
        Ok(total / observations as f64)
    }
}

/// The probability of `class`: a row of one entry is the probability of class 1.
fn probability(row: &[f64], class: usize) -> f64 {
    match (row, class) {
        ([p], 0) => 1.0 - p,
        ([p], _) => *p,
        _ => row[class],
    }
}

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
    fn outcomes_that_cannot_be_are_named() {
        let two = Predictions { shape: vec![2], values: vec![0.9, 0.2] };
        let message = |outcomes: &[f64]| two.log_loss(outcomes).unwrap_err().to_string();
        assert!(message(&[1.0]).contains("length 1, expected 2"));
        for wrong in [2.0, -1.0, 0.5, f64::NAN] {
            assert!(message(&[1.0, wrong]).contains("an outcome"), "{wrong}");
        }
    }
}
