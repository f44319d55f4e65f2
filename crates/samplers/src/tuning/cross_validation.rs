//! The step size of the best predictions of held-out observations: see [`choose_step_size`].

use sgmcmc_fit::{ChainOutcome, Fit};
use sgmcmc_gradient::{Error, Result, Target, settings};

/// The step sizes of a grid and their predictions of held-out observations.
///
/// # Examples
///
/// See [`choose_step_size`].
#[derive(Clone, Debug, PartialEq)]
pub struct StepSizeScores {
    /// The result of each step size, in the order of the grid.
    pub scores: Vec<StepSizeScore>,
    /// The index of the step size with the largest score.
    pub best: usize,
}

impl StepSizeScores {
    /// Returns the step size with the largest score.
    pub fn step_size(&self) -> f64 {
        self.scores[self.best].step_size
    }
}

/// The predictions of a run with one step size.
///
/// # Examples
///
/// See [`choose_step_size`].
#[derive(Clone, Debug, PartialEq)]
pub struct StepSizeScore {
    /// The step size.
    pub step_size: f64,
    /// The mean log predictive density of the held-out observations; −∞ if the run failed.
    pub score: f64,
    /// The standard error of the difference between this score and the best one, over the held-out observations; 0 for
    /// the best, NaN if the run failed.
    pub difference_se: f64,
    /// The error of the run or of its predictions.
    pub error: Option<Error>,
}

/// Chooses the step size whose draws predict held-out observations best.
///
/// # Rule
///
/// `run` samples with each step size of `grid`, in this order. `predict` returns the log predictive density
/// log Σₛ wₛ p(xᵢ|θₛ) / Σₛ wₛ of each held-out observation, averaged over the draws; [`log_predictive_densities`] computes it
/// from a [`Fit`]. The score is its mean over the observations, and the largest score wins. Of equal scores the first wins.
///
/// A run that fails has the score −∞, and its error is kept. Differences of scores that are small compared to
/// [`difference_se`](StepSizeScore::difference_se) do not separate two step sizes. The result is deterministic if the runs
/// are.
///
/// The predictions of models with much data hardly depend on the width of the posterior, and a step size that is too large
/// may win by its fast convergence. Use the score to choose a step size for predictions, and not for the uncertainty of
/// parameters.
///
/// # Source
///
/// Baker, "Stochastic gradient MCMC" (PhD thesis, 2019), §4.5.1: step sizes by cross-validation of the log predictive
/// density.
///
/// # Cost
///
/// One run per step size.
///
/// # Errors
///
/// Returns an error if `grid` is empty or has a number that is not positive, and the error of the first run if all runs
/// fail. It is an error if `predict` returns no number, or different numbers of them.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
/// use sgmcmc::tuning::{choose_step_size, log_predictive_densities};
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let train = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let held_out = Dataset::new(array(vec![1.2, 0.8], [2])?)?;
/// let start = full([1], 10.0);
///
/// let run = |h| sgld(&model, &train, h).minibatch(2).seed(1).burn_in(100).sample(&start, 500);
/// let predict = |fit: &Fit| log_predictive_densities(fit, &model.with(&held_out), &start);
/// let found = choose_step_size(&[1e-6, 1e-2, 1e3], run, predict)?;
/// assert_eq!(found.step_size(), 1e-2);
/// // With the largest step size the chain diverges.
/// assert!(found.scores[2].error.is_some());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn choose_step_size<R>(
    grid: &[f64],
    mut run: impl FnMut(f64) -> Result<R>,
    mut predict: impl FnMut(&R) -> Result<Vec<f64>>,
) -> Result<StepSizeScores> {
    settings::at_least("the number of step sizes", grid.len(), 1, "give at least 1 step size")?;
    grid.iter().try_for_each(|h| settings::positive("a step size of the grid", *h).map(drop))?;
    let predictions: Vec<Result<Vec<f64>>> =
        grid.iter().map(|h| run(*h).and_then(|made| predict(&made)).and_then(finite)).collect();
    let mut best: Option<(usize, f64, &[f64])> = None;
    for (index, densities) in predictions.iter().enumerate() {
        let Ok(densities) = densities else { continue };
        if let Some((_, _, first)) = best.filter(|(_, _, first)| first.len() != densities.len()) {
            let what = "the log predictive densities of the held-out observations";
            return Err(Error::Length { what, expected: first.len(), found: densities.len() });
        }
        let score = mean(densities);
        if best.is_none_or(|(_, largest, _)| score > largest) {
            best = Some((index, score, densities));
        }
    }
    let Some((best, _, reference)) = best else {
        return Err(predictions.into_iter().find_map(Result::err).unwrap_or(Error::EmptyModel));
    };
    let score = |(h, densities): (&f64, &Result<Vec<f64>>)| match densities {
        Ok(densities) => StepSizeScore {
            step_size: *h,
            score: mean(densities),
            difference_se: difference_se(densities, reference),
            error: None,
        },
        Err(error) => StepSizeScore {
            step_size: *h,
            score: f64::NEG_INFINITY,
            difference_se: f64::NAN,
            error: Some(error.clone()),
        },
    };
    Ok(StepSizeScores { scores: grid.iter().zip(&predictions).map(score).collect(), best })
}

