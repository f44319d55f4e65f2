//! Draws from stable distributions.

use std::f64::consts::{FRAC_PI_2, PI};

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1, Open01, StandardNormal};
use sgmcmc_gradient::{Result, settings};

/// The bounds of the logarithm of a positive draw: its square stays finite.
const LOG_BOUND: f64 = 350.0;

/// The positive stable distribution with E exp(−sX) = exp(−s^β), 0 < β ≤ 1.
///
/// In the notation of Samorodnitsky & Taqqu it is S(β, 1, cos(πβ/2)^{1/β}, 0). At β = 1 it is the constant 1.
///
/// # Source
///
/// Kanter (1975): X = (a(U)/E)^{(1−β)/β} with U uniform on (0, π), E standard exponential and
/// a(u) = sin((1−β)u) sin(βu)^{β/(1−β)} / sin(u)^{1/(1−β)}.
///
/// # Examples
///
/// ```
/// use rand::SeedableRng;
/// use rand_distr::Distribution;
/// use sgmcmc::models::factorization::PositiveStable;
/// use sgmcmc::rng::StreamRng;
///
/// let stable = PositiveStable::new(0.6)?;
/// assert!(stable.sample(&mut StreamRng::seed_from_u64(1)) > 0.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PositiveStable {
    beta: f64,
}

impl PositiveStable {
    /// Creates the distribution with the index β.
    ///
    /// # Errors
    ///
    /// Returns an error if β is not above 0 and at most 1.
    pub fn new(beta: f64) -> Result<Self> {
        settings::positive("the index of a positive stable distribution", beta)?;
        settings::within("the index of a positive stable distribution", beta, 0.0..=1.0, "it must be at most 1")?;
        Ok(Self { beta })
    }
}

impl Distribution<f64> for PositiveStable {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let beta = self.beta;
        if beta >= 1.0 {
            return 1.0;
        }
        let u = PI * rng.sample::<f64, _>(Open01);
        let e: f64 = rng.sample(Exp1);
        // Near π, the sine of u is computed from the distance to π.
        let sine = if u > FRAC_PI_2 { (PI - u).sin() } else { u.sin() };
        let log =
            (1.0 - beta) / beta * (((1.0 - beta) * u).sin().ln() - e.ln()) + (beta * u).sin().ln() - sine.ln() / beta;
        log.clamp(-LOG_BOUND, LOG_BOUND).exp()
    }
}

/// The symmetric α-stable distribution with characteristic function E exp(itX) = exp(−|t|^α), 0 < α ≤ 2.
///
/// # Source
///
/// Chambers, Mallows & Stuck (1976): X = sin(αU)/cos(U)^{1/α} · (cos((1−α)U)/E)^{(1−α)/α} with U uniform on
/// (−π/2, π/2) and E standard exponential.
///
/// # Examples
///
/// ```
/// use rand::SeedableRng;
/// use rand_distr::Distribution;
/// use sgmcmc::models::factorization::SymmetricStable;
/// use sgmcmc::rng::StreamRng;
///
/// let cauchy = SymmetricStable::new(1.0)?;
/// assert!(cauchy.sample(&mut StreamRng::seed_from_u64(1)).is_finite());
/// let isotropic = cauchy.sample_complex(&mut StreamRng::seed_from_u64(1));
/// assert!(isotropic.power() > 0.0);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SymmetricStable {
    alpha: f64,
    positive: PositiveStable,
}

/// A complex number.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::Complex;
///
/// assert_eq!(Complex { re: 3.0, im: -4.0 }.power(), 25.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

impl Complex {
    /// Returns the squared absolute value.
    pub fn power(&self) -> f64 {
        self.re * self.re + self.im * self.im
    }
}

impl SymmetricStable {
    /// Creates the distribution with the index α.
    ///
    /// # Errors
    ///
    /// Returns an error if α is not above 0 and at most 2.
    pub fn new(alpha: f64) -> Result<Self> {
        settings::positive("alpha", alpha)?;
        settings::within("alpha", alpha, 0.0..=2.0, "it must be at most 2")?;
        Ok(Self { alpha, positive: PositiveStable::new(0.5 * alpha)? })
    }

