//! Tests of the topic models.

mod conformance;
mod corpora;
mod exact;
mod faults;
mod prediction;