/// Returns log Σₛ wₛ p(xᵢ|θₛ) / Σₛ wₛ of each observation of `held_out` over the draws of all chains of `fit`.
///
/// # Errors
///
/// Returns the error of the first chain that failed, and the errors of [`Fit::pointwise_log_likelihood`].
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
/// use sgmcmc::tuning::log_predictive_densities;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let train = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let held_out = Dataset::new(array(vec![1.0, 9.0], [2])?)?;
/// let fit = hmc(&model, &train, 0.01).seed(1).sample(&zeros([1]), 200)?;
/// let densities = log_predictive_densities(&fit, &model.with(&held_out), &zeros([1]))?;
/// assert!(densities.len() == 2 && densities[0] > densities[1]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn log_predictive_densities<T: Target>(fit: &Fit, held_out: &T, like: &T::Params) -> Result<Vec<f64>> {
    let failure = fit.outcomes().iter().find_map(|outcome| match outcome {
        ChainOutcome::Failed(error) => Some(error.clone()),
        _ => None,
    });
    if let Some(error) = failure {
        return Err(error);
    }
    let pointwise = fit.pointwise_log_likelihood(held_out, like)?;
    let mut largest = vec![f64::NEG_INFINITY; pointwise.observations()];
    for row in pointwise.rows() {
        largest.iter_mut().zip(row).for_each(|(largest, x)| *largest = largest.max(*x));
    }
    let mut sums = vec![0.0; largest.len()];
    for (row, weight) in pointwise.rows().zip(pointwise.weights()) {
        let terms = row.iter().zip(&largest).map(|(x, largest)| weight * (x - largest).exp());
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
    }
    let total: f64 = pointwise.weights().iter().sum();
    Ok(largest.iter().zip(sums).map(|(largest, sum)| largest + (sum / total).ln()).collect())
}

