//! Comparison of models by their expected log predictive densities.

use super::log_sum_exp;
use crate::error::Error;
use crate::geyer::variance;

/// The largest number of iterations of the stacking weights.
const MAX_ITERATIONS: usize = 100_000;
/// The change of a weight below which the iterations end.
const TOLERANCE: f64 = 1e-10;

/// The estimates of one model: those of [`Loo`](super::Loo) or [`Waic`](super::Waic).
///
/// # Examples
///
/// See [`compare`].
#[derive(Clone, Copy, Debug)]
pub struct ModelEstimates<'a> {
    /// The contribution of each observation to elpd.
    pub elpd_i: &'a [f64],
    /// The effective number of parameters.
    pub p: f64,
}

/// The method of the weights of models.
///
/// # Examples
///
/// See [`compare`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelWeights {
    /// Stacking: the mixture of the predictive distributions with the largest elpd (Yao, Vehtari, Simpson & Gelman 2018).
    #[default]
    Stacking,
    /// Pseudo-BMA: proportional to exp(elpd), without regard to the uncertainty of elpd.
    PseudoBma,
}

/// One row of a comparison.
///
/// # Examples
///
/// See [`compare`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedModel {
    /// The index of the model.
    pub index: usize,
    /// The expected log pointwise predictive density.
    pub elpd: f64,
    /// The standard error of `elpd`.
    pub se: f64,
    /// The effective number of parameters.
    pub p: f64,
    /// The elpd of the best model minus that of this model.
    pub difference: f64,
    /// The standard error of `difference`.
    pub difference_se: f64,
    /// The weight of the model.
    pub weight: f64,
}

