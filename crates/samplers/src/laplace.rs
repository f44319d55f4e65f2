//! The Laplace approximation: see [`LaplaceApproximation`].

use std::time::Instant;

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_gradient::curvature::Differences;
use sgmcmc_gradient::mode::{NEGLIGIBLE_GAIN, SearchOutcome};
use sgmcmc_gradient::{ChainRng, Error, Evaluator, LbfgsSearch, Mode, Result, Target};
use sgmcmc_numerics::{Cholesky, vector::dot};

use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{ChainDraws, Fit, RunInfo};

/// The Laplace approximation: independent draws from a normal approximation of the posterior at its mode.
///
/// # Rule
///
/// The draws are N(θ̂, H⁻¹) in coordinates, mapped to the values of the parameters. θ̂ is the mode and H the Hessian of
/// −log p(θ|x) at the mode. The statistic `log_weight` of a draw is log p(θ|x) − log N(θ; θ̂, H⁻¹) up to a constant. It
/// is constant if the posterior is normal, and its spread shows the quality of the approximation.
///
/// # Cost
///
/// The mode search, 2d + 1 full gradients for the Hessian, a Cholesky factorization (d³/3), and one full evaluation of
/// the density per draw.
///
/// # Settings
///
/// | setting | default | meaning |
/// |---|---|---|
/// | `search` | [`LbfgsSearch`] | search for the mode |
/// | `seed` | 0 | seed of the draws |
///
/// # Bias
///
/// The approximation is exact for normal posteriors only. Its error decreases with the number of observations.
///
/// # When to use it
///
/// As a fast first look, as a reference for the location and scale of a posterior, and for starts and preconditioners
/// ([`PreconditionedSgld::laplace`](crate::langevin::PreconditionedSgld::laplace)).
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::LaplaceApproximation;
/// use sgmcmc::distributions::*;
/// use sgmcmc::prelude::*;
///
/// let model = Model::new(|mean: Tensor<1>, x: Tensor<1>| Normal::new(mean, 1.0).log_prob(x));
/// let data = Dataset::new(array(vec![0.5, 1.5, 1.0, 2.0], [4])?)?;
/// let fit = LaplaceApproximation::default().fit(&model.with(&data), &zeros([1]), 1000)?;
/// assert!((fit.summary().rows()[0].mean - 1.25).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaplaceApproximation {
    /// The search for the mode.
    pub search: LbfgsSearch,
    /// The seed of the draws.
    pub seed: u64,
}

impl LaplaceApproximation {
    /// Searches for the mode from `start` and makes `draws` independent draws of the approximation, as a fit of one
    /// chain.
    ///
    /// If the search ends before the mode, Newton steps follow. Each costs another 2d + 1 full gradients.
    ///
    /// # Errors
    ///
    /// Returns an error if the search does not find the mode: the Hessian is not positive definite, or the expected
    /// gain of a Newton step in log posterior is more than 0.005, which is a tenth of a posterior standard deviation in
    /// one direction. Returns the model's errors.
    pub fn fit<T: Target>(&self, target: &T, start: &T::Params, draws: usize) -> Result<Fit> {
        let started = Instant::now();
        let mut evaluator = target.evaluator(start)?;
        let layout = evaluator.layout().clone();
        let mut mode = self.search.run(evaluator.as_mut(), &target.flatten(&layout, start)?)?;
        let factor = self.factor_at_mode(evaluator.as_mut(), &mut mode)?;
        let mut rng = ChainRng::new(self.seed, 0);
        let mut chain = ChainDraws::with_capacity(draws, layout.value_count(), vec!["log_weight".into()]);
        let (mut theta, mut values) = (vec![0.0; mode.theta.len()], vec![0.0; layout.value_count()]);
        for iteration in 1..=draws as u64 {
            theta.iter_mut().for_each(|theta| *theta = rng.noise().sample(StandardNormal));
            let log_normal = -0.5 * dot(&theta, &theta);
            factor.solve_upper(&mut theta);
            theta.iter_mut().zip(&mode.theta).for_each(|(theta, mode)| *theta += mode);
            let log_posterior = evaluator.log_density(&theta, evaluator.all_rows())?;
            layout.values_into(&theta, &mut values)?;
            let log_weight = log_posterior - mode.log_posterior - log_normal;
            chain.push(&Draw { iteration, values: &values, weight: 1.0, log_posterior, stats: &[log_weight] })?;
        }
        let info = RunInfo {
            algorithm: format!("{self:?}"),
            gradient: "FullGradient".into(),
            observations: evaluator.observations(),
            seed: self.seed,
            thin: 1,
            iterations: vec![draws as u64],
            gradients: vec![mode.full_passes],
            seconds: vec![started.elapsed().as_secs_f64()],
            version: env!("CARGO_PKG_VERSION").into(),
            ..RunInfo::default()
        };
        Ok(Fit::new(layout, vec![chain])?.with_mode(Some(mode)).with_info(info))
    }

