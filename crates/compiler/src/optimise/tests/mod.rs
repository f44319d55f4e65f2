//! The rewrites keep values and gradients, find what they are for, and make graphs smaller.

mod forms;
mod models;
mod random;
