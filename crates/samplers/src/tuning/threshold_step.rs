//! The step size at which gradient noise reaches a threshold: see [`step_size_for_noise`].

use sgmcmc_gradient::{NoiseCovariance, Result, settings};

use crate::chain::Chain;

/// Returns the largest common step size at which gradient noise increases the variance of `chain` by at most `alpha`, at
/// its position.
///
/// # Rule
///
/// αₜ = ¼ λ_max(Fᵀ H^{1/2} V H^{1/2} F), see [`SamplingThreshold`](crate::threshold::SamplingThreshold), is measured at the
/// current step sizes with [`Chain::noise_ratio`] from at least `observations` gradients of single observations. It is
/// proportional to the step sizes, so that the result is h α/αₜ, where h is the current step size
/// [`StepInfo::step_size`](crate::chain::StepInfo::step_size). Step sizes of single parameters change by the same factor.
/// For algorithms with momentum αₜ is the increase by their own law, which is proportional to h if αₜ is small.
///
/// The result is infinite if the gradient estimate has no noise at this point, for instance the full gradient, or control
/// variates at their center. It does not consider the curvature: the chain may be unstable at this step size.
///
/// # Source
///
/// Welling & Teh (2011), §4.1, eq. (10), solved for the step size.
///
/// # Errors
///
/// Returns an error if `alpha` is not positive, if there are fewer than 4 `observations`, or the error of the model, for
/// instance if the likelihood returns only its sum.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
/// use sgmcmc::tuning::step_size_for_noise;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array((0..1000).map(|k| f64::from(k % 7)).collect(), [1000])?)?;
/// let mut sampler = sgld(&model, &data, 1e-3).minibatch(10).seed(1).start(&full([1], 3.0))?;
/// let h = step_size_for_noise(sampler.chain(), 0.1, 2000)?;
/// // N²/n (1 − n/N) times the variance of the data, 4.0, is the noise V, and h = 4 · 0.1/V.
/// assert!((h / (0.4 / 3.96e5) - 1.0).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn step_size_for_noise(chain: &mut dyn Chain, alpha: f64, observations: usize) -> Result<f64> {
    settings::positive("the sampling threshold", alpha)?;
    let expected = "a covariance needs at least 4 of them";
    settings::at_least("the observations of the sampling threshold", observations, 4, expected)?;
    let now = chain.noise_ratio(observations)?;
    scaled(chain.info().step_size, alpha, now)
}

/// Returns the largest step size h at which Langevin steps with gradient noise of covariance `noise` have αₜ = ¼ h λ_max ≤
/// `alpha` at temperature one.
///
/// For steps with a matrix M = F Fᵀ, apply [`NoiseCovariance::transform`] with Fᵀ first. At temperature T multiply the
/// result by T. It is infinite without noise.
///
/// # Source
///
/// Welling & Teh (2011), §4.1, eq. (10), solved for the step size.
///
/// # Errors
///
/// Returns an error if `alpha` is not positive, or if the covariance is not finite.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::{GradientEstimator, MinibatchGradient, NoiseCovariance};
/// use sgmcmc::minibatch::WithReplacement;
/// use sgmcmc::prelude::*;
/// use sgmcmc::tuning::step_size_for_covariance;
///
/// let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
/// let data = Dataset::new(array((0..100).map(f64::from).collect(), [100])?)?;
/// let mut evaluator = model.with(&data).evaluator(&zeros([1]))?;
/// let estimator = MinibatchGradient::new(WithReplacement::new(10));
/// let state = estimator.init(&[0.0], evaluator.as_mut())?;
/// let noise = NoiseCovariance::measure(&estimator, &state, evaluator.as_mut(), &[0.0], 2000, 1)?;
/// // The variance of the estimate is N²/n · 833.25 = 8.3e5.
/// assert!((step_size_for_covariance(&noise, 0.1)? / (0.4 / 8.33e5) - 1.0).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn step_size_for_covariance(noise: &NoiseCovariance, alpha: f64) -> Result<f64> {
    settings::positive("the sampling threshold", alpha)?;
    let value = if noise.is_empty() { 0.0 } else { noise.leading_eigenpair().value };
    scaled(1.0, alpha, 0.25 * value)
}

