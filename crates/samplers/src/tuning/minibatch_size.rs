//! The minibatch size of the least cost: see [`minibatch_size`].

use sgmcmc_gradient::{Result, settings};

/// The cost of a step as a function of the minibatch size n: c₀ + c₁ n, in any unit.
///
/// # Examples
///
/// ```
/// use sgmcmc::tuning::StepCost;
///
/// let cost = StepCost { fixed: 20.0, per_observation: 0.5 };
/// assert_eq!(cost.of(100.0), 70.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepCost {
    /// The cost c₀ of a step without observations.
    pub fixed: f64,
    /// The cost c₁ of the gradient of one observation.
    pub per_observation: f64,
}

impl StepCost {
    /// Returns c₀ + c₁ `n`.
    pub fn of(&self, n: f64) -> f64 {
        self.fixed + self.per_observation * n
    }

    /// Returns the cost of an effective draw with minibatches of size `n`: (c₀ + c₁ n)(κ/n + 1 + δ)/δ.
    ///
    /// κ is n times the largest eigenvalue of the covariance of the gradient estimate in coordinates in which the
    /// posterior has unit covariance, and δ the relative increase of the variance that is allowed. Langevin steps of
    /// size h = 4δ/(κ/n + 1 + δ) increase the variance by δ, and have the integrated autocorrelation time 4/h − 1.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::tuning::StepCost;
    ///
    /// let cost = StepCost { fixed: 0.0, per_observation: 1.0 };
    /// // Without a fixed cost, plain minibatches of all sizes pay the noise: κ = N.
    /// assert_eq!(cost.per_effective_draw(10.0, 1000.0, 1.0), 1020.0);
    /// ```
    pub fn per_effective_draw(&self, n: f64, kappa: f64, delta: f64) -> f64 {
        self.of(n) * (kappa / n + 1.0 + delta) / delta
    }
}

/// Returns the minibatch size at which an effective draw costs least, from 1 to `observations`.
///
/// # Rule
///
/// The cost (c₀ + c₁ n)(κ/n + 1 + δ)/δ of an effective draw, see [`StepCost::per_effective_draw`], is least at
/// n\* = √(c₀ κ / (c₁ (1 + δ))). The result is the better of the two integers next to n\*.
///
/// # Source
///
/// The law of SGLD on a normal posterior, (1 + hV/4)/(1 − hA/4), solved for the step size at a given increase of the
/// variance.
///
/// # Settings
///
/// | argument | meaning | range |
/// |---|---|---|
/// | `cost` | cost of a step | c₀ ≥ 0, c₁ > 0 |
/// | `kappa` | κ = n V for whitened gradients; about N for plain minibatches, about d for control variates | ≥ 0 |
/// | `delta` | allowed relative increase δ of the variance | > 0 |
/// | `observations` | number N of observations | ≥ 1 |
///
/// # Errors
///
/// Returns an error if an argument is out of range.
///
/// # Examples
///
/// ```
/// use sgmcmc::tuning::{StepCost, minibatch_size};
///
/// // A step costs as much as the gradients of 100 observations, without those of its minibatch.
/// let cost = StepCost { fixed: 100.0, per_observation: 1.0 };
/// assert_eq!(minibatch_size(cost, 10.5, 0.05, 100_000)?, 32);
/// // Plain minibatches of as many observations.
/// assert_eq!(minibatch_size(cost, 1e5, 0.05, 100_000)?, 3086);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn minibatch_size(cost: StepCost, kappa: f64, delta: f64, observations: usize) -> Result<usize> {
    settings::non_negative("the fixed cost of a step", cost.fixed)?;
    settings::positive("the cost of an observation", cost.per_observation)?;
    settings::non_negative("the noise kappa", kappa)?;
    settings::positive("the allowed increase of the variance", delta)?;
    settings::at_least("the number of observations", observations, 1, "there must be at least 1")?;
    let best = (cost.fixed * kappa / (cost.per_observation * (1.0 + delta))).sqrt();
    // The conversion saturates, also for an infinite size.
    let below = (best.floor() as usize).clamp(1, observations);
    let above = below.saturating_add(1).min(observations);
    let cost_of = |n: usize| cost.per_effective_draw(n as f64, kappa, delta);
    Ok(if cost_of(above) < cost_of(below) { above } else { below })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_size_costs_less() {
        for (fixed, per_observation) in [(0.0, 1.0), (3.0, 1.0), (100.0, 0.25), (1e5, 2.0)] {
            for kappa in [0.0, 0.3, 12.0, 700.0] {
                for delta in [0.01, 0.05, 0.5] {
                    let cost = StepCost { fixed, per_observation };
                    let found = minibatch_size(cost, kappa, delta, 500).unwrap();
                    let cost_of = |n: usize| cost.per_effective_draw(n as f64, kappa, delta);
                    let least = (1..=500).map(cost_of).fold(f64::INFINITY, f64::min);
                    assert!(cost_of(found) <= least * (1.0 + 1e-12), "{cost:?}, κ {kappa}, δ {delta}: {found}");
                }
            }
        }
    }

    /// The step size of the rule increases the variance by δ, and the factor of the cost is 4/h.
    #[test]
    fn the_cost_is_that_of_the_law() {
        let (n, kappa, delta) = (20.0, 50.0, 0.05);
        let v = kappa / n;
        let h = 4.0 * delta / (v + 1.0 + delta);
        let direction = crate::law::Direction { curvature: h, noise: h * v, temperature: 1.0, vector: &[1.0] };
        assert!((direction.langevin_ratio(1.0) - 1.0 - delta).abs() < 1e-12);
        let cost = StepCost { fixed: 0.0, per_observation: 1.0 / n };
        assert!((cost.per_effective_draw(n, kappa, delta) - 4.0 / h).abs() < 1e-9);
    }

    #[test]
    fn arguments_out_of_range_are_named() {
        let cost = StepCost { fixed: 1.0, per_observation: 0.0 };
        let message = minibatch_size(cost, 1.0, 0.05, 10).unwrap_err().to_string();
        assert!(message.contains("the cost of an observation is 0"), "{message}");
        let cost = StepCost { fixed: 1.0, per_observation: 1.0 };
        assert!(minibatch_size(cost, f64::NAN, 0.05, 10).is_err());
        assert!(minibatch_size(cost, 1.0, 0.05, 0).is_err());
        assert_eq!(minibatch_size(cost, f64::MAX, 0.05, 10).unwrap(), 10);
    }
}
