//! The concentration parameter of the Dirichlet process.

use rand::RngExt;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Result, settings};

use super::random::{gamma, log_gamma};

/// The concentration parameter α: fixed, or with a gamma prior.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Concentration, DirichletProcess};
///
/// let fixed = DirichletProcess::multinomial(0.5).concentration(Concentration::Fixed(1.0));
/// let inferred = DirichletProcess::multinomial(0.5).concentration(Concentration::Gamma { shape: 1.0, rate: 0.1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Concentration {
    /// A known value.
    Fixed(f64),
    /// The prior Gamma(shape, rate).
    Gamma {
        /// The shape.
        shape: f64,
        /// The rate.
        rate: f64,
    },
}

impl Default for Concentration {
    /// The prior Gamma(1, 1).
    fn default() -> Self {
        Self::Gamma { shape: 1.0, rate: 1.0 }
    }
}

impl Concentration {
    /// Returns an error if a number is not positive.
    pub(super) fn check(self) -> Result<()> {
        match self {
            Self::Fixed(value) => settings::positive("the concentration", value).map(drop),
            Self::Gamma { shape, rate } => {
                settings::positive("the shape of the prior of the concentration", shape)?;
                settings::positive("the rate of the prior of the concentration", rate).map(drop)
            }
        }
    }

    /// Returns the fixed value or the prior mean.
    pub(super) fn start(self) -> f64 {
        match self {
            Self::Fixed(value) => value,
            Self::Gamma { shape, rate } => shape / rate,
        }
    }

    /// Draws α given the number of occupied clusters, with the stick breaks integrated out (Escobar & West 1995):
    /// η ~ Beta(α + 1, N), then α is drawn from a mixture of two gamma distributions with rate r − log η.
    ///
    /// The weights must be drawn anew afterwards, from Dirichlet(m₁, …, m_K, α). The update is not valid for weights
    /// Beta(1 + mⱼ, α + …), because the labels of these sticks contain information about α.
    pub(super) fn given_clusters(self, alpha: f64, clusters: usize, observations: usize, rng: &mut StreamRng) -> f64 {
        let Self::Gamma { shape, rate } = self else { return alpha };
        let n = observations as f64;
        let (first, second) = (log_gamma(alpha + 1.0, rng), log_gamma(n, rng));
        // log η = log(e^first/(e^first + e^second)).
        let log_eta = -(second - first).exp().ln_1p();
        let rate = rate - log_eta;
        let shape = shape + clusters as f64;
        let odds = (shape - 1.0) / (n * rate);
        let shape = if rng.random::<f64>() * (1.0 + odds) < odds { shape } else { shape - 1.0 };
        gamma(shape, rate, rng).max(f64::MIN_POSITIVE)
    }

    /// Draws α given the breaks of the sticks up to the last occupied one: Gamma(shape + Z, rate − Σ log(1 − vⱼ)).
    ///
    /// The printed rule of Baker (2019), appendix B.4, has lost the minus sign.
    pub(super) fn given_sticks(
        self,
        alpha: f64,
        log_rests: impl ExactSizeIterator<Item = f64>,
        rng: &mut StreamRng,
    ) -> f64 {
        let Self::Gamma { shape, rate } = self else { return alpha };
        let shape = shape + log_rests.len() as f64;
        gamma(shape, rate - log_rests.sum::<f64>(), rng).max(f64::MIN_POSITIVE)
    }
}
