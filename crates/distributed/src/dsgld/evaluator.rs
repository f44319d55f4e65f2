//! The density that a chain follows while it visits a shard.

use sgmcmc_gradient::data::Weights;
use sgmcmc_gradient::{Evaluator, Result, Rows};

use super::approximation::ShardApproximation;

/// The density that a chain follows on shard s: log p(θ) + ℓₛ(θ)/fₛ + log q(θ) − log qₛ(θ)/fₛ.
///
/// ℓₛ is the log-likelihood of the shard, and fₛ the share of the steps that chains make on it, so that the mean over all
/// steps is the log posterior. qₛ approximates the likelihood of the shard, and q is the product of all qₛ. The last two terms
/// are the conducive gradient of El Mekkaoui et al. (2021). Their mean over all steps is zero. Without approximations they are left out.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::dsgld::ShardEvaluator;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array(vec![1.0, 2.0], [2])?)?;
/// let local = model.with(&data).evaluator(&zeros([1]))?;
/// // A shard on which chains make a quarter of their steps.
/// let mut evaluator = ShardEvaluator::new(local, 0.25);
/// let (rows, mut gradient) = (sgmcmc::data::Rows::range(0..2), [0.0]);
/// sgmcmc::gradient::Evaluator::likelihood(&mut evaluator, &[0.0], rows, &mut gradient)?;
/// assert_eq!(gradient, [12.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct ShardEvaluator {
    local: Box<dyn Evaluator>,
    /// The weight 1/fₛ of the likelihood.
    factor: f64,
    conducive: Option<Conducive>,
    /// The gradient of the shard, if its observations have weights of their own.
    scratch: Vec<f64>,
}

/// The approximations qₛ and q.
#[derive(Debug)]
struct Conducive {
    shard: ShardApproximation,
    all: ShardApproximation,
}

impl ShardEvaluator {
    /// Creates the evaluator of a shard on which chains make the share `share` of their steps.
    pub fn new(local: Box<dyn Evaluator>, share: f64) -> Self {
        Self { local, factor: 1.0 / share, conducive: None, scratch: Vec::new() }
    }

    /// Adds the conducive gradient: `shard` approximates the likelihood of this shard, and `all` that of all shards together.
    #[must_use]
    pub fn with_conducive_gradient(self, shard: ShardApproximation, all: ShardApproximation) -> Self {
        Self { conducive: Some(Conducive { shard, all }), ..self }
    }

    fn add_conducive(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        let Some(Conducive { shard, all }) = &self.conducive else { return 0.0 };
        all.add_gradient(theta, 1.0, grad) + shard.add_gradient(theta, -self.factor, grad)
    }
}

impl Evaluator for ShardEvaluator {
    crate::evaluator::same_computation!(local);

    fn observations(&self) -> usize {
        self.local.observations()
    }

    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64> {
        let prior = self.local.prior(theta, grad)?;
        Ok(prior + self.add_conducive(theta, grad))
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        match rows.weights() {
            Weights::Same(weight) => self.local.likelihood(theta, rows.scaled(weight * self.factor), grad),
            Weights::Each(_) => {
                self.scratch.clear();
                self.scratch.resize(grad.len(), 0.0);
                let value = self.local.likelihood(theta, rows, &mut self.scratch)?;
                grad.iter_mut().zip(&self.scratch).for_each(|(g, local)| *g += self.factor * local);
                Ok(self.factor * value)
            }
        }
    }

    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64> {
        let mut gradient = vec![0.0; theta.len()];
        self.posterior(theta, rows, &mut gradient)
    }

    fn log_likelihood_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.local.log_likelihood_per_observation(theta, rows, out)
    }

    fn gradient_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.local.gradient_per_observation(theta, rows, out)?;
        out.iter_mut().for_each(|gradient| *gradient *= self.factor);
        Ok(())
    }
}
