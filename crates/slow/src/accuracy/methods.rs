//! The methods of the table: algorithm, estimator, step-size rule, and the deviation each is known for.

use super::tuning::{Noise, Tuning};

/// A gradient estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Estimator {
    Full,
    Minibatch,
    ControlVariate,
    Svrg,
    Saga,
}

impl Estimator {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Full => "full gradient",
            Self::Minibatch => "minibatch",
            Self::ControlVariate => "control variate",
            Self::Svrg => "SVRG",
            Self::Saga => "SAGA",
        }
    }

    /// Estimates between two full passes of SVRG: as many as make an epoch.
    pub(crate) fn period(tuning: &Tuning) -> u64 {
        (tuning.problem.observations / tuning.batch).max(1) as u64
    }

    /// The noise of one estimate at a draw of the posterior, in whitened coordinates.
    pub(crate) fn noise(self, tuning: &Tuning) -> Noise {
        match self {
            Self::Full => tuning.scores(tuning.problem.observations),
            Self::Minibatch => tuning.scores(tuning.batch),
            Self::ControlVariate => tuning.differences(tuning.batch),
            Self::Svrg | Self::Saga => tuning.doubled_differences(tuning.batch),
        }
    }

    /// Gradients of single observations per estimate.
    pub(crate) fn rows(self, tuning: &Tuning) -> f64 {
        let (all, batch) = (tuning.problem.observations as f64, tuning.batch as f64);
        match self {
            Self::Full => all,
            Self::Minibatch | Self::Saga => batch,
            Self::ControlVariate => 2.0 * batch,
            Self::Svrg => 2.0 * batch + all / Self::period(tuning) as f64,
        }
    }
}

/// A deviation that a method is known for, with a size that is predicted before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limitation {
    MinibatchNoise,
    ThermostatFriction,
    WarmRestarts,
    NoGamma,
    ScoreCovariance,
}

impl Limitation {
    pub(crate) const ALL: [Self; 5] =
        [Self::MinibatchNoise, Self::ThermostatFriction, Self::WarmRestarts, Self::NoGamma, Self::ScoreCovariance];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::MinibatchNoise => "minibatch noise",
            Self::ThermostatFriction => "thermostat friction",
            Self::WarmRestarts => "warm restarts",
            Self::NoGamma => "no Γ",
            Self::ScoreCovariance => "score covariance",
        }
    }

    /// What it is and how its size is predicted.
    pub(crate) fn explanation(self) -> &'static str {
        match self {
            Self::MinibatchNoise => {
                "The noise of the gradient heats the chain and is not corrected for. In a direction of curvature A = 1 and noise \
                 variance V the variance of SGLD is (1 + hV/4)/(1 − h/4) times that of the posterior; for SGHMC the factor comes \
                 from the same linear recursion with its L inner steps. V is measured before the run."
            }
            Self::ThermostatFriction => {
                "SGNHT integrates by Euler steps: its variance is about 1 − ξ/2 times that of the posterior, ξ = a + hV/2 the mean of \
                 the thermostat, which does not vanish with h at fixed a. One thermostat for all coordinates balances the mean noise; \
                 directions with more noise are too wide, those with less too narrow."
            }
            Self::WarmRestarts => {
                "Each cycle begins with steps without noise, which lead back to the mode. With H the sum of the step sizes of the \
                 sampling stage, the variance is short by about 1/H."
            }
            Self::NoGamma => {
                "Without Γ the chain samples p(θ|x)/M(θ) instead of p(θ|x). The squared gradients in M = 1/(λ + √V) are V + u² at a \
                 distance u from the mode, if the average followed the chain at once, and V if it did not move: the prediction is the \
                 range between both. It does not shrink with h."
            }
            Self::ScoreCovariance => {
                "SGFS takes the covariance of the scores for the curvature. Where the model does not describe the data, or the prior \
                 matters, they differ: with I their ratio and γ = N/n, the variance is (4/h + (γ − 1)I)/(γI + 4/h − 1) times that of \
                 the posterior."
            }
        }
    }
}

/// An algorithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Algorithm {
    Sgld,
    /// SGLD with the step size of SGLD with control variates.
    SgldAtControlStep,
    Cyclical,
    Sghmc,
    Sgnht,
    Baoab,
    Badodab,
    Preconditioned,
    Psgld {
        gamma: bool,
    },
    Sgrld,
    Sgfs,
    Hamcmc,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) algorithm: Algorithm,
    pub(crate) estimator: Estimator,
    pub(crate) limitation: Option<Limitation>,
}

const fn method(name: &'static str, algorithm: Algorithm, estimator: Estimator) -> Method {
    Method { name, algorithm, estimator, limitation: None }
}

const fn limited(name: &'static str, algorithm: Algorithm, estimator: Estimator, limitation: Limitation) -> Method {
    Method { name, algorithm, estimator, limitation: Some(limitation) }
}

/// All methods, in the order of the table.
pub(crate) const METHODS: [Method; 20] = {
    use Algorithm as A;
    use Estimator as E;
    use Limitation as L;
    [
        method("ULA", A::Sgld, E::Full),
        limited("SGLD", A::Sgld, E::Minibatch, L::MinibatchNoise),
        limited("SGLD, step of the next row", A::SgldAtControlStep, E::Minibatch, L::MinibatchNoise),
        method("SGLD", A::Sgld, E::ControlVariate),
        method("SGLD", A::Sgld, E::Svrg),
        method("SGLD", A::Sgld, E::Saga),
        limited("cyclical SGLD", A::Cyclical, E::ControlVariate, L::WarmRestarts),
        method("SGHMC", A::Sghmc, E::ControlVariate),
        limited("SGHMC", A::Sghmc, E::Minibatch, L::MinibatchNoise),
        limited("SGNHT", A::Sgnht, E::ControlVariate, L::ThermostatFriction),
        limited("SGNHT", A::Sgnht, E::Minibatch, L::ThermostatFriction),
        method("BAOAB", A::Baoab, E::ControlVariate),
        method("BADODAB", A::Badodab, E::ControlVariate),
        limited("BADODAB", A::Badodab, E::Minibatch, L::ThermostatFriction),
        method("preconditioned SGLD", A::Preconditioned, E::ControlVariate),
        limited("pSGLD without Γ", A::Psgld { gamma: false }, E::Minibatch, L::NoGamma),
        limited("pSGLD with Γ", A::Psgld { gamma: true }, E::Minibatch, L::MinibatchNoise),
        method("SGRLD", A::Sgrld, E::ControlVariate),
        limited("SGFS", A::Sgfs, E::Minibatch, L::ScoreCovariance),
        method("HAMCMC", A::Hamcmc, E::ControlVariate),
    ]
};
