//! Predictions: a function of parameters and observations, at every draw or averaged over the draws.

use std::ops::Range;

use burn_tensor::Tensor;
use rayon::prelude::*;
use sgmcmc_fit::{Fit, Predictions};
use sgmcmc_gradient::{Error, Layout, Precision, Result, Rows};

use crate::array::default_device;
use crate::data::Dataset;
use crate::tree::{TensorTree, TreeLayout, to_device, unconstrained};

/// The number of observations per call of a closure.
const BATCH: usize = 8192;

/// The maximum size in bytes of the predictions at every draw.
const MEMORY_LIMIT: usize = 1 << 30;

/// The values of a draw, and its weight.
struct WeightedDraw<'a> {
    values: &'a [f64],
    weight: f64,
}

/// Returns the mean of `prediction` over the draws of `fit`.
pub(super) fn mean<P: TensorTree, D: TensorTree, const K: usize>(
    fit: &Fit,
    data: &Dataset<D>,
    like: &P,
    prediction: &(impl Fn(P, D) -> Tensor<K> + Sync),
) -> Result<Predictions> {
    let (draws, layout) = (weighted_draws(fit), fit.parameters_like(&unconstrained(like)?)?);
    let total: f64 = draws.iter().map(|draw| draw.weight).sum();
    let share = draws.len().div_ceil(rayon::current_num_threads()).max(1);
    let mut averaged = WeightedSum::default();
    for rows in batches(data.observations()) {
        let batch = data.batch(Rows::range(rows.clone()), &default_device())?;
        let sums = draws.par_chunks(share).map(|draws| {
            let mut sum = WeightedSum::default();
            for draw in draws {
                let found = predict(&layout, like, draw.values, data, &batch, prediction)?;
                sum.add(&checked(found, rows.len())?, draw.weight / total)?;
            }
            Ok(sum)
        });
        let sums = sums.collect::<Result<Vec<WeightedSum>>>()?;
        let mut part = WeightedSum::default();
        sums.iter().try_for_each(|sum| part.add(&sum.predictions(), 1.0))?;
        averaged.append(part)?;
    }
    Ok(averaged.predictions())
}

/// Returns `prediction` at every draw of `fit`.
pub(super) fn each<P: TensorTree, D: TensorTree, const K: usize>(
    fit: &Fit,
    data: &Dataset<D>,
    like: &P,
    prediction: &(impl Fn(P, D) -> Tensor<K> + Sync),
) -> Result<Predictions> {
    let (draws, layout) = (weighted_draws(fit), fit.parameters_like(&unconstrained(like)?)?);
    let one = |draw: &WeightedDraw<'_>| {
        let mut all = WeightedSum::default();
        for rows in batches(data.observations()) {
            let batch = data.batch(Rows::range(rows.clone()), &default_device())?;
            let mut part = WeightedSum::default();
            part.add(&checked(predict(&layout, like, draw.values, data, &batch, prediction)?, rows.len())?, 1.0)?;
            all.append(part)?;
        }
        Ok(all.predictions())
    };
    let first = draws.first().map(one).transpose()?.ok_or_else(no_draws)?;
    let needed = draws.len().saturating_mul(first.values.len()).saturating_mul(size_of::<f64>());
    if needed > MEMORY_LIMIT {
        let what = format!("predictions of shape {:?} at {} draws", first.shape, draws.len());
        return Err(Error::memory(what, needed, MEMORY_LIMIT, "use `fit.thinned(…)` first, or `predict`"));
    }
    let rest = draws[1..].par_iter().map(one).collect::<Result<Vec<Predictions>>>()?;
    let shape = [draws.len()].into_iter().chain(first.shape.iter().copied()).collect();
    let mut values = first.values;
    rest.iter().for_each(|predicted| values.extend_from_slice(&predicted.values));
    Ok(Predictions { shape, values })
}

/// Evaluates `prediction` at one draw.
fn predict<P: TensorTree, D: TensorTree, const K: usize>(
    layout: &Layout,
    like: &P,
    values: &[f64],
    data: &Dataset<D>,
    batch: &D,
    prediction: &impl Fn(P, D) -> Tensor<K>,
) -> Result<Predictions> {
    let (device, precision) = (default_device(), data.precision().unwrap_or(Precision::Double));
    let params = layout.to_tree(like, &values[..layout.value_count()], precision, &device)?;
    let found = prediction(params, to_device(batch, &device));
    Ok(Predictions { shape: found.dims().to_vec(), values: found.into_data().iter::<f64>().collect() })
}

fn weighted_draws(fit: &Fit) -> Vec<WeightedDraw<'_>> {
    let chains = fit.chains().iter();
    let draws = chains.flat_map(|chain| chain.rows().zip(chain.weights()));
    draws.map(|(values, weight)| WeightedDraw { values, weight: *weight }).collect()
}

fn batches(observations: usize) -> impl Iterator<Item = Range<usize>> {
    (0..observations).step_by(BATCH).map(move |start| start..observations.min(start + BATCH))
}

fn no_draws() -> Error {
    Error::Setting { name: "the number of draws", value: "0".into(), expected: "predictions need at least 1" }
}

/// Checks that the first axis of a prediction is the observation.
fn checked(predictions: Predictions, rows: usize) -> Result<Predictions> {
    let found = predictions.shape.first().copied().unwrap_or(0);
    if found == rows {
        return Ok(predictions);
    }
    Err(Error::Length { what: "the first axis of a prediction (one row per observation)", expected: rows, found })
}

/// A weighted sum of predictions. Its shape is that of the first prediction added.
#[derive(Default)]
struct WeightedSum {
    sum: Option<Predictions>,
}

impl WeightedSum {
    fn add(&mut self, predicted: &Predictions, weight: f64) -> Result<()> {
        match &mut self.sum {
            None => {
                let values = predicted.values.iter().map(|value| weight * value).collect();
                self.sum = Some(Predictions { shape: predicted.shape.clone(), values });
            }
            Some(sum) if sum.shape == predicted.shape => {
                sum.values.iter_mut().zip(&predicted.values).for_each(|(sum, value)| *sum += weight * value);
            }
            Some(sum) => {
                let (declared, found) = (sum.shape.clone(), predicted.shape.clone());
                return Err(Error::ParameterShape { parameter: "the prediction".into(), declared, found });
            }
        }
        Ok(())
    }

    /// Appends the observations of `other`.
    fn append(&mut self, other: Self) -> Result<()> {
        let other = other.predictions();
        match &mut self.sum {
            None => self.sum = Some(other),
            Some(sum) if sum.shape[1..] == other.shape[1..] => {
                sum.shape[0] += other.shape[0];
                sum.values.extend_from_slice(&other.values);
            }
            Some(sum) => {
                let (declared, found) = (sum.shape.clone(), other.shape);
                return Err(Error::ParameterShape { parameter: "the prediction".into(), declared, found });
            }
        }
        Ok(())
    }

    fn predictions(&self) -> Predictions {
        self.sum.clone().unwrap_or(Predictions { shape: vec![0], values: Vec::new() })
    }
}
