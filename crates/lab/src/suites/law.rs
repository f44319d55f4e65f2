//! Stationary laws of the algorithms on a normal target with gradient noise.
//!
//! In a direction of posterior precision A, with a gradient estimate ĝ = −Aθ + ξ of noise variance V, every algorithm
//! here is a linear chain with an exact stationary variance and exact autocorrelations. The suites choose step sizes
//! and predict the known biases of the methods from these laws.

use sgmcmc_testkit::laws::{LinearChain, Update, diagonal};

/// A direction of the posterior, with its precision A and the variance V of the gradient noise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direction {
    pub(crate) precision: f64,
    pub(crate) noise: f64,
}

/// The stationary law of a chain in one direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    /// The ratio of the variance to that of the posterior; infinite if the chain is unstable.
    pub(crate) variance: f64,
    /// The integrated autocorrelation time in iterations, the maximum of those of θ and θ².
    pub(crate) time: f64,
}

/// An algorithm with its settings, except for the step size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// θ += h/2 ĝ + √h z.
    Sgld,
    /// ν ~ N(0, h), ν += h/2 ĝ; L times: θ += ν; ν += h/2 ĝ; ν ← (1−α)ν + N(0, α(2−α)h); ν += h/2 ĝ.
    Sghmc { alpha: f64, steps: u32 },
    /// θ += ν; ν ← (1−ξ)ν + hĝ + N(0, 2ah), with ξ = 1 − √(1 − 2a − hV̄), for which the velocity has the
    /// target variance h of the thermostat.
    Sgnht { a: f64, mean_noise: f64 },
    /// BAOAB with friction α = `damping` √h per step.
    Baoab { damping: f64 },
    /// BADODAB with a = `damping` √h at the mean of the thermostat ξ = a + hV̄/2.
    Badodab { damping: f64, mean_noise: f64 },
    /// θ += 2(γI + 4/h)⁻¹(ĝ + N(0, 4/h)), where I is the variance of the scores of all observations.
    Sgfs { gamma: f64, information: f64 },
}

/// The autocorrelation at which the sum is truncated.
const NEGLIGIBLE: f64 = 1e-4;
/// The largest lag.
const MAX_LAG: usize = 200_000;

impl Rule {
    /// Returns the law of this algorithm with step size `h` along `direction`.
    pub(crate) fn law(self, h: f64, direction: Direction) -> Law {
        let Direction { precision, noise } = direction;
        let gradient = |theta: f64, xi: f64| xi - precision * theta;
        match self {
            Self::Sgld => {
                let update = |s: &[f64], e: &[f64]| vec![s[0] + 0.5 * h * gradient(s[0], e[1]) + e[0]];
                law(1, &[h, noise], &update, precision)
            }
            Self::Sghmc { alpha, steps } => {
                // The first half step of the velocity uses the last estimate, whose noise is part of the state.
                let update = |s: &[f64], e: &[f64]| {
                    let (mut theta, mut xi) = (s[0], s[1]);
                    let mut v = e[0] + 0.5 * h * gradient(theta, xi);
                    for inner in e[1..].chunks_exact(2) {
                        theta += v;
                        xi = inner[0];
                        let half = 0.5 * h * gradient(theta, xi);
                        v = (1.0 - alpha) * (v + half) + inner[1] + half;
                    }
                    vec![theta, xi]
                };
                let inner = [noise, alpha * (2.0 - alpha) * h].repeat(steps as usize);
                law(2, &[vec![h], inner].concat(), &update, precision)
            }
            Self::Sgnht { a, mean_noise } => {
                let xi = 1.0 - (1.0 - 2.0 * a - h * mean_noise).max(0.0).sqrt();
                let update = |s: &[f64], e: &[f64]| {
                    let theta = s[0] + s[1];
                    vec![theta, (1.0 - xi) * s[1] + h * gradient(theta, e[0]) + e[1]]
                };
                law(2, &[noise, 2.0 * a * h], &update, precision)
            }
            Self::Baoab { damping } => {
                let alpha = damping * h.sqrt();
                let renewed = -(-2.0 * alpha).exp_m1() * h;
                splitting(h, (-alpha).exp(), renewed, direction)
            }
            Self::Badodab { damping, mean_noise } => {
                let a = damping * h.sqrt();
                let xi = a + 0.5 * h * mean_noise;
                let renewed = -(-2.0 * xi).exp_m1() / xi * a * h;
                splitting(h, (-xi).exp(), renewed, direction)
            }
            Self::Sgfs { gamma, information } => {
                let step = 2.0 / (gamma * information + 4.0 / h);
                let update = |s: &[f64], e: &[f64]| vec![s[0] + step * (gradient(s[0], e[1]) + e[0])];
                law(1, &[4.0 / h, noise], &update, precision)
            }
        }
    }

    /// Returns the largest step size h for which the relative errors of the variances of all `directions` are at most
    /// `tolerance` and h times the largest precision is at most `most`.
    pub(crate) fn largest_step(self, directions: &[Direction], most: f64, tolerance: f64) -> f64 {
        let steepest = directions.iter().map(|direction| direction.precision).fold(f64::MIN_POSITIVE, f64::max);
        let mut h = most / steepest;
        let close =
            |h: f64| directions.iter().all(|direction| (self.law(h, *direction).variance - 1.0).abs() <= tolerance);
        for _ in 0..200 {
            if close(h) {
                break;
            }
            h *= SHRINK;
        }
        h
    }
}