    /// Draws from the isotropic complex distribution, E exp(i Re(t̄X)) = exp(−|t|^α): √(2P) times independent standard
    /// normal real and imaginary parts, where P is positive stable with index α/2.
    pub fn sample_complex<R: Rng + ?Sized>(&self, rng: &mut R) -> Complex {
        let scale = (2.0 * self.positive.sample(rng)).sqrt();
        Complex { re: scale * rng.sample::<f64, _>(StandardNormal), im: scale * rng.sample::<f64, _>(StandardNormal) }
    }
}

impl Distribution<f64> for SymmetricStable {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        let alpha = self.alpha;
        let u = PI * rng.sample::<f64, _>(Open01) - FRAC_PI_2;
        let e: f64 = rng.sample(Exp1);
        let tail = (1.0 - alpha) / alpha * (((1.0 - alpha) * u).cos().ln() - e.ln());
        let log = ((alpha * u).sin().abs().ln() - u.cos().ln() / alpha + tail).clamp(-LOG_BOUND, LOG_BOUND);
        log.exp().copysign((alpha * u).sin())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::factorization::testing::assert_mean;
    use rand::SeedableRng;
    use sgmcmc_gradient::rng::StreamRng;

    const DRAWS: usize = 50_000;

    #[test]
    fn positive_draws_have_the_laplace_transform() {
        let mut rng = StreamRng::seed_from_u64(11);
        for beta in [0.1, 0.3, 0.6, 0.95, 1.0] {
            let stable = PositiveStable::new(beta).unwrap();
            let draws: Vec<f64> = (0..DRAWS).map(|_| stable.sample(&mut rng)).collect();
            assert!(draws.iter().all(|x| *x > 0.0 && x.is_finite()));
            for s in [0.01_f64, 0.3, 1.0, 4.0] {
                let terms: Vec<f64> = draws.iter().map(|x| (-s * x).exp()).collect();
                assert_mean(&terms, (-s.powf(beta)).exp(), &format!("beta {beta}, s {s}"));
            }
        }
    }

    #[test]
    fn symmetric_draws_have_the_characteristic_function() {
        let mut rng = StreamRng::seed_from_u64(12);
        for alpha in [0.4, 1.0, 1.2, 1.89, 2.0] {
            let stable = SymmetricStable::new(alpha).unwrap();
            let draws: Vec<f64> = (0..DRAWS).map(|_| stable.sample(&mut rng)).collect();
            let complex: Vec<Complex> = (0..DRAWS).map(|_| stable.sample_complex(&mut rng)).collect();
            for t in [0.2_f64, 1.0, 2.5] {
                let expected = (-t.powf(alpha)).exp();
                let cosines: Vec<f64> = draws.iter().map(|x| (t * x).cos()).collect();
                assert_mean(&cosines, expected, &format!("alpha {alpha}, t {t}"));
                let sines: Vec<f64> = draws.iter().map(|x| (t * x).sin()).collect();
                assert_mean(&sines, 0.0, &format!("alpha {alpha}, t {t}, imaginary part"));
                // The complex law is isotropic: |t| decides, in any direction.
                for direction in [0.0_f64, 1.0, 2.2] {
                    let (cos, sin) = (t * direction.cos(), t * direction.sin());
                    let cosines: Vec<f64> = complex.iter().map(|x| (cos * x.re + sin * x.im).cos()).collect();
                    assert_mean(&cosines, expected, &format!("complex, alpha {alpha}, t {t}, {direction}"));
                }
            }
        }
    }

    #[test]
    fn indices_out_of_range_are_errors() {
        assert!(PositiveStable::new(0.0).is_err());
        assert!(PositiveStable::new(1.1).is_err());
        assert!(SymmetricStable::new(2.1).is_err());
        assert!(SymmetricStable::new(f64::NAN).is_err());
    }
}
