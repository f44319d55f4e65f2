//! The bias of stochastic-gradient runs: predicted by the law of the algorithm, and part of the verdict.

use sgmcmc::algorithms::Dynamics;
use sgmcmc::algorithms::Sgld;
use sgmcmc::distributions::Normal;
use sgmcmc::fit::{Bias, PredictedBias, Severity};
use sgmcmc::gradient::MinibatchGradient;
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::logistic::{self, Logistic};
use sgmcmc_testkit::models::normal_mean::{self, NormalMean};
use sgmcmc_testkit::models::{Case, normals};

const N: usize = 1000;

fn data() -> Dataset<Tensor<1>> {
    NormalMean::simulate(N, 1).posterior.data().clone()
}

/// The sample variance of the observations: the variance of the gradients of single observations.
fn score_variance() -> f64 {
    let x = normals(N, 1);
    let mean = x.iter().sum::<f64>() / N as f64;
    x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (N - 1) as f64
}

fn predicted(fit: &Fit) -> PredictedBias {
    match &fit.info().bias {
        Bias::Predicted(predicted) => predicted.clone(),
        other => panic!("nothing was predicted: {other:?}"),
    }
}

fn run<D>(dynamics: D, h: f64, minibatch: usize) -> Fit
where
    D: Dynamics<MinibatchGradient> + Clone + std::fmt::Debug + 'static,
{
    let run = sgld(&normal_mean::model(), &data(), h).dynamics(dynamics).minibatch(minibatch);
    run.chains(4).seed(3).burn_in(200).sample(&zeros([1]), 2000).unwrap()
}

/// Curvature and noise of a normal mean are known, and so is the variance of SGLD.
#[test]
fn the_prediction_of_sgld_is_its_law() {
    let (h, n) = (4e-4, 100);
    let fit = run(Sgld, h, n);
    let predicted = predicted(&fit).noisiest;
    let (a, v) = (h * (N as f64 + 0.01), h * score_variance() * (N * (N - n)) as f64 / n as f64);
    assert!((predicted.curvature / a - 1.0).abs() < 1e-3, "{predicted:?} against {a}");
    // From at least 400 terms: a relative standard error of 7 %.
    assert!((predicted.noise / v - 1.0).abs() < 0.25, "{predicted:?} against {v}");
    let ratio = predicted.variance_ratio.unwrap();
    assert!((ratio / ((1.0 + 0.25 * predicted.noise) / (1.0 - 0.25 * predicted.curvature)) - 1.0).abs() < 1e-9);
    // The run itself has this standard deviation, which is known to about 3 %.
    let sd = fit.summary().row("theta").unwrap().sd * (N as f64 + 0.01).sqrt();
    assert!((sd / ratio.sqrt() - 1.0).abs() < 0.15, "{sd} against {}", ratio.sqrt());
}

/// A run whose standard deviation is several times too large mixes perfectly: R-hat and effective sizes see nothing. The verdict does.
#[test]
fn a_grossly_biased_run_is_a_problem_however_well_it_mixes() {
    let fit = run(Sgld, 1e-3, 10);
    let sd = fit.summary().row("theta").unwrap().sd * (N as f64).sqrt();
    assert!(sd > 4.0, "the run is not biased: {sd}");
    let row = *fit.summary().row("theta").unwrap();
    assert!(row.r_hat < 1.01 && row.ess_bulk > 400.0, "{row:?}");
    let check = fit.check();
    assert!(!check.passed() && !check.to_string().starts_with("no problem found"), "{check}");
    let finding = check.findings().iter().find(|finding| finding.what.contains("noise of the gradient")).unwrap();
    assert_eq!(finding.severity, Severity::Problem);
    assert!(finding.remedy.contains("control variates"), "{}", finding.remedy);
}

/// Steps near the limit of stability, without gradient noise.
#[test]
fn a_step_that_is_too_long_is_found_without_noise() {
    let run = ula(&normal_mean::model(), &data(), 3.5 / N as f64).chains(4).burn_in(200);
    let fit = run.sample(&zeros([1]), 2000).unwrap();
    let check = fit.check();
    let finding = check.findings().iter().find(|finding| finding.what.contains("the step size makes")).unwrap();
    // 1/√(1 − 3.5/4) = 2.83.
    assert_eq!(finding.severity, Severity::Problem, "{check}");
    assert!(finding.what.contains("183 % too large"), "{}", finding.what);
}