/// Checks that the densities have a mean.
fn finite(densities: Vec<f64>) -> Result<Vec<f64>> {
    if densities.is_empty() {
        return Err(Error::EmptyDataset { reason: "there are no held-out observations".into() });
    }
    match densities.iter().position(|x| !x.is_finite()) {
        None => Ok(densities),
        Some(index) => Err(Error::Draws {
            reason: format!("the log predictive density of held-out observation {index} is {}", densities[index]),
        }),
    }
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

/// Returns the standard error of the mean of `x` − `y`. It is 0 for a single observation.
fn difference_se(x: &[f64], y: &[f64]) -> f64 {
    let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    let (center, n) = (mean(&differences), differences.len() as f64);
    let squares: f64 = differences.iter().map(|x| (x - center).powi(2)).sum();
    (squares / (n * (n - 1.0).max(1.0))).sqrt()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use sgmcmc_gradient::{Analytic, AnalyticModel, FullGradient};

    use super::*;
    use crate::langevin::Sgld;
    use crate::run::Builder;

    /// The model xᵢ ~ N(θ, 1) with a flat prior.
    struct NormalMean(Vec<f64>);

    impl AnalyticModel for NormalMean {
        fn observations(&self) -> usize {
            self.0.len()
        }

        fn dim(&self) -> usize {
            1
        }

        fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
            let residual = self.0[row] - theta[0];
            grad[0] += weight * residual;
            -0.5 * (residual * residual + (2.0 * PI).ln())
        }
    }

    const TRAIN: [f64; 4] = [0.5, 1.5, 1.0, 2.0];
    const HELD_OUT: [f64; 3] = [1.0, 0.0, 3.0];

    fn sample(h: f64, draws: usize) -> Result<Fit> {
        let target = Analytic::new(NormalMean(TRAIN.to_vec()));
        Builder::new(target, Sgld, FullGradient, h).seed(2).burn_in(200).sample(&vec![20.0], draws)
    }

    fn run(h: f64) -> Result<Fit> {
        sample(h, 4000)
    }

    fn predict(fit: &Fit) -> Result<Vec<f64>> {
        log_predictive_densities(fit, &Analytic::new(NormalMean(HELD_OUT.to_vec())), &vec![0.0])
    }

    /// The predictive distribution of SGLD is N(1.25, 1 + v) with the variance v = ¼/(1 − h) of its law at A = 4.
    #[test]
    fn densities_are_those_of_the_predictive_distribution() {
        let found = predict(&sample(0.1, 40_000).unwrap()).unwrap();
        let variance = 1.0 + 0.25 / 0.9;
        for (x, found) in HELD_OUT.iter().zip(found) {
            let exact = -0.5 * ((x - 1.25).powi(2) / variance + (2.0 * PI * variance).ln());
            assert!((found - exact).abs() < 0.04, "{found} against {exact}");
        }
    }

    #[test]
    fn slow_and_diverging_chains_lose() {
        let grid = [1e-5, 0.1, 5.0];
        let found = choose_step_size(&grid, run, predict).unwrap();
        assert_eq!((found.best, found.step_size()), (1, 0.1));
        assert_eq!(found.scores.iter().map(|score| score.step_size).collect::<Vec<_>>(), grid);
        assert!(found.scores[0].score < found.scores[1].score - 10.0);
        assert!(found.scores[1].difference_se.abs() < 1e-300 && found.scores[0].difference_se > 0.0);
        let error = found.scores[2].error.as_ref().unwrap().to_string();
        assert!(error.contains("use a smaller step size"), "{error}");
        assert!(found.scores[2].score.is_infinite() && found.scores[2].score < 0.0);
        let again = choose_step_size(&grid, run, predict).unwrap();
        assert_eq!(again.scores[..2], found.scores[..2]);
    }

    #[test]
    fn mistakes_are_errors() {
        let message = |grid: &[f64]| choose_step_size(grid, run, predict).unwrap_err().to_string();
        assert!(message(&[]).contains("number of step sizes is 0"));
        assert!(message(&[0.1, -1.0]).contains("a step size of the grid is -1"));
        assert!(message(&[5.0]).contains("use a smaller step size"));
        let error = |densities: &[&[f64]]| {
            let grid = vec![1.0; densities.len()];
            let mut index = 0;
            let next = |_: f64| {
                index += 1;
                Ok(densities[index - 1].to_vec())
            };
            choose_step_size(&grid, next, |x: &Vec<f64>| Ok(x.clone())).map(|found| found.best)
        };
        assert!(error(&[&[]]).unwrap_err().to_string().contains("no held-out observations"));
        assert!(error(&[&[1.0, 2.0], &[1.0]]).unwrap_err().to_string().contains("has length 1, expected 2"));
        assert!(error(&[&[f64::NEG_INFINITY]]).unwrap_err().to_string().contains("observation 0 is -inf"));
        // Of equal scores the first wins.
        assert_eq!(error(&[&[f64::NAN], &[1.0], &[1.0], &[0.5]]), Ok(1));
    }
}
