//! Replicated observations, compared with the observed ones.

use std::fmt;

use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use sgmcmc_diagnostics::distance::ks_one_sample;
use sgmcmc_diagnostics::quantiles;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Error, Result};

/// Data sets drawn from a predictive distribution, and the observed data.
///
/// `Posterior::predictive` creates it from a model whose likelihood is a distribution. The parameters of the
/// replications are draws from the posterior, or from the prior.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::Predictive;
///
/// let replications = vec![vec![0.9, 2.1], vec![1.2, 1.8], vec![1.0, 2.2]];
/// let predictive = Predictive::new("y".into(), vec![1.1, 5.0], replications, None, 1)?;
/// assert_eq!(predictive.p_value(|y| y[1]), 0.0);                     // no replication has as large a second value
/// assert!((predictive.residuals()[0] - 0.0666667).abs() < 1e-6);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Predictive {
    name: String,
    observed: Vec<f64>,
    replications: Vec<Vec<f64>>,
    means: Vec<f64>,
    pit: Vec<f64>,
}

/// An interval of predictions.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::PredictiveInterval;
///
/// assert!(PredictiveInterval { low: 0.0, high: 1.0 }.contains(0.5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictiveInterval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl PredictiveInterval {
    /// Returns whether the interval, with its ends, contains `value`.
    pub fn contains(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

impl Predictive {
    /// Creates the comparison of `observed` with `replications`. `means` are the means of the predictive distribution, if
    /// they are known; otherwise they are estimated from the replications. `seed` breaks ties between ranks.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no replication, or if one does not have as many values as were observed.
    pub fn new(
        name: String,
        observed: Vec<f64>,
        replications: Vec<Vec<f64>>,
        means: Option<Vec<f64>>,
        seed: u64,
    ) -> Result<Self> {
        if replications.is_empty() {
            let (value, expected) = ("0".into(), "a predictive check needs at least 1");
            return Err(Error::Setting { name: "the number of replications", value, expected });
        }
        let expected = observed.len();
        if let Some(other) = replications.iter().chain(&means).find(|values| values.len() != expected) {
            return Err(Error::Length { what: "a replication of the observed values", expected, found: other.len() });
        }
        let count = replications.len() as f64;
        let mean = |index: usize| replications.iter().map(|values| values[index]).sum::<f64>() / count;
        let means = means.unwrap_or_else(|| (0..expected).map(mean).collect());
        let mut rng = StreamRng::seed_from_u64(seed);
        let pit = observed.iter().enumerate().map(|(index, y)| {
            let below = replications.iter().filter(|values| values[index] < *y).count();
            let equal = replications.iter().filter(|values| values[index].total_cmp(y).is_eq()).count();
            (below as f64 + rng.random::<f64>() * (equal + 1) as f64) / (count + 1.0)
        });
        let pit = pit.collect();
        Ok(Self { name, observed, replications, means, pit })
    }

    /// Returns the name of the observed leaf.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the observed values in row-major order.
    pub fn observed(&self) -> &[f64] {
        &self.observed
    }

    /// Returns the replicated data sets.
    pub fn replications(&self) -> &[Vec<f64>] {
        &self.replications
    }

    /// Returns the predictive mean of each value.
    pub fn mean(&self) -> &[f64] {
        &self.means
    }

    /// Returns the residuals, the observed values minus the predictive means.
    pub fn residuals(&self) -> Vec<f64> {
        self.observed.iter().zip(&self.means).map(|(y, mean)| y - mean).collect()
    }

    /// Returns the central interval of each value that has probability `probability`.
    pub fn intervals(&self, probability: f64) -> Vec<PredictiveInterval> {
        let tail = 0.5 * (1.0 - probability);
        let interval = |index: usize| {
            let values: Vec<f64> = self.replications.iter().map(|values| values[index]).collect();
            let ends = quantiles(&values, &[], &[tail, 1.0 - tail]);
            PredictiveInterval { low: ends[0], high: ends[1] }
        };
        (0..self.observed.len()).into_par_iter().map(interval).collect()
    }

    /// Returns the proportion of the observed values in their central intervals of probability `probability`. For a model
    /// that fits, it is about `probability`; for discrete values it is larger.
    pub fn coverage(&self, probability: f64) -> f64 {
        let intervals = self.intervals(probability);
        let inside = intervals.iter().zip(&self.observed).filter(|(interval, y)| interval.contains(**y)).count();
        inside as f64 / self.observed.len().max(1) as f64
    }

    /// Returns the probability integral transform of each observed value: its rank among the replications, between zero
    /// and one. Ties are broken at random, so that the values are uniform for a model that fits, also for discrete values.
    /// With replications from the posterior of the same data they are slightly too close to one half.
    pub fn pit(&self) -> &[f64] {
        &self.pit
    }

    /// Returns the number of transforms in each of `bins` bins of equal width, for a calibration plot.
    pub fn pit_counts(&self, bins: usize) -> Vec<usize> {
        let bins = bins.max(1);
        let mut counts = vec![0; bins];
        for u in &self.pit {
            counts[((u * bins as f64) as usize).min(bins - 1)] += 1;
        }
        counts
    }

    /// Returns the predictive p-value of a statistic: the proportion of the replications with a value at least as large as
    /// that of the observed data. Ties count half. Values near zero or one show a feature of the data that the model does
    /// not reproduce.
    pub fn p_value(&self, statistic: impl Fn(&[f64]) -> f64) -> f64 {
        let observed = statistic(&self.observed);
        let larger = |values: &Vec<f64>| match statistic(values).total_cmp(&observed) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        };
        self.replications.iter().map(larger).sum::<f64>() / self.replications.len() as f64
    }
}

