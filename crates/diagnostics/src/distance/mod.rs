//! Distances between draws and a reference: moments, a sample, or a distribution.

mod dirichlet;
mod divergence;
mod kolmogorov;
mod moments;
mod rosenblatt;
mod wasserstein;

pub use dirichlet::{dirichlet_ks, dirichlet_rosenblatt};
pub use divergence::kl_divergence;
pub use kolmogorov::{KolmogorovSmirnov, ks_one_sample, ks_p_value, ks_two_sample};
pub use moments::{MomentErrors, Moments, moment_errors};
pub use rosenblatt::{rosenblatt, rosenblatt_ks};
pub use wasserstein::{sliced_wasserstein, wasserstein};
