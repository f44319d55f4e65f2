//! Starting points of chains.

use std::fmt::Debug;

use sgmcmc::algorithms::{Covariance, Dynamics, Hmc, Mala, Metric, PreconditionedSgld, Sgfs, Sgld, Sgrld};
use sgmcmc::gradient::FullGradient;
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::normal_mean::{self, NormalMean};

#[test]
fn chains_start_at_the_given_positions() {
    let (model, data) = (normal_mean::model(), NormalMean::simulate(50, 1).posterior.data().clone());
    // Steps so small that a chain stays where it starts.
    let run = ula(&model, &data, 1e-20).chains(3).seed(1);
    let first = |fit: &sgmcmc::Fit| fit.element("theta").unwrap().iter().map(|chain| chain[0]).collect::<Vec<f64>>();
    let each = [full([1], 1.0), full([1], 2.0), full([1], 3.0)];
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(close(&first(&run.sample(&each[..], 1).unwrap()), &[1.0, 2.0, 3.0]));
    let drawn = run.sample(Starts::drawn(|rng| full([1], rand::RngExt::random_range(rng, 5.0..6.0))), 1).unwrap();
    let drawn = first(&drawn);
    assert!(drawn.iter().all(|x| (5.0..6.0).contains(x)) && (drawn[0] - drawn[1]).abs() > 1e-6);
    let jittered = first(&run.clone().jitter(1e10).sample(&zeros([1]), 1).unwrap());
    assert!(jittered.iter().all(|x| *x != 0.0 && x.abs() < 10.0) && (jittered[0] - jittered[1]).abs() > 1e-6);
    let error = run.sample(&each[..2], 1).unwrap_err().to_string();
    assert!(error.contains("one per chain") && error.contains("length 2, expected 3"), "{error}");
}

/// A start for each chain is where it begins, also after a search for the mode; one start for all is moved to the mode.
#[test]
fn chains_with_their_own_starts_keep_them_after_a_mode_search() {
    let (model, data) = (normal_mean::model(), NormalMean::simulate(50, 1).posterior.data().clone());
    let run = sgldcv(&model, &data, 1e-20).minibatch(10).chains(3).seed(1).jitter(0.0);
    let first = |fit: &sgmcmc::Fit| fit.element("theta").unwrap().iter().map(|chain| chain[0]).collect::<Vec<f64>>();
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    let each = [full([1], 1.0), full([1], 2.0), full([1], 3.0)];
    let own = run.sample(&each[..], 1).unwrap();
    assert!(close(&first(&own), &[1.0, 2.0, 3.0]), "{:?}", first(&own));
    let mode = own.mode().unwrap().theta[0];
    let common = run.sample(&each[0], 1).unwrap();
    assert!(close(&first(&common), &[mode; 3]), "{:?}", first(&common));
}

/// The jitter of starts is in units of the noise of a step: √h times the root of the matrix.
#[test]
fn the_jitter_of_starts_has_the_scale_of_the_algorithm() {
    let (model, data) = (normal_mean::model(), NormalMean::simulate(50, 1).posterior.data().clone());
    fn starts<D>(model: &Model<Tensor<1>, Tensor<1>>, data: &Dataset<Tensor<1>>, dynamics: D) -> Vec<f64>
    where
        D: Dynamics<FullGradient> + Debug + Clone + 'static,
    {
        let run = ula(model, data, 1e-20).dynamics(dynamics).chains(3).seed(1).jitter(1e10);
        let fit = run.sample(&full([1], 0.3), 1).unwrap();
        let first: Vec<f64> = fit.chains().iter().map(|chain| chain.rows().next().unwrap()[0] - 0.3).collect();
        first
    }
    let plain = starts(&model, &data, Sgld);
    assert!(plain.iter().all(|x| x.abs() > 1e-3), "{plain:?}");
    let scaled = |found: Vec<f64>, factor: f64, name: &str| {
        let off = found.iter().zip(&plain).map(|(found, plain)| (found / (factor * plain) - 1.0).abs());
        assert!(off.fold(0.0, f64::max) < 1e-6, "{name}: {found:?} against {plain:?}");
    };
    scaled(starts(&model, &data, PreconditionedSgld::diagonal(vec![1e-4])), 0.01, "preconditioned SGLD");
    scaled(
        starts(&model, &data, PreconditionedSgld::from_precision(&[1e4], 1).unwrap()),
        0.01,
        "preconditioned by a Hessian",
    );
    let dense = Covariance::dense(&[1e-4]).unwrap();
    scaled(starts(&model, &data, Hmc { covariance: dense, ..Hmc::default() }), 0.01, "HMC with a dense covariance");
    let covariance = Covariance::diagonal(&[1e-4]).unwrap();
    scaled(starts(&model, &data, Hmc { covariance: covariance.clone(), ..Hmc::default() }), 0.01, "HMC");
    scaled(starts(&model, &data, Mala { covariance, ..Mala::default() }), 0.01, "MALA");
    scaled(starts(&model, &data, Sgrld::new(Metric::diagonal(|_, m| m.fill(4.0)))), 2.0, "SGRLD");
    scaled(starts(&model, &data, Sgfs { b: 100.0, ..Sgfs::default() }), 0.1, "SGFS");
}
