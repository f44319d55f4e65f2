//! The choice of the algorithm, the step size and the minibatch size by the laws of linear chains: see [`Choice`].

use serde::{Deserialize, Serialize};

use crate::hamiltonian::Baoab;
use crate::law::{Direction, LinearStep};

/// An algorithm that tuning chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Candidate {
    /// [`PreconditionedSgld`](crate::langevin::PreconditionedSgld).
    Langevin,
    /// [`Baoab`] with friction `alpha` per step.
    Baoab {
        /// The friction per step.
        alpha: f64,
    },
}

impl Candidate {
    /// Returns one step of the algorithm on a normal posterior.
    fn law(self, direction: &Direction<'_>) -> LinearStep {
        match self {
            Self::Langevin => LinearStep::new(direction).refresh(direction.temperature).kick(0.5).drift(1.0),
            Self::Baoab { alpha } => Baoab::law(alpha, direction),
        }
    }
}

/// The smallest and the largest curvature of a posterior in whitened coordinates. Both are 1 if it is whitened exactly.
///
/// # Examples
///
/// See [`WhitenedProblem`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvatureRange {
    /// The smallest curvature, which determines the autocorrelation time.
    pub smallest: f64,
    /// The largest curvature, which limits the step size.
    pub largest: f64,
}

/// The properties of a posterior and a gradient estimator that the choice depends on, in whitened coordinates.
///
/// # Examples
///
/// ```
/// use sgmcmc::tuning::{CurvatureRange, WhitenedProblem};
///
/// let curvature = CurvatureRange { smallest: 1.0, largest: 1.0 };
/// let problem = WhitenedProblem { noise: 20.0, curvature, observations: 100_000, dim: 9 };
/// let choice = problem.choose(0.05);
/// assert!(choice.variance_ratio < 1.05);
/// assert!(choice.autocorrelation_time < 30.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WhitenedProblem {
    /// The largest eigenvalue κ of the covariance of a gradient estimate from one observation. An estimate from n
    /// observations has noise κ/n.
    pub noise: f64,
    /// The curvatures of all directions.
    pub curvature: CurvatureRange,
    /// The number of observations.
    pub observations: usize,
    /// The number of coordinates.
    pub dim: usize,
}

/// The settings of a run with their predicted properties.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: Candidate,
    /// The step size h.
    pub step_size: f64,
    /// The number of observations per gradient estimate.
    pub minibatch: usize,
    /// The predicted ratio of the variance of the chain to that of the posterior, in the worst direction.
    pub variance_ratio: f64,
    /// The predicted autocorrelation time in steps, in the slowest direction.
    pub autocorrelation_time: f64,
    /// The predicted number of gradients of single observations per effective draw.
    pub cost: f64,
}

/// The share of the accepted bias that the choice uses. The rest is for errors of the prediction.
const SHARE: f64 = 0.8;
/// The largest step ε of BAOAB in whitened coordinates. The law of a normal posterior allows steps up to 2.
const LONGEST: f64 = 0.8;
/// The frictions γ of BAOAB per unit of time.
const FRICTIONS: [f64; 5] = [1.0, 1.5, 2.0, 3.0, 5.0];
/// The smallest minibatch.
const SMALLEST: usize = 8;

impl WhitenedProblem {
    /// Returns the settings of the smallest cost per effective draw whose predicted variance is at most 1 + `bias`
    /// times that of the posterior.
    ///
    /// The cost of a step is 2n gradients of single observations for a control variate with n observations, and a
    /// constant for the noise and the products with the covariance.
    pub fn choose(&self, bias: f64) -> Choice {
        let mut best: Option<Choice> = None;
        let mut size = SMALLEST as f64;
        let largest = self.observations.max(SMALLEST) as f64;
        loop {
            let minibatch = (size.min(largest).round() as usize).max(1);
            for choice in self.candidates(minibatch, SHARE * bias) {
                if best.is_none_or(|best| choice.cost < best.cost) {
                    best = Some(choice);
                }
            }
            if size >= largest {
                break;
            }
            size *= std::f64::consts::SQRT_2;
        }
        // Every minibatch size has a Langevin candidate, so that there is always a best one.
        best.unwrap_or_else(|| self.langevin(self.observations.max(1), SHARE * bias))
    }

