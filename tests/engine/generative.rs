//! Models as descriptions: priors beside fields, distributions as likelihoods, and all draws from them.

use sgmcmc::diagnostics::distance::ks_one_sample;
use sgmcmc::distributions::*;
use sgmcmc::predictive::{PredictiveOptions, SbcOptions, Simulated};
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;

#[derive(TensorTree)]
struct Schools {
    #[tree(prior = Normal::new(1.0, 5.0))]
    mu: Tensor<1>,
    #[tree(prior = HalfCauchy::new(5.0))]
    tau: Tensor<1>,
    #[tree(prior = |p| Normal::new(p.mu, p.tau))]
    effects: Tensor<1>,
    #[tree(prior = Dirichlet::from_concentrations(&[1.0, 2.0, 3.0]))]
    shares: Tensor<1>,
    #[tree(ordered, prior = Normal::new(0.0, 2.0))]
    cuts: Tensor<1>,
    #[tree(interval(0.0, 1.0), prior = Normal::new(0.0, 1.0))]
    rate: Tensor<1>,
    #[tree(prior = [Normal::new(-3.0, 0.1), Normal::new(3.0, 0.1)])]
    each: Tensor<1>,
}

fn like() -> Schools {
    Schools {
        mu: zeros([1]),
        tau: ones([1]),
        effects: zeros([8]),
        shares: array(vec![0.2, 0.3, 0.5], [3]).unwrap(),
        cuts: array(vec![-1.0, 0.0, 1.0], [3]).unwrap(),
        rate: full([1], 0.5),
        each: zeros([2]),
    }
}

fn normal_cdf(x: f64) -> f64 {
    sgmcmc::special::normal_cdf(full([1], x)).into_scalar::<f64>()
}

#[test]
fn supports_imply_constraints() {
    let layout = Model::<Schools>::from_priors().layout(&like()).unwrap();
    let constraints: Vec<_> = layout.blocks().iter().map(|block| block.constraint).collect();
    let expected = [
        None,
        Some(Constraint::Positive),
        None,
        Some(Constraint::Simplex),
        Some(Constraint::Ordered),
        Some(Constraint::Interval(0.0, 1.0)),
        None,
    ];
    assert_eq!(constraints, expected);
}

#[test]
fn the_log_prior_is_the_sum_over_the_fields() {
    let model = Model::<Schools>::from_priors();
    let p = like();
    let by_hand = Normal::new(1.0, 5.0).log_prob(p.mu.clone())
        + HalfCauchy::new(5.0).log_prob(p.tau.clone())
        + Normal::new(p.mu.clone(), p.tau.clone()).log_prob(p.effects.clone()).sum()
        + Dirichlet::from_concentrations(&[1.0, 2.0, 3.0]).log_prob(p.shares.clone().unsqueeze_dim(0))
        + Normal::new(0.0, 2.0).log_prob(p.cuts.clone()).sum()
        + Normal::new(0.0, 1.0).log_prob(p.rate.clone())
        + Normal::new(-3.0, 0.1).log_prob(p.each.at(0))
        + Normal::new(3.0, 0.1).log_prob(p.each.at(1));
    let found = model.log_prior(p).unwrap().unwrap().into_scalar::<f64>();
    assert!((found - by_hand.into_scalar::<f64>()).abs() < 1e-10);
    // The compiled engine agrees with the eager one, gradient included.
    let posterior = model.with(&Dataset::none());
    let mut gradients: [Vec<f64>; 2] = Default::default();
    for (engine, gradient) in [sgmcmc::Engine::Eager, sgmcmc::Engine::Compiled].into_iter().zip(&mut gradients) {
        let mut evaluator = posterior.clone().engine(engine).evaluator(&like()).unwrap();
        gradient.resize(evaluator.dim(), 0.0);
        let theta: Vec<f64> = (0..evaluator.dim()).map(|i| 0.1 * i as f64 - 0.4).collect();
        evaluator.prior(&theta, gradient).unwrap();
    }
    assert!(gradients[0].iter().zip(&gradients[1]).all(|(a, b)| (a - b).abs() < 1e-9), "{gradients:?}");
}

