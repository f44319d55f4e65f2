//! The compiled engine against the eager one, through the public interface: random closures, all distributions and
//! constraints, and closures that cannot be compiled.

#[path = "compiled/adversarial.rs"]
mod adversarial;
#[path = "distributions/cases.rs"]
#[expect(dead_code, reason = "the tests of the distributions use the rest")]
mod cases;
#[path = "compiled/constraints.rs"]
mod constraints;
#[path = "compiled/corners.rs"]
mod corners;
#[path = "compiled/detached.rs"]
mod detached;
#[path = "compiled/distributions.rs"]
mod distributions;
#[path = "compiled/explain.rs"]
mod explain;
#[path = "compiled/long.rs"]
mod long;
#[path = "compiled/mixing.rs"]
mod mixing;
#[path = "compiled/not_numbers.rs"]
mod not_numbers;
#[path = "compiled/random.rs"]
mod random;
#[path = "compiled/sizes.rs"]
mod sizes;
#[path = "distributions/support.rs"]
#[expect(dead_code, reason = "the tests of the distributions use the rest")]
mod support;
#[path = "compiled/ties.rs"]
mod ties;