/// Returns the standard deviation of `values`.
fn sd(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)).sqrt()
}

impl fmt::Display for Predictive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, values) = (self.replications.len(), self.observed.len());
        writeln!(f, "predictive check of `{}`: {count} replications of {values} values", self.name)?;
        let [half, most] = [0.5, 0.9].map(|probability| 100.0 * self.coverage(probability));
        writeln!(f, "  coverage   50 % intervals: {half:.1} %, 90 % intervals: {most:.1} %")?;
        let p_values = [
            self.p_value(|y| y.iter().sum::<f64>() / y.len() as f64),
            self.p_value(sd),
            self.p_value(|y| y.iter().copied().fold(f64::INFINITY, f64::min)),
            self.p_value(|y| y.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        ];
        let [mean, sd, min, max] = p_values;
        writeln!(f, "  p-values   mean {mean:.3}, sd {sd:.3}, min {min:.3}, max {max:.3}")?;
        let uniform = ks_one_sample(&self.pit, |u| u.clamp(0.0, 1.0)).p_value;
        writeln!(f, "  PIT        uniform with p-value {uniform:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Poisson, StandardNormal};

    fn normals(rng: &mut StreamRng, count: usize, sd: f64) -> Vec<f64> {
        (0..count).map(|_| sd * rng.sample::<f64, _>(StandardNormal)).collect()
    }

    #[test]
    fn a_model_that_fits_is_calibrated_and_a_narrow_one_is_not() {
        let mut rng = StreamRng::seed_from_u64(1);
        let observed = normals(&mut rng, 500, 1.0);
        let mut check = |sd: f64| {
            let replications = (0..400).map(|_| normals(&mut rng, 500, sd)).collect();
            Predictive::new("y".into(), observed.clone(), replications, None, 1).unwrap()
        };
        let right = check(1.0);
        assert!(ks_one_sample(right.pit(), |u| u).p_value > 0.01);
        assert!((right.coverage(0.9) - 0.9).abs() < 0.04);
        let narrow = check(0.5);
        assert!(ks_one_sample(narrow.pit(), |u| u).p_value < 1e-6);
        assert!(narrow.coverage(0.9) < 0.7);
        assert!(narrow.p_value(sd) < 0.01);
        assert!(narrow.to_string().contains("`y`: 400 replications of 500 values"));
    }

    #[test]
    fn transforms_of_counts_are_uniform() {
        let mut rng = StreamRng::seed_from_u64(2);
        let mut counts = |n: usize| -> Vec<f64> { (0..n).map(|_| rng.sample(Poisson::new(1.5).unwrap())).collect() };
        let observed = counts(800);
        let replications = (0..300).map(|_| counts(800)).collect();
        let check = Predictive::new("count".into(), observed, replications, None, 3).unwrap();
        assert!(ks_one_sample(check.pit(), |u| u).p_value > 0.01);
        assert_eq!(check.pit_counts(10).iter().sum::<usize>(), 800);
    }

    #[test]
    fn mistakes_are_errors() {
        let none = Predictive::new("y".into(), vec![1.0], vec![], None, 1).unwrap_err();
        assert!(none.to_string().contains("needs at least 1"));
        let short = Predictive::new("y".into(), vec![1.0, 2.0], vec![vec![1.0]], None, 1).unwrap_err();
        assert!(short.to_string().contains("length 1, expected 2"));
    }
}
