//! Tests of blocked factorizations: the same draws on all numbers of ranks, checkpoints, mistakes. [`rules`] has the steps, and
//! [`conjugate`] the laws of the draws.

mod conjugate;
mod rules;

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc_fit::Fit;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_models::factorization::{Entries, Entry};
use sgmcmc_numerics::{InitialScale, Lbfgs};
use sgmcmc_samplers::run::InMemoryCheckpoints;

use super::quasi_newton::{Basis, step_coefficients};
use super::random::{Source, Use};
use super::*;
use crate::checkpoint::{EpochCheckpoints, RunCheckpoints};
use crate::collective::{Error, ThreadRank, on_threads};
use crate::testing::check_moments;
use crate::testing::slow::{SAVE, Slow};

const HAMCMC: BlockAlgorithm = BlockAlgorithm::Hamcmc { memory: 2, lambda: 1.0, gamma: InitialScale::Fixed(0.2) };
const HAMCMC_4: BlockAlgorithm = BlockAlgorithm::Hamcmc { memory: 4, lambda: 1.0, gamma: InitialScale::Newest(0.2) };
const PSGLD: BlockAlgorithm = BlockAlgorithm::Psgld { alpha: 0.999, lambda: 1.0 };

fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = StreamRng::seed_from_u64(seed);
    (0..count).map(|_| rng.sample::<f64, _>(StandardNormal)).collect()
}

/// The coefficients give the same step as [`Lbfgs`] on whole vectors.
#[test]
fn steps_in_coefficients_are_those_of_lbfgs() {
    let (dim, h) = (30, 0.3);
    for (pairs, gamma) in [(1, InitialScale::Fixed(0.7)), (3, InitialScale::Fixed(0.7)), (4, InitialScale::Newest(0.7))]
    {
        let mut vectors: Vec<Vec<f64>> = (0..2 * pairs + 2).map(|k| normals(dim, k as u64)).collect();
        let curvature: Vec<f64> = (0..dim).map(|k| 1.0 + k as f64).collect();
        for pair in 0..pairs {
            let y: Vec<f64> = vectors[2 * pair].iter().zip(&curvature).map(|(s, c)| s * c).collect();
            vectors[2 * pair + 1] = y;
        }
        if pairs == 4 {
            // A pair without curvature is skipped.
            vectors[3].iter_mut().for_each(|y| *y = -*y);
        }
        let mut lbfgs = Lbfgs::new(dim, pairs, gamma);
        (0..pairs).for_each(|pair| _ = lbfgs.push_in_turn(&vectors[2 * pair], &vectors[2 * pair + 1]));
        let (mut drift, mut noise) = (vectors[2 * pairs].clone(), vectors[2 * pairs + 1].clone());
        lbfgs.inverse_product(&mut drift);
        lbfgs.root_product(&mut noise);
        let basis = Basis { pairs };
        let products: Vec<f64> = basis.products().map(|(a, b)| block::dot(&vectors[a], &vectors[b])).collect();
        let coefficients = step_coefficients(basis, &products, gamma, h);
        for k in 0..dim {
            let expected = 0.5 * h * drift[k] + h.sqrt() * noise[k];
            let found: f64 = coefficients.iter().zip(&vectors).map(|(c, v)| c * v[k]).sum();
            assert!((found - expected).abs() < 1e-11, "{pairs} pairs: {found} {expected}");
        }
    }
    assert_eq!(Basis { pairs: 1 }.product_count(), 7);
}

fn ratings() -> Entries {
    Entries::simulate_ratings(22, 27, 300, 2, 3).unwrap()
}

/// Runs `draws` iterations on `size` ranks, where each rank has read some of the entries.
fn sample(size: usize, model: &BlockedFactorization, entries: &Entries, run: BlockRun) -> Fit {
    let grid = Arc::new(Grid::new(entries.rows(), entries.columns(), 4, 5).unwrap());
    let fits = on_threads(size, |ranks| {
        let own: Vec<_> = entries.iter().skip(ranks.rank()).step_by(ranks.size()).collect();
        model.sampler(BlockedEntries::distribute(ranks, grid.clone(), own)?)?.sample(&run, None)
    });
    fits.unwrap().swap_remove(0).unwrap()
}

