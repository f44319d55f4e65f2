//! SGRLD with ω = |θ|/Σ|θ|: see [`ExpandedMean`].

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_gradient::Result;

use super::step::{SimplexStep, impl_dynamics, mirrored_log};

/// Stochastic gradient Riemannian Langevin dynamics (SGRLD) on the simplex, with the expanded mean θ, ω = θ/Σθ.
///
/// # Rule
///
/// θⱼ ← |θⱼ + h/2 (âⱼ − θⱼ − n̂ ωⱼ) + √(hθⱼ) zⱼ|, where â is an estimate of α + Σᵢ zᵢ and n̂ = Σⱼ (âⱼ − αⱼ) the number of
/// counts. The metric is M = diag(θ), and the absolute value keeps θ positive (mirroring).
///
/// # Source
///
/// Patterson & Teh (2013), who find it the best of four parametrizations; Baker (2019), §5.2.2.
///
/// # Cost
///
/// One estimate of a and a normal variate per coordinate.
///
/// # Settings
///
/// None besides the step size h, a time without unit. The steps of ωⱼ have variance h ωⱼ/Σθ, and the drift limits h to
/// about 2 Σα/n.
///
/// # Bias
///
/// O(h). It is large for probabilities that are smaller than their steps, because mirroring keeps them away from zero.
/// [`Scir`](super::Scir) does not have this bias.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::simplex::{Counts, ExpandedMean, SimplexTarget};
/// use sgmcmc::Builder;
///
/// let labels: Vec<usize> = (0..100).map(|i| i % 3).collect();
/// let target = SimplexTarget::new(vec![1.0; 3], Counts::from_labels(&labels, 3)?)?;
/// let gradient = MinibatchGradient::new(WithoutReplacement::new(20));
/// let fit = Builder::new(target, ExpandedMean, gradient, 0.01).seed(1).sample(&vec![0.4, 0.3, 0.3], 1000)?;
/// assert!((fit.summary().rows()[0].mean - 0.33).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpandedMean;

impl ExpandedMean {
    fn update(self, mut simplex: SimplexStep<'_>) -> Result<()> {
        simplex.normalize();
        let total = simplex.total_count();
        let SimplexStep { log_theta, a, buffer: omega, h, rng, .. } = simplex;
        for ((log_theta, a), omega) in log_theta.iter_mut().zip(a).zip(omega) {
            let theta = log_theta.exp();
            let z: f64 = rng.sample(StandardNormal);
            *log_theta = mirrored_log(theta + 0.5 * h * (a - theta - total * *omega) + (h * theta).sqrt() * z);
        }
        Ok(())
    }
}

impl_dynamics!(ExpandedMean);
