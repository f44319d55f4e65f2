//! The compiled engine against the eager one, through the public interface: random closures, all distributions and
//! constraints, and closures that cannot be compiled.

#[path = "compiled/adversarial.rs"]
mod adversarial;
#[path = "distributions/cases.rs"]
#[expect(dead_code, reason = "the tests of the distributions use the rest")]
mod cases;
#[path = "compiled/compare.rs"]
mod compare;
#[path = "compiled/constraints.rs"]
mod constraints;
#[path = "compiled/corners.rs"]
mod corners;
#[path = "compiled/distributions.rs"]
mod distributions;
#[path = "compiled/explain.rs"]
mod explain;
#[path = "compiled/expression.rs"]
mod expression;
#[path = "compiled/operations.rs"]
mod operations;
#[path = "compiled/random.rs"]
mod random;
#[path = "compiled/shapes.rs"]
mod shapes;
#[path = "compiled/sizes.rs"]
mod sizes;
#[path = "distributions/support.rs"]
#[expect(dead_code, reason = "the tests of the distributions use the rest")]
mod support;
#[path = "compiled/ties.rs"]
mod ties;
