//! Tests of the log densities of all distributions, with parameters that are numbers, shared, or per observation.

use burn_tensor::{Int, Tensor};

use super::check::check;
use super::{dataset, matrix, numbers, vector};
use crate::distributions::*;
use crate::{Model, array};

/// Returns positive numbers below 2.1.
fn positive(n: usize) -> Tensor<1> {
    vector(n) + 1.1
}

/// Defines tests of univariate densities with parameters that are shared, per observation, or numbers.
macro_rules! univariate {
    ($($test:ident: $value:expr, |$a:ident, $b:ident| $density:expr;)+) => {
        $(#[test]
        fn $test() {
            let data = dataset((($value)(5), vector(5)));
            let name = stringify!($test);
            let part = |theta: &Tensor<1>, i: usize| theta.clone().narrow(0, i, 1).exp();
            let shared = Model::new(move |theta: Tensor<1>, (x, _): (Tensor<1>, Tensor<1>)| {
                let ($a, $b) = (part(&theta, 0), part(&theta, 1));
                let _ = (&$a, &$b);
                $density.log_prob(x)
            });
            check(name, &shared, &data, &vector(2));
            let each = Model::new(move |theta: Tensor<1>, (x, z): (Tensor<1>, Tensor<1>)| {
                let ($a, $b) = ((z.clone() * theta.clone().narrow(0, 0, 1)).exp(), (z * theta.narrow(0, 1, 1)).exp());
                let _ = (&$a, &$b);
                $density.log_prob(x)
            });
            check(name, &each, &data, &vector(2));
            let given = Model::new(move |theta: Tensor<1>, (x, _): (Tensor<1>, Tensor<1>)| {
                let ($a, $b) = (0.7, 0.4);
                let _ = (&$a, &$b);
                $density.log_prob(x * theta)
            });
            check(name, &given, &data, &(vector(1) * 0.0 + 1.0));
        })+
    };
}

univariate!(
    bernoulli: |n| vector(n).ceil().clamp(0.0, 1.0), |a, b| Bernoulli::new(a / 8.0);
    bernoulli_logits: |n| vector(n).ceil().clamp(0.0, 1.0), |a, b| BernoulliLogits::new(a);
    beta: |n| positive(n) * 0.4, |a, b| Beta::new(a, b);
    binomial_logits: |n| positive(n).floor(), |a, b| BinomialLogits::new(4.0, a);
    cauchy: vector, |a, b| Cauchy::new(a, b);
    exponential: positive, |a, b| Exponential::new(a);
    gamma: positive, |a, b| Gamma::new(a, b);
    generalized_gamma: positive, |a, b| GeneralizedGamma::new(a, 1.5, b);
    half_cauchy: positive, |a, b| HalfCauchy::new(a);
    half_normal: positive, |a, b| HalfNormal::new(a);
    inverse_gamma: positive, |a, b| InverseGamma::new(a, b);
    laplace: vector, |a, b| Laplace::new(a, b);
    log_normal: positive, |a, b| LogNormal::new(a, b);
    logistic: vector, |a, b| Logistic::new(a, b);
    negative_binomial: |n| positive(n).floor(), |a, b| NegativeBinomial::new(a, b);
    normal: vector, |a, b| Normal::new(a, b);
    poisson: |n| positive(n).floor(), |a, b| Poisson::new(a);
    poisson_log_rate: |n| positive(n).floor(), |a, b| PoissonLogRate::new(a);
    student_t: vector, |a, b| StudentT::new(3.0, a, b);
    student_t_of_any_degree: vector, |a, b| StudentT::new(a, 0.1, b);
    uniform: vector, |a, b| Uniform::new(-1.5, a);
    weibull: positive, |a, b| Weibull::new(a, b);
    mixture: vector, |a, b| Mixture::weights(&[0.25, 0.75]).with(Normal::new(a, 1.0)).with(Laplace::new(0.0, b));
);

#[test]
fn mixtures_with_logits() {
    let shared = Model::new(|theta: Tensor<1>, x: Tensor<1>| {
        Mixture::logits(theta).with(Normal::new(0.0, 1.0)).with(Normal::new(1.0, 2.0)).log_prob(x)
    });
    check("shared", &shared, &dataset(vector(4)), &vector(2));
    let each = Model::new(|theta: Tensor<1>, (x, z): (Tensor<1>, Tensor<2>)| {
        let logits = z * theta.unsqueeze_dim(0);
        Mixture::logits(logits).with(Normal::new(0.0, 1.0)).with(Normal::new(1.0, 2.0)).log_prob(x)
    });
    check("each", &each, &dataset((vector(4), matrix(4, 2))), &vector(2));
}

#[test]
fn categorical() {
    let labels = || array(vec![0_i64, 2, 1, 1], [4]).unwrap();
    let shared = Model::new(|theta: Tensor<1>, y: Tensor<1, Int>| CategoricalLogits::new(theta).log_prob(y));
    check("shared", &shared, &dataset(labels()), &vector(3));
    let each = Model::new(|theta: Tensor<2>, (x, y): (Tensor<2>, Tensor<1, Int>)| {
        CategoricalLogits::new(x.matmul(theta)).log_prob(y)
    });
    check("each", &each, &dataset((matrix(4, 2), labels())), &matrix(2, 3));
}

#[test]
fn dirichlet() {
    let x = array(vec![0.2, 0.3, 0.5, 0.6, 0.3, 0.1], [2, 3]).unwrap();
    let model = Model::new(|theta: Tensor<1>, x: Tensor<2>| Dirichlet::new(theta.exp()).log_prob(x));
    check("dirichlet", &model, &dataset(x), &vector(3));
}

#[test]
fn multinomial() {
    let counts = || array(vec![2.0, 0.0, 1.0, 4.0, 3.0, 0.0], [2, 3]).unwrap();
    let probs = Model::new(|theta: Tensor<1>, x: Tensor<2>| {
        let weights = theta.exp();
        Multinomial::new(weights.clone() / weights.sum()).log_prob(x)
    });
    check("probabilities", &probs, &dataset(counts()), &vector(3));
    let logits = Model::new(|theta: Tensor<1>, x: Tensor<2>| Multinomial::from_logits(theta).log_prob(x));
    check("logits", &logits, &dataset(counts()), &vector(3));
}

#[test]
fn multivariate_normal() {
    let diagonal = Model::new(|(loc, scale): (Tensor<1>, Tensor<1>), x: Tensor<2>| {
        let (loc, scale) = (loc.unsqueeze_dim::<2>(0), scale.exp().unsqueeze_dim::<2>(0));
        MultivariateNormal::diagonal(loc, scale).log_prob(x)
    });
    check("diagonal", &diagonal, &dataset(matrix(4, 3)), &(vector(3), vector(3)));
    let cholesky = Model::new(|factor: Tensor<2>, x: Tensor<2>| MultivariateNormal::cholesky(0.0, factor).log_prob(x));
    let factor = array(vec![1.0, 0.0, 0.0, 0.5, 1.2, 0.0, -0.3, 0.2, 0.8], [3, 3]).unwrap();
    check("cholesky", &cholesky, &dataset(matrix(4, 3)), &factor);
}

#[test]
fn priors() {
    let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| Normal::new(theta, 1.0).log_prob(x))
        .prior(|theta: Tensor<1>| StudentT::new(4.0, 0.0, 2.0).log_prob(theta).sum());
    check("prior", &model, &dataset(array(numbers(3, 0.1), [3]).unwrap()), &vector(1));
}
