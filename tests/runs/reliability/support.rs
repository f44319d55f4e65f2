//! Chains outside the support of the model, where the log posterior is not a finite number.

use sgmcmc::Builder;
use sgmcmc::algorithms::{Covariance, Dynamics, Metric, Qnhmc, QuasiNewtonMass, RiemannianMala, Sgfs, Sgrld};
use sgmcmc::distributions::Normal;

use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::{Error, FullGradient};
use sgmcmc::prelude::*;
use sgmcmc::presets::sgld;

fn data() -> Dataset<Tensor<1>> {
    Dataset::new(array((0..200).map(|k| 0.1 * (k as f64).sin()).collect::<Vec<f64>>(), [200]).unwrap()).unwrap()
}

/// The scale is not declared as positive.
fn unconstrained() -> Model<Tensor<1>, Tensor<1>> {
    Model::new(|sigma: Tensor<1>, x: Tensor<1>| Normal::new(0.0, sigma).log_prob(x))
}

#[test]
fn a_chain_outside_the_support_ends_and_says_so() {
    let run = sgld(&unconstrained(), &data(), 0.4).minibatch(20).seed(1).chains(4);
    let fit = run.sample(&full([1], 1.0), 4000).unwrap();
    let outside =
        fit.outcomes().iter().filter(|ending| matches!(ending, ChainOutcome::Failed(Error::Undefined { .. }))).count();
    assert!(outside > 0, "{:?}", fit.outcomes());
    for (chain, ending) in fit.chains().iter().zip(fit.outcomes()) {
        let bad = chain.log_posterior().iter().rev().take_while(|value| !value.is_finite()).count();
        assert!(bad <= 100, "{bad} draws");
        if let ChainOutcome::Failed(error @ Error::Undefined { .. }) = ending {
            // The last of the hundred iterations made no draw.
            assert_eq!(bad, 99);
            assert!(error.to_string().contains("in the last 100 iterations"), "{error}");
        }
    }
    let check = fit.check().to_string();
    assert!(check.contains("the log posterior is not a finite number in"), "{check}");

    let patient = run.non_finite_limit(u64::MAX).sample(&full([1], 1.0), 500).unwrap();
    let bad =
        patient.chains().iter().flat_map(|chain| chain.log_posterior()).filter(|value| !value.is_finite()).count();
    assert!(bad > 100, "{bad}");
    assert_eq!(patient.info().undefined.iter().sum::<u64>(), bad as u64);
    assert!(!patient.check().passed());
}

/// The coordinate of a positive parameter is its logarithm; the message is about the parameter.
#[test]
fn divergence_is_reported_in_values() {
    let model = Model::new(|sigma: Tensor<1>, x: Tensor<1>| Normal::new(0.0, sigma).log_prob(x))
        .constrain("theta", Constraint::Positive);
    let fit = sgld(&model, &data(), 1e3).minibatch(20).seed(1).sample(&full([1], 1.0), 100).unwrap();
    let ChainOutcome::Failed(Error::Diverged { value, .. }) = &fit.outcomes()[0] else {
        panic!("{:?}", fit.outcomes())
    };
    assert!(value.is_nan() || *value >= 0.0, "{value}");
}

/// The message of a run of `dynamics` on the full gradient in 100 000 dimensions.
fn message_in_many_dimensions<D>(dynamics: D) -> String
where
    D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static,
{
    let model = Model::new(|m: Tensor<1>, x: Tensor<1>| x - m.sum());
    let run = Builder::new(model.with(&data()), dynamics, FullGradient, 1e-3);
    run.sample(&zeros([100_000]), 10).unwrap_err().to_string()
}

#[test]
fn dense_matrices_count_against_the_memory_limit() {
    let metric = || Metric::dense(|_, _| unreachable!("the limit is checked before M is evaluated"));
    let published = QuasiNewtonMass::Published { covariance: Covariance::IDENTITY };
    for (message, size) in [
        (message_in_many_dimensions(Sgfs::default()), "298.0 GiB"),
        (message_in_many_dimensions(Sgrld::new(metric())), "298.0 GiB"),
        (message_in_many_dimensions(RiemannianMala::new(metric())), "298.0 GiB"),
        (message_in_many_dimensions(Qnhmc::default()), "223.5 GiB"),
        (message_in_many_dimensions(Qnhmc { mass: published, ..Qnhmc::default() }), "74.5 GiB"),
    ] {
        let expected = "matrices of the algorithm in 100000 dimensions";
        assert!(message.contains(expected) && message.contains(size), "{message}");
    }
}
