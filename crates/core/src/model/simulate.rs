//! Simulated observations.

use burn_tensor::{Bool, DType, Int, Tensor, TensorData};
use rand::Rng;
use sgmcmc_gradient::Precision;
use sgmcmc_gradient::data::{Column, Rows};
use sgmcmc_gradient::error::{Closure, Result};
use sgmcmc_gradient::rng::ChainRng;

use super::Model;
use super::observation::Observation;
use crate::array::{default_device, dtype};
use crate::closure::guarded;
use crate::data::Dataset;
use crate::tree::{Source, TensorTree};

/// The number of observations per call of the closures.
pub(super) const BATCH: usize = 8192;

/// The purpose of the streams of simulated observations.
const SIMULATION: u64 = 2;

impl<P: TensorTree, D: TensorTree> Model<P, D> {
    /// Returns `data` with the observed leaf replaced by a draw given `params`. The other leaves, such as covariates, are
    /// unchanged. The values of the observed leaf in `data` are not used.
    ///
    /// # Errors
    ///
    /// Returns an error if the model does not describe its observations (see [`observe`](Self::observe)), if the
    /// observed values are not a leaf of the data, or if a draw is not finite.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::observe(|mean: Tensor<1>, _: Tensor<1>| Normal::new(mean, 1.0), |y: Tensor<1>| y);
    /// let simulated = model.simulate(&full([1], 3.0), &Dataset::new(zeros([1000]))?, 1)?;
    /// let mean = simulated.columns()[0].numbers().sum::<f64>() / 1000.0;
    /// assert!((mean - 3.0).abs() < 0.15);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn simulate(&self, params: &P, data: &Dataset<D>, seed: u64) -> Result<Dataset<D>> {
        let mut streams = ChainRng::streams(seed, SIMULATION, 1);
        match streams.first_mut() {
            Some(rng) => self.simulate_by(params, data, rng),
            None => Ok(data.clone()),
        }
    }

    /// Simulates with the generator `rng`. See [`simulate`](Self::simulate).
    pub(crate) fn simulate_by(&self, params: &P, data: &Dataset<D>, rng: &mut dyn Rng) -> Result<Dataset<D>> {
        let drawn = self.draw_observed(params, data, rng)?;
        let all = data.batch(Rows::range(0..data.observations()), &default_device())?;
        let leaves =
            self.observed_leaves(&data.batch(Rows::range(0..data.observations().min(1)), &default_device())?)?;
        // The other leaves may contain values that are not finite, such as limits of censoring.
        let simulated =
            Dataset::allow_non_finite(all.rebuild(&mut Replaced { leaves: &leaves, drawn: &drawn, next: 0 }))?;
        leaves.iter().filter_map(|leaf| simulated.columns().get(*leaf)).try_for_each(Column::check_finite)?;
        Ok(simulated)
    }

    /// Draws the observed values of all rows, one vector for each leaf.
    pub(crate) fn draw_observed(&self, params: &P, data: &Dataset<D>, rng: &mut dyn Rng) -> Result<Vec<Vec<f64>>> {
        let observation = self.observation()?;
        self.each_batch(params, data, |observation_params, batch| {
            guarded(Closure::Observations, || observation.draw(observation_params, batch, rng))
        })
    }

    /// Returns the observed values of all rows, one vector for each leaf.
    pub(crate) fn observed_values(&self, params: &P, data: &Dataset<D>) -> Result<Vec<Vec<f64>>> {
        let observation = self.observation()?;
        self.each_batch(params, data, |_, batch| guarded(Closure::Observations, || observation.observed(batch)))
    }

    /// Returns the means of the observed values of all leaves, or `None` if a distribution has no known mean.
    pub(crate) fn mean_observed(&self, params: &P, data: &Dataset<D>) -> Result<Option<Vec<f64>>> {
        let observation: &dyn Observation<P, D> = self.observation()?;
        let mut known = true;
        let means = self.each_batch(params, data, |observation_params, batch| {
            let means = guarded(Closure::Observations, || observation.mean(observation_params, batch))?;
            known &= means.is_some();
            Ok(vec![means.unwrap_or_default()])
        })?;
        Ok(known.then(|| means.concat()))
    }

    /// Calls `call` with batches of rows, and joins the vectors of each leaf.
    fn each_batch(
        &self,
        params: &P,
        data: &Dataset<D>,
        mut call: impl FnMut(P, D) -> Result<Vec<Vec<f64>>>,
    ) -> Result<Vec<Vec<f64>>> {
        let float = dtype(data.precision().unwrap_or(Precision::Double));
        let mut all: Vec<Vec<f64>> = Vec::new();
        for start in (0..data.observations()).step_by(BATCH) {
            let rows = Rows::range(start..data.observations().min(start + BATCH));
            let batch = data.batch(rows, &default_device())?;
            let leaves = call(params.rebuild(&mut Cast(float)), batch)?;
            all.resize(leaves.len(), Vec::new());
            all.iter_mut().zip(leaves).for_each(|(all, leaf)| all.extend(leaf));
        }
        Ok(all)
    }
}

/// Copies leaves to the default device, with floats of a type.
struct Cast(DType);

impl Source for Cast {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        like.clone().to_device(&default_device()).cast(self.0)
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        like.clone()
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        like.clone()
    }

    fn constant<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        self.float(like)
    }
}

/// Replaces the observed leaves by drawn values.
struct Replaced<'a> {
    /// The indices of the observed leaves.
    leaves: &'a [usize],
    /// The drawn values of each observed leaf.
    drawn: &'a [Vec<f64>],
    next: usize,
}

impl Replaced<'_> {
    /// Returns the drawn values of the next leaf, if it is observed.
    fn next(&mut self) -> Option<&[f64]> {
        let leaf = self.next;
        self.next += 1;
        let position = self.leaves.iter().position(|observed| *observed == leaf)?;
        self.drawn.get(position).map(Vec::as_slice)
    }
}

impl Source for Replaced<'_> {
    fn float<const D: usize>(&mut self, like: &Tensor<D>) -> Tensor<D> {
        match self.next() {
            Some(values) => {
                let data = TensorData::new(values.to_vec(), like.dims());
                Tensor::<D>::from_data(data, (&default_device(), DType::F64)).cast(like.dtype())
            }
            None => like.clone(),
        }
    }

    fn int<const D: usize>(&mut self, like: &Tensor<D, Int>) -> Tensor<D, Int> {
        match self.next() {
            Some(values) => {
                let values: Vec<i64> = values.iter().map(|value| *value as i64).collect();
                Tensor::from_data(TensorData::new(values, like.dims()), (&default_device(), like.dtype()))
            }
            None => like.clone(),
        }
    }

    fn bool<const D: usize>(&mut self, like: &Tensor<D, Bool>) -> Tensor<D, Bool> {
        self.next();
        like.clone()
    }
}
