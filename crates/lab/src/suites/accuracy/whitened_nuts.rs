//! NUTS in coordinates whitened by the draws of another run.
//!
//! NUTS is exact in all coordinates. If all directions have the same scale, its trajectories are short, and a long
//! reference run on all data takes minutes instead of hours. Its speed is not that of NUTS without this information.

use std::sync::Arc;
use std::time::Instant;

use sgmcmc::algorithms::Nuts;
use sgmcmc::fit::ChainDraws;
use sgmcmc::gradient::{Evaluator, Target};
use sgmcmc::numerics::Cholesky;
use sgmcmc::prelude::*;
use sgmcmc::sink::Draw;
use sgmcmc::{Layout, TreeLayout, default_device};

use super::methods::{CHAINS, Gradients, Row, sampling_gradients};
use crate::Result;
use crate::suites::posteriors::coordinates::{Affine, transformed};

type MakeEvaluator = dyn Fn() -> sgmcmc::gradient::Result<Box<dyn Evaluator>> + Send + Sync;

/// A target in the coordinates u with θ = c + F u.
struct Whitened {
    make: Box<MakeEvaluator>,
    affine: Arc<Affine>,
}

impl Target for Whitened {
    type Params = Tensor<1>;

    fn evaluator(&self, start: &Tensor<1>) -> sgmcmc::gradient::Result<Box<dyn Evaluator>> {
        transformed((self.make)()?, Layout::from_tree(start)?, Some(self.affine.clone()))
    }

    fn layout(&self, params: &Tensor<1>) -> sgmcmc::gradient::Result<Layout> {
        Layout::from_tree(params)
    }

    fn flatten(&self, layout: &Layout, params: &Tensor<1>) -> sgmcmc::gradient::Result<Vec<f64>> {
        TreeLayout::flatten(layout, params)
    }

    fn unflatten(&self, layout: &Layout, like: &Tensor<1>, theta: &[f64]) -> sgmcmc::gradient::Result<Tensor<1>> {
        TreeLayout::unflatten(layout, like, theta, &default_device())
    }
}

/// Runs NUTS in coordinates whitened by the draws of `fit`.
///
/// # Errors
///
/// Returns an error if the covariance of the draws is not positive definite, and the errors of the run.
pub(super) fn run<T: Target + Clone>(
    target: &T,
    start: &T::Params,
    fit: &Fit,
    (warm_up, draws): (u64, usize),
    seed: u64,
) -> Result<Row> {
    let layout = target.layout(start)?;
    let affine = Arc::new(whitening(&layout, fit)?);
    let center = target.unflatten(&layout, start, &affine.center)?;
    let inner = target.clone();
    let whitened = Whitened { make: Box::new(move || inner.evaluator(&center)), affine: affine.clone() };
    let begin = Instant::now();
    let nuts = Nuts { warm_up, chains: CHAINS, seed, ..Nuts::default() };
    let whitened_fit = nuts.sample(&whitened, &zeros([layout.dim()]), draws)?;
    let seconds = begin.elapsed().as_secs_f64();
    let gradients = Gradients { tuning: 0.0, sampling: sampling_gradients(whitened_fit.info()) };
    let chains = whitened_fit.chains().iter().map(|chain| to_values(chain, &layout, &affine)).collect::<Result<_>>()?;
    let method = format!("NUTS, whitened, warm-up {warm_up}, {CHAINS} × {draws} draws");
    Ok(Row::new(method, &Fit::new(layout, chains)?, seconds, gradients))
}

/// Returns the map from whitened coordinates, with the mean and the covariance of the draws of `fit`.
fn whitening(layout: &Layout, fit: &Fit) -> Result<Affine> {
    let d = layout.dim();
    let points = fit.chains().iter().flat_map(ChainDraws::rows);
    let points = points.map(|values| Ok(layout.coordinates(values)?)).collect::<Result<Vec<_>>>()?;
    let n = points.len() as f64;
    let center: Vec<f64> = (0..d).map(|i| points.iter().map(|point| point[i]).sum::<f64>() / n).collect();
    // The Cholesky factor of the matrix in reverse order is an upper triangular root of the matrix.
    let mut reversed = vec![0.0; d * d];
    for point in &points {
        for i in 0..d {
            for j in 0..d {
                let product = (point[d - 1 - i] - center[d - 1 - i]) * (point[d - 1 - j] - center[d - 1 - j]);
                reversed[i * d + j] += product / (n - 1.0);
            }
        }
    }
    let root = Cholesky::new(&reversed, d)?;
    let matrix = (0..d * d).map(|k| root.factor()[(d - 1 - k / d) * d + (d - 1 - k % d)]).collect();
    Ok(Affine { center, matrix })
}

/// Returns the draws of `chain` as values of the model.
fn to_values(chain: &ChainDraws, layout: &Layout, affine: &Affine) -> Result<ChainDraws> {
    let mut values = ChainDraws::new(layout.value_count(), Vec::new());
    let mut theta = vec![0.0; layout.dim()];
    for (iteration, u) in chain.rows().enumerate() {
        affine.apply(u, &mut theta);
        let point = layout.values(&theta)?;
        let draw = Draw { iteration: iteration as u64, values: &point, weight: 1.0, log_posterior: 0.0, stats: &[] };
        values.push(&draw)?;
    }
    Ok(values)
}
