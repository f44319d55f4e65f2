//! Latent variables of the current minibatch: see [`LocalLatents`].

use std::ops::Range;

use sgmcmc_gradient::Result;
use sgmcmc_gradient::rng::StreamRng;

use super::UpdateContext;

/// The latent variables of the observations of the current minibatch, drawn anew in each iteration.
///
/// They need no memory for other observations and no place in checkpoints. Sums over them with the weights of the
/// minibatch are unbiased estimates of sums over all observations, as stochastic-gradient updates of parameters with
/// local latent variables need them. [`LatentStore`](super::LatentStore) keeps the latent variables of all observations,
/// as exact Gibbs samplers need them.
///
/// # Examples
///
/// A mixture of two normal distributions with unit variances. Each iteration draws the labels of a minibatch, several
/// times each, and moves the means by a Langevin step along the estimate of the gradient of the log posterior that the
/// labels give (Fisher's identity):
///
/// ```
/// use rand::RngExt;
/// use rand_distr::StandardNormal;
/// use sgmcmc::algorithms::{LocalLatents, UpdateContext, UpdatesOnly};
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::prelude::*;
///
/// let x: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { -2.0 } else { 2.0 }).collect();
/// let data = Dataset::new(array(x.clone(), [40])?)?;
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| {
///     let density = |k: usize| ((x.clone() - mean.clone().slice([k..k + 1])).square() * -0.5).exp();
///     (density(0) + density(1)).log()
/// });
///
/// let mut labels = LocalLatents::new();
/// let update = move |context: &mut UpdateContext<'_>| {
///     let mean = context.get("theta")?.to_vec();
///     labels.redraw(context, |row, labels: &mut Vec<usize>, rng| {
///         let density = |k: usize| (-0.5 * (x[row] - mean[k]).powi(2)).exp();
///         let second = density(1) / (density(0) + density(1));
///         labels.extend((0..5).map(|_| usize::from(rng.random::<f64>() < second)));
///         Ok(())
///     })?;
///     let (h, mut next): (f64, _) = (0.01, mean.clone());
///     for block in labels.iter() {
///         for label in block.latents {
///             next[*label] += 0.5 * h * block.weight * (x[block.row] - mean[*label]) / 5.0;
///         }
///     }
///     next.iter_mut().for_each(|mean| *mean += h.sqrt() * context.rng().sample::<f64, _>(StandardNormal));
///     context.set("theta", &next)
/// };
/// let gradient = MinibatchGradient::new(WithoutReplacement::new(10));
/// let fit = Builder::new(model.with(&data), UpdatesOnly, gradient, 1.0)
///     .update(move |_chain| update.clone())
///     .burn_in(200)
///     .sample(&array(vec![-1.0, 1.0], [2])?, 500)?;
/// assert!((fit.summary().rows()[1].mean - 2.0).abs() < 0.5);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct LocalLatents<T> {
    rows: Vec<Row>,
    values: Vec<T>,
}

/// The place of the latent variables of one observation.
#[derive(Clone, Debug)]
struct Row {
    row: usize,
    weight: f64,
    range: Range<usize>,
}

/// The latent variables of one observation of the minibatch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalBlock<'a, T> {
    /// The index of the observation.
    pub row: usize,
    /// The weight of the observation in the minibatch.
    pub weight: f64,
    /// The latent variables.
    pub latents: &'a [T],
}

impl<T> LocalLatents<T> {
    /// Creates latent variables of no observation.
    pub fn new() -> Self {
        Self { rows: Vec::new(), values: Vec::new() }
    }

    /// Draws the latent variables of the observations of the current minibatch. `draw` appends those of the observation
    /// with the given index to the vector.
    ///
    /// # Errors
    ///
    /// Returns the errors of `draw`.
    pub fn redraw(
        &mut self,
        context: &mut UpdateContext<'_>,
        mut draw: impl FnMut(usize, &mut Vec<T>, &mut StreamRng) -> Result<()>,
    ) -> Result<()> {
        self.rows.clear();
        self.values.clear();
        for (row, weight) in context.minibatch()?.iter() {
            let start = self.values.len();
            draw(row, &mut self.values, context.rng())?;
            // A closure that removes variables of earlier observations must not lead to a range that does not exist.
            self.rows.push(Row { row, weight, range: start.min(self.values.len())..self.values.len() });
        }
        Ok(())
    }

    /// Returns the latent variables of each observation of the minibatch.
    pub fn iter(&self) -> impl Iterator<Item = LocalBlock<'_, T>> {
        let values = &self.values;
        self.rows.iter().map(move |Row { row, weight, range }| LocalBlock {
            row: *row,
            weight: *weight,
            latents: values.get(range.clone()).unwrap_or(&[]),
        })
    }
}
