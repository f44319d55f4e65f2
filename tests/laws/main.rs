//! Algorithms against their exact laws, and the estimators and mode searches they use.

mod estimators;
mod metropolis;
mod mode;
mod stationary;
mod temperature;
