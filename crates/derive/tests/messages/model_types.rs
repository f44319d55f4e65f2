use sgmcmc::prelude::*;

model! {
    Unknown
    mu ~ Norml(0, 1);
}

model! {
    Missing
    mu ~ Normal(0);
}

model! {
    Undeclared
    data { y: Tensor<1> }
    mu ~ Normal(0, 1);
    y ~ Normal(mu, sigma);
}

model! {
    Integers
    data { y: Tensor<1, Int> }
    mu ~ Normal(0, 1);
    y ~ Normal(mu, 1);
}

fn main() {}
