//! Laws of one-dimensional linear chains: the stationary variance and the autocorrelation time of an algorithm on a
//! normal posterior.
//!
//! On a normal posterior the gradient estimate is ĝ = −A(θ − μ) + ξ with Var ξ = V, and most algorithms are linear in
//! θ, the velocity and the noise. Their stationary variance then has a closed form or solves Σ = F Σ Fᵀ + Q. All
//! quantities here are in units of the step size: θ/√h, ν/√h, a = hA and v = hV.
//!
//! [`LinearStep`] composes the law of an algorithm from its operations. [`tuning`](crate::tuning) chooses step sizes
//! by these laws, and [`Fit::check`](sgmcmc_fit::Fit::check) predicts the bias of runs from them.

/// A direction of the posterior, in units of the step size.
///
/// # Examples
///
/// ```
/// use sgmcmc::tuning::law::Direction;
///
/// let direction = Direction { curvature: 0.4, noise: 0.2, temperature: 1.0, vector: &[1.0] };
/// // (1 + v/4) / (1 − a/4)
/// assert!((direction.langevin_ratio(1.0) - 1.05 / 0.9).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direction<'a> {
    /// The step size times the curvature of −log p(θ|x), hA, whitened by the matrix M of the algorithm.
    pub curvature: f64,
    /// The step size times the variance of the gradient estimate, hV, whitened by M.
    pub noise: f64,
    /// The temperature T of the run.
    pub temperature: f64,
    /// The direction in coordinates: F u, where M = F Fᵀ and u has norm one.
    pub vector: &'a [f64],
}

/// The least curvature at which laws are evaluated. In a flat direction a chain has no stationary variance, but the
/// ratio to the posterior variance has a limit.
const FLAT: f64 = 1e-6;

impl Direction<'_> {
    /// Returns the curvature, or a small positive number if the curvature is zero or negative.
    pub fn positive_curvature(&self) -> f64 {
        self.curvature.max(FLAT)
    }

    /// Returns the variance ratio of the Langevin step θ += h/2 ĝ + √(h T κ) z: (κ + v/(4T)) / (1 − a/4), where κ is
    /// `injected`.
    pub fn langevin_ratio(&self, injected: f64) -> f64 {
        let a = self.positive_curvature();
        if a >= 4.0 { f64::INFINITY } else { (injected + 0.25 * self.noise / self.temperature) / (1.0 - 0.25 * a) }
    }
}

/// One step of a linear chain: its position and velocity after some operations, as a linear function of the start plus
/// noise.
///
/// # Examples
///
/// SGLD refreshes the velocity, adds half a gradient and moves. Its variance is (1 + v/4)/(1 − a/4) times that of the
/// target, and its autocorrelation time is 4/a − 1 steps.
///
/// ```
/// use sgmcmc::tuning::law::{Direction, LinearStep};
///
/// let direction = Direction { curvature: 0.2, noise: 0.04, temperature: 1.0, vector: &[] };
/// let step = LinearStep::new(&direction).refresh(1.0).kick(0.5).drift(1.0);
/// assert!((step.variance_ratio(1.0) - 1.01 / 0.95).abs() < 1e-12);
/// assert!((step.autocorrelation_time() - 19.0).abs() < 1e-3);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LinearStep {
    curvature: f64,
    noise: f64,
    /// The dependence on the start: rows (position, velocity), columns (first position, first velocity).
    transition: [[f64; 2]; 2],
    /// The covariance given the start: Var θ, Cov(θ, ν), Var ν.
    covariance: [f64; 3],
}

impl LinearStep {
    /// Creates the chain before its first operation.
    pub fn new(direction: &Direction<'_>) -> Self {
        let (curvature, noise) = (direction.positive_curvature(), direction.noise);
        Self { curvature, noise, transition: [[1.0, 0.0], [0.0, 1.0]], covariance: [0.0; 3] }
    }

    /// Draws the velocity: ν ~ N(0, `variance`).
    pub fn refresh(self, variance: f64) -> Self {
        let Self { transition: [position, _], covariance: [theta, ..], .. } = self;
        Self { transition: [position, [0.0; 2]], covariance: [theta, 0.0, variance], ..self }
    }

    /// Moves the position: θ += `share` ν.
    pub fn drift(self, share: f64) -> Self {
        let Self { transition: [p, v], covariance: [xx, xv, vv], .. } = self;
        let position = [p[0] + share * v[0], p[1] + share * v[1]];
        let covariance = [xx + share * (2.0 * xv + share * vv), xv + share * vv, vv];
        Self { transition: [position, v], covariance, ..self }
    }

    /// Adds a gradient estimate on a new minibatch: ν += `share` h ĝ(θ).
    pub fn kick(self, share: f64) -> Self {
        let Self { transition: [p, v], covariance: [xx, xv, vv], curvature, noise } = self;
        let pull = share * curvature;
        let velocity = [v[0] - pull * p[0], v[1] - pull * p[1]];
        let covariance = [xx, xv - pull * xx, vv - 2.0 * pull * xv + pull * pull * xx + share * share * noise];
        Self { transition: [p, velocity], covariance, ..self }
    }

    /// Applies friction and noise: ν ← `kept` ν + N(0, `variance`).
    pub fn damp(self, kept: f64, variance: f64) -> Self {
        let Self { transition: [p, v], covariance: [xx, xv, vv], .. } = self;
        let covariance = [xx, kept * xv, kept * kept * vv + variance];
        Self { transition: [p, [kept * v[0], kept * v[1]]], covariance, ..self }
    }

