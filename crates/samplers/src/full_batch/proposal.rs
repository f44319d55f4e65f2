//! One Hamiltonian proposal: leapfrog in whitened momenta, then accept or reject.
//!
//! With S Sᵀ the inverse mass and p = S⁻ᵀ z the momentum, z ~ N(0, I) and H(θ, z) = −log p(θ|x)/T + ½ zᵀz. For constrained parameters
//! log p(θ|x) stands for log p(θ|x) + T log |J|, as the [`Oracle`] gives it. Each step:
//! z += ½ Sᵀ(ε∘g(θ))/T; θ += ε∘(S z); z += ½ Sᵀ(ε∘g(θ))/T. The end is accepted with probability min(1, exp(H₀ − H₁)).
//!
//! Source: Neal (2011), §5.3; Fu, Luo & Zhang (2016), algorithm 1, where exp(E₁ − E₀) is a misprint.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use sgmcmc_core::rng::StreamRng;
use sgmcmc_core::{Error, ExactGradient, Oracle, Result};

use super::point::Point;
use super::scaling::Scaling;
use super::step::{Scale, epsilons};
use crate::dynamics::with_normals;
use crate::step_size::Tick;

/// An energy that grew by more than this is that of a trajectory that left the level sets of H (as in Stan).
const DIVERGENCE: f64 = 1000.0;

/// How many leapfrog steps a proposal takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub(super) steps: u32,
    pub(super) jitter: f64,
}

impl Length {
    pub(super) fn check(self) -> Result<()> {
        if self.steps == 0 {
            let expected = "take at least 1 leapfrog step";
            return Err(Error::Setting { name: "the number of leapfrog steps", value: "0".into(), expected });
        }
        if !(0.0..1.0).contains(&self.jitter) {
            let (value, expected) = (self.jitter.to_string(), "it must be at least 0 and below 1");
            return Err(Error::Setting { name: "the jitter of the number of leapfrog steps", value, expected });
        }
        Ok(())
    }

    /// A number of steps, uniform within `jitter` of `steps`; nothing is drawn without jitter.
    fn draw(self, rng: &mut StreamRng) -> u32 {
        if self.jitter <= 0.0 {
            return self.steps;
        }
        let reach = (self.jitter * f64::from(self.steps)).round() as u32;
        rng.random_range(self.steps.saturating_sub(reach).max(1)..=self.steps.saturating_add(reach))
    }
}

/// What is known of a proposal.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Transition {
    pub(super) accepted: bool,
    pub(super) acceptance_rate: f64,
    diverging: bool,
    /// H where the chain is after it.
    energy: f64,
    n_steps: u32,
    step_size: f64,
}

impl Transition {
    /// The statistics, by ArviZ's names.
    pub(super) fn names() -> Vec<String> {
        ["acceptance_rate", "diverging", "energy", "n_steps", "step_size"].map(String::from).to_vec()
    }

    /// Writes the statistics.
    pub(super) fn write(&self, out: &mut [f64]) {
        let diverging = f64::from(u8::from(self.diverging));
        let numbers = [self.acceptance_rate, diverging, self.energy, f64::from(self.n_steps), self.step_size];
        out.iter_mut().zip(numbers).for_each(|(out, number)| *out = number);
    }
}

/// Whether a proposal with this log ratio is accepted, and with what probability it is. NaN is not.
pub(super) fn accepts(log_ratio: f64, rng: &mut StreamRng) -> (bool, f64) {
    let rate = if log_ratio.is_nan() { 0.0 } else { log_ratio.exp().min(1.0) };
    (rng.random::<f64>() < rate, rate)
}

/// z ~ N(0, I).
pub(super) fn standard_normal(z: &mut [f64], rng: &mut StreamRng) {
    with_normals(rng, 0..z.len(), |range, normals| z[range].copy_from_slice(normals));
}

