//! The state and the step that the algorithms on the simplex have in common.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Constraint, Error, GradientEstimator, Layout, Oracle, Result};

use crate::dynamics::impl_has_position;
use crate::step_size::StepContext;

/// The simplexes of a layout, as ranges of coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Simplexes(Vec<SimplexBlock>);

/// A parameter that consists of simplexes of the same size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SimplexBlock {
    range: Range<usize>,
    size: usize,
}

impl Simplexes {
    /// Returns the simplexes of `layout`.
    ///
    /// # Errors
    ///
    /// Returns an error if a parameter does not have the constraint [`Constraint::Softmax`].
    pub(super) fn of(layout: &Layout) -> Result<Self> {
        let blocks = layout.blocks().iter().map(|block| match block.constraint {
            Some(Constraint::Softmax) => Ok(SimplexBlock { range: block.range.clone(), size: block.group_shape()[1] }),
            _ => Err(Error::Setting {
                name: "the constraint",
                value: format!("not `Softmax` for the parameter `{}`", block.name),
                expected: "algorithms for the simplex move parameters with `Constraint::Softmax` only",
            }),
        });
        Ok(Self(blocks.collect::<Result<_>>()?))
    }

    /// Returns the range of every simplex.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = self.0.iter().flat_map(|block| block.range.clone().step_by(block.size).map(|s| (s, block.size)));
        starts.map(|(start, size)| start..start + size)
    }
}

/// One simplex in one step.
pub(super) struct SimplexStep<'a> {
    /// log θ, which the algorithm changes.
    pub(super) log_theta: &'a mut [f64],
    /// The estimate â of α + Σᵢ zᵢ.
    pub(super) a: &'a [f64],
    /// α.
    pub(super) alpha: &'a [f64],
    /// A buffer of the same length.
    pub(super) buffer: &'a mut [f64],
    /// The step size.
    pub(super) h: f64,
    /// The noise of the dynamics.
    pub(super) rng: &'a mut StreamRng,
}

impl SimplexStep<'_> {
    /// Writes ω = θ/Σθ into the buffer.
    pub(super) fn normalize(&mut self) {
        let largest = self.log_theta.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.buffer.iter_mut().zip(&*self.log_theta).for_each(|(omega, y)| *omega = (y - largest).exp());
        let total: f64 = self.buffer.iter().sum();
        self.buffer.iter_mut().for_each(|omega| *omega /= total);
    }

    /// Returns the estimate of the sum of all counts.
    pub(super) fn total_count(&self) -> f64 {
        self.a.iter().zip(self.alpha).map(|(a, alpha)| a - alpha).sum()
    }
}

/// Returns log |θ|. Zero, which has probability zero but for rounding, becomes the smallest positive number.
pub(super) fn mirrored_log(theta: f64) -> f64 {
    // NaN stays NaN, so that the chain reports it.
    if theta == 0.0 { f64::MIN_POSITIVE.ln() } else { theta.abs().ln() }
}

/// The state of an algorithm on the simplex: the position log θ and the buffers of a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    theta: Vec<f64>,
    simplexes: Simplexes,
    #[serde(skip)]
    a: Vec<f64>,
    #[serde(skip)]
    alpha: Vec<f64>,
    #[serde(skip)]
    buffer: Vec<f64>,
}

impl_has_position!(State);

impl State {
    /// Creates the state of a chain at `theta`.
    pub(super) fn new(theta: &[f64], context: StepContext<'_>, layout: &Layout) -> Result<Self> {
        check_temperature(context)?;
        let empty = Vec::new;
        let simplexes = Simplexes::of(layout)?;
        Ok(Self { theta: theta.to_vec(), simplexes, a: empty(), alpha: empty(), buffer: empty() })
    }

    /// Estimates a and calls `update` with every simplex. Returns the estimate of the log density.
    pub(super) fn step<G: GradientEstimator>(
        &mut self,
        context: StepContext<'_>,
        oracle: &mut Oracle<G>,
        mut update: impl FnMut(SimplexStep<'_>) -> Result<()>,
    ) -> Result<f64> {
        check_temperature(context)?;
        let Self { theta, simplexes, a, alpha, buffer } = self;
        for vector in [&mut *a, &mut *alpha, &mut *buffer] {
            vector.resize(theta.len(), 0.0);
        }
        let log_density = oracle.gradient(theta, a)?;
        alpha.fill(0.0);
        oracle.prior(theta, alpha)?;
        if let Some(a) = a.iter().find(|a| !a.is_finite()) {
            let expected = "the counts of all observations must be finite numbers";
            return Err(Error::Setting { name: "an estimate of alpha plus counts", value: a.to_string(), expected });
        }
        for SimplexBlock { range, size } in &simplexes.0 {
            for steps in context.within(range.clone()) {
                for start in steps.range.clone().step_by(*size) {
                    let one = start..start + size;
                    update(SimplexStep {
                        log_theta: &mut theta[one.clone()],
                        a: &a[one.clone()],
                        alpha: &alpha[one.clone()],
                        buffer: &mut buffer[one],
                        h: steps.h,
                        rng: oracle.noise(),
                    })?;
                }
            }
        }
        Ok(log_density)
    }
}

/// Returns an error if the temperature is not one.
fn check_temperature(context: StepContext<'_>) -> Result<()> {
    if context.temperature.to_bits() == 1.0_f64.to_bits() {
        return Ok(());
    }
    let expected = "algorithms for the simplex have temperature 1; for others use the sampler `Sgld` on the `density` \
                    of the target";
    Err(Error::Setting { name: "the temperature", value: context.temperature.to_string(), expected })
}

/// Implements [`Dynamics`](crate::dynamics::Dynamics) for a type with a method `update` that moves one simplex.
macro_rules! impl_dynamics {
    ($type:ty) => {
        impl<G: sgmcmc_gradient::GradientEstimator> $crate::dynamics::Dynamics<G> for $type {
            type State = $crate::simplex::step::State;

            fn init(
                &self,
                theta: &[f64],
                context: $crate::step_size::StepContext<'_>,
                oracle: &mut sgmcmc_gradient::Oracle<G>,
            ) -> sgmcmc_gradient::Result<Self::State> {
                $crate::simplex::step::State::new(theta, context, oracle.layout())
            }

            fn step(
                &self,
                state: &mut Self::State,
                context: $crate::step_size::StepContext<'_>,
                oracle: &mut sgmcmc_gradient::Oracle<G>,
            ) -> sgmcmc_gradient::Result<f64> {
                state.step(context, oracle, |simplex| self.update(simplex))
            }
        }
    };
}
pub(super) use impl_dynamics;
