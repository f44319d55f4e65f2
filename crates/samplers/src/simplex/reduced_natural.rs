//! SGRLD on log ratios: see [`ReducedNatural`].

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_gradient::Result;

use super::evaluator::log_sum_exp;
use super::step::{SimplexStep, impl_dynamics};

/// Stochastic gradient Riemannian Langevin dynamics (SGRLD) on the simplex, with the reduced natural parameter
/// ηⱼ = log(ωⱼ/ω_K).
///
/// # Rule
///
/// log ωⱼ += h/2 (âⱼ − 1)/ωⱼ + √(h/ωⱼ) zⱼ for all K entries, then ω ← ω/Σω, where â is an estimate of α + Σᵢ zᵢ. The K − 1
/// differences ηⱼ then have the metric M = diag(1/ω) + 11ᵀ/ω_K and its drift.
///
/// # Source
///
/// Patterson & Teh (2013), table 1, whose M has the additional factor 1/n for n counts: h here is their step size over n.
///
/// # Cost
///
/// One estimate of a and a normal variate per coordinate.
///
/// # Settings
///
/// None besides the step size h.
///
/// # Bias
///
/// O(h). Steps are long where ωⱼ is small, and the chain diverges if aⱼ is not well above 1.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::simplex::{Counts, ReducedNatural, SimplexTarget};
/// use sgmcmc::Builder;
///
/// let labels: Vec<usize> = (0..100).map(|i| i % 3).collect();
/// let target = SimplexTarget::new(vec![1.0; 3], Counts::from_labels(&labels, 3)?)?;
/// let gradient = MinibatchGradient::new(WithoutReplacement::new(20));
/// let fit = Builder::new(target, ReducedNatural, gradient, 1e-3).seed(1).sample(&vec![0.4, 0.3, 0.3], 1000)?;
/// assert!((fit.summary().rows()[0].mean - 0.33).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReducedNatural;

impl ReducedNatural {
    fn update(self, mut simplex: SimplexStep<'_>) -> Result<()> {
        simplex.normalize();
        let SimplexStep { log_theta, a, buffer: omega, h, rng, .. } = simplex;
        for ((y, a), omega) in log_theta.iter_mut().zip(a).zip(&*omega) {
            let z: f64 = rng.sample(StandardNormal);
            *y += 0.5 * h * (a - 1.0) / omega + (h / omega).sqrt() * z;
        }
        let log_total = log_sum_exp(log_theta);
        log_theta.iter_mut().for_each(|y| *y -= log_total);
        Ok(())
    }
}

impl_dynamics!(ReducedNatural);
