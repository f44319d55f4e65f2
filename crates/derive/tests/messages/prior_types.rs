use sgmcmc::distributions::{Dirichlet, Normal};
use sgmcmc::prelude::*;

#[derive(TensorTree)]
struct NoSuchField {
    #[tree(prior = Normal::new(0.0, 1.0))]
    mu: Tensor<1>,
    #[tree(prior = |p| Normal::new(p.mean, 1.0))]
    theta: Tensor<1>,
}

#[derive(TensorTree)]
struct Density {
    #[tree(prior = |p| Normal::new(0.0, 1.0).log_prob(p.mu))]
    mu: Tensor<1>,
}

#[derive(TensorTree)]
struct Number {
    #[tree(prior = 1.0)]
    mu: Tensor<1>,
}

#[derive(TensorTree)]
struct Inner {
    a: Tensor<1>,
}

#[derive(TensorTree)]
struct OfAStruct {
    #[tree(prior = Normal::new(0.0, 1.0))]
    inner: Inner,
}

#[derive(TensorTree)]
struct RankOfRows {
    #[tree(prior = Dirichlet::symmetric(1.0))]
    shares: Tensor<3>,
}

fn main() {}
