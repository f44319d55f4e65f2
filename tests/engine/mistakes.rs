//! Messages about mistakes in models: each names the cause and the remedy.

use sgmcmc::data::Rows;
use sgmcmc::gradient::GradientEstimator;
use sgmcmc::gradient::{Error, Oracle, Result};
use sgmcmc::gradient::{FullGradient, GradientNoise, MinibatchGradient, Saga, Svrg};
use sgmcmc::minibatch::IntoScheme;
use sgmcmc::minibatch::{Weighted, WithoutReplacement};
use sgmcmc::mode::ModeSearch;
use sgmcmc::prelude::*;
use sgmcmc::rng::ChainRng;

type Params = (Tensor<1>, Tensor<1>);

fn data() -> Dataset<Tensor<2>> {
    Dataset::new(array(vec![0.5; 20], [10, 2]).unwrap()).unwrap()
}

fn start() -> Params {
    (zeros([1]), zeros([2]))
}

fn terms(p: Params, x: Tensor<2>) -> Tensor<1> {
    x.matmul(p.1.unsqueeze_dim(1)).squeeze_dim(1) + p.0
}

fn refused(model: &Model<Params, Tensor<2>>) -> String {
    model.with(&data()).evaluator(&start()).unwrap_err().to_string()
}

fn contains(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
    assert!(!message.contains('\n'), "more than one line: {message}");
}

#[test]
fn a_panic_in_the_likelihood() {
    let model = Model::new(|p: Params, x: Tensor<2>| {
        assert!(x.dims()[1] == 3, "three columns wanted");
        terms(p, x)
    });
    contains(&refused(&model), &["the log-likelihood closure panicked", "three columns wanted"]);
}

#[test]
fn a_panic_in_the_prior() {
    let model = Model::new(terms).prior(|p: Params| -> Tensor<1> { panic!("no prior for {:?}", p.1.dims()) });
    contains(&refused(&model), &["the log-prior closure panicked", "no prior for [2]"]);
}

#[test]
fn a_panic_after_the_start() {
    let model = Model::new(|p: Params, x: Tensor<2>| {
        assert!(x.dims()[0] < 5, "too many rows");
        terms(p, x)
    });
    let mut evaluator = model.with(&data()).evaluator(&start()).unwrap();
    let mut gradient = [0.0; 3];
    let error = evaluator.posterior(&[0.0; 3], Rows::range(0..10), &mut gradient).unwrap_err();
    contains(&error.to_string(), &["log-likelihood closure panicked", "too many rows"]);
    // The evaluator is still good.
    evaluator.posterior(&[0.0; 3], Rows::range(0..3), &mut gradient).unwrap();
    assert_eq!(gradient.to_vec(), [3.0, 1.5, 1.5]);
}

#[test]
fn shapes_that_burn_refuses() {
    let model = Model::new(|p: Params, x: Tensor<2>| x.matmul(p.0.unsqueeze_dim(1)));
    contains(&refused(&model), &["the log-likelihood closure panicked", "Matmul", "got 2 and 1"]);
}

#[test]
fn a_likelihood_with_an_axis_too_many() {
    let model = Model::new(|p: Params, x: Tensor<2>| x.matmul(p.1.unsqueeze_dim(1)));
    contains(&refused(&model), &["log-likelihood returned shape [2, 1] for 2 observations", "squeeze_dim(1)", "[1]"]);
}

#[test]
fn a_likelihood_with_too_many_entries() {
    let model = Model::new(|p: Params, x: Tensor<2>| (x + p.0.unsqueeze_dim(0)).flatten::<1>(0, 1));
    contains(&refused(&model), &["log-likelihood returned shape [4] for 2 observations"]);
}

#[test]
fn a_prior_with_many_entries() {
    let model = Model::new(terms).prior(|_: Params| zeros([3]));
    contains(&refused(&model), &["log-prior returned shape [3]", ".sum()"]);
    let matrix = Model::new(terms).prior(|p: Params| p.1.unsqueeze_dim::<2>(0));
    contains(&refused(&matrix), &["log-prior returned shape [1, 2]"]);
}

