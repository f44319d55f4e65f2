//! Settings that are refused, and the messages.

use super::*;

#[test]
fn settings_out_of_range_are_named() {
    fn start<D: Dynamics<FullGradient> + Debug + Clone + 'static>(dynamics: D) -> String {
        let run = Builder::new(Curved::Banana.target(), dynamics, FullGradient, 0.1);
        run.start(&zeros([2])).unwrap_err().to_string()
    }
    let refused = |dynamics: Hmc, part: &str| {
        let error = start(dynamics);
        assert!(error.contains(part), "{error}");
    };
    refused(Hmc { steps: 0, ..Hmc::default() }, "leapfrog steps is 0");
    refused(Hmc { jitter: 1.0, ..Hmc::default() }, "jitter of the number of leapfrog steps is 1");
    refused(Hmc { covariance: Covariance::diagonal(&[1.0; 3]).unwrap(), ..Hmc::default() }, "length 3, expected 2");
    refused(Hmc { adapt: Some(DualAveraging::new(0)), ..Hmc::default() }, "length of dual averaging is 0");
    let greedy = DualAveraging { iterations: 10, acceptance: 1.0 };
    refused(Hmc { adapt: Some(greedy), ..Hmc::default() }, "acceptance rate aimed at is 1");
    let small = Mala { covariance: Covariance::dense(&[1.0]).unwrap(), ..Mala::default() };
    assert!(start(small).contains("length 1, expected 2"));
    let limited =
        |memory, gamma| start(qnhmc_of(3, InverseHessian::Lbfgs { memory, gamma: InitialScale::Fixed(gamma) }));
    assert!(limited(0, 1.0).contains("memory of L-BFGS is 0"));
    assert!(limited(1, 0.0).contains("gamma is 0"));
    let three = published(Covariance::diagonal(&[1.0; 3]).unwrap());
    assert!(start(Qnhmc { mass: three, ..Qnhmc::default() }).contains("length 3, expected 2"));
    assert!(start(HmcBfgs { chains: 2, ..HmcBfgs::default() }).contains("ensemble is 2"));
    assert!(start(HmcBfgs { gamma: 0.0, ..HmcBfgs::default() }).contains("gamma is 0"));
}
