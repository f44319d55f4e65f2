//! Nothing lost and nothing wrong without a message: checkpoints, writers, panics and chains outside the support.

#[path = "reliability/damage.rs"]
mod damage;
#[path = "reliability/environment.rs"]
mod environment;
#[path = "reliability/faults.rs"]
mod faults;
#[path = "reliability/identity.rs"]
mod identity;
#[path = "reliability/panics.rs"]
mod panics;
#[path = "reliability/support.rs"]
mod support;
#[path = "reliability/writers.rs"]
mod writers;
