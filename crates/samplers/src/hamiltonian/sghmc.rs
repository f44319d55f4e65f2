//! Stochastic gradient Hamiltonian Monte Carlo. See [`Sghmc`].

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, GradientEstimator, NoiseCovariance, Oracle, Result};

use super::{drift, frictions_or_none, kick};
use crate::dynamics::{Dynamics, positioned, with_normals};
use crate::law::{Direction, Linear};
use crate::per_parameter::PerParameter;
use crate::step_size::{Piece, Tick};

/// How β̂, the part of the noise that the gradient estimate already contributes, is found.
///
/// A gradient estimate of variance V adds noise of variance h²V = 2β̂h to a velocity, so β̂ = hV/2. It follows the step size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoiseEstimate {
    /// The same number for all coordinates at the first step size; it falls in proportion to the step size. Zero as in R.
    Fixed(f64),
    /// Fisher scoring along the chain: V is the running mean of the variances of the gradient estimates of each coordinate, from the
    /// gradients of single observations in one minibatch per iteration (Ahn, Korattikara & Welling 2012, with weights 1/t).
    FisherScoring,
}

/// Stochastic gradient Hamiltonian Monte Carlo with a half kick after each refresh of the velocity.
///
/// One iteration draws ν ~ N(0, hT), adds the half kick ν += h/2 ĝ(θ), and then moves L times: θ += ν, and between two moves
///
/// ν += h/2 ĝ(θ);  ν ← (1 − α) ν + N(0, α(2 − α)hT);  ν += h/2 ĝ(θ).
///
/// Both half kicks use one gradient, every inner step a new minibatch. The gradient after the last move is the one of the next
/// iteration's first half kick. With an estimate β̂ of the gradient's noise the injected variances fall to h(T − β̂/2) and
/// (2 − α)(αT − (1 − α/2)β̂)h, which is 2(αT − β̂)h for small α: total noise then has the right temperature.
///
/// **Source.** Chen, Fox & Guestrin (2014); Baker (2019), §4.3.2. The rule printed there, θ += ν; ν ← (1 − α)ν + hĝ(θ) + N(0, 2(α − β̂)h), moves θ
/// before the first gradient and discards the last one. Its variance does not tend to that of the posterior: it is 1.24 times too large at the
/// defaults, at any step size (see [`LiteralSghmc`](crate::LiteralSghmc)). The half kick corrects this; the friction between two half kicks removes the rest,
/// 0.4 % at α = 0.01 and 3 % at α = 0.1 (L = 5). With L = 1 the algorithm is [`Sgld`](crate::Sgld) draw for draw, with α = 0 the inner steps are those of the
/// leapfrog integrator.
///
/// **Cost.** L gradient estimates per iteration; with Fisher scoring also the gradients of the observations of one minibatch.
///
/// **Bias.** The variance on a normal posterior differs from the exact one by O(h), and by the part of the gradient noise that β̂
/// does not account for. With noisy minibatches prefer control variates, or [`Badodab`](crate::Badodab), which adapts to the noise.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `alpha` | 0.01 | friction α per inner step, for all parameters or by name | [0, 1] |
/// | `steps` | 5 | inner steps L | ≥ 1 |
/// | `noise` | 0 | estimate of the gradient's own noise β̂ | from 0 to the least α |
///
/// # Examples
///
/// ```
/// use sgmcmc_samplers::{NoiseEstimate, PerParameter, Sghmc};
///
/// let longer = Sghmc { steps: 20, ..Sghmc::default() };
/// let by_name = Sghmc { alpha: PerParameter::from(0.01).parameter("bias", 0.1), ..Sghmc::default() };
/// let corrected = Sghmc { alpha: 0.1.into(), noise: NoiseEstimate::FisherScoring, ..Sghmc::default() };
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sghmc {
    /// Friction α: a number by `into`, or one for each parameter.
    pub alpha: PerParameter<f64>,
    /// Inner steps L.
    pub steps: u32,
    /// Estimate of the gradient's own noise β̂.
    pub noise: NoiseEstimate,
}

