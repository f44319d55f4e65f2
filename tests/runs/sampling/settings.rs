//! Settings that a run refuses, and the messages.

use sgmcmc::algorithms::{
    Hamcmc, InitialScale, Metric, NoiseEstimate, PreconditionedSgld, Psgld, Sgfs, Sghmc, Sgld, Sgnht, Sgrld,
    Thermostats,
};
use sgmcmc::gradient::{Error, FullGradient, Saga};
use sgmcmc::minibatch::Epochs;
use sgmcmc::prelude::*;
use sgmcmc::schedule::PerParameter;
use sgmcmc_testkit::models::logistic;

use super::{by_name, logistic_data, logistic_start};

#[test]
fn settings_out_of_range_are_named() {
    let (model, data) = (logistic::model(), logistic_data(100));
    let run = || sgld(&model, &data, 1e-3).minibatch(10);
    let start = logistic_start();
    let check = |error: Error, part: &str| assert!(error.to_string().contains(part), "{error}");
    check(run().chains(0).sample(&start, 5).unwrap_err(), "number of chains is 0");
    check(run().thin(0).sample(&start, 5).unwrap_err(), "thin is 0");
    check(run().minibatch(0).sample(&start, 5).unwrap_err(), "minibatch of 0");
    check(run().minibatch(0.001).start(&start).unwrap_err(), "rounds to 0");
    check(run().temperature(f64::NAN).start(&start).unwrap_err(), "temperature is NaN");
    check(run().jitter(-1.0).start(&start).unwrap_err(), "jitter is -1");
    check(sgld(&model, &data, 0.0).minibatch(10).start(&start).unwrap_err(), "step size is 0");
    let named = StepSize::from(1e-3).parameter("slope", 1e-4);
    check(sgld(&model, &data, named).minibatch(10).start(&start).unwrap_err(), "no parameter `slope`");
    let run = |dynamics| run().dynamics(dynamics).start(&start).unwrap_err();
    check(run(Sghmc { alpha: (-0.1).into(), ..Sghmc::default() }), "friction alpha is -0.1");
    check(run(Sghmc { alpha: by_name(0.1, 1.5), ..Sghmc::default() }), "friction alpha is 1.5");
    check(
        run(Sghmc { alpha: PerParameter::from(0.1).parameter("slope", 0.1), ..Sghmc::default() }),
        "no parameter `slope`",
    );
    let uneven = Sghmc { alpha: by_name(0.5, 0.1), noise: NoiseEstimate::Fixed(0.2), ..Sghmc::default() };
    check(run(uneven), "noise estimate is 0.2");
    check(run(Sghmc { steps: 0, ..Sghmc::default() }), "inner steps is 0");
    check(run(Sghmc { noise: NoiseEstimate::Fixed(0.5), ..Sghmc::default() }), "noise estimate is 0.5");
    let run = |dynamics| sgld(&model, &data, 1e-3).minibatch(10).dynamics(dynamics).start(&start).unwrap_err();
    check(run(Sgnht { a: by_name(0.1, -0.1), ..Sgnht::default() }), "noise a is -0.1");
    check(
        run(Sgnht { a: PerParameter::from(0.1).parameter("slope", 0.1), ..Sgnht::default() }),
        "no parameter `slope`",
    );
    check(run(Sgnht { a: by_name(0.1, 0.2), thermostats: Thermostats::Global }), "0.1 for one parameter and 0.2");
    let run = |dynamics| sgld(&model, &data, 1e-3).minibatch(10).dynamics(dynamics).start(&start).unwrap_err();
    check(run(Psgld { alpha: 1.1, ..Psgld::default() }), "memory alpha is 1.1");
    check(run(Psgld { lambda: 0.0, ..Psgld::default() }), "lambda is 0");
    let run = |dynamics| sgld(&model, &data, 1e-3).minibatch(10).dynamics(dynamics).start(&start).unwrap_err();
    check(run(Hamcmc { memory: 1, ..Hamcmc::default() }), "memory of HAMCMC is 1");
    check(run(Hamcmc { lambda: -1.0, ..Hamcmc::default() }), "lambda is -1");
    check(run(Hamcmc { gamma: InitialScale::Newest(0.0), ..Hamcmc::default() }), "gamma is 0");
    let run = |dynamics| sgld(&model, &data, 1e-3).minibatch(10).dynamics(dynamics).start(&start).unwrap_err();
    check(run(PreconditionedSgld::diagonal(vec![1.0; 5])), "length 5, expected 6");
    check(run(PreconditionedSgld::diagonal(vec![1.0, 1.0, 0.0, 1.0, 1.0, 1.0])), "entry of M is 0");
    check(
        PreconditionedSgld::dense(&[1.0, 1.0, 1.0, 1.0], 2).unwrap_err(),
        "matrix is not positive definite: the pivot of row 1",
    );
    let run = |dynamics, step| Builder::new(model.with(&data), dynamics, FullGradient, step).start(&start).unwrap_err();
    check(run(Sgrld::new(Metric::diagonal(|_, m| m.fill(-1.0))), StepSize::from(1e-3)), "entry of M(theta) is -1");
    let uneven = StepSize::from(1e-3).parameter("bias", 1e-4);
    check(run(Sgrld::new(Metric::dense(|_, m| m.fill(1.0))), uneven), "different by parameter");
    let run = |dynamics, n: usize| sgld(&model, &data, 1e-3).minibatch(n).dynamics(dynamics).start(&start).unwrap();
    check(run(Sgfs::default(), 1).step().unwrap_err(), "minibatch is 1");
    let refused = sgld(&model, &data, 1e-3).dynamics(Sgfs { b: 0.0, ..Sgfs::default() }).start(&start).unwrap_err();
    check(refused, "b is 0");
    let huge = sgld(&model, &data, 1e-3).minibatch(10).sample(&start, 1 << 40).unwrap_err();
    check(huge, "Moments");
}

/// Epochs leave the stalest gradients to the observations that come next: SAGA is biased with them, and says so.
#[test]
fn saga_refuses_epochs() {
    let (model, data, start) = (logistic::model(), logistic_data(50), logistic_start());
    let run = Builder::new(model.with(&data), Sgld, Saga::new(Epochs::new(5)), 1e-3);
    let error = run.start(&start).unwrap_err().to_string();
    assert!(error.contains("epochs") && error.contains("Svrg"), "{error}");
}
