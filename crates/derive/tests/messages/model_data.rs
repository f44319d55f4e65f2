//! Data and distributions that do not fit together.

use sgmcmc::prelude::*;

model! {
    Slices
    data { y: Vec<f64> }
    mu ~ Normal(0, 1);
    y ~ Normal(mu, 1);
}

model! {
    IntegerCounts
    data { y: Tensor<1, Int> }
    rate ~ Gamma(2, 1);
    y ~ Poisson(rate);
}

model! {
    FloatClasses
    data { eta: Tensor<1>, y: Tensor<1> }
    ordered cuts[3] ~ Normal(0, 1);
    y ~ OrderedLogistic(eta, cuts);
}

model! {
    NoDistributionFunction
    data { y: Tensor<1> }
    shape ~ Gamma(2, 1);
    y ~ Truncated(Gamma(shape, 1)).above(1);
}

fn main() {}
