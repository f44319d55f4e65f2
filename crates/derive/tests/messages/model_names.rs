use sgmcmc::prelude::*;

model! {
    Order
    theta[8] ~ Normal(mu, 1);
    mu ~ Normal(0, 1);
}

model! {
    Data
    data { x: Tensor<1>, y: Tensor<1> }
    mu ~ Normal(x, 1);
    y ~ Normal(mu, 1);
}

model! {
    Twice
    mu ~ Normal(0, 1);
    mu ~ Normal(0, 2);
}

model! {
    Unobserved
    data { x: Tensor<1>, y: Tensor<1> }
    mu ~ Normal(0, 1);
}

model! {
    Size(k)
    beta[k] ~ Normal(0, k);
}

model! {
    ObservedShape
    data { y: Tensor<1> }
    mu ~ Normal(0, 1);
    y[3] ~ Normal(mu, 1);
}

model! {
    Quantity
    data { y: Tensor<1> }
    mu ~ Normal(0, 1);
    let residual = y - mu;
    y ~ Normal(mu, 1);
    generate largest = residual.max();
}

model! {
    Itself
    mu ~ Normal(mu, 1);
}

fn main() {}
