//! Labels that are given before a run: in fits, checkpoints and streamed files.

use sgmcmc::gradient::Error;
use sgmcmc::prelude::*;
use sgmcmc::run::{CheckpointInterval, InMemoryCheckpoints, saved_fit};
use sgmcmc::storage::fits::native::NativeDraws;

const NAMES: [&str; 2] = ["theta[age]", "theta[income]"];

fn model() -> Model<Tensor<1>> {
    Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5)
}

#[test]
fn labels_are_in_checkpoints_and_streamed_files() {
    let store = InMemoryCheckpoints::default();
    let run = || hmc(&model(), &Dataset::none(), 0.5).checkpoint(store.clone(), CheckpointInterval::Steps(5));
    let labeled = || run().labels("theta", ["age", "income"]);
    assert_eq!(labeled().sample(&zeros([2]), 10).unwrap().layout().value_names(), NAMES);
    assert_eq!(saved_fit(&store, 0..1).unwrap().unwrap().layout().value_names(), NAMES);
    // Labels are no part of the identity of a run.
    let others = run().labels("theta", ["a", "b"]).sample(&zeros([2]), 20).unwrap();
    assert_eq!(
        (others.layout().value_names(), others.chains()[0].len()),
        (vec!["theta[a]".into(), "theta[b]".into()], 20)
    );
    assert_eq!(run().sample(&zeros([2]), 20).unwrap().chains(), others.chains());

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("draws.sgmcmc");
    let run = hmc(&model(), &Dataset::none(), 0.5).labels("theta", ["age", "income"]);
    run.sample_into(&zeros([2]), 10, |_| NativeDraws::new(&path)).unwrap();
    assert_eq!(Fit::open(&path).unwrap().layout().value_names(), NAMES);
}

#[test]
fn runs_without_settings_take_labels() {
    let normal = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta.slice(0..1)).square() * -0.5);
    let data = Dataset::new(array((0..200).map(|i| f64::from(i % 7)).collect(), [200]).unwrap()).unwrap();
    let run = auto(&normal, &data).chains(2).seed(1);
    let fit = run.labels("theta", ["mean"]).sample(&zeros([1]));
    let fit = fit.unwrap();
    assert_eq!(fit.layout().value_names(), ["theta[mean]"]);
}

#[test]
fn labels_that_do_not_fit_are_errors() {
    let run = || hmc(&model(), &Dataset::none(), 0.5);
    let sample = |name: &str, labels: &[&str]| -> Error {
        run().labels(name, labels.iter().copied()).sample(&zeros([2]), 10).unwrap_err()
    };
    assert!(sample("beta", &["age", "income"]).to_string().contains("beta"));
    assert!(sample("theta", &["age"]).to_string().contains("labels"));
    let error = auto(&model(), &Dataset::none()).labels("beta", ["age"]).sample(&zeros([2])).unwrap_err();
    assert!(error.to_string().contains("beta"));
}
