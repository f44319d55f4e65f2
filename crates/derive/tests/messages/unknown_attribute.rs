use sgmcmc::prelude::*;

#[derive(TensorTree)]
struct Weights {
    #[tree(positve)]
    scale: Tensor<1>,
}

fn main() {}
