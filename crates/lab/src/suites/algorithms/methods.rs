//! The methods of the table, each with its algorithm, gradient estimator and known limitation.

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
    /// Returns the name in the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Full => "full gradient",
            Self::Minibatch => "minibatch",
            Self::ControlVariate => "control variate",
            Self::Svrg => "SVRG",
            Self::Saga => "SAGA",
        }
    }

    /// Returns the number of estimates between two full passes of SVRG: one epoch.
    pub(crate) fn period(tuning: &Tuning) -> u64 {
        (tuning.problem.observations / tuning.batch).max(1) as u64
    }

    /// Returns the noise of one estimate at a draw of the posterior, in whitened coordinates.
    pub(crate) fn noise(self, tuning: &Tuning) -> Noise {
        match self {
            Self::Full => tuning.scores(tuning.problem.observations),
            Self::Minibatch => tuning.scores(tuning.batch),
            Self::ControlVariate => tuning.differences(tuning.batch),
            Self::Svrg | Self::Saga => tuning.doubled_differences(tuning.batch),
        }
    }

    /// Returns the number of gradients of single observations per estimate.
    pub(crate) fn row_gradients(self, tuning: &Tuning) -> f64 {
        let (all, batch) = (tuning.problem.observations as f64, tuning.batch as f64);
        match self {
            Self::Full => all,
            Self::Minibatch | Self::Saga => batch,
            Self::ControlVariate => 2.0 * batch,
            Self::Svrg => 2.0 * batch + all / Self::period(tuning) as f64,
        }
    }
}

/// A known bias of a method, whose size is predicted before the run.
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

    /// Returns the name in the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::MinibatchNoise => "minibatch noise",
            Self::ThermostatFriction => "thermostat friction",
            Self::WarmRestarts => "warm restarts",
            Self::NoGamma => "no Γ",
            Self::ScoreCovariance => "score covariance",
        }
    }

    /// Returns a description with the predicted size.
    pub(crate) fn explanation(self) -> &'static str {
        match self {
            Self::MinibatchNoise => {
                "The noise of the gradient heats the chain and is not corrected. In a direction of curvature A = 1 \
                 and noise variance V, the variance of SGLD is (1 + hV/4)/(1 − h/4) times that of the posterior. For \
                 SGHMC the factor follows from the same linear recursion with L inner steps. V is measured before the \
                 run."
            }
            Self::ThermostatFriction => {
                "SGNHT integrates with Euler steps. Its variance is about 1 − ξ/2 times that of the posterior, where \
                 ξ = a + hV/2 is the mean of the thermostat. For fixed a this error does not vanish as h decreases. \
                 One thermostat for all coordinates balances the mean noise: directions with more noise are too wide, \
                 directions with less noise are too narrow."
            }
            Self::WarmRestarts => {
                "Each cycle begins with steps without noise, which return to the mode. If H is the sum of the step \
                 sizes of the sampling stage, the variance is too small by a factor of about 1 − 1/H."
            }
            Self::NoGamma => {
                "Without Γ the chain samples p(θ|x)/M(θ) instead of p(θ|x). The squared gradients in M = 1/(λ + √V) \
                 are V + u² at a distance u from the mode if their average follows the chain without delay, and V if \
                 the average is constant. The prediction is the range between these two cases. It does not shrink \
                 with h."
            }
            Self::ScoreCovariance => {
                "SGFS uses the covariance of the scores in place of the curvature. The two differ if the model is \
                 misspecified or the prior is informative. With I their ratio and γ = N/n, the variance is (4/h + (γ \
                 − 1)I)/(γI + 4/h − 1) times that of the posterior."
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

/// Returns a method without a limitation.
const fn method(name: &'static str, algorithm: Algorithm, estimator: Estimator) -> Method {
    Method { name, algorithm, estimator, limitation: None }
}

/// Returns a method with a limitation.
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