#[test]
fn a_start_of_another_shape_than_declared() {
    let model = Model::new(terms).shape("1", [54]);
    contains(&refused(&model), &["parameter `1` has shape [2] but was declared as [54]"]);
    let unknown = Model::new(terms).shape("beta", [54]);
    contains(&refused(&unknown), &["no parameter `beta`", "`0` [1], `1` [2]"]);
}

#[test]
fn a_start_where_the_density_is_zero() {
    let model = Model::new(terms).prior(|p: Params| p.0.log());
    contains(&refused(&model), &["the log-prior is -inf at the start", "inside the support"]);
    let not_a_number = Model::new(|p: Params, x: Tensor<2>| (terms(p, x) - 1.0).log());
    contains(&refused(&not_a_number), &["the log-likelihood is NaN at the start"]);
}

#[test]
fn a_start_that_is_not_finite() {
    let error = Model::new(terms).with(&data()).evaluator(&(zeros([1]), full([2], f64::NAN))).unwrap_err();
    contains(&error.to_string(), &["start value of `1[0]` is NaN"]);
}

#[test]
fn a_model_with_neither_data_nor_prior() {
    let error = Model::new(|p: Params, (): ()| p.0).with(&Dataset::none()).evaluator(&start()).unwrap_err();
    contains(&error.to_string(), &["no data and no log-prior", "Model::density"]);
}

#[test]
fn a_flat_vector_of_the_wrong_length() {
    let mut evaluator = Model::new(terms).with(&data()).evaluator(&start()).unwrap();
    let error = evaluator.posterior(&[0.0; 2], Rows::range(0..1), &mut [0.0; 3]).unwrap_err();
    contains(&error.to_string(), &["flat parameter vector has length 2, expected 3"]);
    let error = evaluator.posterior(&[0.0; 3], Rows::range(0..11), &mut [0.0; 3]).unwrap_err();
    contains(&error.to_string(), &["row 10 is out of range", "10 observations"]);
    let error = evaluator.log_likelihood_per_observation(&[0.0; 3], Rows::range(0..3), &mut [0.0; 2]).unwrap_err();
    contains(&error.to_string(), &["length 2, expected 3"]);
}

fn minibatch(scheme: impl IntoScheme) -> Result<(), Error> {
    let evaluator = Model::new(terms).with(&data()).evaluator(&start())?;
    Oracle::new(MinibatchGradient::new(scheme.into_scheme()), evaluator, &[0.0; 3], ChainRng::new(1, 0)).map(drop)
}

#[test]
fn impossible_minibatches() {
    contains(&minibatch(0).unwrap_err().to_string(), &["minibatch of 0 observations", "at least 1"]);
    contains(&minibatch(11).unwrap_err().to_string(), &["minibatch of 11", "10 of the data set", "at most 10"]);
    contains(&minibatch(0.01).unwrap_err().to_string(), &["proportion of 0.01 rounds to 0 of 10", "a count"]);
    contains(&minibatch(-0.5).unwrap_err().to_string(), &["proportion of -0.5 is not in (0, 1]"]);
    assert!(minibatch(10).is_ok() && minibatch(0.5).is_ok());
}

#[test]
fn leaves_of_different_length() {
    let error = Dataset::new((zeros([10, 2]), zeros([9]))).unwrap_err();
    contains(&error.to_string(), &["data leaf `1` has 9 rows but `0` has 10", "first axis"]);
}

#[test]
fn data_that_are_not_finite() {
    let x = array(vec![0.0_f32, 1.0, f32::NAN, 3.0], [2, 2]).unwrap();
    let error = Dataset::new(x.clone()).unwrap_err().to_string();
    contains(&error, &["data leaf `data` holds NaN at row 1, column 0", "allow_non_finite"]);
    assert!(Dataset::allow_non_finite(x).is_ok());
    let image = array(vec![0.0, 0.0, 0.0, f64::INFINITY], [1, 2, 2]).unwrap();
    contains(&Dataset::new((image,)).unwrap_err().to_string(), &["`0` holds inf at row 0, element [1, 1]"]);
}