/// Returns h α/`now`, where `now` is αₜ at the step size `h`.
fn scaled(h: f64, alpha: f64, now: f64) -> Result<f64> {
    settings::non_negative("the ratio of gradient noise to injected noise", now)?;
    Ok(if now > 0.0 { h * alpha / now } else { f64::INFINITY })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sgmcmc_gradient::{
        Analytic, AnalyticModel, ChainRng, FullGradient, GradientEstimator, MinibatchGradient, Target, WithReplacement,
    };

    use super::*;
    use crate::chain::{ChainSpec, TypedChain};
    use crate::langevin::{PreconditionedSgld, Sgld};

    /// Observations of two independent means with standard deviations 1 and 3.
    struct Means;

    impl AnalyticModel for Means {
        fn observations(&self) -> usize {
            1000
        }

        fn dim(&self) -> usize {
            2
        }

        fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
            // The four corners (±1, ±3) equally often.
            let x = [1.0, 3.0].map(|x| if row.is_multiple_of(2) { x } else { -x });
            let x = [x[0], if row % 4 < 2 { x[1] } else { -x[1] }];
            let residual = [x[0] - theta[0], x[1] - theta[1]];
            grad.iter_mut().zip(residual).for_each(|(g, r)| *g += weight * r);
            -0.5 * residual.iter().map(|r| r * r).sum::<f64>()
        }
    }

    fn chain<D, G>(dynamics: D, gradient: G, h: f64) -> TypedChain<D, G>
    where
        G: GradientEstimator,
        D: crate::dynamics::Dynamics<G>,
    {
        let (dynamics, gradient) = (Arc::new(dynamics), Arc::new(gradient));
        let spec = ChainSpec { dynamics, gradient, step_size: h.into(), temperature: 1.0.into() };
        let evaluator = Analytic::new(Means).evaluator(&vec![0.0; 2]).unwrap();
        spec.start(evaluator, &[0.0; 2], ChainRng::new(1, 0)).unwrap()
    }

    fn minibatches() -> MinibatchGradient<WithReplacement> {
        MinibatchGradient::new(WithReplacement::new(20))
    }

    /// λ_max = N²/n · 9 = 4.5e5.
    #[test]
    fn the_step_size_has_the_noise_of_the_threshold() {
        let found = step_size_for_noise(&mut chain(Sgld, minibatches(), 1e-3), 0.05, 4000).unwrap();
        assert!((found / (4.0 * 0.05 / 4.5e5) - 1.0).abs() < 0.02, "{found}");
        let alpha = chain(Sgld, minibatches(), found).noise_ratio(4000).unwrap();
        assert!((alpha - 0.05).abs() < 1e-9, "{alpha}");
    }

    /// With M = diag(1, 1/9) the noise is N²/n · 1 in both directions.
    #[test]
    fn the_matrix_of_the_algorithm_counts() {
        let dynamics = PreconditionedSgld::diagonal(vec![1.0, 1.0 / 9.0]);
        let found = step_size_for_noise(&mut chain(dynamics, minibatches(), 1e-3), 0.05, 4000).unwrap();
        assert!((found / (4.0 * 0.05 / 5e4) - 1.0).abs() < 0.05, "{found}");
    }

    #[test]
    fn a_covariance_gives_the_same_step_size() {
        let mut evaluator = Analytic::new(Means).evaluator(&vec![0.0; 2]).unwrap();
        let estimator = minibatches();
        let state = estimator.init(&[0.0; 2], evaluator.as_mut()).unwrap();
        let noise = NoiseCovariance::measure(&estimator, &state, evaluator.as_mut(), &[0.0; 2], 4000, 0).unwrap();
        let direct = step_size_for_covariance(&noise, 0.05).unwrap();
        let by_chain = step_size_for_noise(&mut chain(Sgld, minibatches(), 1e-3), 0.05, 4000).unwrap();
        assert!((direct / by_chain - 1.0).abs() < 1e-5, "{direct} {by_chain}");
    }

    #[test]
    fn exact_gradients_allow_every_step_size() {
        let found = step_size_for_noise(&mut chain(Sgld, FullGradient, 1e-3), 0.05, 4000).unwrap();
        assert!(found.is_infinite());
        let message = step_size_for_noise(&mut chain(Sgld, FullGradient, 1e-3), 0.0, 4000).unwrap_err().to_string();
        assert!(message.contains("the sampling threshold is 0"), "{message}");
    }
}
