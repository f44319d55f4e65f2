//! Predictions: a function of parameters and observations, at every draw or averaged over the draws.

use std::ops::Range;

use rayon::prelude::*;
use sgmcmc_core::burn::Tensor;
use sgmcmc_core::tree::to_device;
use sgmcmc_core::{Dataset, Error, Precision, Result, Rows, TensorTree, default_device};

use super::{Fit, Predictions};

/// Observations that a closure is given at once.
const BATCH: usize = 8192;

/// Most bytes of predictions that are kept draw by draw.
const MEMORY_LIMIT: usize = 1 << 30;

impl Fit {
    /// `prediction` of the parameters and of the observations in `data`, averaged over the draws with their weights: of shape
    /// `[observations, …]`. Observations are given in batches, on all threads.
    ///
    /// ```
    /// # use sgmcmc_core::{Dataset, Layout, array, burn::Tensor, zeros};
    /// # use sgmcmc_samplers::{ChainDraws, Fit, sink::Draw};
    /// # let start = zeros([1]);
    /// # let mut chain = ChainDraws::new(1, vec![]);
    /// # for x in [1.0, 3.0] {
    /// #     chain.push(&Draw { iteration: 1, values: &[x], weight: 1.0, log_posterior: 0.0, stats: &[] })?;
    /// # }
    /// # let fit = Fit::new(Layout::of(&start)?, vec![chain])?;
    /// let test = Dataset::new(array(vec![1.0, 2.0], [2])?)?;
    /// let predicted = fit.predict(&test, &start, |slope: Tensor<1>, x: Tensor<1>| x * slope)?;
    /// assert_eq!(predicted.values, [2.0, 4.0]);
    /// assert_eq!(predicted.rmse(&[2.0, 3.0])?, 0.5_f64.sqrt());
    /// # Ok::<(), sgmcmc_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If `like` has other names or shapes than the fit, there is no draw, or the prediction has not one row per observation.
    pub fn predict<P: TensorTree, D: TensorTree, const K: usize>(
        &self,
        data: &Dataset<D>,
        like: &P,
        prediction: impl Fn(P, D) -> Tensor<K> + Sync,
    ) -> Result<Predictions> {
        let draws = self.weighted_draws();
        let total: f64 = draws.iter().map(|(_, weight)| weight).sum();
        let piece = draws.len().div_ceil(rayon::current_num_threads()).max(1);
        let mut averaged = Averaged::default();
        for rows in batches(data.observations()) {
            let batch = data.batch(Rows::range(rows.clone()), &default_device())?;
            let sums = draws.par_chunks(piece).map(|draws| {
                let mut sum = Averaged::default();
                for (values, weight) in draws {
                    let found = self.at(like, values, data, &batch, &prediction)?;
                    sum.add(&found.checked(rows.len())?, weight / total)?;
                }
                Ok(sum)
            });
            let sums = sums.collect::<Result<Vec<Averaged>>>()?;
            let mut part = Averaged::default();
            sums.iter().try_for_each(|sum| part.add(&sum.predicted(), 1.0))?;
            averaged.append(part)?;
        }
        Ok(averaged.predicted())
    }

    /// As [`predict`](Self::predict) for every draw by itself: of shape `[draws, observations, …]`, chain after chain. Up to 1 GiB; beyond
    /// that thin first.
    ///
    /// # Errors
    ///
    /// As [`predict`](Self::predict), and if it takes more memory.
    pub fn predict_each<P: TensorTree, D: TensorTree, const K: usize>(
        &self,
        data: &Dataset<D>,
        like: &P,
        prediction: impl Fn(P, D) -> Tensor<K> + Sync,
    ) -> Result<Predictions> {
        let draws = self.weighted_draws();
        let one = |(values, _): &(&[f64], f64)| {
            let mut all = Averaged::default();
            for rows in batches(data.observations()) {
                let batch = data.batch(Rows::range(rows.clone()), &default_device())?;
                let mut part = Averaged::default();
                part.add(&self.at(like, values, data, &batch, &prediction)?.checked(rows.len())?, 1.0)?;
                all.append(part)?;
            }
            Ok(all.predicted())
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

    fn at<P: TensorTree, D: TensorTree, const K: usize>(
        &self,
        like: &P,
        values: &[f64],
        data: &Dataset<D>,
        batch: &D,
        prediction: &impl Fn(P, D) -> Tensor<K>,
    ) -> Result<Predictions> {
        let (device, precision) = (default_device(), data.precision().unwrap_or(Precision::Double));
        let params = self.layout.tree(like, values, precision, &device)?;
        let found = prediction(params, to_device(batch, &device));
        Ok(Predictions { shape: found.dims().to_vec(), values: found.into_data().iter::<f64>().collect() })
    }

    fn weighted_draws(&self) -> Vec<(&[f64], f64)> {
        self.chains.iter().flat_map(|chain| chain.rows().zip(chain.weights().iter().copied())).collect()
    }
}

fn batches(observations: usize) -> impl Iterator<Item = Range<usize>> {
    (0..observations).step_by(BATCH).map(move |start| start..observations.min(start + BATCH))
}

fn no_draws() -> Error {
    Error::Setting { name: "the number of draws", value: "0".into(), expected: "predictions need at least 1" }
}

impl Predictions {
    /// An error unless there is one row per observation.
    fn checked(self, rows: usize) -> Result<Self> {
        if self.shape.first() == Some(&rows) {
            return Ok(self);
        }
        let (expected, found) = (rows, self.shape.first().copied().unwrap_or(0));
        Err(Error::Length { what: "the first axis of a prediction (one row per observation)", expected, found })
    }
}

/// A weighted sum of predictions, of any shape until the first is added.
#[derive(Default)]
struct Averaged {
    sum: Option<Predictions>,
}

impl Averaged {
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

    /// Adds the rows of `other` after these.
    fn append(&mut self, other: Self) -> Result<()> {
        let other = other.predicted();
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

    fn predicted(&self) -> Predictions {
        self.sum.clone().unwrap_or(Predictions { shape: vec![0], values: Vec::new() })
    }
}
