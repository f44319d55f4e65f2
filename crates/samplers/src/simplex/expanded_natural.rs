//! SGRLD with ω = eʸ/Σeʸ: see [`ExpandedNatural`].

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_gradient::Result;

use super::step::{SimplexStep, impl_dynamics};

/// Stochastic gradient Riemannian Langevin dynamics (SGRLD) on the simplex, with the expanded natural parameter y = log θ.
///
/// # Rule
///
/// yⱼ += h/2 e^{−yⱼ} (âⱼ − n̂ ωⱼ − e^{yⱼ} − 1) + √(h e^{−yⱼ}) zⱼ, where â is an estimate of α + Σᵢ zᵢ and n̂ = Σⱼ (âⱼ − αⱼ)
/// the number of counts. The metric is M = diag(e^{−y}).
///
/// # Source
///
/// Patterson & Teh (2013), table 1.
///
/// # Cost
///
/// One estimate of a and a normal variate per coordinate.
///
/// # Settings
///
/// None besides the step size h, a time without unit.
///
/// # Bias
///
/// O(h). Steps are long where θⱼ is small, and the chain diverges if aⱼ is not well above 1. [`Sgld`] on the
/// [`density`] of the target is the algorithm without a metric, which Patterson & Teh prefer in this parametrization.
///
/// [`Sgld`]: crate::langevin::Sgld
/// [`density`]: super::SimplexTarget::density
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::simplex::{Counts, ExpandedNatural, SimplexTarget};
/// use sgmcmc::Builder;
///
/// let labels: Vec<usize> = (0..100).map(|i| i % 3).collect();
/// let target = SimplexTarget::new(vec![10.0; 3], Counts::from_labels(&labels, 3)?)?;
/// let gradient = MinibatchGradient::new(WithoutReplacement::new(20));
/// let fit = Builder::new(target, ExpandedNatural, gradient, 0.01).seed(1).sample(&vec![0.4, 0.3, 0.3], 1000)?;
/// assert!((fit.summary().rows()[0].mean - 0.33).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpandedNatural;

impl ExpandedNatural {
    fn update(self, mut simplex: SimplexStep<'_>) -> Result<()> {
        simplex.normalize();
        let total = simplex.total_count();
        let SimplexStep { log_theta, a, buffer: omega, h, rng, .. } = simplex;
        for ((y, a), omega) in log_theta.iter_mut().zip(a).zip(omega) {
            let metric = (-*y).exp();
            let z: f64 = rng.sample(StandardNormal);
            *y += 0.5 * h * (metric * (a - total * *omega - 1.0) - 1.0) + (h * metric).sqrt() * z;
        }
        Ok(())
    }
}

impl_dynamics!(ExpandedNatural);
