use sgmcmc::distributions::*;
use sgmcmc::prelude::*;

#[derive(TensorTree)]
struct LogDensity {
    #[tree(prior = Normal::new(0.0, 1.0).log_prob(zeros([1])))]
    mean: Tensor<1>,
}

#[derive(TensorTree)]
struct Number {
    #[tree(prior = 1.0)]
    mean: Tensor<1>,
}

#[derive(TensorTree)]
struct Twice {
    #[tree(prior = Normal::new(0.0, 1.0), prior = Normal::new(0.0, 2.0))]
    mean: Tensor<1>,
}

#[derive(TensorTree)]
struct Arguments {
    #[tree(prior = |p, q| Normal::new(p.mean, q))]
    mean: Tensor<1>,
}

#[derive(TensorTree)]
struct Parentheses {
    #[tree(prior(Normal::new(0.0, 1.0)))]
    mean: Tensor<1>,
}

#[derive(TensorTree)]
struct Skipped {
    #[tree(skip, prior = Normal::new(0.0, 1.0))]
    label: String,
    mean: Tensor<1>,
}

fn main() {}