#[test]
fn prior_draws_have_the_prior_distribution() {
    let model = Model::<Schools>::from_priors();
    let fit = model.sample_prior(&like(), 2000, 7).unwrap();
    let draws = |name: &str| fit.element(name).unwrap().concat();
    let p = |values: &[f64], cdf: &dyn Fn(f64) -> f64| ks_one_sample(values, cdf).p_value;
    assert!(p(&draws("mu"), &|x| normal_cdf((x - 1.0) / 5.0)) > 1e-3);
    assert!(p(&draws("tau"), &|x| 2.0 / std::f64::consts::PI * (x / 5.0).atan()) > 1e-3);
    // Standardized by the parameters of the same draw.
    let (mu, tau, effect) = (draws("mu"), draws("tau"), draws("effects[3]"));
    let z: Vec<f64> = effect.iter().zip(mu.iter().zip(&tau)).map(|(x, (mu, tau))| (x - mu) / tau).collect();
    assert!(p(&z, &normal_cdf) > 1e-3);
    // The first share is Beta(1, 5).
    assert!(p(&draws("shares[0]"), &|x| 1.0 - (1.0 - x).powi(5)) > 1e-3);
    // The largest of three independent values.
    assert!(p(&draws("cuts[2]"), &|x| normal_cdf(x / 2.0).powi(3)) > 1e-3);
    // A normal restricted to an interval.
    let mass = normal_cdf(1.0) - 0.5;
    assert!(p(&draws("rate"), &|x| (normal_cdf(x) - 0.5) / mass) > 1e-3);
    assert!(draws("each[0]").iter().all(|x| *x < -2.0) && draws("each[1]").iter().all(|x| *x > 2.0));
    // The same seed gives the same draws for any number of threads.
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one.install(|| model.sample_prior(&like(), 2000, 7)).unwrap(), fit);
}

#[derive(TensorTree)]
struct Mean {
    #[tree(prior = Normal::new(0.0, 2.0))]
    mean: Tensor<1>,
}

#[derive(TensorTree)]
struct Observations {
    group: Tensor<1, Int>,
    y: Tensor<1>,
}

fn observations(n: usize) -> Dataset<Observations> {
    let y = (0..n).map(|i| 1.5 + ((i * 7919) % 101) as f64 / 50.0 - 1.0).collect();
    Dataset::new(Observations { group: array((0..n as i64).collect(), [n]).unwrap(), y: array(y, [n]).unwrap() })
        .unwrap()
}

fn normal_mean() -> Model<Mean, Observations> {
    Model::observe(|p: Mean, _: Observations| Normal::new(p.mean, 1.0), |r: Observations| r.y)
}

#[test]
fn the_likelihood_is_that_of_a_closure() {
    let data = observations(20);
    let start = Mean { mean: zeros([1]) };
    let by_hand = Model::new(|p: Mean, r: Observations| Normal::new(p.mean, 1.0).log_prob(r.y));
    let values = [normal_mean(), by_hand].map(|model| {
        let posterior = model.with(&data).engine(sgmcmc::Engine::Compiled);
        let mut evaluator = posterior.evaluator(&start).unwrap();
        let mut gradient = [0.0];
        let rows = evaluator.all_rows();
        let value = evaluator.posterior(&[0.3], rows, &mut gradient).unwrap();
        (value, gradient[0])
    });
    assert_eq!(values[0], values[1]);
}

#[test]
fn simulated_data_replace_only_the_observed_leaf() {
    let data = observations(20_000);
    let simulated = normal_mean().simulate(&Mean { mean: full([1], 4.0) }, &data, 3).unwrap();
    assert_eq!(simulated.columns()[0], data.columns()[0]);
    let y: Vec<f64> = simulated.columns()[1].numbers().map(|y| y - 4.0).collect();
    assert!(ks_one_sample(&y, normal_cdf).p_value > 1e-3);
}

/// The posterior of the mean is N(m, s²); replications are N(m, s² + 1).
#[test]
fn predictive_draws_have_the_moments_of_the_closed_form() {
    let (data, start) = (observations(40), Mean { mean: zeros([1]) });
    let model = normal_mean();
    let sum: f64 = data.columns()[1].numbers().sum();
    let variance = 1.0 / (40.0 + 0.25);
    let mean = variance * sum;
    let fit = hmc(&model, &data, 0.1).seed(1).burn_in(200).sample(&start, 4000).unwrap();
    let posterior = model.with(&data);
    let options = PredictiveOptions { draws: 2000, seed: 5, ..PredictiveOptions::default() };
    let predictive = posterior.predictive(&fit, &start, &options).unwrap();
    let all = predictive.replications().concat();
    let found = all.iter().sum::<f64>() / all.len() as f64;
    assert!((found - mean).abs() < 0.02, "{found} and {mean}");
    let spread = all.iter().map(|y| (y - found).powi(2)).sum::<f64>() / all.len() as f64;
    assert!((spread - (1.0 + variance)).abs() < 0.03, "{spread}");
    // The known means of the distribution are used: no noise of the replications.
    assert!((predictive.mean()[0] - mean).abs() < 0.02);
    // The prior predictive distribution is N(0, 4 + 1).
    let prior = posterior.predictive(&model.sample_prior(&start, 2000, 2).unwrap(), &start, &options).unwrap();
    let first: Vec<f64> = prior.replications().iter().map(|y| y[0] / 5.0_f64.sqrt()).collect();
    assert!(ks_one_sample(&first, normal_cdf).p_value > 1e-3);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one.install(|| posterior.predictive(&fit, &start, &options)).unwrap(), predictive);
}

