//! Random closures, and the comparison of the engines that run them.

pub mod compare;
pub mod expression;
pub mod operations;
pub mod shapes;
