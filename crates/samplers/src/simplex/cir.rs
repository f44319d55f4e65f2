//! The exact transition of the Cox-Ingersoll-Ross process.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1, Poisson, StandardNormal};
use sgmcmc_gradient::{Result, settings};

/// The log of the largest Poisson mean that is treated as zero. The probability of a positive count is below the
/// resolution of the uniform variates.
const LOG_NEGLIGIBLE_MEAN: f64 = -37.0;

/// Below this mean, a Poisson variate is a number of exponential gaps. It costs one exponential variate if it is 0.
const FEW_GAPS: f64 = 10.0;

/// Above this mean, a Poisson variate is a transformed normal variate with the same first three moments up to O(1).
/// The relative error of probabilities is of the order of 1/mean.
const NORMAL_MEAN: f64 = 1e9;

/// The log of the Poisson mean above which the transition has no noise at the precision of `f64`.
const LOG_DETERMINISTIC_MEAN: f64 = 80.0;

/// The exact transition of the Cox-Ingersoll-Ross process dθ = (a − θ) dt + √(2θ) dW over a time h.
///
/// θ' = (1 − e⁻ʰ) Gamma(a + K, 1), K ~ Poisson(θ e⁻ʰ/(1 − e⁻ʰ)). This is the law of ½(1 − e⁻ʰ) times a non-central χ²
/// variate with 2a degrees of freedom and non-centrality 2θ e⁻ʰ/(1 − e⁻ʰ). The stationary distribution is Gamma(a, 1)
/// for every h, so that there is no discretization error. The first two moments are
///
/// - E θ' = θ e⁻ʰ + a (1 − e⁻ʰ),
/// - Var θ' = 2θ (e⁻ʰ − e⁻²ʰ) + a (1 − e⁻ʰ)².
///
/// Arguments and results are log θ, because θ underflows if a is small: a Gamma(10⁻⁴, 1) variate is below 10⁻³⁰⁸ with
/// probability 0.93. A gamma variate of shape s < 1 is a variate of shape s + 1 multiplied by U^{1/s}, of which only
/// the logarithm is computed. Shapes that are zero or negative are treated as the limit a → 0: θ' is then 0 if K = 0,
/// which is returned as [`f64::MIN`]. Results are finite for finite arguments.
///
/// The cost is about one exponential variate if the Poisson mean is negligible, and one normal, one uniform and one
/// exponential variate for a shape below 1.
///
/// Source: Baker (2019), §5.3; Cox, Ingersoll & Ross (1985).
///
/// # Examples
///
/// ```
/// use sgmcmc::rng::ChainRng;
/// use sgmcmc::simplex::CirTransition;
///
/// let transition = CirTransition::new(0.5)?;
/// let mut rng = ChainRng::new(1, 0);
/// let mut log_theta = vec![0.0, -1e6, 2.0];
/// transition.step_all(&mut log_theta, &[1.0, 1e-6, 20.0], rng.noise());
/// assert!(log_theta.iter().all(|x| x.is_finite()));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CirTransition {
    h: f64,
    /// log(1 − e⁻ʰ).
    log_scale: f64,
    /// log(e⁻ʰ/(1 − e⁻ʰ)), the log of the Poisson mean for θ = 1.
    log_rate: f64,
}

impl CirTransition {
    /// Creates the transition over the time `h`.
    ///
    /// # Errors
    ///
    /// Returns an error if `h` is not positive and finite.
    pub fn new(h: f64) -> Result<Self> {
        settings::positive("the step size of a CIR process", h)?;
        let log_scale = (-(-h).exp_m1()).ln();
        Ok(Self { h, log_scale, log_rate: -h - log_scale })
    }

    /// Returns the time h.
    pub fn h(&self) -> f64 {
        self.h
    }

    /// Draws log θ' given `log_theta` = log θ and the shape `a`.
    #[inline]
    pub fn step<R: Rng + ?Sized>(&self, log_theta: f64, a: f64, rng: &mut R) -> f64 {
        let log_mean = log_theta + self.log_rate;
        if log_mean > LOG_DETERMINISTIC_MEAN {
            return log_theta - self.h;
        }
        let mut shape = a.max(0.0);
        if log_mean > LOG_NEGLIGIBLE_MEAN {
            shape += poisson(log_mean.exp(), rng);
        }
        (self.log_scale + log_gamma_variate(shape, rng)).max(f64::MIN)
    }