    /// Returns the stationary covariance of the chain that repeats these operations: Var θ, Cov(θ, ν), Var ν. Infinite
    /// if there is none.
    pub fn stationary(&self) -> [f64; 3] {
        let (mut f, [mut xx, mut xv, mut vv]) = (self.transition, self.covariance);
        for _ in 0..DOUBLINGS {
            // Σ ← Σ + F Σ Fᵀ, F ← F².
            let [p, v] = f;
            let form =
                |a: [f64; 2], b: [f64; 2]| a[0] * b[0] * xx + (a[0] * b[1] + a[1] * b[0]) * xv + a[1] * b[1] * vv;
            let added = [form(p, p), form(p, v), form(v, v)];
            (xx, xv, vv) = (xx + added[0], xv + added[1], vv + added[2]);
            let times = |row: [f64; 2]| [row[0] * p[0] + row[1] * v[0], row[0] * p[1] + row[1] * v[1]];
            f = [times(p), times(v)];
        }
        if xx.is_finite() && f.as_flattened().iter().all(|f| f.abs() < 0.5) { [xx, xv, vv] } else { [f64::INFINITY; 3] }
    }

    /// Returns the stationary variance of θ over the variance T/a of the target at temperature T.
    pub fn variance_ratio(&self, temperature: f64) -> f64 {
        self.stationary()[0] * self.curvature / temperature
    }

    /// Returns the integrated autocorrelation time of the stationary chain in steps: the larger of 1 + 2 Σ ρₖ, that of
    /// the mean of θ, and 1 + 2 Σ ρₖ², that of its variance. It is infinite if the chain has no stationary law.
    ///
    /// Dynamics with low friction oscillate. Their ρₖ cancel, so that the time of the mean alone is too optimistic.
    pub fn autocorrelation_time(&self) -> f64 {
        let [xx, xv, _] = self.stationary();
        if !xx.is_finite() {
            return f64::INFINITY;
        }
        let ([p, v], mut lagged) = (self.transition, [xx, xv]);
        let (mut linear, mut squared) = (1.0, 1.0);
        for _ in 0..MOST_LAGS {
            lagged = [p[0] * lagged[0] + p[1] * lagged[1], v[0] * lagged[0] + v[1] * lagged[1]];
            let rho = lagged[0] / xx;
            linear += 2.0 * rho;
            squared += 2.0 * rho * rho;
            if lagged.iter().all(|c| c.abs() < NEGLIGIBLE * xx) {
                return f64::max(linear, squared);
            }
        }
        f64::INFINITY
    }
}

/// The number of doublings of the time, which reach 2⁶⁰ steps.
const DOUBLINGS: u32 = 60;
/// The largest number of lags of an autocorrelation time.
const MOST_LAGS: u32 = 2_000_000;
/// The autocorrelation below which lags are neglected.
const NEGLIGIBLE: f64 = 1e-7;

#[cfg(test)]
mod tests {
    use super::*;

    fn direction(curvature: f64, noise: f64, temperature: f64) -> Direction<'static> {
        Direction { curvature, noise, temperature, vector: &[] }
    }

    /// A refresh, half a kick and a drift are a Langevin step.
    #[test]
    fn a_langevin_step_has_its_closed_form() {
        for (a, v, t) in [(0.1, 0.0, 1.0), (1.5, 0.3, 1.0), (0.4, 0.2, 1.7)] {
            let direction = direction(a, v, t);
            let step = LinearStep::new(&direction).refresh(t).kick(0.5).drift(1.0);
            let (found, expected) = (step.variance_ratio(t), direction.langevin_ratio(1.0));
            assert!((found / expected - 1.0).abs() < 1e-12, "{found} against {expected}");
        }
    }

    #[test]
    fn autocorrelation_times_have_their_closed_form() {
        for (a, v) in [(0.05, 0.0), (0.4, 0.3), (1.5, 1.0)] {
            let direction = direction(a, v, 1.0);
            // SGLD is autoregressive with coefficient 1 − a/2.
            let sgld = LinearStep::new(&direction).refresh(1.0).kick(0.5).drift(1.0);
            assert!((sgld.autocorrelation_time() / (4.0 / a - 1.0) - 1.0).abs() < 1e-4);
        }
        // At low friction the time of the mean goes to zero and that of the variance to 1/α.
        let alpha: f64 = 0.01;
        let direction = direction(0.01, 0.0, 1.0);
        let (kept, renewed) = ((-alpha).exp(), -(-2.0 * alpha).exp_m1());
        let baoab = LinearStep::new(&direction).kick(1.0).drift(0.5).damp(kept, renewed).drift(0.5);
        let time = baoab.autocorrelation_time();
        assert!((0.9..1.2).contains(&(time * alpha)), "{time}");
        let unstable = LinearStep::new(&Direction { curvature: 4.5, ..direction }).refresh(1.0).kick(0.5).drift(1.0);
        assert!(unstable.autocorrelation_time().is_infinite());
    }

    #[test]
    fn a_chain_beyond_its_stability_limit_has_no_variance() {
        let unstable = direction(4.5, 0.0, 1.0);
        assert!(LinearStep::new(&unstable).refresh(1.0).kick(0.5).drift(1.0).variance_ratio(1.0).is_infinite());
        assert!(unstable.langevin_ratio(1.0).is_infinite());
    }

    /// The random walk of a flat direction: only the gradient noise counts.
    #[test]
    fn a_flat_direction_has_the_ratio_of_its_noise() {
        let ratio = direction(0.0, 0.4, 1.0).langevin_ratio(1.0);
        assert!((ratio - 1.1).abs() < 1e-5, "{ratio}");
    }
}