/// ½ zᵀz.
pub(super) fn kinetic(z: &[f64]) -> f64 {
    0.5 * z.iter().map(|z| z * z).sum::<f64>()
}

/// Room for a proposal.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    pub(super) end: Point,
    pub(super) z: Vec<f64>,
    pub(super) epsilon: Vec<f64>,
    pub(super) force: Vec<f64>,
    pub(super) product: Vec<f64>,
}

impl Room {
    /// Makes room for `d` coordinates, and finds their ε.
    pub(super) fn prepare(&mut self, d: usize, tick: Tick<'_>, scale: Scale) -> Result<()> {
        for part in [&mut self.z, &mut self.epsilon, &mut self.force, &mut self.product] {
            part.resize(d, 0.0);
        }
        epsilons(tick, scale, &mut self.epsilon)
    }

    /// z += share · Sᵀ(ε∘g)/T, with g at the end of the trajectory so far.
    pub(super) fn kick(&mut self, scaling: &mut impl Scaling, temperature: f64, share: f64) {
        let Self { end, z, epsilon, force, product } = self;
        let pairs = epsilon.iter().zip(&end.g);
        force.iter_mut().zip(pairs).for_each(|(force, (epsilon, g))| *force = epsilon * g / temperature);
        scaling.multiply_transposed(force, product);
        z.iter_mut().zip(product).for_each(|(z, product)| *z += share * *product);
    }

    /// θ += ε∘(S z).
    pub(super) fn drift(&mut self, scaling: &mut impl Scaling) {
        let Self { end, z, epsilon, product, .. } = self;
        scaling.multiply(z, product);
        let moves = epsilon.iter().zip(product);
        end.theta.iter_mut().zip(moves).for_each(|(theta, (epsilon, product))| *theta += epsilon * *product);
    }

    /// H at the end of the trajectory so far.
    fn energy(&self, temperature: f64) -> f64 {
        kinetic(&self.z) - self.end.log_posterior / temperature
    }
}

/// What a proposal is made with.
pub(super) struct Leapfrog<'a, S> {
    pub(super) scaling: &'a mut S,
    pub(super) length: Length,
    pub(super) scale: Scale,
}

