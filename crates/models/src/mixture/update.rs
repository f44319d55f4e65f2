//! Updates of stick breaks and components given the allocations.

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Result, settings};
use sgmcmc_samplers::simplex::CirTransition;

use super::random::{log_gamma, log_sum_exp};

/// The update of the stick breaks or of the components of a mixture given the allocations of the observations.
///
/// All three work on probability vectors ω = θ/Σθ with a Dirichlet(a) conditional distribution, a = prior + counts.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{DirichletProcess, Update};
///
/// // The settings of Baker (2019), table B.5.3.
/// let scir = DirichletProcess::multinomial(0.5).minibatch(1000).components(Update::Scir(0.1)).sticks(Update::Scir(0.1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Update {
    /// A draw from the conditional distribution given the stored allocations of all observations. It is exact with every
    /// minibatch, because the counts of the store are kept up to date.
    #[default]
    Gibbs,
    /// The stochastic Cox-Ingersoll-Ross process with this step size (Baker 2019, algorithm 3). The counts are estimated
    /// from the minibatch.
    ///
    /// θ moves by the exact transition of the process with stationary distribution Gamma(â, 1). Before each step, Σθ is
    /// drawn from its distribution Gamma(Σa) given the stored allocations. The published sampler keeps Σθ: it then
    /// depends on earlier allocations, and the allocations are drawn as if it did not, so that the posterior is not
    /// invariant even if the minibatch has all observations. With the draw, it is.
    Scir(f64),
    /// Stochastic-gradient Riemannian Langevin dynamics in the expanded-mean parameterization with mirroring (Patterson &
    /// Teh 2013), with this step size. The counts are estimated from the minibatch.
    Sgrld(f64),
}

impl Update {
    /// Returns an error if the step size is not a positive number.
    pub(super) fn check(self) -> Result<()> {
        match self {
            Self::Gibbs => Ok(()),
            Self::Scir(h) => settings::positive("the step size of SCIR", h).map(drop),
            Self::Sgrld(h) => settings::positive("the step size of SGRLD", h).map(drop),
        }
    }

    /// Returns `true` if the update uses counts of the minibatch.
    pub(super) fn uses_minibatch(self) -> bool {
        self != Self::Gibbs
    }
}

/// The prior, the counts of the minibatch scaled to all observations, and the counts of the store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence<'a> {
    pub(super) prior: &'a [f64],
    pub(super) estimate: &'a [f64],
    pub(super) stored: &'a [f64],
}

/// Draws log ω with ω ~ Dirichlet(`shapes`) and returns the log of the sum of the gamma variates.
pub(super) fn draw_dirichlet(shapes: impl Iterator<Item = f64>, log_omega: &mut [f64], rng: &mut StreamRng) -> f64 {
    for (log_omega, shape) in log_omega.iter_mut().zip(shapes) {
        *log_omega = log_gamma(shape, rng);
    }
    normalize(log_omega)
}

/// Subtracts log Σθ from log θ and returns it.
fn normalize(log_theta: &mut [f64]) -> f64 {
    let log_total = log_sum_exp(log_theta);
    log_theta.iter_mut().for_each(|x| *x = (*x - log_total).max(f64::MIN));
    log_total
}

impl Update {
    /// Moves log ω. `log_total` is log Σθ.
    pub(super) fn apply(
        self,
        log_omega: &mut [f64],
        log_total: &mut f64,
        evidence: Evidence<'_>,
        rng: &mut StreamRng,
    ) -> Result<()> {
        let Evidence { prior, estimate, stored } = evidence;
        *log_total = match self {
            Self::Gibbs => draw_dirichlet(prior.iter().zip(stored).map(|(a, count)| a + count), log_omega, rng),
            Self::Scir(h) => {
                let transition = CirTransition::new(h)?;
                let total = prior.iter().sum::<f64>() + stored.iter().sum::<f64>();
                let log_total = log_gamma(total, rng);
                for (log_omega, (a, count)) in log_omega.iter_mut().zip(prior.iter().zip(estimate)) {
                    *log_omega = transition.step(*log_omega + log_total, a + count, rng);
                }
                normalize(log_omega)
            }
            Self::Sgrld(h) => {
                let count: f64 = estimate.iter().sum();
                for (log_omega, (a, z)) in log_omega.iter_mut().zip(prior.iter().zip(estimate)) {
                    let (omega, theta) = (log_omega.exp(), (*log_omega + *log_total).exp());
                    let drift = 0.5 * h * (a - theta + z - count * omega);
                    let noise = (h * theta).sqrt() * rng.sample::<f64, _>(StandardNormal);
                    *log_omega = (theta + drift + noise).abs().max(f64::MIN_POSITIVE).ln();
                }
                normalize(log_omega)
            }
        };
        Ok(())
    }
}