/// pSGLD on data with raw scales: standard deviations far from right, chains that agree. The missing Γ is reported in any case.
#[test]
fn psgld_on_raw_data_is_not_passed_over() {
    #[derive(TensorTree)]
    struct Line {
        x: Tensor<1>,
        y: Tensor<1>,
    }
    let z = normals(400, 7);
    let x: Vec<f64> = z[..200].iter().map(|z| 100.0 + 15.0 * z).collect();
    let y: Vec<f64> = x.iter().zip(&z[200..]).map(|(x, z)| 25.0 + 0.6 * x + 18.0 * z).collect();
    let data = Dataset::new(Line { x: array(x, [200]).unwrap(), y: array(y, [200]).unwrap() }).unwrap();
    let model = Model::new(|(a, b): (Tensor<1>, Tensor<1>), r: Line| Normal::new(a + b * r.x, 18.0).log_prob(r.y));
    let run = sgmcmc::presets::psgld(&model, &data, 0.1).minibatch(20).chains(4).burn_in(500).jitter(0.0);
    let fit = run.sample(&(full([1], 25.0), full([1], 0.6)), 2000).unwrap();
    let check = fit.check();
    assert!(!check.passed(), "{check}");
    assert!(check.findings().iter().any(|finding| finding.what.contains("without Γ")), "{check}");
    assert!(check.findings().iter().any(|finding| finding.what.contains("law of the algorithm")), "{check}");
}

#[test]
fn a_sound_run_says_that_bias_was_examined() {
    let run = sgldcv(&normal_mean::model(), &data(), 0.1 / N as f64).minibatch(50).chains(4).seed(2).burn_in(200);
    let fit = run.sample(&zeros([1]), 20_000).unwrap();
    let check = fit.check();
    assert!(check.passed() && check.to_string().starts_with("no problem found"), "{check}");
    let finding = check.findings().iter().find(|finding| finding.what.starts_with("bias was examined")).unwrap();
    assert_eq!(finding.severity, Severity::Note);
    assert!(finding.what.contains("1.3 % too large"), "{}", finding.what);
    assert!(fit.health().to_string().contains("predicted error of standard deviations"), "{}", fit.health());
}

/// Methods that accept or reject have no bias, and are not examined for one.
#[test]
fn exact_methods_have_no_bias() {
    let fit = hmc(&normal_mean::model(), &data(), 1e-3).sample(&zeros([1]), 500).unwrap();
    assert_eq!(fit.info().bias, Bias::Exact);
    assert!(!fit.check().to_string().contains("bias"));
}

/// Runs that cannot be examined say so: too short ones, and those of a likelihood that returns only its sum.
#[test]
fn a_run_that_was_not_examined_says_so() {
    let short = sgld(&normal_mean::model(), &data(), 1e-4).minibatch(10).sample(&zeros([1]), 50).unwrap();
    let check = short.check();
    assert!(check.bias_is_unknown() && check.to_string().contains("fewer than 400 gradient estimates"), "{check}");
    let summed = Model::new(|theta: Tensor<1>, x: Tensor<1>| ((x - theta).square() * -0.5).sum());
    let fit = sgld(&summed, &data(), 1e-5).minibatch(100).sample(&zeros([1]), 1000).unwrap();
    let Bias::NotExamined(reason) = &fit.info().bias else { panic!("{:?}", fit.info().bias) };
    assert!(!reason.is_empty());
    assert!(fit.check().to_string().contains("bias was not examined"), "{}", fit.check());
}

/// Falling step sizes: the prediction is for their mean, weighted as the draws are.
#[test]
fn falling_steps_are_judged_by_their_weighted_mean() {
    let falling = |t: u64| if t < 1000 { 1.0 / N as f64 } else { 1e-6 / N as f64 };
    let fit = ula(&normal_mean::model(), &data(), falling).sample(&zeros([1]), 2000).unwrap();
    let curvature = predicted(&fit).stiffest.curvature;
    assert!((curvature - 1.0).abs() < 0.01, "{curvature}");
}

/// Step sizes by parameter and the matrix of the algorithm enter: with steps in proportion to the posterior variances all directions are alike.
#[test]
fn predictions_know_step_sizes_by_parameter() {
    let simulated = Logistic::simulate(500, 1);
    let fit = |bias: f64| {
        let step_size = StepSize::from(1e-4).parameter("bias", bias);
        let run = ula(&logistic::model(), simulated.posterior.data(), step_size);
        predicted(&run.sample(&simulated.start, 500).unwrap()).stiffest.curvature
    };
    // A hundredfold step of one parameter of six dominates the curvature in units of the step.
    let ratio = fit(1e-2) / fit(1e-4);
    assert!((20.0..=101.0).contains(&ratio), "{ratio}");
}

/// The prediction survives files.
#[test]
fn predictions_are_kept_in_files() {
    let fit = run(Sgld, 4e-4, 100);
    let directory = tempfile::tempdir().unwrap();
    for name in ["fit.sgmcmc", "fit.csv"] {
        let path = directory.path().join(name);
        sgmcmc::storage::fits::save(&fit, &path).unwrap();
        assert_eq!(sgmcmc::storage::fits::open(&path).unwrap().info().bias, fit.info().bias, "{name}");
    }
}