#[test]
fn draws_do_not_depend_on_the_number_of_ranks() {
    let entries = ratings();
    let run = BlockRun { draws: 12, burn_in: 5, thin: 2 };
    for algorithm in [BlockAlgorithm::Sgld, PSGLD, HAMCMC, HAMCMC_4] {
        let model = BlockedFactorization::new(3).algorithm(algorithm).step_size(2e-3).seed(9);
        let one = sample(1, &model, &entries, run);
        assert_eq!(one.chains().len(), algorithm.interleaved());
        for size in [2, 3, 4] {
            let fit = sample(size, &model, &entries, run);
            assert_eq!(fit.chains(), one.chains(), "{algorithm:?} on {size} ranks");
            let cost = fit.info().communication.unwrap();
            assert!(cost.ranks == size && cost.bytes > 0);
        }
        let other = sample(1, &model.clone().chain(1), &entries, run);
        assert_ne!(other.chains(), one.chains());
    }
}

#[test]
fn runs_resume_with_the_same_draws() {
    let entries = ratings();
    let grid = Arc::new(Grid::new(22, 27, 4, 5).unwrap());
    let algorithms = [BlockAlgorithm::Sgld, PSGLD, HAMCMC, HAMCMC_4];
    for (algorithm, size) in algorithms.into_iter().flat_map(|algorithm| [1, 2, 4].map(|size| (algorithm, size))) {
        let model = BlockedFactorization::new(2).algorithm(algorithm).step_size(1e-3);
        let stores: Vec<InMemoryCheckpoints> = (0..size).map(|_| InMemoryCheckpoints::default()).collect();
        let run = |draws: usize| {
            let fits = on_threads(size, |ranks| {
                let own: Vec<_> = entries.iter().skip(ranks.rank()).step_by(size).collect();
                let mut sampler = model.sampler(BlockedEntries::distribute(ranks.clone(), grid.clone(), own)?)?;
                let mut store = EpochCheckpoints::new(stores[ranks.rank()].clone(), ranks, &sampler.identity()?);
                let checkpoints = RunCheckpoints { store: &mut store, every: 3 };
                sampler.sample(&BlockRun { draws, burn_in: 4, thin: 1 }, Some(checkpoints))
            });
            fits.unwrap().swap_remove(0).unwrap()
        };
        let whole = sample(size, &model, &entries, BlockRun { draws: 24, burn_in: 4, thin: 1 });
        run(12);
        assert_eq!(run(24).chains(), whole.chains(), "{algorithm:?} on {size} ranks");
    }
}

#[test]
fn the_time_of_a_resumed_run_includes_the_time_before() {
    let entries = ratings();
    let grid = Arc::new(Grid::new(22, 27, 4, 5).unwrap());
    let slow = Slow::default();
    let run = || {
        let fits = on_threads(1, |ranks| {
            let own: Vec<_> = entries.iter().collect();
            let mut sampler =
                BlockedFactorization::new(2).sampler(BlockedEntries::distribute(ranks.clone(), grid.clone(), own)?)?;
            let mut store = EpochCheckpoints::new(slow.clone(), ranks, &sampler.identity()?);
            let checkpoints = RunCheckpoints { store: &mut store, every: 1 };
            sampler.sample(&BlockRun { draws: 11, burn_in: 0, thin: 1 }, Some(checkpoints))
        });
        fits.unwrap().swap_remove(0).unwrap().info().seconds.iter().sum::<f64>()
    };
    run();
    // Nothing is left to do; ten checkpoints were written before the last.
    assert!(run() >= 10.0 * SAVE.as_secs_f64());
}

/// Errors of predictions are those of the products of the factors, on any number of ranks.
#[test]
fn errors_of_predictions_are_those_of_the_factors() {
    let entries = ratings();
    let (train, test) = entries.split(0.8, 1).unwrap();
    let grid = Arc::new(Grid::new(22, 27, 4, 5).unwrap());
    let mut all = Vec::new();
    for size in [1, 2, 4] {
        let found = on_threads(size, |ranks| {
            let own = |entries: &Entries| {
                let own: Vec<_> = entries.iter().skip(ranks.rank()).step_by(size).collect();
                BlockedEntries::distribute(ranks.clone(), grid.clone(), own)
            };
            let model = BlockedFactorization::new(2).step_size(1e-2).start_scale(1.0).algorithm(HAMCMC);
            let (mut sampler, mut predictions) = (model.sampler(own(&train)?)?, BlockPredictions::new(own(&test)?));
            let (mut sums, mut last) = (vec![0.0; test.len()], vec![0.0; test.len()]);
            for _ in 0..3 {
                sampler.step()?;
                predictions.push(&sampler)?;
                let Some(Factors { rows, columns }) = sampler.factors()? else { continue };
                for ((last, sum), Entry { row, column, .. }) in last.iter_mut().zip(&mut sums).zip(test.iter()) {
                    *last = block::dot(&rows[2 * row..2 * row + 2], &columns[2 * column..2 * column + 2]);
                    *sum += *last;
                }
            }
            let error = |predicted: &[f64], draws: f64| {
                let squares = predicted.iter().zip(test.iter()).map(|(sum, entry)| (sum / draws - entry.value).powi(2));
                (squares.sum::<f64>() / test.len() as f64).sqrt()
            };
            let expected = Rmse { of_draw: error(&last, 1.0), of_mean: error(&sums, 3.0) };
            Ok((predictions.rmse()?, expected))
        });
        let (found, expected) = found.unwrap()[0];
        assert!((found.of_draw - expected.of_draw).abs() < 1e-12, "{size} ranks: {found:?} {expected:?}");
        assert!((found.of_mean - expected.of_mean).abs() < 1e-12, "{size} ranks: {found:?} {expected:?}");
        all.push(found);
    }
    assert!(all.iter().all(|rmse| *rmse == all[0]), "{all:?}");
}

