//! The stochastic Cox-Ingersoll-Ross algorithm: see [`Scir`].

use sgmcmc_gradient::Result;

use super::cir::CirTransition;
use super::step::{SimplexStep, impl_dynamics};

/// The stochastic Cox-Ingersoll-Ross algorithm (SCIR): sampling on the simplex without discretization error.
///
/// # Rule
///
/// θⱼ ← (1 − e⁻ʰ) Gamma(âⱼ + K, 1), K ~ Poisson(θⱼ e⁻ʰ/(1 − e⁻ʰ)), and ω = θ/Σθ, where â is an estimate of a = α + Σᵢ zᵢ
/// from a [`SimplexTarget`](super::SimplexTarget). This is the exact transition of a process with stationary
/// distribution Gamma(aⱼ, 1), with â in place of a. Counts are not negative: estimates below α, which control variates
/// of counts that depend on ω can produce, are replaced by α.
///
/// # Source
///
/// Baker (2019), algorithm 3. With control variates, §5.6.
///
/// # Cost
///
/// One estimate of a and a Poisson and a gamma variate per coordinate.
///
/// # Settings
///
/// None besides the step size h, a time without unit: the autocorrelation of θ is e⁻ʰ per step. h = 1 is large and
/// 0.01 is small.
///
/// # Bias
///
/// None at any h if a is exact: with all observations, or with control variates and counts that do not depend on ω.
/// Otherwise E θ is exact, and the stationary variance of θⱼ is larger than aⱼ by (1 − e⁻ʰ)/(1 + e⁻ʰ) Var âⱼ, which is
/// of order h.
///
/// # When to use it
///
/// For probabilities, above all if some are close to zero, where SGRLD is biased.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::simplex::{Counts, Scir, SimplexTarget};
/// use sgmcmc::Builder;
///
/// let labels: Vec<usize> = (0..100).map(|i| i % 2).collect();
/// let target = SimplexTarget::new(vec![0.1; 3], Counts::from_labels(&labels, 3)?)?;
/// let gradient = MinibatchGradient::new(WithoutReplacement::new(20));
/// let fit = Builder::new(target, Scir, gradient, 0.1).seed(1).burn_in(100).sample(&vec![0.4, 0.3, 0.3], 1000)?;
/// assert!((fit.summary().rows()[0].mean - 0.5).abs() < 0.05);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scir;

impl Scir {
    fn update(self, simplex: SimplexStep<'_>) -> Result<()> {
        let SimplexStep { log_theta, a, alpha, h, rng, .. } = simplex;
        let transition = CirTransition::new(h)?;
        for ((log_theta, a), alpha) in log_theta.iter_mut().zip(a).zip(alpha) {
            *log_theta = transition.step(*log_theta, a.max(*alpha), rng);
        }
        Ok(())
    }
}

impl_dynamics!(Scir);