impl Default for Sghmc {
    fn default() -> Self {
        Self { alpha: 0.01.into(), steps: 5, noise: NoiseEstimate::Fixed(0.0) }
    }
}

/// θ, the gradient estimate there, and the estimates of friction and gradient noise of each coordinate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    g: Vec<f64>,
    /// α of successive ranges of coordinates.
    frictions: Vec<(Range<usize>, f64)>,
    /// V of each coordinate; empty if β̂ is zero.
    variances: Vec<f64>,
    /// Minibatches that `variances` is the mean of.
    measured: u64,
    #[serde(skip)]
    velocity: Vec<f64>,
    #[serde(skip)]
    noise: NoiseCovariance,
}

positioned!(State);

impl State {
    /// Refreshes the velocity: ν ~ N(0, h(T − β̂/2)).
    fn refresh<G: GradientEstimator>(&mut self, tick: Tick<'_>, oracle: &mut Oracle<G>) {
        let Self { velocity, variances, .. } = self;
        for Piece { range, h, .. } in tick.pieces {
            with_normals(oracle.noise(), range.clone(), |range, z| {
                let drawn = velocity[range.clone()].iter_mut().zip(z);
                if variances.is_empty() {
                    let sd = (h * tick.temperature).sqrt();
                    drawn.for_each(|(v, z)| *v = sd * z);
                } else {
                    let left = |variance: &f64| (h * (tick.temperature - 0.25 * h * variance).max(0.0)).sqrt();
                    drawn.zip(&variances[range]).for_each(|((v, z), variance)| *v = left(variance) * z);
                }
            });
        }
    }

    /// ν ← (1 − α)(ν + h/2 ĝ) + N(0, (2 − α)(αT − (1 − α/2)β̂)h) + h/2 ĝ.
    fn advance_velocity<G: GradientEstimator>(&mut self, tick: Tick<'_>, oracle: &mut Oracle<G>) {
        let Self { velocity, g, frictions, variances, .. } = self;
        let pieces = frictions.iter().flat_map(|(range, alpha)| tick.within(range.clone()).map(|p| (p, *alpha)));
        for (Piece { range, h, .. }, alpha) in pieces {
            let (kept, force) = (1.0 - alpha, (1.0 - 0.5 * alpha) * h);
            with_normals(oracle.noise(), range, |range, z| {
                let moved = velocity[range.clone()].iter_mut().zip(&g[range.clone()]).zip(z);
                if variances.is_empty() {
                    let sd = (h * injected(alpha, tick.temperature, 0.0)).sqrt();
                    moved.for_each(|((v, g), z)| *v = kept * *v + force * g + sd * z);
                } else {
                    let sd = |variance: &f64| (h * injected(alpha, tick.temperature, 0.5 * h * variance)).sqrt();
                    moved
                        .zip(&variances[range])
                        .for_each(|(((v, g), z), variance)| *v = kept * *v + force * g + sd(variance) * z);
                }
            });
        }
    }

    /// Adds the variances of the current minibatch to their running mean.
    fn measure_noise<G: GradientEstimator>(&mut self, oracle: &mut Oracle<G>) -> Result<()> {
        oracle.batch_noise(&self.theta, &mut self.noise)?;
        self.measured += 1;
        let share = 1.0 / self.measured as f64;
        self.variances.iter_mut().for_each(|variance| *variance *= 1.0 - share);
        self.noise.add_variances(share, &mut self.variances);
        Ok(())
    }
}

impl<G: GradientEstimator> Dynamics<G> for Sghmc {
    type State = State;

    fn check(&self) -> Result<()> {
        frictions_or_none("the friction alpha", &self.alpha)?;
        if self.steps == 0 {
            let expected = "take at least 1 inner step";
            return Err(Error::Setting { name: "the number of inner steps", value: "0".into(), expected });
        }
        match self.noise {
            NoiseEstimate::Fixed(beta) if !self.alpha.values().all(|alpha| (0.0..=*alpha).contains(&beta)) => {
                let (value, expected) = (beta.to_string(), "it must be between 0 and alpha");
                Err(Error::Setting { name: "the noise estimate", value, expected })
            }
            _ => Ok(()),
        }
    }

