use sgmcmc::prelude::*;

model! {
    NotADistribution
    mu ~ 3.0;
}

model! {
    UnknownDistribution
    mu ~ Norml(0, 1);
}

model! {
    TooFewArguments
    mu ~ Normal(0);
}

model! {
    UnknownConstraint
    orderd cuts[3] ~ Normal(0, 1);
}

model! {
    Density
    data { y: Tensor<1> }
    mu ~ Normal(0, 1);
    let z = y - mu;
    y ~ Normal(mu, 1).log_prob(z);
}

model! {
    Integers
    data { y: Tensor<1, Int> }
    mu ~ Normal(0, 1);
    y ~ Normal(mu, 1);
}

model! {
    Rank
    data { y: Tensor<1> }
    mu[2, 3] ~ Normal(0, 1);
    y ~ Normal(mu, 1);
}

fn main() {}
