use sgmcmc::prelude::*;

model! {
    Equals
    data { y: Tensor<1> }
    mu = Normal(0, 1);
    y ~ Normal(mu, 1);
}

model! {
    Typed
    mu: Tensor<1> ~ Normal(0, 1);
}

model! {
    LetTilde
    let mu ~ Normal(0, 1);
}

model! {
    Semicolon
    mu ~ Normal(0, 1)
    tau ~ HalfNormal(1);
}

model! {
    mu ~ Normal(0, 1);
}

model! {
    Empty
    data { y: Tensor<1> }
    y ~ Normal(0, 1);
}

model! {
    Tilde
    mu Normal(0, 1);
}

fn main() {}