    /// Replaces every log θⱼ by a draw of log θⱼ' given the shape aⱼ. Extra elements of the longer slice are ignored.
    pub fn step_all<R: Rng + ?Sized>(&self, log_theta: &mut [f64], a: &[f64], rng: &mut R) {
        for (log_theta, &a) in log_theta.iter_mut().zip(a) {
            *log_theta = self.step(*log_theta, a, rng);
        }
    }
}

/// Draws a Poisson variate of the given positive mean.
#[inline]
fn poisson<R: Rng + ?Sized>(mean: f64, rng: &mut R) -> f64 {
    if mean < FEW_GAPS {
        let mut time: f64 = rng.sample(Exp1);
        let mut count = 0.0;
        while time < mean {
            count += 1.0;
            time += rng.sample::<f64, _>(Exp1);
        }
        return count;
    }
    large_poisson(mean, rng)
}

/// Draws a Poisson variate of a mean of at least [`FEW_GAPS`].
#[inline(never)]
fn large_poisson<R: Rng + ?Sized>(mean: f64, rng: &mut R) -> f64 {
    if mean < NORMAL_MEAN
        && let Ok(distribution) = Poisson::new(mean)
    {
        return distribution.sample(rng);
    }
    let z: f64 = rng.sample(StandardNormal);
    // The second term is the Cornish-Fisher correction for the skewness 1/√mean.
    (mean + mean.sqrt() * z + (z * z - 1.0) / 6.0).round()
}

/// Draws the logarithm of a Gamma(`shape`, 1) variate. The result is negative infinity for shape 0.
#[inline]
pub(crate) fn log_gamma_variate<R: Rng + ?Sized>(shape: f64, rng: &mut R) -> f64 {
    if shape >= 1.0 {
        return gamma_variate(shape, rng).ln();
    }
    // A gamma variate of shape s is one of shape s + 1 times U^(1/s), and −log U is an exponential variate.
    let exponential: f64 = rng.sample(Exp1);
    gamma_variate(shape + 1.0, rng).ln() - exponential / shape
}

