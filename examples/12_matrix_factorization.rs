//! Bayesian matrix factorization of movie ratings, and the error of the posterior mean of the predictions.
//!
//! The model is rating ~ N(m + uᵢ + vⱼ + Uᵢᵀ Vⱼ, σ²) for user i and movie j, with normal priors. The loop averages the
//! predictions of the held-out ratings along the chain, not the parameters: a rotation of the factors changes the
//! parameters and leaves the predictions unchanged. Source of the model: Salakhutdinov & Mnih (2008); by SGLD, Ahn et
//! al. (2015). The exit code is 1 if the averaged predictions are no better than those of the last draw or of the mean
//! rating.
//!
//! ```text
//! cargo run --release --features datasets --example matrix_factorization
//! cargo run --release --features datasets --example matrix_factorization -- --rank 20 --iterations 20000
//! ```

#[path = "shared/data.rs"]
mod data;
#[path = "shared/figure.rs"]
mod figure;
#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/verdict.rs"]
mod verdict;

use std::process::ExitCode;

use data::or_synthetic;
use flags::Flags;
use rand::SeedableRng;
use sgmcmc::data::Rows;
use sgmcmc::datasets::{self, Fold, Ratings};
use sgmcmc::default_device;
use sgmcmc::distributions::Normal;
use sgmcmc::prelude::*;
use sgmcmc::report::plot::{self, Frame, Line};
use sgmcmc::rng::StreamRng;
use sgmcmc::run::ProgressOption;
use sgmcmc::sink::RunningMoments;
use verdict::verdict;

const USERS: usize = 943;
const MOVIES: usize = 1682;
/// The standard deviation σ of a rating around its prediction.
const NOISE: f64 = 0.9;

#[derive(TensorTree)]
struct Factors {
    user_bias: Tensor<1>,
    movie_bias: Tensor<1>,
    users: Tensor<2>,
    movies: Tensor<2>,
}

impl Factors {
    /// Returns the predicted difference of each rating from the mean rating.
    fn score(self, user: Tensor<1, Int>, movie: Tensor<1, Int>) -> Tensor<1> {
        let product = self.users.select(0, user.clone()) * self.movies.select(0, movie.clone());
        self.user_bias.select(0, user) + self.movie_bias.select(0, movie) + product.sum_dim(1).squeeze_dim::<1>(1)
    }
}

fn main() -> sgmcmc::Result<ExitCode> {
    let mut flags = Flags::new("Bayesian matrix factorization by SGHMC.");
    let rank = flags.get("rank", 10, "length of the factors");
    let burn_in = flags.get("burn-in", 500, "iterations before the first draw");
    let iterations = flags.get("iterations", 1500, "iterations after the burn-in");
    let h = flags.get("step-size", 2e-4, "step size");
    let minibatch = flags.get("minibatch", 2000, "ratings per gradient");
    let dir = data::directory(&mut flags);
    let figure = figure::path(&mut flags);
    let quiet = matches!(flags.finish(), ProgressOption::Off);
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
                    + bias.log_prob(p.movie_bias).sum()
                    + factor.log_prob(p.users.flatten::<1>(0, 1)).sum()
                    + factor.log_prob(p.movies.flatten::<1>(0, 1)).sum()
            });
    let mut rng = StreamRng::seed_from_u64(1);
    let start = Factors {
        user_bias: zeros([USERS]),
        movie_bias: zeros([MOVIES]),
        users: Normal::new(0.0, 0.1).sample([USERS, rank], &mut rng),
        movies: Normal::new(0.0, 0.1).sample([MOVIES, rank], &mut rng),
    };

    let held_out = test.batch(Rows::range(0..test.observations()), &default_device())?;
    let truth = ratings(&test)?;
    let rmse = |predicted: &[f64]| {
        let squares = predicted.iter().zip(&truth).map(|(score, rating)| (mean + score - rating).powi(2));
        (squares.sum::<f64>() / truth.len() as f64).sqrt()
    };
    if !quiet {
        println!("{:>9} {:>14} {:>22}", "iteration", "rmse of a draw", "rmse of running mean");
    }
    let mut sampler = sghmc(&model, &train, h).minibatch(minibatch).seed(1).start(&start)?;
    let mut predictions = RunningMoments::new();
    let [mut of_draws, mut of_mean] = [(); 2].map(|()| Line { iterations: Vec::new(), values: Vec::new() });
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
        let error = rmse(&scores);
        of_draws.iterations.push(iteration);
        of_draws.values.push(error);
        let running = (predictions.count() > 0).then(|| rmse(predictions.mean()));
        if let Some(running) = running {
            of_mean.iterations.push(iteration);
            of_mean.values.push(running);
        }
        if !quiet && iteration % 100 == 0 {
            let running = running.map_or_else(|| "–".to_owned(), |error| format!("{error:.4}"));
            println!("{iteration:>9} {error:>14.4} {running:>22}");
        }
    }
    let (of_constant, averaged) = (rmse(&vec![0.0; truth.len()]), rmse(predictions.mean()));
    let last = of_draws.values.last().copied().unwrap_or(f64::NAN);
    println!("\nrmse of the mean rating: {of_constant:.4}");
    println!("rmse of the posterior mean of the predictions: {averaged:.4}");
    let frame = Frame::new("rmse of a draw (blue) and of the running mean (orange)").legend(false);
    figure::write(&figure, || plot::over_iterations(&[of_draws, of_mean], &frame))?;
    let passed = averaged < last && averaged < of_constant;
    Ok(verdict(passed, "averaged predictions are better than those of the last draw and of the mean rating"))
}

/// Returns the ratings of a data set.
fn ratings(data: &Dataset<Ratings>) -> sgmcmc::gradient::Result<Vec<f64>> {
    let observations = data.batch(Rows::range(0..data.observations()), &default_device())?;
    Ok(observations.rating.into_data().iter().collect())
}
