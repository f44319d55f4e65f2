use sgmcmc::prelude::*;

#[derive(TensorTree)]
struct Weights {
    beta: Tensor<1>,
    scale: f64,
}

fn main() {}
