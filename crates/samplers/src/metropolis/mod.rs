//! Metropolis algorithms: they accept or reject proposals, and so sample from the posterior exactly at every step size.
//!
//! They need the exact gradient ([`ExactGradient`](sgmcmc_gradient::ExactGradient)) and do not compile with minibatch
//! estimators. Step sizes are h = ε², as in all other algorithms, and every parameter may have its own.

mod covariance;
mod hmc;
mod hmc_bfgs;
mod inverse_hessian;
mod mala;
mod mass_root;
#[cfg(feature = "nuts")]
mod nuts;
mod outcome;
mod point;
mod proposal;
mod qnhmc;
mod riemannian_mala;
mod step;
mod warm_up;

pub use covariance::Covariance;
pub use hmc::Hmc;
pub use hmc_bfgs::HmcBfgs;
pub use inverse_hessian::{InverseHessian, QuasiNewtonMass};
pub use mala::Mala;
pub(crate) use mass_root::MassRoot;
#[cfg(feature = "nuts")]
pub use nuts::Nuts;
pub use qnhmc::{Adaptation, Qnhmc};
pub use riemannian_mala::RiemannianMala;
pub use step::DualAveraging;
pub use warm_up::WarmUp;
