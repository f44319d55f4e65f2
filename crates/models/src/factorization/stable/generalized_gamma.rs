//! The generalized gamma distribution with any power.

use rand::{Rng, RngExt};
use rand_distr::Gamma;
use sgmcmc_gradient::{Error, Result, settings};

/// The generalized gamma distribution GG(a, b, c): X^c ~ Gamma(shape a, rate b), where the power c may be negative.
///
/// The density is |c| bᵃ/Γ(a) x^{ac−1} exp(−b x^c), x > 0. With c = −2/α it is the conjugate prior of a factor of an
/// α-stable factorization.
///
/// # Source
///
/// Stacy (1962), who has c > 0 and the scale b^{−1/c}.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::GeneralizedGamma;
///
/// // The inverse Gamma distribution.
/// let inverse = GeneralizedGamma::new(2.0, 3.0, -1.0)?;
/// assert!((inverse.log_density_gradient(1.5) - (-3.0 / 1.5 + 3.0 / 2.25)).abs() < 1e-12);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneralizedGamma {
    shape: f64,
    rate: f64,
    power: f64,
}

impl GeneralizedGamma {
    /// Creates the distribution GG(shape, rate, power).
    ///
    /// # Errors
    ///
    /// Returns an error if the shape or the rate is not positive, or if the power is zero or not finite.
    pub fn new(shape: f64, rate: f64, power: f64) -> Result<Self> {
        settings::positive("the shape of a generalized gamma distribution", shape)?;
        settings::positive("the rate of a generalized gamma distribution", rate)?;
        settings::positive("the absolute power of a generalized gamma distribution", power.abs())?;
        Ok(Self { shape, rate, power })
    }

    /// Returns log p(x) up to a constant.
    #[inline]
    pub fn log_density(&self, x: f64) -> f64 {
        (self.shape * self.power - 1.0) * x.ln() - self.rate * x.powf(self.power)
    }

    /// Returns the derivative of log p(x).
    #[inline]
    pub fn log_density_gradient(&self, x: f64) -> f64 {
        (self.shape * self.power - 1.0) / x - self.rate * self.power * x.powf(self.power - 1.0)
    }

    /// Draws x.
    ///
    /// # Errors
    ///
    /// Returns an error if the parameters of the Gamma distribution of the draw overflow.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> Result<f64> {
        self.draw_given(0.0, 0.0, rng)
    }

    /// Draws x given a likelihood proportional to x^{c·count} exp(−sum · x^c), which is conjugate.
    pub(super) fn draw_given<R: Rng + ?Sized>(&self, count: f64, sum: f64, rng: &mut R) -> Result<f64> {
        let (shape, rate) = (self.shape + count, self.rate + sum);
        let gamma = Gamma::new(shape, 1.0 / rate).map_err(|error| Error::Draws {
            reason: format!("a factor with shape {shape} and rate {rate}: {error}"),
        })?;
        let draw: f64 = rng.sample(gamma).max(f64::MIN_POSITIVE);
        Ok(draw.powf(1.0 / self.power).clamp(f64::MIN_POSITIVE, f64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factorization::testing::{assert_gradient, assert_mean};
    use rand::SeedableRng;
    use sgmcmc_gradient::rng::StreamRng;

    /// E x^c = a/b, and E x d/dx log p(x) = −1 by partial integration, which joins the draws to the density.
    #[test]
    fn draws_follow_the_density() {
        let mut rng = StreamRng::seed_from_u64(2);
        for power in [-2.0 / 1.2, -1.0, 1.5] {
            let law = GeneralizedGamma::new(2.5, 0.8, power).unwrap();
            let draws: Vec<f64> = (0..100_000).map(|_| law.draw(&mut rng).unwrap()).collect();
            assert_mean(&draws.iter().map(|x| x.powf(power)).collect::<Vec<_>>(), 2.5 / 0.8, "power");
            let terms: Vec<f64> = draws.iter().map(|x| x * law.log_density_gradient(*x)).collect();
            assert_mean(&terms, -1.0, "score");
            assert_gradient(&[0.7], &[law.log_density_gradient(0.7)], |x| law.log_density(x[0]));
        }
        assert!(GeneralizedGamma::new(1.0, 1.0, 0.0).is_err());
        assert!(GeneralizedGamma::new(-1.0, 1.0, 1.0).is_err());
    }

    /// The conjugate update adds the count to the shape and the sum to the rate.
    #[test]
    fn conditional_draws_have_the_updated_mean() {
        let mut rng = StreamRng::seed_from_u64(3);
        let law = GeneralizedGamma::new(2.0, 1.0, -1.5).unwrap();
        let draws: Vec<f64> = (0..50_000).map(|_| law.draw_given(3.0, 4.0, &mut rng).unwrap().powf(-1.5)).collect();
        assert_mean(&draws, 1.0, "conditional");
    }
}
