//! Subposteriors of any target: see [`Subposterior`].

use sgmcmc_gradient::data::{Selection, Weights};
use sgmcmc_gradient::evaluator::check_output;
use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::{Error, Evaluator, Fingerprint, ModelIdentity, Result, Rows, Target};

use super::Shard;

/// The posterior given one of S shards of the data, with tempered prior or likelihood.
///
/// With [`Tempering::FractionalPrior`](sgmcmc_fit::Tempering::FractionalPrior), the default, the density in
/// unconstrained coordinates y is
///
/// ```text
/// (p(θ(y)) |J(y)|)^{1/S} Π_{i in shard} p(xᵢ | θ(y))
/// ```
///
/// where |J| is the Jacobian of the constraints. It has the power of the prior, so that the product of all subposteriors
/// in coordinates, where draws are combined, is the density of the posterior in coordinates. With
/// [`Tempering::Inflated`](sgmcmc_fit::Tempering::Inflated), prior and Jacobian have power one, and the likelihood has
/// power S.
///
/// Observations are counted within the shard. It works for every target: the data of closures are not copied.
///
/// The temperature of a *run* ([`Builder::temperature`](https://docs.rs/sgmcmc)) adds powers of the Jacobian as if it
/// had power one. Combine draws of constrained parameters only from runs at temperature one, and temper the model
/// instead.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::Rows;
/// use sgmcmc::distributed::shards::Shards;
/// use sgmcmc::gradient::Target;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5)
///     .prior(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let data = Dataset::new(array(vec![1.0, 2.0, 4.0, 8.0], [4])?)?;
/// let shard = Shards::consecutive(4, 2)?.shard(1).unwrap();
/// let mut evaluator = shard.target(model.with(&data)).evaluator(&zeros([1]))?;
/// assert_eq!(evaluator.observations(), 2);
/// // Half of the prior −½ θ², and the observations 4 and 8.
/// assert_eq!(evaluator.log_density(&[2.0], Rows::range(0..2))?, -1.0 - 2.0 - 18.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Subposterior<T> {
    target: T,
    shard: Shard,
}

impl<T> Subposterior<T> {
    pub(super) fn new(target: T, shard: Shard) -> Self {
        Self { target, shard }
    }

    /// Returns the shard.
    pub fn shard(&self) -> &Shard {
        &self.shard
    }

    /// Returns the target of all data.
    pub fn target(&self) -> &T {
        &self.target
    }
}

impl<T: Target> Target for Subposterior<T> {
    type Params = T::Params;

    fn evaluator(&self, start: &Self::Params) -> Result<Box<dyn Evaluator>> {
        let inner = self.target.evaluator(start)?;
        let (shards, data) = (self.shard.indexed(), inner.observations());
        if shards != data {
            let what = "the observations of the shards (divide the data set of the run)";
            return Err(Error::Length { what, expected: data, found: shards });
        }
        let gradient = vec![0.0; inner.dim()];
        let (rows, weights) = (Vec::new(), Vec::new());
        Ok(Box::new(SubposteriorEvaluator { inner, shard: self.shard.clone(), gradient, rows, weights }))
    }

    crate::evaluator::same_parameters!(target);

    /// Returns a fingerprint of the data and of the shard, also if the target has none.
    fn fingerprint(&self) -> Option<Fingerprint> {
        let mut hasher = Fingerprinter::new();
        if let Some(data) = self.target.fingerprint() {
            hasher.bytes(&data.to_le_bytes());
        }
        hasher.text(&self.shard.info().to_string());
        self.shard.rows().iter().for_each(|row| hasher.word(*row as u64));
        Some(hasher.finish())
    }
}

/// The evaluator of a subposterior.
#[derive(Debug)]
struct SubposteriorEvaluator {
    inner: Box<dyn Evaluator>,
    shard: Shard,
    /// The gradient of the prior before it is multiplied with its power.
    gradient: Vec<f64>,
    /// The indices of selected observations in the whole data set.
    rows: Vec<usize>,
    /// The weights of selected observations, times the power of the likelihood.
    weights: Vec<f64>,
}

