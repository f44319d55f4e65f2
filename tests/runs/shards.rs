//! Shards of models given by closures, with constrained parameters.

use sgmcmc::data::Rows;
use sgmcmc::distributed::combine::{CombineOptions, Consensus, Draws, Swiss, combine_fits};
use sgmcmc::distributed::shards::Shards;
use sgmcmc::distributions::*;
use sgmcmc::fit::{ChainDraws, Tempering};
use sgmcmc::gradient::Target;
use sgmcmc::prelude::*;
use sgmcmc::sink::Draw;
use sgmcmc::{Layout, constraint};

#[derive(TensorTree, Clone)]
struct Params {
    mean: Tensor<1>,
    #[tree(positive)]
    sigma: Tensor<1>,
    #[tree(simplex)]
    weights: Tensor<1>,
}

fn model() -> Model<Params, Tensor<1>> {
    Model::new(|p: Params, x: Tensor<1>| {
        let shift = p.weights.narrow(0, 0, 1);
        Normal::new(p.mean + shift, p.sigma).log_prob(x)
    })
    .prior(|p: Params| {
        Normal::new(0.0, 2.0).log_prob(p.mean).sum()
            + Gamma::new(2.0, 1.0).log_prob(p.sigma).sum()
            + p.weights.log().sum() * 2.0
    })
}

fn data(n: usize) -> Dataset<Tensor<1>> {
    Dataset::new(array((0..n).map(|k| 1.5 * (k as f64 * 0.37).sin() + 0.4).collect(), [n]).unwrap()).unwrap()
}

/// In coordinates, where draws are combined, the subposteriors multiply to the posterior: the Jacobian has power 1/S.
#[test]
fn subposteriors_in_coordinates_multiply_to_the_posterior() {
    let (model, data) = (model(), data(60));
    let start = Params { mean: zeros([1]), sigma: ones([1]), weights: array(vec![0.2, 0.3, 0.5], [3]).unwrap() };
    let posterior = model.with(&data);
    let mut all = posterior.evaluator(&start).unwrap();
    let shards = Shards::random(60, 5, 3).unwrap();
    let mut parts: Vec<_> =
        shards.iter().map(|shard| shard.target(posterior.clone()).evaluator(&start).unwrap()).collect();
    for theta in [[0.1, 0.3, -0.2, 0.4], [-1.0, -0.7, 1.5, 0.2], [2.0, 1.2, 0.0, -2.0]] {
        let mut expected = [0.0; 4];
        let value = all.posterior(&theta, Rows::range(0..60), &mut expected).unwrap();
        let (mut sum, mut gradient) = (0.0, [0.0; 4]);
        for part in &mut parts {
            let rows = part.all_rows();
            sum += part.posterior(&theta, rows, &mut gradient).unwrap();
        }
        assert!((sum - value).abs() < 1e-9 * value.abs(), "{sum} {value}");
        for (found, expected) in gradient.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-8 * (1.0 + expected.abs()), "{found} {expected}");
        }
    }
}

/// A conjugate model with a positive parameter: x ~ Exponential(λ), λ ~ Gamma(a, b). SwISS and consensus in coordinates.
#[test]
fn positive_parameters_are_combined_in_coordinates() {
    #[derive(TensorTree)]
    struct Rate {
        #[tree(positive)]
        rate: Tensor<1>,
    }
    let model = Model::new(|p: Rate, x: Tensor<1>| Exponential::new(p.rate).log_prob(x))
        .prior(|p: Rate| Gamma::new(3.0, 1.0).log_prob(p.rate).sum());
    let x: Vec<f64> = (0..400).map(|k| 0.5 * -(((k * 7919) % 400) as f64 + 0.5).ln() + 0.5 * 400.0_f64.ln()).collect();
    let total: f64 = x.iter().sum();
    let data = Dataset::new(array(x, [400]).unwrap()).unwrap();
    // The posterior of log λ is that of the logarithm of a Gamma(403, 1 + Σx) variable.
    let (shape, rate) = (403.0_f64, 1.0 + total);
    let (mean, sd) = (shape.ln() - 0.5 / shape - rate.ln(), shape.sqrt().recip());
    for tempering in [Tempering::FractionalPrior, Tempering::Inflated] {
        let shards = Shards::random(400, 4, 1).unwrap().tempering(tempering);
        let fits = shards.run(|shard| {
            let kernel = sgmcmc::algorithms::Hmc {
                jitter: 0.5,
                warm_up: Some(sgmcmc::algorithms::WarmUp::diagonal(300)),
                ..Default::default()
            };
            hmc(&shard.model(&model), &data, 1e-3)
                .dynamics(kernel)
                .seed(shard.seed(5))
                .sample(&Rate { rate: ones([1]) }, 4000)
        });
        let fit = match tempering {
            Tempering::FractionalPrior => fits.combine(&Consensus::default(), 0).unwrap(),
            Tempering::Inflated => fits.combine(&Swiss, 0).unwrap(),
        };
        assert_eq!(fit.layout().block("rate").unwrap().constraint, Some(constraint::positive()));
        let logs: Vec<f64> = fit.element("rate").unwrap().concat().iter().map(|rate| rate.ln()).collect();
        let found = logs.iter().sum::<f64>() / logs.len() as f64;
        let variance = logs.iter().map(|x| (x - found).powi(2)).sum::<f64>() / logs.len() as f64;
        // log λ is normal up to a skewness of 0.1 in a shard; consensus averages it.
        assert!((found - mean).abs() < 0.15 * sd, "{tempering}: {found} {mean} {sd}");
        assert!((variance.sqrt() / sd - 1.0).abs() < 0.06, "{tempering}: {} {sd}", variance.sqrt());
    }
}