/// Compares models that were fitted to the same observations. Returns the rows with the largest elpd first.
///
/// # Errors
///
/// Returns an error if there are fewer than two models or no observations, if the models have different numbers of
/// observations, or if a number is not finite.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::loo::{ModelEstimates, ModelWeights, compare};
///
/// let models = [ModelEstimates { elpd_i: &[-2.0, -3.0], p: 1.0 }, ModelEstimates { elpd_i: &[-1.0, -1.0], p: 2.0 }];
/// let rows = compare(&models, ModelWeights::Stacking)?;
/// assert_eq!((rows[0].index, rows[1].difference), (1, 3.0));
/// assert!(rows[0].weight > 0.999);
/// # Ok::<(), sgmcmc::diagnostics::Error>(())
/// ```
pub fn compare(models: &[ModelEstimates<'_>], method: ModelWeights) -> Result<Vec<ComparedModel>, Error> {
    if models.len() < 2 {
        let found = models.len() as f64;
        return Err(Error::Setting { what: "the number of compared models", found, expected: "at least 2" });
    }
    let expected = models[0].elpd_i.len();
    if expected == 0 {
        return Err(Error::TooFew { what: "the list of elpd", found: 0, least: 1 });
    }
    for model in models {
        let found = model.elpd_i.len();
        if found != expected {
            return Err(Error::Length {
                what: "the elpd of a model",
                found,
                expected,
                per: "observation of the first",
            });
        }
        if let Some(row) = model.elpd_i.iter().position(|elpd| !elpd.is_finite()) {
            return Err(Error::NotFinite { what: "the elpd of a model", row, column: 0 });
        }
    }
    let total = |index: usize| models[index].elpd_i.iter().sum::<f64>();
    let mut order: Vec<usize> = (0..models.len()).collect();
    order.sort_by(|a, b| total(*b).total_cmp(&total(*a)));
    let weights = match method {
        ModelWeights::Stacking => stacking(models),
        ModelWeights::PseudoBma => {
            let sum = log_sum_exp((0..models.len()).map(total));
            (0..models.len()).map(|index| (total(index) - sum).exp()).collect()
        }
    };
    let best = models[order[0]].elpd_i;
    let error = |values: &[f64]| if expected > 1 { (expected as f64 * variance(values)).sqrt() } else { 0.0 };
    let row = |index: usize| {
        let differences: Vec<f64> = best.iter().zip(models[index].elpd_i).map(|(best, own)| best - own).collect();
        ComparedModel {
            index,
            elpd: total(index),
            se: error(models[index].elpd_i),
            p: models[index].p,
            difference: differences.iter().sum(),
            difference_se: error(&differences),
            weight: weights[index],
        }
    };
    Ok(order.into_iter().map(row).collect())
}

/// Returns the weights w that maximize Σᵢ log Σₖ wₖ exp(elpdᵢₖ), by the EM algorithm for the proportions of a mixture. The
/// objective is concave, and every iteration increases it.
fn stacking(models: &[ModelEstimates<'_>]) -> Vec<f64> {
    let observations = models[0].elpd_i.len();
    // The densities relative to the best model of each observation.
    let densities: Vec<Vec<f64>> = (0..observations)
        .map(|i| {
            let largest = models.iter().map(|model| model.elpd_i[i]).fold(f64::NEG_INFINITY, f64::max);
            models.iter().map(|model| (model.elpd_i[i] - largest).exp()).collect()
        })
        .collect();
    let mut weights = vec![1.0 / models.len() as f64; models.len()];
    for _ in 0..MAX_ITERATIONS {
        let mut next = vec![0.0; models.len()];
        for row in &densities {
            let mixture: f64 = row.iter().zip(&weights).map(|(density, weight)| density * weight).sum();
            next.iter_mut()
                .zip(row.iter().zip(&weights))
                .for_each(|(next, (density, weight))| *next += density * weight / (mixture * observations as f64));
        }
        let change = next.iter().zip(&weights).map(|(next, weight)| (next - weight).abs()).fold(0.0, f64::max);
        weights = next;
        if change < TOLERANCE {
            break;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elpd of three models: the first two are each better for a part of the observations, the third is the worst.
    fn elpd() -> [Vec<f64>; 3] {
        let at = |shift: f64| (0..60).map(|i| -1.0 - (0.1 * f64::from(i) - shift).powi(2) / 8.0).collect();
        let worst: Vec<f64> = (0..60).map(|i| -4.0 - 0.01 * f64::from(i)).collect();
        [at(1.0), at(4.5), worst]
    }

    fn models(elpd: &[Vec<f64>; 3]) -> Vec<ModelEstimates<'_>> {
        elpd.iter().map(|elpd_i| ModelEstimates { elpd_i, p: 1.0 }).collect()
    }

    #[test]
    fn stacking_maximizes_the_score_of_the_mixture() {
        let elpd = elpd();
        let weights = stacking(&models(&elpd));
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9 && weights[2] < 1e-3, "{weights:?}");
        let score = |weights: &[f64]| -> f64 {
            (0..60).map(|i| elpd.iter().zip(weights).map(|(model, w)| w * model[i].exp()).sum::<f64>().ln()).sum()
        };
        // The best of a grid on the simplex is not better.
        for a in 0..=50 {
            for b in 0..=(50 - a) {
                let other = [f64::from(a) / 50.0, f64::from(b) / 50.0, f64::from(50 - a - b) / 50.0];
                assert!(score(&other) <= score(&weights) + 1e-6, "{other:?} {weights:?}");
            }
        }
    }

    #[test]
    fn rows_have_the_differences_to_the_best_model() {
        let elpd = elpd();
        let rows = compare(&models(&elpd), ModelWeights::PseudoBma).unwrap();
        assert_eq!(rows.iter().map(|row| row.index).collect::<Vec<_>>(), [1, 0, 2]);
        let sum = |index: usize| elpd[index].iter().sum::<f64>();
        assert!((rows[1].difference - (sum(1) - sum(0))).abs() < 1e-12 && rows[0].difference == 0.0);
        let pairs: Vec<f64> = elpd[1].iter().zip(&elpd[0]).map(|(a, b)| a - b).collect();
        assert!((rows[1].difference_se - (60.0 * variance(&pairs)).sqrt()).abs() < 1e-12);
        assert!((rows[1].weight / rows[0].weight - (-rows[1].difference).exp()).abs() < 1e-12);
    }

    #[test]
    fn models_of_other_observations_are_refused() {
        let one = ModelEstimates { elpd_i: &[-1.0, -2.0], p: 1.0 };
        let other = ModelEstimates { elpd_i: &[-1.0], p: 1.0 };
        assert!(compare(&[one, other], ModelWeights::Stacking).unwrap_err().to_string().contains("expected 2"));
        assert!(compare(&[one], ModelWeights::Stacking).unwrap_err().to_string().contains("at least 2"));
        let infinite = ModelEstimates { elpd_i: &[-1.0, f64::NEG_INFINITY], p: 1.0 };
        assert!(compare(&[one, infinite], ModelWeights::Stacking).is_err());
    }
}
