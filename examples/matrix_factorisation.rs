//! Bayesian matrix factorisation of film ratings, and the error of the posterior mean of the predictions.
//!
//! rating ~ N(m + uᵢ + vⱼ + Uᵢᵀ Vⱼ, σ²) for user i and film j, normal priors. A minibatch touches few rows of U and V. What is averaged
//! along the chain are predictions of the held-out ratings, not parameters: a rotation of the factors changes the latter and not the
//! former. Source of the model: Salakhutdinov & Mnih (2008); by SGLD, Ahn et al. (2015).
//!
//! ```text
//! cargo run --release --example matrix_factorisation
//! cargo run --release --example matrix_factorisation -- --rank 20 --iterations 20000
//! ```

#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/or_synthetic.rs"]
mod or_synthetic;

use or_synthetic::or_synthetic;
use rand::SeedableRng;
use sgmcmc::datasets::{Fold, Ratings};
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;
use sgmcmc::sghmc;
use sgmcmc::sink::RunningMoments;

const USERS: usize = 943;
const FILMS: usize = 1682;
/// Standard deviation of a rating around its prediction.
const NOISE: f64 = 0.9;

#[derive(TensorTree)]
struct Factors {
    user_bias: Tensor<1>,
    film_bias: Tensor<1>,
    users: Tensor<2>,
    films: Tensor<2>,
}

impl Factors {
    /// How much more than the mean each user gives each film.
    fn score(self, user: Tensor<1, Int>, film: Tensor<1, Int>) -> Tensor<1> {
        let product = self.users.select(0, user.clone()) * self.films.select(0, film.clone());
        self.user_bias.select(0, user) + self.film_bias.select(0, film) + product.sum_dim(1).squeeze_dim::<1>(1)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut flags = flags::Flags::read("Bayesian matrix factorisation by SGHMC.")?;
    let rank = flags.get("rank", 10, "length of the factors")?;
    let burn_in = flags.get("burn-in", 500, "iterations before the first one that counts")?;
    let iterations = flags.get("iterations", 1500, "iterations that count")?;
    let h = flags.get("step-size", 2e-4, "step size")?;
    let minibatch = flags.get("minibatch", 2000, "ratings per gradient")?;
    let dir = flags.get("data", datasets::directory().display().to_string(), "directory of the data sets")?;
    let quiet = matches!(flags.finish()?, Watch::Off);
    let (train, test) = or_synthetic(datasets::ml_100k_fold(dir, Fold::Ua), || {
        Ok(datasets::ml_100k_like(100_000, 1)?.ratings.split(0.9, 1)?)
    })?;
    println!("ml-100k: {} training and {} test ratings", train.observations(), test.observations());

    let mean = ratings(&train)?.iter().sum::<f64>() / train.observations() as f64;
    let model =
        Model::new(move |p: Factors, r: Ratings| Normal::new(p.score(r.user, r.item) + mean, NOISE).log_prob(r.rating))
            .prior(|p: Factors| {
                let (bias, factor) = (Normal::new(0.0, 0.5), Normal::new(0.0, 0.3));
                bias.log_prob(p.user_bias).sum()
                    + bias.log_prob(p.film_bias).sum()
                    + factor.log_prob(p.users.flatten::<1>(0, 1)).sum()
                    + factor.log_prob(p.films.flatten::<1>(0, 1)).sum()
            });
    let mut rng = StreamRng::seed_from_u64(1);
    let start = Factors {
        user_bias: zeros([USERS]),
        film_bias: zeros([FILMS]),
        users: Normal::new(0.0, 0.1).sample([USERS, rank], &mut rng),
        films: Normal::new(0.0, 0.1).sample([FILMS, rank], &mut rng),
    };

    let held_out = test.batch(Rows::range(0..test.observations()), &default_device())?;
    let truth = ratings(&test)?;
    let rmse = |predicted: &[f64]| {
        let squares = predicted.iter().zip(&truth).map(|(score, rating)| (mean + score - rating).powi(2));
        (squares.sum::<f64>() / truth.len() as f64).sqrt()
    };
    if !quiet {
        println!("{:>9} {:>14} {:>22}", "iteration", "rmse of a draw", "rmse of mean so far");
    }
    let mut sampler = sghmc(&model, &train, h).minibatch(minibatch).seed(1).start(&start)?;
    let mut predictions = RunningMoments::new();
    for iteration in 1..=burn_in + iterations {
        sampler.step()?;
        if iteration % 10 != 0 {
            continue;
        }
        let scores = sampler.params()?.score(held_out.user.clone(), held_out.item.clone());
        let scores: Vec<f64> = scores.into_data().iter().collect();
        if iteration > burn_in {
            predictions.push(&scores, 1.0)?;
        }
        if !quiet && iteration % 100 == 0 {
            let so_far = if predictions.count() == 0 { f64::NAN } else { rmse(predictions.mean()) };
            println!("{iteration:>9} {:>14.4} {so_far:>22.4}", rmse(&scores));
        }
    }
    println!("\nrmse of the mean rating: {:.4}", rmse(&vec![0.0; truth.len()]));
    println!("rmse of the posterior mean of the predictions: {:.4}", rmse(predictions.mean()));
    Ok(())
}

/// The ratings themselves.
fn ratings(data: &Dataset<Ratings>) -> sgmcmc::Result<Vec<f64>> {
    let rows = data.batch(Rows::range(0..data.observations()), &default_device())?;
    Ok(rows.rating.into_data().iter().collect())
}