    /// Returns the Cholesky factor of the Hessian at `mode`. Moves `mode` by Newton steps while their expected gain is
    /// more than [`NEGLIGIBLE_GAIN`].
    fn factor_at_mode(&self, evaluator: &mut dyn Evaluator, mode: &mut Mode) -> Result<Cholesky> {
        let mut gain = f64::NAN;
        for steps in 0..=NEWTON_STEPS {
            let mut differences = Differences::new(evaluator, &mode.theta);
            let hessian = differences.hessian()?;
            mode.full_passes += differences.passes() + 1;
            let factor = Cholesky::new(&hessian, mode.theta.len()).map_err(|error| {
                let (value, expected) = (format!("not valid ({error})"), "the search must end at a maximum");
                Error::Setting { name: "the Hessian at the mode", value, expected }
            })?;
            let mut gradient = vec![0.0; mode.theta.len()];
            mode.log_posterior = evaluator.posterior(&mode.theta, evaluator.all_rows(), &mut gradient)?;
            mode.gradient_norm = dot(&gradient, &gradient).sqrt();
            gain = predicted_gain(&factor, gradient.clone());
            mode.predicted_gain = gain.is_finite().then_some(gain);
            if gain <= NEGLIGIBLE_GAIN {
                if steps > 0 {
                    mode.outcome =
                        if gain <= self.search.tolerance { SearchOutcome::Converged } else { SearchOutcome::Stalled };
                }
                return Ok(factor);
            }
            factor.solve(&mut gradient);
            if !climb(evaluator, mode, &gradient) {
                break;
            }
        }
        Err(Error::Setting {
            name: "the predicted gain in log posterior of a Newton step from the end of the search",
            value: format!("{gain:.3e}"),
            expected: "a Laplace approximation needs the mode: allow the search more iterations, start nearer to the mode, standardize the data, \
                       or compute in double precision; a density with a kink at its mode has no Laplace approximation",
        })
    }
}

/// The largest number of Newton steps after the search.
const NEWTON_STEPS: u32 = 20;
/// The largest number of halvings of a Newton step.
const HALVINGS: u32 = 30;

/// Moves `mode` along `step`, halved until the log posterior increases. Returns false if it does not increase.
fn climb(evaluator: &mut dyn Evaluator, mode: &mut Mode, step: &[f64]) -> bool {
    let mut scale = 1.0;
    for _ in 0..HALVINGS {
        let theta: Vec<f64> = mode.theta.iter().zip(step).map(|(theta, step)| theta + scale * step).collect();
        mode.full_passes += 1;
        if evaluator.log_density(&theta, evaluator.all_rows()).is_ok_and(|value| value > mode.log_posterior) {
            mode.iterations += 1;
            mode.theta = theta;
            return true;
        }
        scale *= 0.5;
    }
    false
}

/// Returns gᵀH⁻¹g/2, the expected gain of a Newton step in log posterior, from the Cholesky factor of H and the
/// gradient.
pub(crate) fn predicted_gain(factor: &Cholesky, mut gradient: Vec<f64>) -> f64 {
    factor.solve_lower(&mut gradient);
    0.5 * dot(&gradient, &gradient)
}
