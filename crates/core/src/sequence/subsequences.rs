//! Minibatches of one long series.

use burn_tensor::{Tensor, TensorData};

use crate::array::default_device;
use crate::data::Dataset;
use sgmcmc_gradient::error::{Error, Result};

/// Divides a long series into subsequences with buffers, so that minibatches of subsequences estimate the gradient of the
/// whole series.
///
/// The log-likelihood of a series is Σₜ log p(yₜ | y₁, …, yₜ₋₁). Its gradient takes a pass over all steps. Here each
/// observation of a data set is a *window*: a subsequence of [`length`](Self::new) steps, with up to
/// [`buffer`](Self::buffer) steps before it. The model runs over the window from its own initial state, and returns the
/// sum of the terms of the subsequence; the buffer only brings the state close to that of a run from the beginning. Each
/// step of the series is in one subsequence, so that every minibatch scheme applies unchanged.
///
/// The estimate is biased, because the steps before the buffer are ignored. If the state forgets its past at a geometric
/// rate, the bias decays at this rate as the buffer grows; the cost of a subsequence is that of length + buffer steps.
/// Terms that also depend on later steps, such as those of a smoother, need a [`buffer_after`](Self::buffer_after).
///
/// Windows do not exceed the series. Those at its ends are shifted, and their buffers are longer on one side.
///
/// Source: Aicher, Ma, Foti & Fox (2019), *Stochastic gradient MCMC for state space models*.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::sequence::{Subsequences, scan};
///
/// // An autoregression yₜ ~ N(φ yₜ₋₁, 1).
/// let model = Model::new(|phi: Tensor<1>, (y, inside): (Tensor<2>, Tensor<2>)| {
///     let before = y.clone().narrow(1, 0, 1) * 0.0;
///     let terms = scan(before, y, 1, |last: Tensor<2>, y: Tensor<2>| {
///         (y.clone(), (y - last * phi.clone().unsqueeze()).square() * -0.5)
///     });
///     (terms.outputs * inside).sum_dim(1).squeeze_dim::<1>(1)
/// });
/// let series = array((0..1000).map(|t| (0.1 * f64::from(t)).sin()).collect::<Vec<_>>(), [1000])?;
/// let windows: Dataset<(Tensor<2>, Tensor<2>)> = Subsequences::new(50).buffer(10).of(series)?;
/// assert_eq!(windows.observations(), 20);
/// let fit = sgld(&model, &windows, 1e-4).minibatch(5).sample(&zeros([1]), 10)?;
/// assert!(fit.mean_values()[0].is_finite());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subsequences {
    length: usize,
    before: usize,
    after: usize,
}

impl Subsequences {
    /// Creates subsequences of `length` steps without buffers.
    pub fn new(length: usize) -> Self {
        Self { length, before: 0, after: 0 }
    }

    /// Sets the number of steps before a subsequence.
    #[must_use]
    pub fn buffer(self, steps: usize) -> Self {
        Self { before: steps, ..self }
    }

    /// Sets the number of steps after a subsequence.
    #[must_use]
    pub fn buffer_after(self, steps: usize) -> Self {
        Self { after: steps, ..self }
    }

    /// Returns the windows of a series, whose first axis is that of time. The data set has two leaves: the windows, of
    /// shape `[n, steps, …]`, and an indicator of shape `[n, steps]`, which is one for the steps of the subsequence and
    /// zero in the buffers.
    ///
    /// # Errors
    ///
    /// Returns an error if the length is zero, if the series has no steps, if the rank of the result is not one more than
    /// that of the series, or if a value is not finite.
    pub fn of<const D: usize, const E: usize>(self, series: Tensor<D>) -> Result<Dataset<(Tensor<E>, Tensor<2>)>> {
        let dims = series.dims();
        let refused = |reason: String| Err(Error::EmptyDataset { reason });
        if E != D + 1 {
            return refused(format!("windows of a series of rank {D} have rank {}, not {E}", D + 1));
        }
        let steps = dims[0];
        if self.length == 0 || steps == 0 {
            return refused(format!("a series of {steps} steps has no subsequences of {} steps", self.length));
        }
        let dtype = series.dtype();
        let values: Vec<f64> = series.into_data().iter::<f64>().collect();
        let width: usize = dims[1..].iter().product();
        let window = (self.length + self.before + self.after).min(steps);
        let (mut windows, mut inside) = (vec![], vec![]);
        for start in (0..steps).step_by(self.length) {
            let first = start.saturating_sub(self.before).min(steps - window);
            windows.extend_from_slice(&values[first * width..(first + window) * width]);
            let own = start..(start + self.length).min(steps);
            inside.extend((first..first + window).map(|step| f64::from(u8::from(own.contains(&step)))));
        }
        let count = steps.div_ceil(self.length);
        let shape: [usize; E] = std::array::from_fn(|axis| match axis {
            0 => count,
            1 => window,
            axis => dims[axis - 1],
        });
        let device = default_device();
        let windows = Tensor::<E>::from_data(TensorData::new(windows, shape), (&device, dtype));
        let inside = Tensor::<2>::from_data(TensorData::new(inside, [count, window]), (&device, dtype));
        Dataset::new((windows, inside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::array;
    use sgmcmc_gradient::data::Rows;

    fn series(steps: usize) -> Tensor<1> {
        array((0..steps).map(|step| step as f64).collect::<Vec<_>>(), [steps]).unwrap()
    }

    #[test]
    fn each_step_is_in_one_subsequence() {
        for (steps, length, before, after) in [(10, 3, 2, 0), (10, 5, 4, 1), (7, 10, 2, 2), (9, 1, 0, 3), (1, 1, 1, 1)]
        {
            let options = Subsequences::new(length).buffer(before).buffer_after(after);
            let windows: Dataset<(Tensor<2>, Tensor<2>)> = options.of(series(steps)).unwrap();
            let n = windows.observations();
            let (values, inside) = windows.batch(Rows::range(0..n), &default_device()).unwrap();
            let values: Vec<f64> = values.into_data().iter::<f64>().collect();
            let inside: Vec<f64> = inside.into_data().iter::<f64>().collect();
            let mut counts = vec![0.0; steps];
            values.iter().zip(&inside).for_each(|(step, inside)| counts[*step as usize] += inside);
            assert_eq!(counts, vec![1.0; steps]);
            for window in values.chunks(values.len() / n) {
                assert!(window.windows(2).all(|pair| (pair[1] - pair[0] - 1.0).abs() < 1e-12), "{window:?}");
            }
        }
    }

    #[test]
    fn mistakes() {
        let wrong: Result<Dataset<(Tensor<3>, Tensor<2>)>> = Subsequences::new(2).of(series(4));
        assert!(wrong.unwrap_err().to_string().contains("rank 2, not 3"));
        let none: Result<Dataset<(Tensor<2>, Tensor<2>)>> = Subsequences::new(0).of(series(4));
        assert!(none.unwrap_err().to_string().contains("no subsequences of 0 steps"));
    }
}
