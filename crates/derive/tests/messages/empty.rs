use sgmcmc::prelude::*;

#[derive(TensorTree)]
struct Nothing;

fn main() {}
