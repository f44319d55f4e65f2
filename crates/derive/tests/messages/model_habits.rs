//! Statements and expressions that are written as in other languages.

use sgmcmc::prelude::*;

model! {
    StanBounds
    sigma<lower=0> ~ Normal(0, 1);
}

model! {
    StanShape
    vector[3] beta ~ Normal(0, 1);
}

model! {
    StanTarget
    mu ~ Normal(0, 1);
    target += mu.square();
}

model! {
    Keyword
    type ~ Normal(0, 1);
}

model! {
    KeywordAsValue
    mu ~ Normal(0, 1);
    let loop = mu * 2.0;
}

model! {
    Mutable
    mu ~ Normal(0, 1);
    let mut twice = mu * 2.0;
}

model! {
    Pattern
    mu ~ Normal(0, 1);
    let (a, b) = (mu, mu);
}

model! {
    NamedArguments
    mu ~ Normal(loc = 0, scale = 1);
}

model! {
    EntryByEntry
    beta[1] ~ Normal(0, 10);
    beta[2] ~ Normal(0, 1);
}

model! {
    Brackets
    data { group: Tensor<1, Int>, y: Tensor<1> }
    effects[3] ~ Normal(0, 1);
    y ~ Normal(effects[group], 1);
}

model! {
    BracketsOfValue
    data { group: Tensor<1, Int>, y: Tensor<1> }
    effects[3] ~ Normal(0, 1);
    let theta = effects.exp();
    y ~ Normal(theta[group], 1);
}

model! {
    Caret
    data { x: Tensor<1>, y: Tensor<1> }
    mu ~ Normal(0, 1);
    y ~ Normal(x ^ 2, mu);
}

model! {
    TwoStars
    data { x: Tensor<1>, y: Tensor<1> }
    mu ~ Normal(0, 1);
    y ~ Normal(mu * x ** 2, 1);
}

model! {
    Function
    data { y: Tensor<1> }
    mu ~ Normal(0, 1);
    y ~ Normal(0, exp(mu));
}

model! {
    Comparison
    data { x: Tensor<1>, y: Tensor<1> }
    mu ~ Normal(0, 1);
    y ~ Normal(if x > 0.0 { mu } else { mu * 2.0 }, 1);
}

fn main() {}