impl SubposteriorEvaluator {
    /// Calls `call` with the evaluator of all data and with `rows` of the shard as rows of all data. Weights are
    /// multiplied with `power`.
    fn with_rows<R>(
        &mut self,
        rows: Rows<'_>,
        power: f64,
        call: impl FnOnce(&mut dyn Evaluator, Rows<'_>) -> Result<R>,
    ) -> Result<R> {
        let Self { inner, shard, rows: buffer, weights: scaled, .. } = self;
        rows.check(shard.observations())?;
        let selected = match (rows.selection(), shard.start_if_consecutive()) {
            (Selection::Range { length: 0, .. }, _) => Rows::range(0..0),
            (Selection::Range { start, length }, Some(first)) => Rows::range(first + start..first + start + length),
            (Selection::Range { start, length }, None) => Rows::list(&shard.rows()[start..start + length]),
            (Selection::List(list), _) => {
                buffer.clear();
                buffer.extend(list.iter().map(|row| shard.rows()[*row]));
                Rows::list(buffer)
            }
        };
        let selected = match rows.weights() {
            Weights::Same(weight) => selected.scaled(weight * power),
            Weights::Each(weights) => {
                scaled.clear();
                scaled.extend(weights.iter().map(|weight| weight * power));
                selected.weighted(scaled)?
            }
        };
        call(inner.as_mut(), selected)
    }
}

impl Evaluator for SubposteriorEvaluator {
    crate::evaluator::same_computation!(inner);

    fn observations(&self) -> usize {
        self.shard.observations()
    }

    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64> {
        let power = self.shard.prior_power();
        // A power of one is exact.
        if power >= 1.0 {
            return self.inner.prior(theta, grad);
        }
        self.inner.layout().check_length(grad)?;
        self.gradient.fill(0.0);
        let value = self.inner.prior(theta, &mut self.gradient)?;
        grad.iter_mut().zip(&self.gradient).for_each(|(grad, prior)| *grad += power * prior);
        Ok(power * value)
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        let power = self.shard.likelihood_power();
        self.with_rows(rows, power, |inner, rows| inner.likelihood(theta, rows, grad))
    }

    fn posterior(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        if self.shard.prior_power() < 1.0 {
            return Ok(self.prior(theta, grad)? + self.likelihood(theta, rows, grad)?);
        }
        let power = self.shard.likelihood_power();
        self.with_rows(rows, power, |inner, rows| inner.posterior(theta, rows, grad))
    }

    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64> {
        let (prior_power, power) = (self.shard.prior_power(), self.shard.likelihood_power());
        let all = self.with_rows(rows, power, |inner, rows| inner.log_density(theta, rows))?;
        if prior_power >= 1.0 {
            return Ok(all);
        }
        self.gradient.fill(0.0);
        let prior = self.inner.prior(theta, &mut self.gradient)?;
        // Outside the support of the prior the difference is not defined.
        Ok(if prior.is_finite() { all - (1.0 - prior_power) * prior } else { prior })
    }

    fn log_likelihood_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.with_rows(rows, 1.0, |inner, rows| inner.log_likelihood_per_observation(theta, rows, out))
    }

    fn gradient_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        check_output("the matrix of gradients", rows.len() * self.dim(), out.len())?;
        let power = self.shard.likelihood_power();
        self.with_rows(rows, 1.0, |inner, rows| inner.gradient_per_observation(theta, rows, out))?;
        if power > 1.0 {
            out.iter_mut().for_each(|entry| *entry *= power);
        }
        Ok(())
    }

    /// Returns the identifier of the model of all data. The shard is part of the fingerprint of the data.
    fn identity(&mut self, theta: &[f64]) -> Result<ModelIdentity> {
        self.inner.identity(theta)
    }
}
