//! The compiled engine against the eager one, through the public interface: random closures, all distributions and
//! constraints, and closures that cannot be compiled.

mod adversarial;
mod constraints;
mod corners;
mod detached;
mod distributions;
mod explain;
mod long;
mod mixing;
mod not_numbers;
mod random;
mod sizes;
mod ties;
