use sgmcmc::prelude::*;

#[derive(TensorTree)]
struct Shares {
    #[tree(interval(1.0))]
    share: Tensor<1>,
}

#[derive(TensorTree)]
struct Scales {
    #[tree(positive, unit_interval)]
    scale: Tensor<1>,
}

fn main() {}
