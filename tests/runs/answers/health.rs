//! The health of stochastic-gradient runs.

use sgmcmc::fit::{Severity, Thresholds};
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::logistic::{self, Logistic};
use sgmcmc_testkit::models::normal_mean::{self, NormalMean};
use sgmcmc_testkit::models::{Case, normals};

/// For a normal mean the variance of the gradient is known: N²/n s² (1 − n/N), and nothing with control variates.
#[test]
fn gradient_noise_is_that_of_the_minibatch() {
    let (n, minibatch) = (200, 20);
    let simulated = NormalMean::simulate(n, 1);
    let h = 1e-3;
    let run = sgld(&normal_mean::model(), simulated.posterior.data(), h).minibatch(minibatch).seed(1);
    let fit = run.burn_in(100).sample(&zeros([1]), 400).unwrap();
    let noise = fit.gradient_noise(&simulated.posterior, &zeros([1]), minibatch).unwrap();
    let x = normals(n, 1);
    let mean = x.iter().sum::<f64>() / n as f64;
    let s2 = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    let exact = (n * n) as f64 / minibatch as f64 * s2 * (1.0 - minibatch as f64 / n as f64);
    // 512 estimates: a relative standard error of √(2/512) = 6 %.
    assert!((noise.plain.variance / exact - 1.0).abs() < 0.25, "{noise:?} against {exact}");
    assert!(noise.controlled.variance < 1e-20 * exact);
    assert!(!noise.run_is_controlled);
    let health = fit.health().with_noise(noise);
    let findings = health.findings(&Thresholds::default());
    assert!(findings.iter().any(|finding| finding.remedy.contains("sgldcv")), "{findings:?}");
    assert!(fit.check().join(findings).to_string().contains("control variates"));
    let text = health.to_string();
    assert!(text.contains("signal/noise") && text.contains("per second") && text.contains("per thousand"), "{text}");
}

/// ULA on a normal target of precision A with step h has variance h/(1 − (1 − hA/2)²) = 1/(A (1 − hA/4)): the bias is known.
#[test]
fn halving_the_step_size_shows_the_bias() {
    let n = 200;
    let simulated = NormalMean::simulate(n, 1);
    let precision = n as f64 + 0.01;
    let model = normal_mean::model();
    let halving = |share: f64, draws: usize| {
        let run = ula(&model, simulated.posterior.data(), share / precision).chains(4).seed(1).burn_in(50).thin(5);
        let (coarse, fine) =
            (run.sample(&zeros([1]), draws).unwrap(), run.halve_step_size().sample(&zeros([1]), draws).unwrap());
        assert_eq!((fine.info().thin, fine.info().burn_in), (10, 100));
        (coarse.step_halving(&fine).unwrap(), coarse)
    };
    let (biased, fit) = halving(2.0, 4000);
    let expected = ((1.0 - 0.25) / (1.0 - 0.5_f64)).sqrt() - 1.0;
    let shift = &biased.shifts()[0];
    assert!((shift.sd - expected).abs() < 4.0 * shift.sd_error, "{shift:?}, expected {expected}");
    assert!(shift.mean.abs() < 4.0 * shift.mean_error, "{shift:?}");
    let findings = fit.health().with_halving(biased).findings(&Thresholds::default());
    assert!(findings.len() == 1 && findings[0].what.contains("step size is too large"), "{findings:?}");
    assert_eq!((findings[0].severity, &findings[0].parameters[..]), (Severity::Problem, &["theta".to_owned()][..]));
    let (small, fit) = halving(0.2, 4000);
    let health = fit.health().with_halving(small);
    assert_eq!(health.findings(&Thresholds::default()), [], "{health}");
    let (short, fit) = halving(0.2, 40);
    let findings = fit.health().with_halving(short).findings(&Thresholds::default());
    assert!(findings.len() == 1 && findings[0].severity == Severity::Note, "{findings:?}");
}

#[test]
fn fits_of_other_parameters_are_not_compared() {
    let simulated = Logistic::simulate(50, 1);
    let run = ula(&logistic::model(), simulated.posterior.data(), 1e-3);
    let fit = run.sample(&simulated.start, 10).unwrap();
    assert!(fit.step_halving(&fit.only(&["beta"]).unwrap()).is_err());
}