/// Draws a Gamma(`shape`, 1) variate of a shape of at least 1, by Marsaglia & Tsang (2000).
#[inline]
fn gamma_variate<R: Rng + ?Sized>(shape: f64, rng: &mut R) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x: f64 = rng.sample(StandardNormal);
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        let u: f64 = rng.random();
        let x2 = x * x;
        // The first condition is sufficient for the second and needs no logarithm. It holds in most cases.
        if u < 1.0 - 0.0331 * x2 * x2 || u.ln() < 0.5 * x2 + d * (1.0 - v + v.ln()) {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sgmcmc_gradient::rng::{ChainRng, StreamRng};

    const DRAWS: usize = 200_000;

    fn rng(seed: u64) -> StreamRng {
        ChainRng::new(seed, 0).noise().clone()
    }

    /// Returns the mean of `f` over independent draws and its standard error.
    fn mean(draws: &[f64], f: impl Fn(f64) -> f64) -> (f64, f64) {
        let n = draws.len() as f64;
        let mean = draws.iter().map(|&x| f(x)).sum::<f64>() / n;
        let variance = draws.iter().map(|&x| (f(x) - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, (variance / n).sqrt())
    }

    /// Draws θ after each of `steps` transitions with a fixed shape.
    fn draws(theta: f64, a: f64, h: f64, steps: usize, seed: u64) -> Vec<f64> {
        let (transition, mut rng) = (CirTransition::new(h).unwrap(), rng(seed));
        let mut log_theta = vec![theta.ln(); DRAWS];
        (0..steps).for_each(|_| transition.step_all(&mut log_theta, &[a; DRAWS], &mut rng));
        log_theta.into_iter().map(f64::exp).collect()
    }

    #[test]
    fn moments_are_those_of_the_process() {
        for (seed, (theta, a)) in
            [(0.3, 0.01), (2.0, 0.1), (1e-9, 1.0), (40.0, 100.0), (1e11, 3.0)].into_iter().enumerate()
        {
            for (k, h) in [0.01, 0.5, 5.0].into_iter().enumerate() {
                for steps in [1, 3] {
                    let draws = draws(theta, a, h, steps, (10 * seed + k) as u64);
                    let decay = (-(steps as f64) * h).exp();
                    let expected = theta * decay + a * (1.0 - decay);
                    let variance = 2.0 * theta * (decay - decay * decay) + a * (1.0 - decay).powi(2);
                    let (mean_found, error) = mean(&draws, |x| x);
                    assert!(
                        (mean_found - expected).abs() < 4.5 * error,
                        "mean {mean_found} of {expected}, {theta} {a} {h}"
                    );
                    let (found, error) = mean(&draws, |x| (x - expected).powi(2));
                    assert!((found - variance).abs() < 4.5 * error, "variance {found} of {variance}, {theta} {a} {h}");
                }
            }
        }
    }

    #[test]
    fn moment_generating_function_is_that_of_the_process() {
        for (k, h) in [0.01, 0.5, 5.0].into_iter().enumerate() {
            for (theta, a) in [(0.5, 0.01), (3.0, 0.4), (12.0, 30.0)] {
                let draws = draws(theta, a, h, 1, 100 + k as u64);
                // The scale of θ' keeps the average away from rare events.
                for s in [-2.0, -0.5, 0.02].map(|s| s / (1.0 + a)) {
                    let decay = f64::exp(-h);
                    let scale = 1.0 - s * (1.0 - decay);
                    let expected = (s * theta * decay / scale).exp() * scale.powf(-a);
                    let (found, error) = mean(&draws, |x| (s * x).exp());
                    assert!((found - expected).abs() < 4.5 * error, "{found} of {expected}: {theta} {a} {h} {s}");
                }
            }
        }
    }

    /// E log θ' = ψ(a) + log(1 − e⁻ʰ) from a start where K = 0, and Var log θ' = ψ'(a).
    #[test]
    fn tiny_shapes_have_the_law_of_the_log_gamma() {
        // For small a, ψ(a) = −1/a − γ + π²a/6 and ψ'(a) = 1/a² + π²/6 up to terms below the precision of the test.
        const EULER: f64 = 0.577_215_664_901_532_9;
        let pi2_6 = std::f64::consts::PI.powi(2) / 6.0;
        for (a, h) in [(1e-6, 0.01), (1e-4, 0.5), (1e-3, 5.0)] {
            let (transition, mut rng) = (CirTransition::new(h).unwrap(), rng(7));
            let mut log_theta = vec![-1e6; DRAWS];
            transition.step_all(&mut log_theta, &[a; DRAWS], &mut rng);
            assert!(log_theta.iter().all(|x| x.is_finite()));
            let (found, error) = mean(&log_theta, |x| x);
            let expected = -1.0 / a - EULER + pi2_6 * a + (-f64::exp_m1(-h)).ln();
            assert!((found - expected).abs() < 4.0 * error, "{found} of {expected}");
            let (found, error) = mean(&log_theta, |x| (x - expected).powi(2));
            assert!((found - a.powi(-2) - pi2_6).abs() < 4.0 * error, "{found} at {a}");
        }
    }

    #[test]
    fn extreme_arguments_give_finite_results() {
        let mut rng = rng(3);
        for h in [1e-300, 1e-9, 1.0, 700.0, 1e6] {
            let transition = CirTransition::new(h).unwrap();
            for log_theta in [f64::MIN, -1e6, -1.0, 0.0, 30.0, 79.0, 1e3, 1e300] {
                for a in [-5.0, 0.0, 1e-308, 1e-6, 1.0, 1e12, 1e300] {
                    let x = transition.step(log_theta, a, &mut rng);
                    assert!(x.is_finite(), "{x} at {h} {log_theta} {a}");
                }
            }
        }
        assert!(CirTransition::new(0.0).is_err() && CirTransition::new(f64::NAN).is_err());
    }

    #[test]
    fn poisson_variates_have_the_right_moments_in_every_range() {
        let mut rng = rng(11);
        for lambda in [1e-3, 0.7, 9.9, 10.1, 300.0, 2e9] {
            let draws: Vec<f64> = (0..DRAWS).map(|_| poisson(lambda, &mut rng)).collect();
            assert!(draws.iter().all(|k| k.fract() == 0.0 && *k >= 0.0));
            for (expected, power) in [(0.0, 1), (lambda, 2), (lambda, 3)] {
                let (found, error) = mean(&draws, |k| (k - lambda).powi(power));
                assert!((found - expected).abs() < 4.5 * error, "moment {power} of {lambda}: {found} of {expected}");
            }
        }
    }
}