fn calibrate(model: &Model<Mean, Observations>, sampled: &Model<Mean, Observations>) -> sgmcmc::fit::Calibration {
    let options = SbcOptions { simulations: 150, seed: 3, ..SbcOptions::default() };
    // Trajectories of 1.4, which are no multiple of the period of either posterior.
    let run = |run: &Simulated<'_, Mean, Observations>| {
        hmc(sampled, run.posterior.data(), 0.02).seed(run.seed).burn_in(30).thin(3).sample(run.start, 80)
    };
    model.sbc(&observations(10), &Mean { mean: zeros([1]) }, &options, run).unwrap()
}

#[test]
fn calibration_passes_for_the_model_and_fails_for_another_one() {
    let model = normal_mean();
    let right = calibrate(&model, &model);
    assert!(right.passed(), "{right}");
    let wide = Model::observe(|p: Mean, _: Observations| Normal::new(p.mean, 2.0), |r: Observations| r.y);
    assert!(!calibrate(&model, &wide).passed());
}

#[test]
fn quantities_follow_the_parameters() {
    let model =
        normal_mean().quantity("square", |p: Mean| p.mean.square()).quantity("two", |p: Mean| p.mean.expand([2]));
    let (data, start) = (observations(10), Mean { mean: zeros([1]) });
    let fit = hmc(&model, &data, 0.2).seed(2).sample(&start, 20).unwrap();
    let extended = model.with_quantities(&fit, &start).unwrap();
    assert_eq!(extended.layout().value_names(), ["mean", "square", "two[0]", "two[1]"]);
    for row in extended.chains()[0].rows() {
        assert!((row[1] - row[0] * row[0]).abs() < 1e-12 && row[2].total_cmp(&row[0]).is_eq());
    }
    let twice = model.quantity("mean", |p: Mean| p.mean).with_quantities(&fit, &start).unwrap_err();
    assert!(twice.to_string().contains("`mean`"));
    // A fit with quantities still predicts.
    let predictive = normal_mean().with(&data).predictive(&extended, &start, &PredictiveOptions::default());
    assert_eq!(predictive.unwrap().observed().len(), 10);
}

#[test]
fn starts_are_drawn_from_the_prior() {
    let (model, like) = (normal_mean(), Mean { mean: zeros([1]) });
    let run = hmc(&model, &observations(5), 1e-9).seed(4).chains(3);
    let fit = run.sample(Starts::from_prior(&like), 1).unwrap();
    for (chain, draws) in fit.chains().iter().enumerate() {
        let expected = model.draw_prior(&like, &mut ChainRng::before_start(4, chain as u64)).unwrap();
        assert!((draws.element(0)[0] - expected.mean.into_scalar::<f64>()).abs() < 1e-3);
    }
}

