//! Nothing lost and nothing wrong without a message: checkpoints, writers, panics and chains outside the support.

mod damage;
mod environment;
mod faults;
mod identity;
mod panics;
mod promises;
mod support;
mod writers;
