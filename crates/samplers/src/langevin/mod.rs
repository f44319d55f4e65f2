//! The Langevin family: one gradient per step, no momentum.

mod cyclical;
mod sgld;

pub use cyclical::CyclicalSgld;
pub use sgld::Sgld;
