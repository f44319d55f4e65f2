use sgmcmc::prelude::*;

model! {
    mu ~ Normal(0, 1);
}

model! {
    NoSemicolon
    mu ~ Normal(0, 1)
    sigma ~ HalfNormal(1);
}

model! {
    NoSemicolonAtTheEnd
    mu ~ Normal(0, 1);
    factor mu.square()
}

model! {
    NoTilde
    mu Normal(0, 1);
}

model! {
    NoTildeAfterConstraint
    positive sigma Normal(0, 1);
}

model! {
    NoTildeAfterShape
    beta[2, 3] Normal(0, 1);
}

model! {
    NoTildeBeforePath
    shares[3] Dirichlet::symmetric(1.0);
}

model! {
    NoTildeBeforePathAlone
    shares Dirichlet::symmetric(1.0);
}

model! {
    Equals
    mu = Normal(0, 1);
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
    LetTyped
    mu ~ Normal(0, 1);
    let twice: Tensor<1> = mu * 2.0;
}

model! {
    GenerateWithoutValue
    mu ~ Normal(0, 1);
    generate mu;
}

model! {
    Loop
    for i in 0..3 { mu ~ Normal(0, 1); }
}

model! {
    DataBelow
    mu ~ Normal(0, 1);
    data { y: Tensor<1> }
    y ~ Normal(mu, 1);
}

model! {
    DataWithoutWord
    { y: Tensor<1> }
    mu ~ Normal(0, 1);
}

model! {
    DataWithoutTypes
    data { x, y }
    mu ~ Normal(0, 1);
}

model! {
    DataWithoutComma
    data { x: Tensor<2> y: Tensor<1> }
    mu ~ Normal(0, 1);
}

model! {
    DataWithTilde
    data { y ~ Normal(0, 1) }
}

model! {
    NumberAsSize(3)
    beta[3] ~ Normal(0, 1);
}

fn main() {}
