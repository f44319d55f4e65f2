//! The rewrites preserve values and gradients, recognize their patterns, and make graphs smaller.

mod forms;
mod models;
mod random;
