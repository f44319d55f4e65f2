//! A closure runs unchanged on plain, autodiff and capture devices.

use sgmcmc::burn::Device;
use sgmcmc::data::Rows;
use sgmcmc::default_device;
use sgmcmc::tree::to_device;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::factorization::Factorization;
use sgmcmc_testkit::models::logistic::Logistic;
use sgmcmc_testkit::models::mixture::Mixture;
use sgmcmc_testkit::models::network::SoftmaxNetwork;
use sgmcmc_testkit::models::normal_mean::NormalMean;

const ROWS: usize = 5;

fn runs_everywhere<C: Case>() {
    let simulated = C::simulate(7, 1);
    let model = simulated.posterior.model();
    let plain = default_device();
    let rows = simulated.posterior.data().batch(Rows::range(0..ROWS), &plain).unwrap();
    let shapes = |device: &Device| {
        let params = || to_device(&simulated.start, device);
        let terms = model.log_likelihood(params(), to_device(&rows, device), ROWS).unwrap().unwrap();
        let prior = model.log_prior(params()).unwrap().unwrap();
        (terms.dims(), prior.dims())
    };
    assert_eq!(shapes(&plain), ([ROWS], [1]));
    assert_eq!(shapes(&plain.clone().autodiff()), ([ROWS], [1]));

    let capture = Device::capture();
    let captured = capture.capture_scope(|scope| {
        assert_eq!(shapes(&capture), ([ROWS], [1]));
        scope.complete([], [])
    });
    let operations = captured.expect("the capture is complete").graph.operations.len();
    assert!(operations > 3, "only {operations} operations were recorded");
}

macro_rules! over_all_models {
    ($($name:ident: $case:ty),+) => {
        $(#[test]
        fn $name() {
            runs_everywhere::<$case>();
        })+
    };
}

over_all_models!(
    logistic_regression: Logistic,
    gaussian_mixture: Mixture,
    softmax_network: SoftmaxNetwork,
    matrix_factorization: Factorization,
    normal_mean: NormalMean
);
