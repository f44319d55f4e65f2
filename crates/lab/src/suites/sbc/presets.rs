//! The presets under calibration, with their step sizes and settings.
//!
//! | preset | minibatch | step size | settings that are not defaults |
//! |---|---|---|---|
//! | `sgld`, `sghmc`, `sgnht`, `ula`, and those with control variates | 25 % | h of each parameter is c divided by its largest curvature at the mode; c is the largest number for which the error of the variance of the linear chain, with the measured noise and curvatures, is at most 10 % | |
//! | `psgld` | 25 % | the same with the entries of its matrix in place of the inverse curvatures | |
//! | `hamcmc` | 25 % | the same, dimensionless | γ: the inverse of the largest curvature |
//! | `mala`, `hmc`, `qnhmc` | – | dual averaging | jitter of 0.5 of the number of leapfrog steps |
//!
//! An error of 10 % of the variance changes the distribution function of the ranks by at most 0.024, which is not
//! detectable with a few hundred ranks.

use sgmcmc::algorithms::{Adaptation, DualAveraging, Hamcmc, Hmc, InitialScale, Mala, Psgld, Qnhmc};
use sgmcmc::prelude::*;
use sgmcmc::presets::{hamcmc, psgld};

use super::tuning::{Noise, Tuning};
use crate::Result;
use crate::suites::law::{Direction, Rule};

/// The number of observations per minibatch.
const BATCH: usize = 25;

/// The tolerance of the variance for which step sizes are chosen.
pub(super) const TOLERANCE: f64 = 0.1;

/// The upper bound of h times the largest curvature.
const MAX_STEP: f64 = 0.25;

/// The number of iterations of dual averaging; QNHMC learns its matrix in the first half.
const WARM_UP: u64 = 600;

/// The temperature of the negative control: its standard deviations are 1.5 times too large.
const CONTROL_TEMPERATURE: f64 = 2.25;

/// A preset, or the negative control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preset {
    Sgld,
    Sghmc,
    Sgnht,
    SgldCv,
    SghmcCv,
    SgnhtCv,
    Ula,
    Psgld,
    Hamcmc,
    Mala,
    Hmc,
    Qnhmc,
    /// ULA at a temperature above one, which the tests must detect.
    Control,
}

impl Preset {
    /// All presets of the library.
    pub(super) const ALL: [Self; 12] = [
        Self::Sgld,
        Self::Sghmc,
        Self::Sgnht,
        Self::SgldCv,
        Self::SghmcCv,
        Self::SgnhtCv,
        Self::Ula,
        Self::Psgld,
        Self::Hamcmc,
        Self::Mala,
        Self::Hmc,
        Self::Qnhmc,
    ];

    /// Returns the name of the preset.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sgld => "sgld",
            Self::Sghmc => "sghmc",
            Self::Sgnht => "sgnht",
            Self::SgldCv => "sgldcv",
            Self::SghmcCv => "sghmccv",
            Self::SgnhtCv => "sgnhtcv",
            Self::Ula => "ula",
            Self::Psgld => "psgld",
            Self::Hamcmc => "hamcmc",
            Self::Mala => "mala",
            Self::Hmc => "hmc",
            Self::Qnhmc => "qnhmc",
            Self::Control => "control (ula, T = 2.25)",
        }
    }
}

/// The step size and the predicted autocorrelation time of a run.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    step: StepSize,
    /// The predicted autocorrelation time in iterations.
    pub(super) time: f64,
}

/// The length and the seed of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub(super) burn_in: u64,
    pub(super) thin: u64,
    pub(super) draws: usize,
    pub(super) seed: u64,
}

/// The posterior of a replication, with its mode as the start.
pub(super) struct Problem<'a, P, D> {
    pub(super) model: &'a Model<P, D>,
    pub(super) data: &'a Dataset<D>,
    pub(super) start: &'a P,
    pub(super) tuning: &'a Tuning,
}

