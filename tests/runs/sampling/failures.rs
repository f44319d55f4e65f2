//! Chains that fail: their draws, their outcomes, and the messages.

use sgmcmc::algorithms::{Metric, Sgld, Sgrld};
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::{Error, FullGradient};
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::logistic;

use super::{logistic_data, logistic_start};

#[test]
fn a_chain_that_diverges_keeps_its_draws_and_names_the_parameter() {
    // 100 observations with gradient one each and h = 0.01: steps of one half, without noise. Beyond 2.2 the density is NaN.
    let upward = Model::new(|theta: Tensor<1>, x: Tensor<1>| {
        let value = theta.to_data().iter::<f64>().next().unwrap();
        let terms = x + theta;
        if value > 2.2 { terms * f64::NAN } else { terms }
    });
    let data = Dataset::new(zeros([100])).unwrap();
    let run = Builder::new(upward.with(&data), Sgld, FullGradient, 0.01).temperature(0.0);
    let fit = run.sample(&zeros([1]), 50).unwrap();
    assert_eq!(fit.chains()[0].element(0), [0.5, 1.0, 1.5, 2.0, 2.5]);
    let ChainOutcome::Failed(error) = &fit.outcomes()[0] else { panic!("the chain did not fail") };
    let message = error.to_string();
    assert!(message.contains("`theta`") && message.contains("iteration 6"), "{message}");
    assert!(message.contains("smaller step"), "{message}");
    assert!(fit.summary().to_string().contains("chain 0 ended after 5 draws"));
}

#[test]
fn one_failing_chain_leaves_the_others_alone() {
    let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| {
        assert!(theta.to_data().iter::<f64>().next().unwrap() < 100.5, "beyond the edge of the world");
        x + theta
    });
    let data = Dataset::new(zeros([100])).unwrap();
    let run = Builder::new(model.with(&data), Sgld, FullGradient, 0.01).temperature(0.0).chains(4);
    let starts = [full([1], 0.0), full([1], 1.0), full([1], 99.0), full([1], 2.0)];
    let fit = run.sample(&starts[..], 10).unwrap();
    let lengths: Vec<usize> = fit.chains().iter().map(|chain| chain.len()).collect();
    assert_eq!(lengths, [10, 10, 3, 10]);
    assert_eq!(fit.outcomes()[0], ChainOutcome::Complete);
    match &fit.outcomes()[2] {
        ChainOutcome::Failed(Error::ClosurePanicked { message, .. }) => assert!(message.contains("edge of the world")),
        other => panic!("{other:?}"),
    }
}

/// Step sizes that part after the first iteration are refused when they do.
#[test]
fn a_dense_metric_refuses_step_sizes_that_part_later() {
    let (model, data, start) = (logistic::model(), logistic_data(50), logistic_start());
    let unit = Metric::dense(|_, m| (0..36).for_each(|k| m[k] = f64::from(u8::from(k / 6 == k % 6))));
    let parting = StepSize::from(1e-3).parameter("bias", |t: u64| if t < 5 { 1e-3 } else { 1e-4 });
    let run = Builder::new(model.with(&data), Sgrld::new(unit), FullGradient, parting);
    let fit = run.sample(&start, 20).unwrap();
    assert_eq!(fit.chains()[0].len(), 5);
    let ChainOutcome::Failed(error) = &fit.outcomes()[0] else { panic!("the chain did not fail") };
    assert!(error.to_string().contains("different by parameter at iteration 5"), "{error}");
}

/// The observations are one sequence: each has the one before as its regressor.
#[test]
fn minibatches_of_observations_that_depend_on_each_other_end_the_chain_at_once() {
    let over_rows = Model::new(|phi: Tensor<1>, x: Tensor<1>| {
        let [n] = x.dims();
        let before = Tensor::cat(vec![x.clone().narrow(0, 0, 1) * 0.0, x.clone().narrow(0, 0, n - 1)], 0);
        (x - before * phi).square() * -0.5
    });
    let data = Dataset::new(array((0..200).map(|k| 0.1 * f64::from(k).sin()).collect::<Vec<_>>(), [200]).unwrap());
    let fit = sgld(&over_rows, &data.unwrap(), 1e-3).minibatch(20).sample(&zeros([1]), 100).unwrap();
    let ChainOutcome::Failed(error) = &fit.outcomes()[0] else { panic!("{:?}", fit.outcomes()) };
    assert!(fit.chains()[0].is_empty() && !fit.check().passed());
    let error = error.to_string();
    for part in ["depends on the other observations", "[1, T]", "FullGradient"] {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}
