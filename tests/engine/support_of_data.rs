//! Data outside the support of their distribution are an error that names leaf, row and value.

use sgmcmc::Engine;
use sgmcmc::distributions::*;
use sgmcmc::distributions::{
    Bernoulli, BernoulliLogits, Beta, BetaBinomial, BinomialLogits, CategoricalLogits, Censored, Dirichlet,
    Exponential, Gamma, GeneralizedGamma, HalfCauchy, HalfNormal, InverseGamma, LogNormal, Mixture, Multinomial,
    NegativeBinomial, Normal, OrderedLogistic, Poisson, PoissonLogRate, Truncated, Uniform, Weibull, ZeroInflated,
};
use sgmcmc::prelude::*;

const N: usize = 9000;
const ROW: usize = 8765;

/// The message for a data set of `good` values with one `bad` value in row [`ROW`], if there is one.
fn message(
    good: f64,
    bad: f64,
    log_prob: impl Fn(Tensor<1>, Tensor<1>) -> Tensor<1> + Clone + Send + Sync + 'static,
) -> Option<String> {
    let mut y = vec![good; N];
    y[ROW] = bad;
    let mut messages = [Engine::Auto, Engine::Eager].into_iter().map(|engine| {
        let data = Dataset::new(Named::new().with("y", array(y.clone(), [N]).unwrap())).unwrap();
        let log_prob = log_prob.clone();
        let model = Model::new(move |m: Tensor<1>, data: Named| log_prob(m, data.get("y")));
        model.with(&data).engine(engine).evaluator(&zeros([1])).err().map(|error| error.to_string())
    });
    let (auto, eager) = (messages.next()?, messages.next()?);
    assert_eq!(auto, eager);
    auto
}

/// Values outside the support are named, and values inside are not.
fn named(
    name: &str,
    support: &str,
    (good, bad): (f64, &[f64]),
    log_prob: impl Fn(Tensor<1>) -> Tensor<1> + Clone + Send + Sync + 'static,
) {
    let closure = move |m: Tensor<1>, y: Tensor<1>| log_prob(y) - m.square();
    assert_eq!(message(good, good, closure.clone()), None, "{name}");
    for bad in bad {
        let found = message(good, *bad, closure.clone()).unwrap_or_else(|| panic!("{name}: {bad} is not found"));
        for part in [format!("`y` holds {bad} at row {ROW},"), format!("`{name}`, {support}")] {
            assert!(found.contains(&part), "`{part}` is not in: {found}");
        }
    }
}

#[test]
fn labels_and_counts() {
    let logits = Param::<1>::from(0.3);
    named("BernoulliLogits", "0 and 1", (1.0, &[2.0, 0.5, -1.0]), {
        let logits = logits.clone();
        move |y| BernoulliLogits::new(logits.clone()).log_prob(y)
    });
    named("Bernoulli", "0 and 1", (0.0, &[2.0, -1.0]), |y| Bernoulli::new(0.4).log_prob(y));
    let counts = "the whole numbers from 0";
    named("Poisson", counts, (3.0, &[-1.0, 1.5]), |y| Poisson::new(2.0).log_prob(y));
    named("PoissonLogRate", counts, (3.0, &[-1.0, 1.5]), |y| PoissonLogRate::new(0.2).log_prob(y));
    named("NegativeBinomial", counts, (3.0, &[-2.0, 0.25]), |y| NegativeBinomial::new(2.0, 1.5).log_prob(y));
    named("BinomialLogits", "the whole numbers from 0 to 5", (5.0, &[6.0, -1.0, 2.5]), move |y| {
        BinomialLogits::new(5.0, logits.clone()).log_prob(y)
    });
}

#[test]
fn bounded_numbers() {
    let (from, above) = ("the numbers from 0", "the numbers above 0");
    named("Beta", "the numbers from 0 to 1", (0.5, &[1.5, -0.1]), |y| Beta::new(2.0, 3.0).log_prob(y));
    named("Uniform", "the numbers from -1 to 2", (0.5, &[2.5, -1.5]), |y| Uniform::new(-1.0, 2.0).log_prob(y));
    named("Exponential", from, (0.5, &[-0.5]), |y| Exponential::new(1.0).log_prob(y));
    named("Gamma", from, (0.5, &[-0.5]), |y| Gamma::new(2.0, 1.0).log_prob(y));
    named("GeneralizedGamma", from, (0.5, &[-0.5]), |y| GeneralizedGamma::new(2.0, 1.5, 1.0).log_prob(y));
    named("HalfCauchy", from, (0.5, &[-0.5]), |y| HalfCauchy::new(1.0).log_prob(y));
    named("HalfNormal", from, (0.5, &[-0.5]), |y| HalfNormal::new(1.0).log_prob(y));
    named("Weibull", from, (0.5, &[-0.5]), |y| Weibull::new(2.0, 1.0).log_prob(y));
    named("InverseGamma", above, (0.5, &[-0.5, 0.0]), |y| InverseGamma::new(2.0, 1.0).log_prob(y));
    named("LogNormal", above, (0.5, &[-0.5, 0.0]), |y| LogNormal::new(0.0, 1.0).log_prob(y));
}

#[test]
fn class_indices() {
    let mut classes: Vec<i64> = (0..N as i64).map(|i| i % 3).collect();
    classes[ROW] = 3;
    let data = Dataset::new(Named::new().with("class", array(classes, [N]).unwrap())).unwrap();
    let model = Model::new(|logits: Tensor<1>, data: Named| {
        CategoricalLogits::new(logits).log_prob(data.get_int::<1>("class"))
    });
    let error = model.with(&data).evaluator(&zeros([3])).unwrap_err().to_string();
    assert!(error.contains("`class` holds 3 at row 8765") && error.contains("from 0 to 2"), "{error}");
}

