//! Fits with derived quantities: they are used like those without.

use sgmcmc::diagnostics::control::Polynomial;
use sgmcmc::diagnostics::ksd::Imq;
use sgmcmc::gradient::FullGradient;
use sgmcmc::mode::LbfgsSearch;
use sgmcmc::predictive::PredictiveOptions;
use sgmcmc::prelude::*;
use sgmcmc::report::Report;

model! {
    Line
    data { x: Tensor<1>, y: Tensor<1> }
    slope ~ Normal(0, 2);
    sigma ~ HalfNormal(1);
    y ~ Normal(x * slope, sigma);
    generate ratio = slope / sigma;
    generate both = slope.expand([2]);
}

fn data() -> Dataset<LineData> {
    let x: Vec<f64> = (0..20).map(|i| f64::from(i) / 10.0).collect();
    let y = x.iter().enumerate().map(|(i, x)| 1.5 * x + 0.2 * ((i * 7) % 5) as f64 - 0.4).collect();
    Dataset::new(LineData { x: array(x, [20]).unwrap(), y: array(y, [20]).unwrap() }).unwrap()
}

#[test]
fn every_method_of_a_fit_takes_a_fit_with_quantities() {
    let (model, data, start) = (Line::model(), data(), Line::start().unwrap());
    let posterior = model.with(&data);
    let plain = hmc(&model, &data, 0.05).seed(1).burn_in(50).sample(&start, 100).unwrap();
    let mut evaluator = posterior.evaluator(&start).unwrap();
    let mode = LbfgsSearch::default().run(evaluator.as_mut(), &[0.0; 2]).unwrap();
    let plain = plain.with_mode(Some(mode));
    let fit = model.with_quantities(&plain, &start).unwrap();
    assert_eq!(fit.layout().value_names(), ["slope", "sigma", "ratio", "both[0]", "both[1]"]);

    // Methods with the structure of the parameters.
    let number = |tensor: Tensor<1>| tensor.into_scalar::<f64>();
    let same = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} and {b}");
    same(number(fit.mean(&start).unwrap().slope), number(plain.mean(&start).unwrap().slope));
    same(number(fit.sd(&start).unwrap().sigma), number(plain.sd(&start).unwrap().sigma));
    same(number(fit.quantile(&start, 0.3).unwrap().sigma), number(plain.quantile(&start, 0.3).unwrap().sigma));
    let sums = |fit: &Fit| fit.params(&start).unwrap().map(|p| number(p.slope + p.sigma)).sum::<f64>();
    same(sums(&fit), sums(&plain));
    let predict = |p: Line, r: LineData| r.x * p.slope;
    assert_eq!(fit.predict(&data, &start, predict).unwrap(), plain.predict(&data, &start, predict).unwrap());
    assert_eq!(fit.predict_each(&data, &start, predict).unwrap(), plain.predict_each(&data, &start, predict).unwrap());
    let derived = fit.derive("twice", &start, |p: Line| p.slope * 2.0).unwrap();
    same(derived.element("twice").unwrap()[0][7], 2.0 * plain.element("slope").unwrap()[0][7]);

    // Methods with the model.
    assert_eq!(
        fit.pointwise_log_likelihood(&posterior, &start).unwrap(),
        plain.pointwise_log_likelihood(&posterior, &start).unwrap()
    );
    same(
        fit.log_predictive_density(&posterior, &start).unwrap(),
        plain.log_predictive_density(&posterior, &start).unwrap(),
    );
    let noise = |fit: &Fit| fit.gradient_noise(&posterior, &start, 5).unwrap();
    assert_eq!(noise(&fit), noise(&plain));
    let scores = fit.scores(&posterior, &start, &FullGradient, 0).unwrap();
    assert_eq!(fit.ksd(&scores, Imq::default()).unwrap(), plain.ksd(&scores, Imq::default()).unwrap());
    // Quantities get corrected means as well.
    let corrected = fit.zero_variance(&scores, Polynomial::Linear).unwrap();
    same(corrected.means[3].mean, corrected.means[0].mean);
    assert_eq!(corrected.means.len(), 5);

    // Quantities of a second model are added to those of the first.
    let more = Line::model().quantity("slope_squared", |p: Line| p.slope.square());
    let twice = more.with_quantities(&fit, &start);
    assert!(twice.unwrap_err().to_string().contains("`ratio`"));
    let summary = fit.summary().to_string();
    assert!(["sigma", "ratio", "both[1]"].iter().all(|name| summary.contains(name)), "{summary}");
}

/// The quantities are stored with the draws, and shown like parameters.
#[test]
fn quantities_are_in_files_and_in_the_report() {
    let (model, data, start) = (Line::model(), data(), Line::start().unwrap());
    let fit = hmc(&model, &data, 0.05).seed(1).burn_in(50).chains(2).sample(&start, 100).unwrap();
    let fit = model.with_quantities(&fit, &start).unwrap();
    let directory = tempfile::tempdir().unwrap();
    // Formats with the names and shapes of parameters; CSV files have one column for each value, and netCDF is not read.
    for ending in ["sgmcmc", "json", "parquet", "arrow", "zarr"] {
        let path = directory.path().join(format!("fit.{ending}"));
        fit.save(&path).unwrap();
        let read = Fit::open(&path).unwrap();
        for name in ["sigma", "ratio", "both[1]"] {
            let (stored, draws) = (read.element(name).unwrap(), fit.element(name).unwrap());
            assert_eq!(stored.concat().len(), draws.concat().len());
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
            assert!(stored.concat().iter().zip(&draws.concat()).all(near), "{ending}: {name}");
        }
    }
    let predictive = model.with(&data).predictive(&fit, &start, &PredictiveOptions::default()).unwrap();
    let html = Report::new(&fit).predictive_check(&predictive).html().unwrap();
    assert!(["ratio", "both[1]", "Predictive checks"].iter().all(|part| html.contains(part)));
}

#[test]
fn a_fit_of_other_parameters_is_refused() {
    let (model, data, start) = (Line::model(), data(), Line::start().unwrap());
    let other = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    let fit = hmc(&other, &Dataset::none(), 0.1).sample(&zeros([2]), 5).unwrap();
    for message in [
        fit.mean(&start).err().unwrap().to_string(),
        fit.loo(&model.with(&data), &start).err().unwrap().to_string(),
        model.with_quantities(&fit, &start).err().unwrap().to_string(),
    ] {
        assert!(message.contains("slope") && message.contains("theta"), "{message}");
    }
}
