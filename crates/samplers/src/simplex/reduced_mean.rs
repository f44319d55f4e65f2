//! SGRLD on the probabilities themselves: see [`ReducedMean`].

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_gradient::Result;

use super::step::{SimplexStep, impl_dynamics, mirrored_log};

/// Stochastic gradient Riemannian Langevin dynamics (SGRLD) on the simplex, with the reduced mean: ω itself.
///
/// # Rule
///
/// ω += h/2 (â − ω Σâ) + √h (√ω ∘ z − ω Σⱼ √ωⱼ zⱼ), then ω ← |ω|/Σ|ω|, where â is an estimate of α + Σᵢ zᵢ. The metric of
/// the first K − 1 entries is M = diag(ω) − ωωᵀ; the rule has this form for all K, whose sum stays 1. Without the
/// mirroring it is a discretized Wright-Fisher diffusion.
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
/// None besides the step size h. The drift is stable for h Σa below 4.
///
/// # Bias
///
/// O(h). It is large for probabilities that are smaller than their steps.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::simplex::{Counts, ReducedMean, SimplexTarget};
/// use sgmcmc::Builder;
///
/// let labels: Vec<usize> = (0..100).map(|i| i % 3).collect();
/// let target = SimplexTarget::new(vec![1.0; 3], Counts::from_labels(&labels, 3)?)?;
/// let gradient = MinibatchGradient::new(WithoutReplacement::new(20));
/// let fit = Builder::new(target, ReducedMean, gradient, 1e-3).seed(1).sample(&vec![0.4, 0.3, 0.3], 1000)?;
/// assert!((fit.summary().rows()[0].mean - 0.33).abs() < 0.1);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReducedMean;

impl ReducedMean {
    fn update(self, mut simplex: SimplexStep<'_>) -> Result<()> {
        simplex.normalize();
        let SimplexStep { log_theta, a, buffer: omega, h, rng, .. } = simplex;
        let total: f64 = a.iter().sum();
        let mut common = 0.0;
        // The noise √ωⱼ zⱼ takes the place of log θ, which is not needed any more.
        for (noise, omega) in log_theta.iter_mut().zip(&*omega) {
            *noise = omega.sqrt() * rng.sample::<f64, _>(StandardNormal);
            common += *noise;
        }
        let mut sum = 0.0;
        for ((omega, a), noise) in omega.iter_mut().zip(a).zip(&*log_theta) {
            let moved = *omega + 0.5 * h * (a - total * *omega) + h.sqrt() * (noise - common * *omega);
            sum += moved.abs();
            *omega = moved;
        }
        log_theta.iter_mut().zip(omega).for_each(|(log_theta, omega)| *log_theta = mirrored_log(*omega / sum));
        Ok(())
    }
}

impl_dynamics!(ReducedMean);