impl<S: Scaling> Leapfrog<'_, S> {
    /// Follows a trajectory of `steps` steps from (`room.end`, `room.z`), as long as the density is finite; returns the steps taken.
    /// `visit` sees every point on the way.
    pub(super) fn follow<G: ExactGradient>(
        &mut self,
        room: &mut Room,
        steps: u32,
        temperature: f64,
        oracle: &mut Oracle<G>,
        mut visit: impl FnMut(&Point),
    ) -> Result<u32> {
        room.kick(self.scaling, temperature, 0.5);
        for step in 1..=steps {
            room.drift(self.scaling);
            room.end.evaluate(oracle)?;
            if !room.end.is_finite() {
                return Ok(step);
            }
            visit(&room.end);
            room.kick(self.scaling, temperature, if step == steps { 0.5 } else { 1.0 });
        }
        Ok(steps)
    }

    /// Moves `point` to the end of a trajectory, or leaves it.
    pub(super) fn propose<G: ExactGradient>(
        &mut self,
        point: &mut Point,
        tick: Tick<'_>,
        room: &mut Room,
        oracle: &mut Oracle<G>,
        visit: impl FnMut(&Point),
    ) -> Result<Transition> {
        room.prepare(point.theta.len(), tick, self.scale)?;
        standard_normal(&mut room.z, oracle.noise());
        let steps = self.length.draw(oracle.noise());
        room.end.clone_from(point);
        let (start, before) = (kinetic(&room.z), room.energy(tick.temperature));
        let n_steps = self.follow(room, steps, tick.temperature, oracle, visit)?;
        let after = if room.end.is_finite() { room.energy(tick.temperature) } else { f64::INFINITY };
        // H₀ − H₁, with the large numbers taken from each other first.
        let gained = (room.end.log_posterior - point.log_posterior) / tick.temperature;
        let log_ratio = if after.is_finite() { gained + start - kinetic(&room.z) } else { f64::NEG_INFINITY };
        let (accepted, acceptance_rate) = accepts(log_ratio, oracle.noise());
        if accepted {
            std::mem::swap(point, &mut room.end);
        }
        Ok(Transition {
            accepted,
            acceptance_rate,
            diverging: after.is_nan() || after - before > DIVERGENCE,
            energy: if accepted { after } else { before },
            n_steps,
            step_size: self.scale.value() * tick.h.sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::full_batch::Covariance;
    use sgmcmc_core::burn::Tensor;
    use sgmcmc_core::{Analytic, AnalyticModel, FullGradient, Target, zeros};

    /// log p = −½ θ₀² − (θ₁ − θ₀²)², curved in both coordinates.
    struct Bent;

    impl AnalyticModel for Bent {
        fn observations(&self) -> usize {
            0
        }

        fn dim(&self) -> usize {
            2
        }

        fn observation(&self, _theta: &[f64], _row: usize, _weight: f64, _grad: &mut [f64]) -> f64 {
            0.0
        }

        fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
            let away = theta[1] - theta[0] * theta[0];
            grad[0] += -theta[0] + 4.0 * away * theta[0];
            grad[1] -= 2.0 * away;
            -0.5 * theta[0] * theta[0] - away * away
        }
    }

    const TEMPERATURE: f64 = 1.4;

    /// Where seven steps lead from (θ, z), and how the energy changes.
    fn follow(covariance: &Covariance, [a, b, y, z]: [f64; 4]) -> ([f64; 4], f64) {
        let evaluator = Analytic::<Tensor<1>>::new(Bent).evaluator(&zeros([2])).unwrap();
        let mut oracle = Oracle::new(FullGradient, evaluator, &[a, b], sgmcmc_core::ChainRng::new(1, 0)).unwrap();
        let mut room = Room { end: Point::at(&[a, b], &mut oracle).unwrap(), z: vec![y, z], ..Room::default() };
        (room.epsilon, room.force, room.product) = (vec![0.2, 0.1], vec![0.0; 2], vec![0.0; 2]);
        let before = room.energy(TEMPERATURE);
        let length = Length { steps: 7, jitter: 0.0 };
        let mut leapfrog = Leapfrog { scaling: &mut &*covariance, length, scale: Scale::default() };
        let mut visited = 0;
        let steps = leapfrog.follow(&mut room, 7, TEMPERATURE, &mut oracle, |_| visited += 1).unwrap();
        assert_eq!((steps, visited), (7, 7));
        let end = [room.end.theta[0], room.end.theta[1], room.z[0], room.z[1]];
        (end, room.energy(TEMPERATURE) - before)
    }

    fn covariances() -> [Covariance; 3] {
        [
            Covariance::UNIT,
            Covariance::diagonal(&[0.7, 2.0]).unwrap(),
            Covariance::dense(&[1.0, 0.6, 0.6, 2.0]).unwrap(),
        ]
    }

    const START: [f64; 4] = [0.3, -0.4, 0.8, -1.1];

    /// With the momentum turned round the trajectory leads back, and its energies change by the same amount the other way.
    #[test]
    fn trajectories_are_reversible() {
        for covariance in covariances() {
            let ([a, b, y, z], change) = follow(&covariance, START);
            let ([a, b, y, z], back) = follow(&covariance, [a, b, -y, -z]);
            let off = [a, b, -y, -z].iter().zip(START).map(|(end, start)| (end - start).abs()).fold(0.0, f64::max);
            assert!(off < 1e-12 && (change + back).abs() < 1e-12, "{covariance:?}: {off:e}");
            assert!(change.abs() > 1e-4, "the energy changes by {change:e}, too little to see anything");
        }
    }

    /// The Jacobian of a trajectory, by differences, has determinant one: no density is lost on the way.
    #[test]
    fn trajectories_keep_volume() {
        for covariance in covariances() {
            let step = 1e-5;
            let mut jacobian = [[0.0; 4]; 4];
            for (k, row) in jacobian.iter_mut().enumerate() {
                let at = |sign: f64| {
                    let mut start = START;
                    start[k] += sign * step;
                    follow(&covariance, start).0
                };
                let (above, below) = (at(1.0), at(-1.0));
                row.iter_mut().enumerate().for_each(|(i, entry)| *entry = (above[i] - below[i]) / (2.0 * step));
            }
            let found = determinant(jacobian);
            assert!((found - 1.0).abs() < 1e-7, "{covariance:?}: {found}");
        }
    }

    /// By elimination.
    fn determinant(mut a: [[f64; 4]; 4]) -> f64 {
        let mut product = 1.0;
        for k in 0..4 {
            let Some(pivot) = (k..4).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs())) else { return f64::NAN };
            if pivot != k {
                a.swap(pivot, k);
                product = -product;
            }
            product *= a[k][k];
            let row = a[k];
            for below in &mut a[k + 1..] {
                let factor = below[k] / row[k];
                below.iter_mut().zip(row).for_each(|(entry, above)| *entry -= factor * above);
            }
        }
        product
    }

    /// Half the step size, a quarter of the error: the integrator is of second order.
    #[test]
    fn energy_errors_are_of_second_order() {
        let change = |epsilon: f64, steps: u32| {
            let evaluator = Analytic::<Tensor<1>>::new(Bent).evaluator(&zeros([2])).unwrap();
            let start = [0.3, -0.4];
            let mut oracle = Oracle::new(FullGradient, evaluator, &start, sgmcmc_core::ChainRng::new(1, 0)).unwrap();
            let mut room = Room { end: Point::at(&start, &mut oracle).unwrap(), z: vec![0.8, -1.1], ..Room::default() };
            (room.epsilon, room.force, room.product) = (vec![epsilon; 2], vec![0.0; 2], vec![0.0; 2]);
            let before = room.energy(TEMPERATURE);
            let length = Length { steps, jitter: 0.0 };
            let mut leapfrog = Leapfrog { scaling: &mut &Covariance::UNIT, length, scale: Scale::default() };
            leapfrog.follow(&mut room, steps, TEMPERATURE, &mut oracle, |_| ()).unwrap();
            room.energy(TEMPERATURE) - before
        };
        let ratio = change(0.02, 50) / change(0.01, 100);
        assert!((ratio - 4.0).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn lengths_are_uniform_within_their_jitter() {
        let mut rng = sgmcmc_core::ChainRng::new(3, 0);
        let length = Length { steps: 10, jitter: 0.3 };
        let mut counts = [0; 20];
        (0..7000).for_each(|_| counts[length.draw(rng.noise()) as usize] += 1);
        // Seven lengths, a standard deviation of 29 each.
        assert!(counts[7..=13].iter().all(|count| (850..1150).contains(count)), "{counts:?}");
        assert_eq!(counts[7..=13].iter().sum::<i32>(), 7000);
        assert!((0..100).all(|_| Length { steps: 1, jitter: 0.9 }.draw(rng.noise()) >= 1));
    }

    #[test]
    fn acceptance_is_as_likely_as_its_rate_and_nan_is_refused() {
        let mut rng = sgmcmc_core::ChainRng::new(3, 0);
        let accepted = (0..10_000).filter(|_| accepts(0.3_f64.ln(), rng.noise()).0).count();
        // 3000 with a standard deviation of 46.
        assert!((2770..3230).contains(&accepted), "{accepted}");
        assert_eq!(accepts(f64::NAN, rng.noise()), (false, 0.0));
        assert_eq!(accepts(f64::NEG_INFINITY, rng.noise()), (false, 0.0));
        assert_eq!(accepts(5.0, rng.noise()), (true, 1.0));
    }
}