/// A part of the supports: the density beyond them is zero.
#[test]
fn domains_agree_with_densities() {
    let positive: Vec<Box<dyn Generative<Tensor<1>>>> = vec![
        Box::new(Gamma::<1>::new(2.0, 1.0)),
        Box::new(InverseGamma::<1>::new(2.0, 1.0)),
        Box::new(LogNormal::<1>::new(0.0, 1.0)),
        Box::new(HalfNormal::<1>::new(1.0)),
        Box::new(HalfCauchy::<1>::new(1.0)),
        Box::new(Exponential::<1>::new(1.0)),
        Box::new(Weibull::<1>::new(2.0, 1.0)),
        Box::new(GeneralizedGamma::<1>::new(2.0, 1.0, 1.0)),
    ];
    for distribution in positive {
        assert_eq!(distribution.domain(), Domain::Positive, "{distribution:?}");
        let outside: f64 = distribution.rows(full([1], -1.0)).into_scalar();
        assert!(outside.is_infinite() && outside < 0.0, "{distribution:?}");
    }
    let real: Vec<Box<dyn Generative<Tensor<1>>>> = vec![
        Box::new(Normal::<1>::new(0.0, 1.0)),
        Box::new(Cauchy::<1>::new(0.0, 1.0)),
        Box::new(StudentT::<1>::new(3.0, 0.0, 1.0)),
        Box::new(Laplace::<1>::new(0.0, 1.0)),
        Box::new(Logistic::<1>::new(0.0, 1.0)),
    ];
    assert!(real.iter().all(|distribution| distribution.domain() == Domain::Real));
    let domain = |distribution: &dyn Generative<Tensor<1>>| distribution.domain();
    assert_eq!(domain(&Uniform::new(-1.0, 2.0)), Domain::Interval(-1.0, 2.0));
    assert_eq!(domain(&Uniform::new(-1.0, ones([1]))), Domain::Dependent);
    assert_eq!(domain(&Beta::new(1.0, 2.0)), Domain::Interval(0.0, 1.0));
    assert_eq!(domain(&Poisson::new(1.0)), Domain::Discrete);
}

model! {
    Regression(covariates)
    data { group: Tensor<1, Int>, x: Tensor<2>, y: Tensor<1> }
    mu ~ Normal(0, 2);
    tau ~ HalfNormal(1);
    effects[3] ~ Normal(mu, tau);
    beta[covariates] ~ Normal(0, 1);
    ordered cuts[2] ~ Normal(0, 1);
    sigma ~ Gamma(2, 2);
    let mean = effects.by(group) + linear(x, beta);
    y ~ Normal(mean, sigma);
    generate ratio = tau / sigma;
}

#[derive(TensorTree)]
struct ByHand {
    #[tree(prior = Normal::new(0.0, 2.0))]
    mu: Tensor<1>,
    #[tree(prior = HalfNormal::new(1.0))]
    tau: Tensor<1>,
    #[tree(prior = |p| Normal::new(p.mu, p.tau))]
    effects: Tensor<1>,
    #[tree(dims = ["covariates"], prior = Normal::new(0.0, 1.0))]
    beta: Tensor<1>,
    #[tree(ordered, prior = Normal::new(0.0, 1.0))]
    cuts: Tensor<1>,
    #[tree(prior = Gamma::new(2.0, 2.0))]
    sigma: Tensor<1>,
}

fn regression_data() -> Dataset<RegressionData> {
    let column = |n: usize, k: usize| (0..n).map(|i| ((i * k) % 17) as f64 / 8.0 - 1.0).collect::<Vec<f64>>();
    Dataset::new(RegressionData {
        group: array((0..12).map(|i| i % 3).collect(), [12]).unwrap(),
        x: array(column(24, 5), [12, 2]).unwrap(),
        y: array(column(12, 7), [12]).unwrap(),
    })
    .unwrap()
}

#[test]
fn the_macro_is_the_model_by_hand() {
    let by_hand = Model::observe(
        |p: ByHand, r: RegressionData| Normal::new(p.effects.by(r.group) + linear(r.x, p.beta), p.sigma),
        |r: RegressionData| r.y,
    );
    let (model, start) = (Regression::model(), Regression::start(2).unwrap());
    let like = ByHand {
        mu: zeros([1]),
        tau: ones([1]),
        effects: zeros([3]),
        beta: zeros([2]),
        cuts: start.cuts.clone(),
        sigma: ones([1]),
    };
    let theta: Vec<f64> = (0..10).map(|i| 0.15 * f64::from(i) - 0.6).collect();
    let mut gradients = [vec![0.0; 10], vec![0.0; 10]];
    let mut one = model.with(&regression_data()).engine(sgmcmc::Engine::Compiled).evaluator(&start).unwrap();
    let mut two = by_hand.with(&regression_data()).engine(sgmcmc::Engine::Compiled).evaluator(&like).unwrap();
    assert_eq!(one.layout(), two.layout());
    let rows = one.all_rows();
    let values = [one.posterior(&theta, rows, &mut gradients[0]), two.posterior(&theta, rows, &mut gradients[1])];
    let [one, two] = values.map(Result::unwrap);
    assert!((one - two).abs() < 1e-12 * one.abs());
    assert!(gradients[0].iter().zip(&gradients[1]).all(|(a, b): (&f64, &f64)| (a - b).abs() < 1e-12));
    // Draws, quantities and simulated data.
    let fit = model.sample_prior(&start, 10, 1).unwrap();
    let hand = by_hand.sample_prior(&like, 10, 1).unwrap();
    assert_eq!(fit.chains(), hand.chains());
    let fit = model.with_quantities(&fit, &start).unwrap();
    assert_eq!(fit.layout().value_name(10), "ratio");
    let simulated = model.simulate(&start, &regression_data(), 1).unwrap();
    assert_ne!(simulated.columns()[2], regression_data().columns()[2]);
}

