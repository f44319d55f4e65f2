//! Fits without their model: how they were made, written and read again, cut and chosen from.

use sgmcmc::Layout;
use sgmcmc::algorithms::Sghmc;
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::Error;
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::{self, Logistic};

use super::{fit_of, independent, layout};

#[test]
fn a_fit_knows_how_it_was_made() {
    let simulated = Logistic::simulate(100, 1);
    let run = sgnht(&logistic::model(), simulated.posterior.data(), 1e-4).minibatch(10).seed(5).chains(2);
    let fit = run.burn_in(20).thin(3).sample(&simulated.start, 40).unwrap();
    let info = fit.info();
    assert!(info.algorithm.starts_with("Sgnht") && info.gradient.starts_with("MinibatchGradient"), "{info:?}");
    assert_eq!((info.observations, info.minibatch, info.seed), (100, Some(10.0), 5));
    assert_eq!((info.burn_in, info.thin, &info.iterations[..]), (20, 3, &[140, 140][..]));
    assert_eq!(info.gradients_per_step(), Some(1.0));
    assert!(info.seconds.len() == 2 && info.seconds.iter().all(|s| *s > 0.0) && !info.version.is_empty());
    let names: Vec<&str> = fit.chains()[0].stats().map(|(name, _)| name).collect();
    assert_eq!(names, ["thermostat.bias", "thermostat.beta"]);
    let xi = fit.chains()[0].stat("thermostat.beta").unwrap();
    assert!(xi.len() == 40 && xi.windows(2).any(|pair| (pair[0] - pair[1]).abs() > 0.0));
    let full = ula(&logistic::model(), simulated.posterior.data(), 1e-4).dynamics(Sghmc::default());
    let info = full.sample(&simulated.start, 4).unwrap().info().clone();
    // Five per iteration, and one where the chain starts.
    assert_eq!((info.minibatch, info.gradients_per_step()), (None, Some(21.0 / 4.0)));
}

#[test]
fn a_fit_is_written_and_read_without_its_model() {
    let simulated = Logistic::simulate(100, 1);
    let run = sgldcv(&logistic::model(), simulated.posterior.data(), 1e-4).minibatch(10).chains(2);
    let fit = run.sample(&simulated.start, 10).unwrap();
    let fit = fit.with_outcomes(vec![ChainOutcome::Failed(Error::EmptyModel), ChainOutcome::Stopped]).unwrap();
    let read: Fit = serde_json::from_str(&serde_json::to_string(&fit).unwrap()).unwrap();
    assert_eq!((read.layout(), read.chains(), read.info()), (fit.layout(), fit.chains(), fit.info()));
    assert_eq!((read.mode(), &read.outcomes()[1]), (fit.mode(), &ChainOutcome::Stopped));
    let ChainOutcome::Failed(error) = &read.outcomes()[0] else { panic!("{:?}", read.outcomes()) };
    assert_eq!(error.to_string(), Error::EmptyModel.to_string());
}

#[test]
fn what_does_not_fit_together_is_not_read() {
    let fit = independent(&[("x", &[2])], 2, 3);
    let text = serde_json::to_string(&fit).unwrap();
    let narrow = text.replace("\"shape\":[2]", "\"shape\":[3]");
    assert!(serde_json::from_str::<Fit>(&narrow).unwrap_err().to_string().contains("length 2, expected 3"));
    let huge = text.replace("\"shape\":[2]", "\"shape\":[4294967296,4294967296]");
    assert!(serde_json::from_str::<Fit>(&huge).unwrap_err().to_string().contains("`x`"));
    let error = fit.with_outcomes(vec![]).unwrap_err().to_string();
    assert!(error.contains("length 0, expected 2"), "{error}");
}

#[test]
fn some_draws_chains_and_parameters() {
    let count = |chain: usize| (0..10).map(|k| vec![10.0 * chain as f64 + f64::from(k), 0.5, 0.25]).collect::<Vec<_>>();
    let fit = fit_of(layout(&[("x", &[1]), ("y", &[2])]), &[count(0), count(1)]);
    let x = |fit: &Fit| fit.element("x").unwrap();
    assert_eq!(x(&fit.thinned(4)), [[0.0, 4.0, 8.0], [10.0, 14.0, 18.0]]);
    assert_eq!(x(&fit.without_first(8)), [[8.0, 9.0], [18.0, 19.0]]);
    assert_eq!(x(&fit.after(8)), [[8.0, 9.0], [18.0, 19.0]]);
    assert_eq!(x(&fit.first(2)), [[0.0, 1.0], [10.0, 11.0]]);
    assert!(fit.without_first(20).chains().iter().all(|chain| chain.is_empty()));
    assert_eq!(x(&fit.only_chains(&[1]).unwrap().first(1)), [[10.0]]);
    assert!(fit.only_chains(&[2]).unwrap_err().to_string().contains("counted from 0"));
    let only = fit.only(&["y"]).unwrap();
    assert_eq!(only.layout(), &layout(&[("y", &[2])]));
    assert_eq!(only.chains()[1].rows().next(), Some(&[0.5, 0.25][..]));
    assert!(fit.only(&["z"]).unwrap_err().to_string().contains("no parameter `z`"));
    assert_eq!(fit.thinned(4).chains()[0].iterations(), [1, 5, 9]);
    assert!(Fit::new(Layout::new([]).unwrap(), fit.chains().to_vec()).is_err());
}