#[test]
fn counts_have_positive_factors() {
    let counts: Vec<f64> = (0..100).map(|k| f64::from(k * 7 % 5)).collect();
    let entries = Entries::dense(10, 10, &counts).unwrap();
    let grid = Arc::new(Grid::new(10, 10, 2, 1).unwrap());
    let blocked = BlockedEntries::distribute(Arc::new(ThreadRank::alone()), grid.clone(), entries.iter()).unwrap();
    let test = BlockedEntries::distribute(Arc::new(ThreadRank::alone()), grid, entries.iter()).unwrap();
    let prior = FactorPrior::Exponential { rate: 1.0 };
    let model = BlockedFactorization::new(2).row_prior(prior).column_prior(prior).step_size(2e-3).start_scale(1.0);
    let mut sampler = model.likelihood(PoissonEntries { offset: 0.05 }).sampler(blocked).unwrap();
    let mut predictions = BlockPredictions::new(test);
    for iteration in 0..2000 {
        sampler.step().unwrap();
        if iteration > 500 {
            predictions.push(&sampler).unwrap();
        }
    }
    let factors = sampler.factors().unwrap().unwrap();
    assert!(factors.rows.iter().chain(&factors.columns).all(|x| *x >= 0.0));
    // The entries have mean 2 and standard deviation √2.
    let rmse = predictions.rmse().unwrap();
    assert!(rmse.of_mean < 1.6 && rmse.of_mean < rmse.of_draw, "{rmse:?}");
    let saved = predictions.save().unwrap();
    predictions.restore(&saved).unwrap();
    assert_eq!(predictions.rmse().unwrap(), rmse);
}

#[test]
fn mistakes_are_named() {
    let grid = Arc::new(Grid::new(10, 10, 2, 1).unwrap());
    let distribute = |size: usize, entry: Entry| {
        on_threads(size, |ranks| BlockedEntries::distribute(ranks, grid.clone(), [entry]).map(|_| ()))
            .unwrap_err()
            .to_string()
    };
    let entry = Entry { row: 3, column: 4, value: 1.0 };
    assert!(distribute(3, entry).contains("at least as many blocks as ranks"));
    assert!(distribute(2, Entry { column: 10, ..entry }).contains("the column of an entry is 10"));
    assert!(distribute(2, Entry { value: f64::NAN, ..entry }).contains("NaN"));
    assert!(Grid::new(3, 10, 4, 1).is_err() && Grid::new(3, 3, 0, 1).is_err());
    let sampler = |model: BlockedFactorization| {
        let ranks = Arc::new(ThreadRank::alone());
        let entries = BlockedEntries::distribute(ranks, grid.clone(), [entry])?;
        let mut sampler = model.sampler(entries)?;
        (0..200).try_for_each(|_| sampler.step())?;
        Ok::<_, Error>(())
    };
    let failed = |model| sampler(model).unwrap_err().to_string();
    let model = || BlockedFactorization::new(2);
    assert!(failed(model().fix_columns(vec![1.0])).contains("the fixed factor H has length 1, expected 20"));
    assert!(failed(model().algorithm(BlockAlgorithm::Psgld { alpha: 0.9, lambda: 0.0 })).contains("lambda"));
    assert!(failed(model().step_size(100.0)).contains("in block"), "{}", failed(model().step_size(100.0)));
    sampler(model()).unwrap();
}
