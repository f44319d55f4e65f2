use sgmcmc::distributions::Normal;
use sgmcmc::prelude::*;

#[derive(TensorTree)]
struct Twice {
    #[tree(prior = Normal::new(0.0, 1.0), prior = Normal::new(0.0, 2.0))]
    mu: Tensor<1>,
}

#[derive(TensorTree)]
struct Parentheses {
    #[tree(prior(Normal::new(0.0, 1.0)))]
    mu: Tensor<1>,
}

#[derive(TensorTree)]
struct TwoArguments {
    mu: Tensor<1>,
    #[tree(prior = |mu, sigma| Normal::new(mu, sigma))]
    theta: Tensor<1>,
}

#[derive(TensorTree)]
struct Skipped {
    #[tree(skip, prior = Normal::new(0.0, 1.0))]
    label: String,
    mu: Tensor<1>,
}

#[derive(TensorTree)]
#[tree(prior = Normal::new(0.0, 1.0))]
struct OnTheStruct {
    mu: Tensor<1>,
}

fn main() {}