#[test]
fn fixed_parameters_are_constants() {
    let (model, data) = (Regression::model(), regression_data());
    let whole = Regression::start(2).unwrap();
    let conditioned = model.fix(&["mu", "tau", "sigma"], &whole).unwrap();
    let mut one = conditioned.model.with(&data).engine(sgmcmc::Engine::Compiled).evaluator(&conditioned.start).unwrap();
    assert_eq!(
        one.layout().value_names(),
        ["effects[0]", "effects[1]", "effects[2]", "beta[0]", "beta[1]", "cuts[0]", "cuts[1]"]
    );
    let mut two = model.with(&data).evaluator(&whole).unwrap();
    let rows = one.all_rows();
    // The difference of two log densities does not depend on the fixed ones.
    let free = |shift: f64| (0..7).map(|i| shift * f64::from(i)).collect::<Vec<f64>>();
    let all = |free: &[f64]| [&[0.0, 0.0][..], free, &[0.0]].concat();
    let found = one.log_density(&free(0.1), rows).unwrap() - one.log_density(&free(0.0), rows).unwrap();
    let expected = two.log_density(&all(&free(0.1)), rows).unwrap() - two.log_density(&all(&free(0.0)), rows).unwrap();
    assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    // Draws keep the fixed values, and the effects are drawn given them.
    let given = Regression { mu: full([1], 50.0), tau: full([1], 0.01), ..Regression::start(2).unwrap() };
    let conditioned = model.fix(&["mu", "tau"], &given).unwrap();
    let drawn = conditioned.model.draw_prior(&conditioned.start, ChainRng::new(1, 0).noise()).unwrap().into_whole();
    assert!((drawn.effects.at(1).into_scalar::<f64>() - 50.0).abs() < 0.1);
    assert!((drawn.mu.into_scalar::<f64>() - 50.0).abs() < 1e-12);
    let last = model.sample_only(&["beta"], &whole).unwrap();
    assert_eq!(last.model.layout(&last.start).unwrap().value_names(), ["beta[0]", "beta[1]"]);
    assert!(model.fix(&["gamma"], &whole).unwrap_err().to_string().contains("no parameter `gamma`"));
    let none = model.fix(&["mu", "tau", "effects", "beta", "cuts", "sigma"], &whole).unwrap_err();
    assert!(none.to_string().contains("at least 1 parameter must remain free"));
}

/// limit ~ Gamma(3, 1) and share | limit uniform on (0, limit): E share = 3/2, and share/limit is uniform.
#[derive(TensorTree)]
struct Limited {
    #[tree(positive)]
    limit: Tensor<1>,
    y: Tensor<1>,
}

#[test]
fn dependent_bounds_have_the_right_law() {
    let model = Model::density(|p: Limited| {
        let share = sgmcmc::functions::between(p.y, 0.0, p.limit.clone());
        Gamma::new(3.0, 1.0).log_prob(p.limit.clone()) - p.limit.log() + share.log_jacobian
    })
    .quantity("share", |p: Limited| sgmcmc::functions::between(p.y, 0.0, p.limit).value);
    let start = Limited { limit: ones([1]), y: zeros([1]) };
    let fit = hmc(&model, &Dataset::none(), 0.35).seed(3).burn_in(200).thin(4).sample(&start, 3000).unwrap();
    let fit = model.with_quantities(&fit, &start).unwrap();
    let (limit, share) = (fit.element("limit").unwrap().concat(), fit.element("share").unwrap().concat());
    let uniform: Vec<f64> = share.iter().zip(&limit).step_by(10).map(|(share, limit)| share / limit).collect();
    assert!(ks_one_sample(&uniform, |u| u).p_value > 1e-3);
    let gamma = |x: f64| 1.0 - (-x).exp() * (1.0 + x + 0.5 * x * x);
    let thinned: Vec<f64> = limit.iter().step_by(10).copied().collect();
    assert!(ks_one_sample(&thinned, gamma).p_value > 1e-3);
}
