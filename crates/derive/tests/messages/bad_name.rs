use sgmcmc::prelude::*;

#[derive(TensorTree)]
struct Weights {
    #[tree(rename = "layer.weight")]
    weight: Tensor<1>,
}

fn main() {}