/// Returns a fit of one chain.
fn fit(layout: &Layout, rows: &[Vec<f64>], weights: impl Fn(usize) -> f64) -> Fit {
    let mut chain = ChainDraws::new(layout.value_count(), vec![]);
    for (k, row) in rows.iter().enumerate() {
        let draw = Draw { iteration: k as u64 + 1, values: row, weight: weights(k), log_posterior: 0.0, stats: &[] };
        chain.push(&draw).unwrap();
    }
    Fit::new(layout.clone(), vec![chain]).unwrap()
}

#[test]
fn probabilities_stay_probabilities() {
    let rows = |shift: f64| -> Vec<Vec<f64>> {
        (0..100)
            .map(|k| {
                let x = [1.0 + (f64::from(k) * 0.7 + shift).sin().abs(), 1.5 + (f64::from(k) * 1.3).cos(), 1.0 + shift];
                let sum: f64 = x.iter().sum();
                x.iter().map(|x| x / sum).collect()
            })
            .collect()
    };
    // The third entry would be a function of the others if it were not for the simplex.
    for declared in [constraint::simplex(), constraint::softmax()] {
        let layout = Layout::vector("p", 3).constrained("p", declared).unwrap();
        let fits = [0.0, 0.4].map(|shift| fit(&layout, &rows(shift), |_| 1.0));
        let combined = combine_fits(&fits, &Consensus::default(), CombineOptions::default()).unwrap();
        for row in combined.chains()[0].rows() {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9 && row.iter().all(|p| *p > 0.0), "{row:?}");
        }
        assert_eq!(combined.layout(), &layout);
    }
    let layout = Layout::vector("p", 3).constrained("p", constraint::unit_vector()).unwrap();
    let unit = vec![vec![0.6, 0.8, 0.0]; 100];
    let error = combine_fits(
        &[fit(&layout, &unit, |_| 1.0), fit(&layout, &unit, |_| 1.0)],
        &Consensus::default(),
        CombineOptions::default(),
    );
    assert!(error.unwrap_err().to_string().contains("`p` is a unit vector"));
}

#[test]
fn weighted_draws_are_resampled_and_bad_draws_named() {
    let layout = Layout::vector("x", 1);
    let rows: Vec<Vec<f64>> = (0..2000).map(|k| vec![f64::from(k % 50)]).collect();
    // Large values have weight zero: both shards are uniform on 0, …, 24.
    let weight = |k: usize| if k % 50 < 25 { 0.5 } else { 0.0 };
    let fits = [fit(&layout, &rows, weight), fit(&layout, &rows, weight)];
    let combined = combine_fits(&fits, &Swiss, CombineOptions::default()).unwrap();
    assert!((combined.mean_values()[0] - 12.0).abs() < 0.2, "{:?}", combined.mean_values());
    assert!(combined.chains().iter().all(|chain| chain.len() == 1000));
    let mut bad = rows.clone();
    bad[7][0] = f64::NAN;
    let fits = [fit(&layout, &rows, |_| 1.0), fit(&layout, &bad, |_| 1.0)];
    let message = combine_fits(&fits, &Consensus::default(), CombineOptions::default()).unwrap_err().to_string();
    assert!(message.contains("shard 1: draw 7 of chain 0"), "{message}");
    let other = Layout::vector("y", 1);
    let fits = [fit(&layout, &rows, |_| 1.0), fit(&other, &rows, |_| 1.0)];
    let message = combine_fits(&fits, &Consensus::default(), CombineOptions::default()).unwrap_err().to_string();
    assert!(message.contains("shard 1 does not have the parameters of shard 0"), "{message}");
    let positive = Layout::vector("x", 1).constrained("x", constraint::positive()).unwrap();
    let fits = [fit(&layout, &rows, |_| 1.0), fit(&positive, &rows, |_| 1.0)];
    let message = combine_fits(&fits, &Consensus::default(), CombineOptions::default()).unwrap_err().to_string();
    assert!(message.contains("no constraint in one shard and Positive in another"), "{message}");
    assert!(Draws::new(vec![f64::INFINITY], 1).is_err());
}
