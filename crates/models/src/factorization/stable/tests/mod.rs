//! Tests of α-stable matrix factorization.

mod agreement;
mod conformance;
mod geweke;

use rand::SeedableRng;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Evaluator, Rows};

use super::model::{Latents, StableModel};
use super::*;
use crate::factorization::evaluator::{EntryEvaluator, Shared};
use crate::factorization::start::normal_start;
use crate::factorization::testing::assert_gradient;

/// A prior with factors of about one.
pub(super) const PRIOR: GammaPrior = GammaPrior { shape: 4.0, rate: 4.0 };

/// Returns a model with factors of about one.
pub(super) fn model(alpha: f64, rank: usize) -> StableFactorization {
    StableFactorization::new(alpha, rank).w_prior(PRIOR).h_prior(PRIOR)
}

/// Returns simulated complex data of a small matrix.
pub(super) fn small_data(alpha: f64, rank: usize) -> StableData {
    StableData::complex(4, 3, &model(alpha, rank).simulate(4, 3, 8).unwrap().x).unwrap()
}

#[test]
fn gradients_agree_with_differences() {
    let mut rng = StreamRng::seed_from_u64(4);
    let w: Vec<f64> = normal_start(8, 0.5, &mut rng).iter().map(|x| x.exp()).collect();
    for (support, known) in
        [(FactorCoordinates::Mirrored, false), (FactorCoordinates::Log, false), (FactorCoordinates::Mirrored, true)]
    {
        let mut settings = model(1.3, 2).support(support);
        if known {
            settings = settings.known_w(w.clone());
        }
        let data = small_data(1.3, 2);
        let shape = settings.shape(data.powers()).unwrap();
        let [w_prior, h_prior] = settings.priors().unwrap();
        let phi = normal_start(12, 0.5, &mut rng).iter().map(|x| x.exp()).collect();
        let (data, latents) = (Arc::new(data), Latents { phi, next: 0 });
        let model = StableModel { data, shape: shape.clone(), alpha: 1.3, w_prior, h_prior, support, latents };
        let layout = shape.layout().unwrap();
        let theta: Vec<f64> = match support {
            // Negative coordinates are those of the mirrored density.
            FactorCoordinates::Mirrored => {
                normal_start(layout.dim(), 0.3, &mut rng).iter().map(|x| x.exp().copysign(*x)).collect()
            }
            FactorCoordinates::Log => normal_start(layout.dim(), 0.5, &mut rng),
        };
        let mut evaluator = EntryEvaluator::new(Shared::new(model), layout);
        let weights = [3.0, 0.5, 2.0, 2.0];
        let rows = Rows::list(&[0, 4, 11, 4]).weighted(&weights).unwrap();
        let mut gradient = vec![0.0; theta.len()];
        evaluator.posterior(&theta, rows, &mut gradient).unwrap();
        assert_gradient(&theta, &gradient, |theta| evaluator.log_density(theta, rows).unwrap());
    }
}

/// With Φ = 2 and α = 2, the model is normal with variance 2λ in each component.
#[test]
fn the_normal_limit_is_the_normal_density() {
    for complex in [false, true] {
        let x = Complex { re: 1.5, im: if complex { -0.5 } else { 0.0 } };
        let real = StableData::real(&Entries::dense(1, 1, &[x.re]).unwrap()).unwrap();
        let data = if complex { StableData::complex(1, 1, &[x]).unwrap() } else { real };
        let settings = model(2.0, 1);
        let shape = settings.shape(data.powers()).unwrap();
        let [w_prior, h_prior] = settings.priors().unwrap();
        let latents = Latents {
            phi: vec![
                2.0 * rand_distr::Distribution::sample(
                    &PositiveStable::new(1.0).unwrap(),
                    &mut StreamRng::seed_from_u64(1),
                ),
            ],
            next: 0,
        };
        let layout = shape.layout().unwrap();
        let (data, support) = (Arc::new(data), FactorCoordinates::Mirrored);
        let model = StableModel { data, shape, alpha: 2.0, w_prior, h_prior, support, latents };
        let mut evaluator = EntryEvaluator::new(Shared::new(model), layout);
        let mut out = [0.0];
        evaluator.log_likelihood_per_observation(&[3.0, 0.5], Rows::range(0..1), &mut out).unwrap();
        let log_normal = |x: f64| -0.5 * (std::f64::consts::TAU * 3.0).ln() - x * x / 6.0;
        let expected = log_normal(x.re) + if complex { log_normal(x.im) } else { 0.0 };
        assert!((out[0] - expected).abs() < 1e-13, "{} and {expected}", out[0]);
    }
}

#[test]
fn settings_out_of_range_are_errors() {
    let data = small_data(1.2, 2);
    let fails = |model: StableFactorization, text: &str| {
        let message = model.fit(&data, 1).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains(text), "{message}");
        assert_eq!(model.sampler(&data).map(|_| ()).unwrap_err().to_string(), message);
    };
    fails(model(0.0, 2), "alpha is 0");
    fails(model(2.5, 2), "alpha is 2.5");
    fails(model(1.2, 0), "the rank is 0");
    fails(model(1.2, 2).latents_per_step(0), "latent variables per step is 0");
    fails(model(1.2, 2).known_w(vec![1.0]), "the known W has length 1, expected 8");
    fails(model(1.2, 2).known_w(vec![-1.0; 8]), "known W is -1");
    fails(model(1.2, 2).w_prior(GammaPrior { shape: -1.0, rate: 1.0 }), "the shape");
    let zeros = StableData::real(&Entries::dense(2, 2, &[0.0, 0.0, 0.0, 1.0]).unwrap()).unwrap();
    assert!(model(1.2, 2).sampler(&zeros).unwrap_err().to_string().contains("half of the entries are zero"));
    let fit = model(1.2, 2).fit(&data, 2).unwrap();
    assert!(fit.share(1..3).is_err());
    let sampler = model(1.2, 2).sampler(&data).unwrap();
    assert!(sampler.dispersion(4, 0).unwrap_err().to_string().contains("the row is 4"));
    assert!(sampler.dispersion(0, 3).unwrap_err().to_string().contains("the column is 3"));
}

/// With known W, the Wiener filter finds most of the energy of a component.
#[test]
fn known_w_separates_components() {
    let (rows, columns) = (30, 20);
    let w: Vec<f64> = (0..rows).flat_map(|row| if row < 15 { [1.0, 1e-3] } else { [1e-3, 1.0] }).collect();
    let settings = model(1.2, 2).known_w(w);
    let simulated = settings.simulate(rows, columns, 3).unwrap();
    let data = StableData::complex(rows, columns, &simulated.x).unwrap();
    let fit = settings.burn_in(500).fit(&data, 1000).unwrap();
    assert_eq!(fit.draws().layout().dim(), columns * 2);
    let share = fit.share(0..1).unwrap();
    assert!(share[..15 * columns].iter().all(|share| *share > 0.8));
    assert!(share[15 * columns..].iter().all(|share| *share < 0.2));
    // The dispersions are found up to the error of an average over the rows.
    let dispersions = fit.dispersions().unwrap();
    let error = dispersions.log_mean.iter().zip(&simulated.dispersions);
    let error = error.map(|(log, truth)| (log - truth.ln()).powi(2)).sum::<f64>() / (rows * columns) as f64;
    assert!(error.sqrt() < 0.5, "{}", error.sqrt());
}