impl Plan {
    /// Returns the plan of a preset.
    pub(super) fn new(preset: Preset, tuning: &Tuning) -> Self {
        let scales = tuning.by_parameter();
        let scaled = tuning.scaled(&tuning.coordinate_scales(&scales), BATCH);
        let none = Noise { largest: 0.0, mean: 0.0 };
        let (a, alpha) = (0.01, 0.01);
        let linear = |rule: Rule, noise: Noise| {
            let c = largest_step(rule, [scaled.smallest, scaled.largest], noise.largest);
            let time = rule.law(c, Direction { precision: scaled.smallest, noise: noise.largest }).time;
            Self { step: scaled_steps(&scales, c), time }
        };
        let sghmc = Rule::Sghmc { alpha, steps: 5 };
        let sgnht = |noise: Noise| linear(Rule::Sgnht { a, mean_noise: noise.mean }, noise);
        match preset {
            Preset::Sgld => linear(Rule::Sgld, scaled.plain),
            Preset::Sghmc => linear(sghmc, scaled.plain),
            Preset::Sgnht => sgnht(scaled.plain),
            Preset::SgldCv => linear(Rule::Sgld, scaled.controlled),
            Preset::SghmcCv => linear(sghmc, scaled.controlled),
            Preset::SgnhtCv => sgnht(scaled.controlled),
            Preset::Ula => linear(Rule::Sgld, none),
            Preset::Control => {
                let plan = linear(Rule::Sgld, none);
                Self { time: plan.time, ..plan }
            }
            Preset::Psgld => {
                let scaled = tuning.scaled(&tuning.root_mean_squares(BATCH, Psgld::default().lambda), BATCH);
                let noise = scaled.plain.largest;
                let h = largest_step(Rule::Sgld, [scaled.smallest, scaled.largest], noise);
                let time = Rule::Sgld.law(h, Direction { precision: scaled.smallest, noise }).time;
                Self { step: h.into(), time }
            }
            Preset::Hamcmc => {
                // The matrix is an inverse curvature in the directions of its pairs, and γ in the others, where the
                // chain is slower. The M chains are interleaved.
                let noise = tuning.whitened_noise(BATCH);
                let h = largest_step(Rule::Sgld, [1.0, scaled.largest], noise);
                let gamma = tuning.common_scale();
                let smallest = tuning.scaled(&vec![gamma; tuning.mode.theta.len()], BATCH).smallest;
                let time = Rule::Sgld.law(h, Direction { precision: smallest, noise: 0.0 }).time;
                Self { step: h.into(), time: time * Hamcmc::default().memory as f64 }
            }
            Preset::Mala => Self { step: scaled_steps(&scales, MAX_STEP), time: 8.0 / scaled.smallest },
            Preset::Hmc | Preset::Qnhmc => Self { step: scaled_steps(&scales, MAX_STEP), time: 4.0 },
        }
    }

    /// Runs `preset` from the mode.
    pub(super) fn run<P: TensorTree, D: TensorTree>(
        &self,
        preset: Preset,
        problem: &Problem<'_, P, D>,
        length: Length,
    ) -> Result<Fit> {
        let Problem { model, data, start, tuning } = *problem;
        let h = self.step.clone();
        macro_rules! run {
            ($builder:expr) => {{
                let Length { burn_in, thin, draws, seed } = length;
                Ok($builder.seed(seed).burn_in(burn_in).thin(thin).sample(start, draws)?)
            }};
        }
        let adapt = |acceptance| Some(DualAveraging { iterations: WARM_UP, acceptance });
        match preset {
            Preset::Sgld => run!(sgld(model, data, h).minibatch(BATCH)),
            Preset::Sghmc => run!(sghmc(model, data, h).minibatch(BATCH)),
            Preset::Sgnht => run!(sgnht(model, data, h).minibatch(BATCH)),
            Preset::SgldCv => run!(sgldcv(model, data, h).minibatch(BATCH)),
            Preset::SghmcCv => run!(sghmccv(model, data, h).minibatch(BATCH)),
            Preset::SgnhtCv => run!(sgnhtcv(model, data, h).minibatch(BATCH)),
            Preset::Ula => run!(ula(model, data, h)),
            Preset::Control => run!(ula(model, data, h).temperature(CONTROL_TEMPERATURE)),
            Preset::Psgld => run!(psgld(model, data, h).minibatch(BATCH)),
            Preset::Hamcmc => {
                let dynamics = Hamcmc { gamma: InitialScale::Fixed(tuning.common_scale()), ..Hamcmc::default() };
                run!(hamcmc(model, data, h).minibatch(BATCH).dynamics(dynamics))
            }
            Preset::Mala => run!(mala(model, data, h).dynamics(Mala { adapt: adapt(0.6), ..Mala::default() })),
            Preset::Hmc => {
                run!(hmc(model, data, h).dynamics(Hmc { jitter: 0.5, adapt: adapt(0.8), ..Hmc::default() }))
            }
            Preset::Qnhmc => {
                let adaptation = Adaptation::First(WARM_UP / 2);
                let dynamics = Qnhmc { jitter: 0.5, adaptation, adapt: adapt(0.8), ..Qnhmc::default() };
                run!(qnhmc(model, data, h).dynamics(dynamics))
            }
        }
    }
}

/// Returns the largest step size for these smallest and largest curvatures.
fn largest_step(rule: Rule, curvatures: [f64; 2], noise: f64) -> f64 {
    let directions = curvatures.map(|precision| Direction { precision, noise });
    rule.largest_step(&directions, MAX_STEP, TOLERANCE)
}

/// Returns step sizes of `c` times the scale of each parameter.
fn scaled_steps(scales: &[(String, f64)], c: f64) -> StepSize {
    let common = scales.first().map_or(c, |(_, scale)| c * scale);
    scales.iter().fold(StepSize::from(common), |steps, (name, scale)| steps.parameter(name, c * scale))
}
