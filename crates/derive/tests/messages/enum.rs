use sgmcmc::prelude::*;

#[derive(TensorTree)]
enum Choice {
    A(Tensor<1>),
}

fn main() {}