#[test]
fn rows_of_counts_and_of_proportions() {
    let rows = |bad: f64| {
        let mut values = vec![0.5; 2 * N];
        values[2 * ROW + 1] = bad;
        Dataset::new(Named::new().with("parts", array(values, [N, 2]).unwrap())).unwrap()
    };
    let dirichlet = Model::new(|m: Tensor<1>, data: Named| {
        Dirichlet::new(m.exp().unsqueeze::<2>().repeat_dim(1, 2)).log_prob(data.get::<2>("parts"))
    });
    assert!(dirichlet.with(&rows(0.5)).evaluator(&zeros([1])).is_ok());
    let error = dirichlet.with(&rows(-0.5)).evaluator(&zeros([1])).unwrap_err().to_string();
    assert!(error.contains("`parts` holds -0.5 at row 8765, column 1"), "{error}");
    let multinomial =
        Model::new(|logits: Tensor<1>, data: Named| Multinomial::from_logits(logits).log_prob(data.get::<2>("parts")));
    let error = multinomial.with(&rows(1.0)).evaluator(&zeros([2])).unwrap_err().to_string();
    assert!(error.contains("holds 0.5 at row 0, column 0") && error.contains("Multinomial"), "{error}");
}

#[test]
fn distributions_of_other_distributions() {
    let counts = "the whole numbers from 0";
    named("BetaBinomial", "the whole numbers from 0 to 5", (5.0, &[6.0, -1.0, 2.5]), |y| {
        BetaBinomial::new(5.0, 2.0, 3.0).log_prob(y)
    });
    named("Poisson", counts, (0.0, &[-1.0, 1.5]), |y| ZeroInflated::new(0.0, Poisson::new(2.0)).log_prob(y));
    named("Truncated", "the numbers from -1 to 2", (0.5, &[2.5, -1.5]), |y| {
        Truncated::new(Normal::new(0.0, 1.0)).above(-1.0).below(2.0).log_prob(y)
    });
    // No value is censored.
    named("Exponential", "the numbers from 0", (0.5, &[-0.5]), |y| {
        Censored::new(Exponential::new(1.0)).right(2.0).log_prob(y)
    });
}

/// Every second value is censored.
#[test]
fn values_that_are_not_censored() {
    let evaluate = |bad: f64| {
        let (mut time, mut limit) = (vec![2.0; N], vec![f64::INFINITY; N]);
        limit.iter_mut().step_by(2).for_each(|limit| *limit = 2.0);
        time[ROW] = bad;
        let data = Dataset::allow_non_finite((array(time, [N]).unwrap(), array(limit, [N]).unwrap())).unwrap();
        let model = Model::new(|m: Tensor<1>, (time, limit): (Tensor<1>, Tensor<1>)| {
            Censored::new(Weibull::new(2.0, 1.0)).right(limit).log_prob(time) - m.square()
        });
        model.with(&data).evaluator(&zeros([1])).err().map(|error| error.to_string())
    };
    assert_eq!(ROW % 2, 1, "the value is not censored");
    assert_eq!(evaluate(2.0), None);
    let error = evaluate(-2.0).unwrap();
    assert!(error.contains("a value computed from the data holds -2 at row 8765"), "{error}");
    assert!(error.contains("`Weibull`, the numbers from 0"), "{error}");
}

#[test]
fn ordered_classes() {
    let mut classes: Vec<i64> = (0..N as i64).map(|i| i % 3).collect();
    classes[ROW] = 3;
    let data = Named::new().with("class", array(classes, [N]).unwrap()).with("x", zeros([N]));
    let data = Dataset::new(data).unwrap();
    let model = Model::new(|cutpoints: Tensor<1>, data: Named| {
        OrderedLogistic::new(data.get::<1>("x"), cutpoints).log_prob(data.get_int::<1>("class"))
    });
    let error = model.with(&data).evaluator(&array(vec![-1.0, 1.0], [2]).unwrap()).unwrap_err().to_string();
    assert!(error.contains("`class` holds 3 at row 8765") && error.contains("OrderedLogistic"), "{error}");
}

#[test]
fn more_successes_than_trials() {
    let (mut successes, trials) = (vec![2.0; N], vec![4.0; N]);
    successes[ROW] = 5.0;
    let data = Dataset::new((array(successes, [N]).unwrap(), array(trials, [N]).unwrap())).unwrap();
    let model = Model::new(|m: Tensor<1>, (y, n): (Tensor<1>, Tensor<1>)| BinomialLogits::new(n, m).log_prob(y));
    let error = model.with(&data).evaluator(&zeros([1])).unwrap_err().to_string();
    assert!(error.contains("a value computed from the data holds -1 at row 8765"), "{error}");
}

#[test]
fn values_that_do_not_matter_are_accepted() {
    // −1 stands for what is missing, and its term is masked.
    let masked = |m: Tensor<1>, y: Tensor<1>| {
        let missing = y.clone().lower_elem(0.0);
        BernoulliLogits::new(m).log_prob(y).mask_fill(missing, 0.0)
    };
    assert_eq!(message(1.0, -1.0, masked), None);
    // A component of a mixture may exclude a value.
    let mixture = |m: Tensor<1>, y: Tensor<1>| {
        Mixture::weights(&[0.5, 0.5]).with(Exponential::new(1.0)).with(Normal::new(m, 1.0)).log_prob(y)
    };
    assert_eq!(message(1.0, -1.0, mixture), None);
    // A value that depends on a parameter may leave the support and come back.
    let shifted = |m: Tensor<1>, y: Tensor<1>| Exponential::new(1.0).log_prob(y - m);
    assert_eq!(message(1.0, 0.5, shifted), None);
}
