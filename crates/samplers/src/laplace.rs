//! The Laplace approximation: N(θ̂, H⁻¹) in coordinates, θ̂ the mode and H the Hessian of −log p(θ|x) there, drawn from and mapped to values.
//!
//! The draws are independent. How good the approximation is shows in the `log_weight` of each, log p(θ|x) − log N(θ; θ̂, H⁻¹) + const:
//! constant where the posterior is normal.

use std::time::Instant;

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_core::{ChainRng, Error, LbfgsSearch, Result, Target, curvature};
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
    /// `draws` independent draws of the approximation at the mode that is found from `start`, as a fit of one chain.
    ///
    /// Costs the search, 2d full gradients, and a full evaluation per draw.
    ///
    /// # Errors
    ///
    /// If the Hessian is not positive definite where the search ended, or as the model does.
    pub fn fit<T: Target>(&self, target: &T, start: &T::Params, draws: usize) -> Result<Fit> {
        let begun = Instant::now();
        let mut evaluator = target.evaluator(start)?;
        let layout = evaluator.layout().clone();
        let mode = self.search.run(evaluator.as_mut(), &layout.flatten(start)?)?;
        let hessian = curvature::hessian(evaluator.as_mut(), &mode.theta)?;
        let factor = Cholesky::new(&hessian, mode.theta.len()).map_err(|error| {
            let (value, expected) = (format!("refused ({error})"), "the search must end at a maximum");
            Error::Setting { name: "the Hessian at the mode", value, expected }
        })?;
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
            gradients: vec![mode.full_passes + 2 * mode.theta.len() as u64],
            seconds: vec![begun.elapsed().as_secs_f64()],
            version: env!("CARGO_PKG_VERSION").into(),
            ..RunInfo::default()
        };
        Ok(Fit::new(layout, vec![chain])?.with_mode(Some(mode)).with_info(info))
    }
}