    fn init(&self, theta: &[f64], tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<State> {
        let places = self.alpha.places(oracle.layout())?.into_iter();
        let frictions: Vec<_> = places.map(|(range, alpha)| (range, *alpha)).collect();
        let mut variances = Vec::new();
        match self.noise {
            NoiseEstimate::Fixed(beta) if beta > 0.0 => {
                variances.resize(theta.len(), 0.0);
                for Piece { range, h, .. } in tick.pieces {
                    variances[range.clone()].fill(2.0 * beta / h);
                }
            }
            NoiseEstimate::Fixed(_) => {}
            NoiseEstimate::FisherScoring => variances.resize(theta.len(), 0.0),
        }
        let (mut g, velocity) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        oracle.fresh(theta, &mut g)?;
        let noise = NoiseCovariance::default();
        Ok(State { theta: theta.to_vec(), g, frictions, variances, measured: 0, velocity, noise })
    }

    fn relocate(&self, state: &mut State, theta: &[f64], oracle: &mut Oracle<G>) -> Result<()> {
        state.theta.copy_from_slice(theta);
        // The next half kick needs the gradient at the new position.
        oracle.fresh(&state.theta, &mut state.g)?;
        Ok(())
    }

    fn retemper(&self, state: &mut State, theta: &[f64], from: f64, oracle: &mut Oracle<G>) -> Result<()> {
        oracle.retemper(from, theta, &mut state.g)?;
        Ok(())
    }

    fn step(&self, state: &mut State, tick: Tick<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        state.velocity.resize(state.theta.len(), 0.0);
        state.refresh(tick, oracle);
        kick(&mut state.velocity, &state.g, tick, 0.5);
        let mut log_posterior = f64::NAN;
        for inner in 1..=self.steps {
            drift(&mut state.theta, &state.velocity, 1.0);
            log_posterior = oracle.fresh(&state.theta, &mut state.g)?;
            if inner < self.steps {
                state.advance_velocity(tick, oracle);
            }
        }
        if self.noise == NoiseEstimate::FisherScoring {
            state.measure_noise(oracle)?;
        }
        Ok(log_posterior)
    }

    fn variance_ratio(&self, state: &State, direction: &Direction<'_>) -> Option<f64> {
        let t = direction.temperature;
        let alpha = mean_along(&state.frictions, direction.vector);
        // In the direction of the law the gradient noise is known; β̂ is what the chain uses of it.
        let beta = match self.noise {
            NoiseEstimate::Fixed(beta) => beta,
            NoiseEstimate::FisherScoring => 0.5 * direction.noise,
        };
        let mut chain = Linear::new(direction).refresh((t - 0.5 * beta).max(0.0)).kick(0.5).drift(1.0);
        for _ in 1..self.steps {
            // Both half kicks have one noise: together with the friction between them they are one kick of this share.
            chain = chain.damp(1.0 - alpha, injected(alpha, t, beta)).kick(1.0 - 0.5 * alpha).drift(1.0);
        }
        Some(chain.variance_ratio(t))
    }
}

/// Returns the variance, over h, of the noise that goes with friction `alpha` where the gradient contributes `beta`.
fn injected(alpha: f64, temperature: f64, beta: f64) -> f64 {
    (2.0 - alpha) * (alpha * temperature - (1.0 - 0.5 * alpha) * beta).max(0.0)
}

/// Returns the mean of a setting by coordinate, weighted by the squares of `vector`.
pub(super) fn mean_along(values: &[(Range<usize>, f64)], vector: &[f64]) -> f64 {
    let square = |range: &Range<usize>| vector.get(range.clone()).map_or(0.0, |part| part.iter().map(|x| x * x).sum());
    let weights: Vec<f64> = values.iter().map(|(range, _)| square(range)).collect();
    let total: f64 = weights.iter().sum();
    if total > 0.0 {
        values.iter().zip(&weights).map(|((_, value), weight)| value * weight).sum::<f64>() / total
    } else {
        values.first().map_or(f64::NAN, |(_, value)| *value)
    }
}
