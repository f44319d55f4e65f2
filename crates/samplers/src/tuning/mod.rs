//! Automatic tuning: runs without settings, and their components.
//!
//! [`auto`] goes from a model to a fit in one call. The components are useful alone:
//!
//! | item | purpose |
//! |---|---|
//! | [`Auto::tune`] | the settings with reasons, without sampling |
//! | [`NormalApproximation`] | location and scale of the posterior |
//! | [`WhitenedProblem::choose`] | algorithm, step size and minibatch size for an accepted bias |
//! | [`law`](crate::law) | variances and autocorrelation times of linear chains |
//! | [`minibatch_size()`] | minibatch size of the smallest cost |
//! | [`step_size_for_noise`] | step size from the sampling threshold of Welling & Teh |
//! | [`choose_step_size`] | step size by predictive score on held-out data |
//! | [`SuccessiveHalving`] | search over settings by kernel Stein discrepancy |

mod approximation;
mod auto;
mod choice;
mod cross_validation;
mod decisions;
mod goal;
mod location;
mod matrix;
mod minibatch_size;
mod noise;
mod pilot;
mod plan;
mod rounds;
mod sampling;
mod search;
mod shape_findings;
mod subset;
mod successive_halving;
mod threshold_step;
mod tuned;
mod verdict;

pub use approximation::NormalApproximation;
pub use auto::{Auto, auto};
pub use choice::{Candidate, Choice, CurvatureRange, WhitenedProblem};
pub use cross_validation::{StepSizeScore, StepSizeScores, choose_step_size, log_predictive_densities};
pub use goal::Goal;
pub use minibatch_size::{StepCost, minibatch_size};
pub use successive_halving::{ArmResult, SearchResult, SteinScorer, SuccessiveHalving};
pub use threshold_step::{step_size_for_covariance, step_size_for_noise};
pub use tuned::Tuned;