    /// Returns the candidates with minibatches of `minibatch` observations.
    fn candidates(&self, minibatch: usize, bias: f64) -> Vec<Choice> {
        let mut candidates = vec![self.langevin(minibatch, bias)];
        let mut step = LONGEST / self.curvature.largest.max(1.0).sqrt();
        for _ in 0..8 {
            for friction in FRICTIONS {
                let choice = self.predict(Candidate::Baoab { alpha: friction * step }, step * step, minibatch);
                candidates.extend((choice.variance_ratio <= 1.0 + bias).then_some(choice));
            }
            step /= std::f64::consts::SQRT_2;
        }
        candidates
    }

    /// Returns SGLD with the step size h = 4δ/(V + (1 + δ)A), where the variance is 1 + δ times that of the posterior.
    fn langevin(&self, minibatch: usize, bias: f64) -> Choice {
        let h = 4.0 * bias / (self.noise / minibatch as f64 + (1.0 + bias) * self.curvature.largest);
        self.predict(Candidate::Langevin, h, minibatch)
    }

    /// Returns settings with their predicted properties.
    pub fn predict(&self, algorithm: Candidate, step_size: f64, minibatch: usize) -> Choice {
        let noise = step_size * self.noise / minibatch as f64;
        let law = |curvature: f64| {
            algorithm.law(&Direction { curvature: step_size * curvature, noise, temperature: 1.0, vector: &[] })
        };
        let (slowest, stiffest) = (law(self.curvature.smallest), law(self.curvature.largest));
        let variance_ratio = f64::max(slowest.variance_ratio(1.0), stiffest.variance_ratio(1.0));
        let autocorrelation_time = slowest.autocorrelation_time().max(1.0);
        let cost = autocorrelation_time * (self.overhead() + 2.0 * minibatch as f64);
        Choice { algorithm, step_size, minibatch, variance_ratio, autocorrelation_time, cost }
    }

    /// Returns the cost of a step apart from the gradient, in gradients of single observations: the noise, the control
    /// flow, and d/2 for the two products with a triangular matrix.
    fn overhead(&self) -> f64 {
        20.0 + 0.5 * self.dim as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(noise: f64) -> WhitenedProblem {
        WhitenedProblem {
            noise,
            curvature: CurvatureRange { smallest: 1.0, largest: 1.0 },
            observations: 1_000_000,
            dim: 10,
        }
    }

    #[test]
    fn the_predicted_bias_is_within_the_budget() {
        for noise in [0.0, 1.0, 30.0, 1e4, 1e8] {
            for bias in [0.01, 0.05, 0.2] {
                let choice = problem(noise).choose(bias);
                assert!(choice.variance_ratio <= 1.0 + bias, "{noise} {bias}: {choice:?}");
                assert!(choice.autocorrelation_time.is_finite());
            }
        }
    }

    /// With h = 4δ/(V + (1 + δ)A) the variance is (1 + δ)/A.
    #[test]
    fn langevin_steps_have_the_stated_variance() {
        let choice = problem(40.0).langevin(10, 0.05);
        assert!((choice.variance_ratio - 1.05).abs() < 1e-9, "{choice:?}");
        let expected = (4.0 + 1.05) / 0.05 - 1.0;
        assert!((choice.autocorrelation_time / expected - 1.0).abs() < 1e-3, "{choice:?}");
    }

    #[test]
    fn more_noise_costs_more() {
        let cost = |noise| problem(noise).choose(0.05).cost;
        assert!(cost(1.0) < cost(100.0) && cost(100.0) < cost(10_000.0));
        // Without noise a minibatch is as small as possible.
        assert_eq!(problem(0.0).choose(0.05).minibatch, SMALLEST);
    }

    #[test]
    fn stiff_directions_shorten_the_step() {
        let curvature = CurvatureRange { smallest: 1.0, largest: 9.0 };
        let stiff = WhitenedProblem { curvature, ..problem(10.0) };
        let (a, b) = (stiff.choose(0.05), problem(10.0).choose(0.05));
        assert!(a.step_size < b.step_size && a.variance_ratio <= 1.05, "{a:?} {b:?}");
    }
}