/// The factor of the grid of step sizes.
const SHRINK: f64 = 0.9;

/// Returns the law of a splitting B ½, A ½, O, A ½, B ½ with the new gradient; the state is (θ, ν, ξ).
fn splitting(h: f64, kept: f64, renewed: f64, Direction { precision, noise }: Direction) -> Law {
    let gradient = |theta: f64, xi: f64| xi - precision * theta;
    let update = |s: &[f64], e: &[f64]| {
        let v = s[1] + 0.5 * h * gradient(s[0], s[2]);
        let theta = s[0] + 0.5 * v;
        let v = kept * v + e[0];
        let theta = theta + 0.5 * v;
        vec![theta, v + 0.5 * h * gradient(theta, e[1]), e[1]]
    };
    law(3, &[renewed, noise], &update, precision)
}

/// Returns the law of the first entry of the state of a linear chain with independent noise of these variances.
fn law(state: usize, noises: &[f64], update: &Update<'_>, precision: f64) -> Law {
    let covariance = LinearChain { state, noise: diagonal(noises), update }.stationary_covariance();
    let variance = covariance[0] * precision;
    if !variance.is_finite() || variance <= 0.0 {
        return Law { variance: f64::INFINITY, time: f64::INFINITY };
    }
    // The autocovariances follow the update without noise.
    let no_noise = vec![0.0; noises.len()];
    let mut lagged: Vec<f64> = (0..state).map(|k| covariance[k * state]).collect();
    let size = |lagged: &[f64]| {
        let ratios =
            lagged.iter().enumerate().map(|(k, c)| c.abs() / (covariance[0] * covariance[k * (state + 1)]).sqrt());
        ratios.fold(0.0, f64::max)
    };
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..MAX_LAG {
        lagged = update(&lagged, &no_noise);
        let correlation = lagged[0] / covariance[0];
        sum += correlation;
        squares += correlation * correlation;
        if size(&lagged) < NEGLIGIBLE {
            break;
        }
    }
    Law { variance, time: (1.0 + 2.0 * sum).max(1.0 + 2.0 * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() < tolerance, "{found}, expected {expected}");
    }

    /// Var = (1 + hV/4)/(1 − hA/4) and IACT = 4/(hA) − 1.
    #[test]
    fn sgld_has_the_known_law() {
        let (h, precision, noise) = (0.002, 100.0, 300.0);
        let law = Rule::Sgld.law(h, Direction { precision, noise });
        close(law.variance, (1.0 + h * noise / 4.0) / (1.0 - h * precision / 4.0), 1e-9);
        close(law.time, 4.0 / (h * precision) - 1.0, 1e-2);
    }

    #[test]
    fn the_step_of_sgld_follows_its_formula() {
        let (direction, tolerance) = (Direction { precision: 1.0, noise: 10.0 }, 0.05);
        let h = Rule::Sgld.largest_step(&[direction], 0.5, tolerance);
        let exact = 4.0 * tolerance / (direction.noise + (1.0 + tolerance) * direction.precision);
        assert!(h <= exact && h > SHRINK * exact, "{h} {exact}");
    }

    #[test]
    fn splittings_are_exact_without_noise() {
        let direction = Direction { precision: 2.0, noise: 0.0 };
        close(Rule::Baoab { damping: 1.2 }.law(0.2, direction).variance, 1.0, 1e-9);
        close(Rule::Badodab { damping: 1.2, mean_noise: 0.0 }.law(0.2, direction).variance, 1.0, 1e-9);
    }

    /// Without the half step of the velocity the variance would be wrong by a factor of L/(L − 1).
    #[test]
    fn sghmc_targets_the_posterior() {
        let direction = Direction { precision: 1.0, noise: 0.0 };
        close(Rule::Sghmc { alpha: 0.3, steps: 5 }.law(1e-4, direction).variance, 1.0, 0.002);
    }

    /// 1 − ξ/2 with ξ = 1 − √(1 − 2a − hV) as h → 0.
    #[test]
    fn sgnht_is_too_narrow_by_half_its_friction() {
        for (a, noise) in [(0.1_f64, 0.0), (0.05, 2000.0)] {
            let h = 1e-4;
            let xi = 1.0 - (1.0 - 2.0 * a - h * noise).sqrt();
            let law = Rule::Sgnht { a, mean_noise: noise }.law(h, Direction { precision: 1.0, noise });
            close(law.variance, 1.0 - 0.5 * xi, 1e-3);
        }
    }

    /// Exact at every step if the scores have the variance A and γ = 1 + V.
    #[test]
    fn sgfs_is_exact_on_a_well_specified_normal_model() {
        for h in [0.1, 1.0, 100.0] {
            let law = Rule::Sgfs { gamma: 10.0, information: 1.0 }.law(h, Direction { precision: 1.0, noise: 9.0 });
            close(law.variance, 1.0, 1e-9);
        }
    }
}