#[test]
fn what_needs_the_terms_of_a_summed_likelihood() {
    let model = Model::new(|p: Params, x: Tensor<2>| terms(p, x).sum());
    let mut evaluator = model.with(&data()).evaluator(&start()).unwrap();
    let error = evaluator.log_likelihood_per_observation(&[0.0; 3], Rows::range(0..3), &mut [0.0; 3]).unwrap_err();
    contains(&error.to_string(), &["pointwise log-likelihood", "one entry per observation"]);
    let saga = Saga::new(WithoutReplacement::new(2)).init(&[0.0; 3], evaluator.as_mut()).unwrap_err();
    contains(&saga.to_string(), &["gradient of each observation", "one entry per observation"]);
    let weighted = MinibatchGradient::new(Weighted::new(2, vec![1.0; 10]).unwrap());
    let mut oracle = Oracle::new(weighted, evaluator, &[0.0; 3], ChainRng::new(1, 0)).unwrap();
    let error = oracle.gradient(&[0.0; 3], &mut [0.0; 3]).unwrap_err();
    contains(&error.to_string(), &["weighted subsampling", "one entry per observation"]);
}

#[test]
fn a_name_that_is_not_there() {
    let model = Model::new(|p: Named, r: Named| r.get::<1>("y") - p.get::<1>("theta"));
    let data = Columns::new()
        .leaf("x", vec![0.0; 3], [3])
        .unwrap()
        .leaf("k", vec![0_i64; 3], [3])
        .unwrap()
        .into_dataset()
        .unwrap();
    let start = Named::new().with("theta", zeros([1]));
    let error = model.with(&data).evaluator(&start).unwrap_err();
    contains(&error.to_string(), &["log-likelihood closure panicked", "no leaf `y`", r#"["x", "k"]"#]);
    let rank = Model::new(|p: Named, r: Named| r.get::<2>("x").sum() - p.get::<1>("theta"));
    contains(&rank.with(&data).evaluator(&start).unwrap_err().to_string(), &["`x` has rank 1, requested as rank 2"]);
    let kind = Model::new(|p: Named, r: Named| r.get::<1>("k") - p.get::<1>("theta"));
    contains(&kind.with(&data).evaluator(&start).unwrap_err().to_string(), &["`k` is integer, not float", "get_int"]);
}

#[test]
fn settings_out_of_range() {
    let error = Model::new(terms).temperature(0.0).unwrap_err().to_string();
    contains(&error, &["temperature is 0", "positive"]);
    let evaluator = || Model::new(terms).with(&data()).evaluator(&start()).unwrap();
    let error = Svrg::new(WithoutReplacement::new(2), 0).init(&[0.0; 3], evaluator().as_mut()).unwrap_err();
    contains(&error.to_string(), &["period of SVRG is 0"]);
    let error = GradientNoise::measure(&FullGradient, evaluator().as_mut(), &[0.0; 3], 1, 1).unwrap_err();
    contains(&error.to_string(), &["number of draws is 1", "at least 2"]);
    let search = ModeSearch { max_iterations: 0, ..ModeSearch::default() };
    let error = search.run(FullGradient, evaluator(), &[0.0; 3]).unwrap_err();
    contains(&error.to_string(), &["max_iterations is 0"]);
}

mod priors {
    use super::contains;
    use sgmcmc::distributions::*;
    use sgmcmc::predictive::PredictiveOptions;
    use sgmcmc::prelude::*;
    use sgmcmc::rng::ChainRng;

    macro_rules! mistake {
        ($name:ident, [$($attribute:tt)*], $prior:expr, $start:expr, $parts:expr) => {
            #[test]
            fn $name() {
                #[derive(TensorTree)]
                struct Params {
                    #[tree($($attribute)* prior = $prior)]
                    value: Tensor<1>,
                }
                let error = Model::<Params>::from_priors().layout(&Params { value: $start }).unwrap_err();
                contains(&error.to_string(), &$parts);
            }
        };
    }

    mistake!(
        a_constraint_against_the_support,
        [upper(5.0),],
        Gamma::new(1.0, 1.0),
        ones([1]),
        ["prior of `value`", "positive numbers", "less than 5", "remove the constraint"]
    );
    mistake!(
        a_discrete_parameter,
        [],
        Poisson::new(3.0),
        ones([1]),
        ["prior of `value`", "integers", "sum over its values"]
    );
    mistake!(
        bounds_that_are_parameters,
        [],
        |p| Uniform::new(0.0, p.value),
        ones([1]),
        ["prior of `value`", "bounds are tensors", "`between`"]
    );
    mistake!(
        a_parameter_out_of_range,
        [],
        Normal::new(0.0, -1.0),
        ones([1]),
        ["the log-prior closure panicked", "scale must be positive", "-1"]
    );
    mistake!(
        too_few_distributions,
        [],
        Dirichlet::from_concentrations(&[]),
        ones([1]),
        ["the log-prior closure panicked", "no concentrations"]
    );

    #[derive(TensorTree)]
    struct Backwards {
        #[tree(prior = |p| Normal::new(p.mu, 1.0))]
        theta: Tensor<1>,
        #[tree(prior = Normal::new(0.0, 1.0))]
        mu: Tensor<1>,
    }

    #[derive(TensorTree)]
    struct Half {
        #[tree(prior = Normal::new(0.0, 1.0))]
        mu: Tensor<1>,
        sigma: Tensor<1>,
    }

    #[derive(TensorTree)]
    struct Ordered {
        #[tree(simplex, prior = Normal::new(0.0, 1.0))]
        shares: Tensor<1>,
    }

    fn drawn<P: TensorTree>(model: &Model<P>, like: P) -> String {
        model.draw_prior(&like, ChainRng::new(1, 0).noise()).err().unwrap().to_string()
    }

    #[test]
    fn draws_that_are_impossible() {
        let backwards = Backwards { theta: zeros([1]), mu: zeros([1]) };
        contains(&drawn(&Model::from_priors(), backwards), &["prior of `theta`", "declared below", "in the order"]);
        let half = || Half { mu: zeros([1]), sigma: ones([1]) };
        contains(&drawn(&Model::from_priors(), half()), &["prior of `sigma`", "no prior", "#[tree(prior"]);
        let shares = Ordered { shares: full([2], 0.5) };
        contains(&drawn(&Model::from_priors(), shares), &["prior of `shares`", "never", "Dirichlet"]);
        let factor = Model::<Half>::from_priors().factor(|p: Half| p.mu);
        contains(&drawn(&factor, half()), &["cannot draw parameters", "factor", "prior_draws"]);
        let closure = Model::density(|x: Tensor<1>| x.square().sum() * -0.5);
        contains(
            &drawn(&closure, zeros([1])),
            &["cannot draw parameters", "closure that returns a log density", "prior_draws"],
        );
    }

    #[test]
    fn priors_that_count_twice() {
        let model = Model::<Half>::from_priors().prior(|p: Half| p.mu);
        let error = model.with(&Dataset::none()).evaluator(&Half { mu: zeros([1]), sigma: ones([1]) }).err().unwrap();
        contains(&error.to_string(), &["twice", "remove one of them", "Model::factor"]);
    }

    #[test]
    fn observations_that_cannot_be_drawn() {
        let data = Dataset::new(array(vec![1.0, 2.0], [2]).unwrap()).unwrap();
        let closure = Model::new(|mu: Tensor<1>, y: Tensor<1>| Normal::new(mu, 1.0).log_prob(y));
        let refused =
            |model: &Model<Tensor<1>, Tensor<1>>| model.simulate(&zeros([1]), &data, 1).err().unwrap().to_string();
        contains(&refused(&closure), &["cannot draw observations", "Model::observe"]);
        let computed = Model::observe(|mu: Tensor<1>, _: Tensor<1>| Normal::new(mu, 1.0), |y: Tensor<1>| y.log());
        contains(&refused(&computed), &["cannot draw observations", "values that it computes", "|r| r.y"]);
        let outside = Model::observe(|mu: Tensor<1>, _: Tensor<1>| Normal::new(0.0, mu), |y: Tensor<1>| y);
        contains(&refused(&outside), &["NaN"]);
        let two = Model::observe(
            |mu: Tensor<1>, _: (Tensor<1>, Tensor<1>)| (Normal::new(mu.clone(), 1.0), Normal::new(mu, 2.0)),
            |r: (Tensor<1>, Tensor<1>)| r,
        )
        .prior_draws(|like: &Tensor<1>, rng| Normal::new(0.0, 1.0).sample(like.dims(), rng));
        let data = Dataset::new((zeros([3]), ones([3]))).unwrap();
        let fit = two.sample_prior(&zeros([1]), 5, 1).unwrap();
        let predictive = |leaf: Option<&str>| {
            let options = PredictiveOptions { leaf: leaf.map(str::to_owned), ..PredictiveOptions::default() };
            two.with(&data).predictive(&fit, &zeros([1]), &options)
        };
        contains(&predictive(None).unwrap_err().to_string(), &["`0`, `1`"]);
        assert_eq!(predictive(Some("1")).unwrap().observed(), [1.0; 3]);
        let small = PredictiveOptions { memory_limit: 10, leaf: Some("0".into()), ..PredictiveOptions::default() };
        let error = two.with(&data).predictive(&fit, &zeros([1]), &small).unwrap_err();
        contains(&error.to_string(), &["400 replications of 3 observed values", "fewer data sets"]);
    }

    #[test]
    fn predictors_and_elements_out_of_range() {
        let start = zeros([3]);
        let data = Dataset::new(array(vec![0.5; 4], [2, 2]).unwrap()).unwrap();
        let message =
            |model: Model<Tensor<1>, Tensor<2>>| model.with(&data).evaluator(&start).err().unwrap().to_string();
        contains(
            &message(Model::new(|beta: Tensor<1>, x: Tensor<2>| linear(x, beta))),
            &["2 columns", "3 coefficients"],
        );
        let at = Model::new(|beta: Tensor<1>, x: Tensor<2>| linear(x, beta.part(0..2)) + beta.at(3));
        contains(&message(at), &["no entry 3", "count from 0"]);
    }

    model! {
        UnboundedScale
        data { y: Tensor<1> }
        mu ~ Normal(0, 1);
        sigma ~ Normal(0, 1);
        y ~ Normal(mu, sigma);
    }

    model! {
        EntryByEntry
        beta[2] ~ [Normal(-3, 0.1), Normal(3, 0.2)];
    }

    #[test]
    fn a_scale_without_a_constraint() {
        let data = Dataset::new(UnboundedScaleData { y: ones([3]) }).unwrap();
        let (model, start) = (UnboundedScale::model(), UnboundedScale::start().unwrap());
        let message = model.with(&data).evaluator(&start).err().unwrap().to_string();
        contains(&message, &["at the start", "such as a scale", "`positive`", "`HalfNormal`"]);
    }

    #[test]
    fn one_prior_for_each_entry_is_a_list() {
        let fit = EntryByEntry::model().sample_prior(&EntryByEntry::start().unwrap(), 500, 1).unwrap();
        let summary = fit.summary();
        let near = |row: usize, mean: f64, sd: f64| {
            let row = &summary.rows()[row];
            (row.mean - mean).abs() < 0.05 && (row.sd - sd).abs() < 0.03
        };
        assert!(near(0, -3.0, 0.1) && near(1, 3.0, 0.2), "{summary}");
    }
}
