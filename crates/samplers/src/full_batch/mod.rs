//! The full-batch family: methods that accept or reject, and so sample from the posterior itself, whatever the step size.
//!
//! They need the exact gradient ([`ExactGradient`](sgmcmc_core::ExactGradient)): on a minibatch they do not compile. Step sizes are
//! h = ε², as in the rest of the library, and every parameter may have its own.

mod corrected_langevin;
mod covariance;
mod hmc;
mod hmc_bfgs;
mod inverse_hessian;
mod mala;
#[cfg(feature = "nuts")]
mod nuts;
mod outcome;
mod point;
mod proposal;
mod qnhmc;
mod scaling;
mod step;

pub use corrected_langevin::CorrectedLangevin;
pub use covariance::Covariance;
pub use hmc::Hmc;
pub use hmc_bfgs::HmcBfgs;
pub use inverse_hessian::{InverseHessian, QuasiNewtonMass};
pub use mala::Mala;
#[cfg(feature = "nuts")]
pub use nuts::Nuts;
pub use qnhmc::{Learning, Qnhmc};
pub use step::DualAveraging;
