//! The Laplace approximation: N(θ̂, H⁻¹) in coordinates, θ̂ the mode and H the Hessian of −log p(θ|x) there, drawn from and mapped to values.
//!
//! The draws are independent. How good the approximation is shows in the `log_weight` of each, log p(θ|x) − log N(θ; θ̂, H⁻¹) + const:
//! constant where the posterior is normal.

use std::time::Instant;

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_core::curvature::Differences;
use sgmcmc_core::mode::{Ending, NEGLIGIBLE_GAIN};
use sgmcmc_core::{ChainRng, Error, Evaluator, LbfgsSearch, Mode, Result, Target};
use sgmcmc_linalg::{Cholesky, vector::dot};

use crate::fit::{ChainDraws, Fit, RunInfo};
use crate::sink::Draw;

/// The Laplace approximation of a posterior.
///
/// | setting | default | purpose |
/// |---|---|---|
/// | `search` | [`LbfgsSearch`] | how the mode is found |
/// | `seed` | 0 | of the draws |
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaplaceApproximation {
    /// How the mode is found.
    pub search: LbfgsSearch,
    /// The seed of the draws.
    pub seed: u64,
}

impl LaplaceApproximation {
    /// Makes `draws` independent draws of the approximation at the mode that is found from `start`, as a fit of one chain.
    ///
    /// A search that ended short of the mode is continued with Newton steps. Costs the search, 2d + 1 full gradients (as many again for each
    /// Newton step), and a full evaluation per draw.
    ///
    /// # Errors
    ///
    /// Returns an error if the point found is not the mode: the Hessian is not positive definite there, or a Newton step still promises a gain
    /// of more than 0.005 in log posterior, a tenth of a posterior standard deviation in one direction. Returns the model's errors.
    pub fn fit<T: Target>(&self, target: &T, start: &T::Params, draws: usize) -> Result<Fit> {
        let begun = Instant::now();
        let mut evaluator = target.evaluator(start)?;
        let layout = evaluator.layout().clone();
        let mut mode = self.search.run(evaluator.as_mut(), &layout.flatten(start)?)?;
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
            seconds: vec![begun.elapsed().as_secs_f64()],
            version: env!("CARGO_PKG_VERSION").into(),
            ..RunInfo::default()
        };
        Ok(Fit::new(layout, vec![chain])?.with_mode(Some(mode)).with_info(info))
    }

    /// The Cholesky factor of the Hessian at `mode`, which is moved by Newton steps while they promise more than [`NEGLIGIBLE_GAIN`].
    fn factor_at_mode(&self, evaluator: &mut dyn Evaluator, mode: &mut Mode) -> Result<Cholesky> {
        let mut gain = f64::NAN;
        for steps in 0..=NEWTON_STEPS {
            let mut differences = Differences::new(evaluator, &mode.theta);
            let hessian = differences.hessian()?;
            mode.full_passes += differences.passes() + 1;
            let factor = Cholesky::new(&hessian, mode.theta.len()).map_err(|error| {
                let (value, expected) = (format!("refused ({error})"), "the search must end at a maximum");
                Error::Setting { name: "the Hessian at the mode", value, expected }
            })?;
            let mut gradient = vec![0.0; mode.theta.len()];
            mode.log_posterior = evaluator.posterior(&mode.theta, evaluator.all_rows(), &mut gradient)?;
            mode.gradient_norm = dot(&gradient, &gradient).sqrt();
            gain = promised_gain(&factor, gradient.clone());
            mode.promised_gain = gain.is_finite().then_some(gain);
            if gain <= NEGLIGIBLE_GAIN {
                if steps > 0 {
                    mode.ending = if gain <= self.search.tolerance { Ending::Converged } else { Ending::Stalled };
                }
                return Ok(factor);
            }
            factor.solve(&mut gradient);
            if !climb(evaluator, mode, &gradient) {
                break;
            }
        }
        Err(Error::Setting {
            name: "the gain in log posterior that a Newton step promises where the search ended",
            value: format!("{gain:.3e}"),
            expected: "a Laplace approximation needs the mode: allow the search more iterations, start nearer to the mode, standardize the data, \
                       or compute in double precision; a density with a kink at its mode has no Laplace approximation",
        })
    }
}

/// Most Newton steps taken from where the search ended.
const NEWTON_STEPS: u32 = 20;
/// How often a Newton step is halved.
const HALVINGS: u32 = 30;

/// Moves `mode` along `step`, halved until the log posterior rises; returns whether it did.
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

/// gᵀH⁻¹g/2: the gain in log posterior that a Newton step promises, from the factor of H and the gradient.
pub(crate) fn promised_gain(factor: &Cholesky, mut gradient: Vec<f64>) -> f64 {
    factor.solve_lower(&mut gradient);
    0.5 * dot(&gradient, &gradient)
}
