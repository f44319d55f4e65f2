//! Langevin algorithms: dynamics without momentum.

mod adaptive;
mod cyclical;
mod hamcmc;
mod ornstein_uhlenbeck;
mod preconditioned;
mod psgld;
mod scratch;
mod sgfs;
mod sgld;
mod sgrld;

pub use adaptive::AdaptiveSgld;
pub use cyclical::CyclicalSgld;
pub use hamcmc::Hamcmc;
pub use ornstein_uhlenbeck::OrnsteinUhlenbeck;
pub use preconditioned::PreconditionedSgld;
pub use psgld::Psgld;
use scratch::Scratch;
pub use sgfs::Sgfs;
pub use sgld::Sgld;
pub use sgrld::Sgrld;

use sgmcmc_gradient::Error;

/// Returns the error for a matrix without a Cholesky factor.
fn not_positive_definite(name: &'static str, error: &sgmcmc_numerics::Error) -> Error {
    Error::Setting {
        name,
        value: format!("not valid ({error})"),
        expected: "it must be symmetric and positive definite",
    }
}
