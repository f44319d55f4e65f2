use sgmcmc::prelude::*;

model! {
    Unknown
    data { x: Tensor<1>, y: Tensor<1> }
    slope ~ Normal(0, 1);
    y ~ Normal(x * slop, 1);
}

model! {
    NoData
    mu ~ Normal(0, 1);
    let mean = mu + x;
    y ~ Normal(mean, 1);
}

model! {
    LowerCase
    mu ~ normal(0, 1);
}

model! {
    Twice
    mu ~ Normal(0, 1);
    mu ~ Normal(0, 2);
}

model! {
    ObservedTwice
    data { y: Tensor<1> }
    mu ~ Normal(0, 1);
    y ~ Normal(mu, 1);
    y ~ Normal(mu, 2);
}

model! {
    Later
    theta ~ Normal(mu, 1);
    mu ~ Normal(0, 1);
}

model! {
    LaterBound
    share ~ Uniform(0, limit);
    limit ~ HalfNormal(1);
}

model! {
    LaterValue
    let twice = mu * 2.0;
    mu ~ Normal(0, 1);
}

model! {
    Itself
    data { y: Tensor<1> }
    mu ~ Normal(0, 1);
    y ~ Normal(y, mu);
}

model! {
    PriorOfData
    data { x: Tensor<1>, y: Tensor<1> }
    mu ~ Normal(x, 1);
    y ~ Normal(mu, 1);
}

model! {
    QuantityOfData
    data { x: Tensor<1>, y: Tensor<1> }
    mu ~ Normal(0, 1);
    let mean = mu + x;
    y ~ Normal(mean, 1);
    generate largest = mean.max();
}

model! {
    DistributionOfValue
    mu ~ Normal(0, 1);
    let twice = mu * 2.0;
    twice ~ Normal(0, 1);
}

model! {
    NothingObserved
    data { x: Tensor<1>, y: Tensor<1> }
    mu ~ Normal(0, 1);
}

model! {
    NoParameters
    data { y: Tensor<1> }
    y ~ Normal(0, 1);
}

model! {
    ShapeOfData
    data { y: Tensor<1> }
    mu ~ Normal(0, 1);
    y[10] ~ Normal(mu, 1);
}

model! {
    SizeAsNumber(groups)
    effects[groups] ~ Normal(0, groups);
}

model! {
    UnknownSize
    beta[covariates] ~ Normal(0, 1);
}

fn main() {}
