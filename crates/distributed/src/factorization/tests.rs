//! Tests of blocked factorizations.

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
use crate::checkpoint::EpochCheckpoints;
use crate::collective::{Error, ThreadRank, on_threads};
use crate::testing::check_moments;

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

/// A step of SGLD is the rule, computed here from all entries.
#[test]
fn a_step_follows_the_rule() {
    let (entries, factors, h) = (ratings(), 2, 1e-3);
    let grid = Arc::new(Grid::new(22, 27, 3, 8).unwrap());
    let ranks = Arc::new(ThreadRank::alone());
    let blocked = BlockedEntries::distribute(ranks, grid.clone(), entries.iter()).unwrap();
    let sizes = blocked.parts().to_vec();
    let prior = FactorPrior::Gaussian { variance: 2.0 };
    let model = BlockedFactorization::new(factors).step_size(h).row_prior(prior).start_scale(0.7).seed(4);
    let mut sampler = model.sampler(blocked).unwrap();
    let before = sampler.factors().unwrap().unwrap();
    sampler.step().unwrap();
    let after = sampler.factors().unwrap().unwrap();
    let source = Source { seed: 4, chain: 0 };
    let part = source.part(&sizes, 1);
    let weight = entries.len() as f64 / sizes[part] as f64;
    let mut gradient =
        [before.rows.iter().map(|w| -w / 2.0).collect::<Vec<_>>(), before.columns.iter().map(|h| -h).collect()];
    for Entry { row, column, value } in entries.iter() {
        let (b, c) = (grid.rows().place(row).block, grid.columns().place(column).block);
        if (b + part) % 3 != c {
            continue;
        }
        let (i, j) = (row * factors, column * factors);
        let residual = value - block::dot(&before.rows[i..i + factors], &before.columns[j..j + factors]);
        for k in 0..factors {
            gradient[0][i + k] += weight * residual * before.columns[j + k];
            gradient[1][j + k] += weight * residual * before.rows[i + k];
        }
    }
    let check = |purpose: Use, before: &[f64], after: &[f64], gradient: &[f64]| {
        let order = if matches!(purpose, Use::Row) { grid.rows() } else { grid.columns() };
        for line in 0..order.count() {
            let place = order.place(line);
            let mut z = vec![0.0; order.range(place.block).len() * factors];
            source.fill_normals(purpose, place.block, 1, &mut z);
            for k in 0..factors {
                let index = line * factors + k;
                let noise = z[place.index * factors + k];
                let expected = before[index] + 0.5 * h * gradient[index] + h.sqrt() * noise;
                assert!((after[index] - expected).abs() < 1e-12, "{purpose:?} {line}");
            }
        }
    };
    check(Use::Row, &before.rows, &after.rows, &gradient[0]);
    check(Use::Column, &before.columns, &after.columns, &gradient[1]);
}

/// A matrix X = W Hᵀ + noise of 8 × 8 entries, with given H, so that the posterior of W is normal.
struct Conjugate {
    entries: Entries,
    columns: Vec<f64>,
}

const SIDE: usize = 8;

impl Conjugate {
    fn new() -> Self {
        let columns: Vec<f64> = normals(2 * SIDE, 1).iter().map(|x| 0.6 * x).collect();
        let (rows, noise) = (normals(2 * SIDE, 2), normals(SIDE * SIDE, 3));
        let value = |(index, noise): (usize, &f64)| {
            let (i, j) = (2 * (index / SIDE), 2 * (index % SIDE));
            block::dot(&rows[i..i + 2], &columns[j..j + 2]) + noise
        };
        let values: Vec<f64> = noise.iter().enumerate().map(value).collect();
        Self { entries: Entries::dense(SIDE, SIDE, &values).unwrap(), columns }
    }

    /// Returns I + c Hᵀ H and c Hᵀ x of row `row` over the columns that `chosen` selects.
    fn normal_equations(&self, row: usize, c: f64, chosen: impl Fn(usize) -> bool) -> ([f64; 4], [f64; 2]) {
        let (mut matrix, mut vector) = ([1.0, 0.0, 0.0, 1.0], [0.0; 2]);
        for column in (0..SIDE).filter(|column| chosen(*column)) {
            let h = [self.columns[2 * column], self.columns[2 * column + 1]];
            let x = self.entries.values()[row * SIDE + column];
            for a in 0..2 {
                vector[a] += c * h[a] * x;
                (0..2).for_each(|b| matrix[2 * a + b] += c * h[a] * h[b]);
            }
        }
        (matrix, vector)
    }

    /// Returns posterior means and the standard deviations of SGLD with step size `h` on the parts of `grid`; for h = 0 those of the
    /// posterior.
    fn law(&self, grid: &Grid, h: f64) -> (Vec<f64>, Vec<f64>) {
        let (mut means, mut sds) = (Vec::new(), Vec::new());
        for row in 0..SIDE {
            let (a, b) = self.normal_equations(row, 1.0, |_| true);
            let determinant = a[0] * a[3] - a[1] * a[2];
            let mean = [(a[3] * b[0] - a[1] * b[1]) / determinant, (a[0] * b[1] - a[2] * b[0]) / determinant];
            let mut covariance = [a[3] / determinant, -a[1] / determinant, -a[2] / determinant, a[0] / determinant];
            // The fixed point of Σ = E (I − h/2 A) Σ (I − h/2 A)ᵀ + h²/4 E r rᵀ + h I over the parts.
            let iterations = if h > 0.0 { 4000 } else { 0 };
            for _ in 0..iterations {
                let mut next = [h, 0.0, 0.0, h];
                for part in 0..grid.blocks() {
                    let block = (grid.rows().place(row).block + part) % grid.blocks();
                    let chosen = |column: usize| grid.columns().place(column).block == block;
                    let (a, b) = self.normal_equations(row, grid.blocks() as f64, chosen);
                    let f = [1.0 - 0.5 * h * a[0], -0.5 * h * a[1], -0.5 * h * a[2], 1.0 - 0.5 * h * a[3]];
                    let r = [0, 1].map(|k| 0.5 * h * (b[k] - a[2 * k] * mean[0] - a[2 * k + 1] * mean[1]));
                    for i in 0..2 {
                        for j in 0..2 {
                            let mut moved = r[i] * r[j];
                            for k in 0..2 {
                                (0..2).for_each(|l| moved += f[2 * i + k] * covariance[2 * k + l] * f[2 * j + l]);
                            }
                            next[2 * i + j] += moved / grid.blocks() as f64;
                        }
                    }
                }
                covariance = next;
            }
            means.extend(mean);
            sds.extend([covariance[0].sqrt(), covariance[3].sqrt()]);
        }
        (means, sds)
    }

    fn sample(&self, algorithm: BlockAlgorithm, h: f64, run: BlockRun) -> Fit {
        let model = BlockedFactorization::new(2).algorithm(algorithm).step_size(h).seed(2);
        sample(1, &model.fix_columns(self.columns.clone()), &self.entries, run)
    }
}

#[test]
fn sgld_has_its_exact_law_on_a_conjugate_model() {
    let (problem, h) = (Conjugate::new(), 0.08);
    let (means, sds) = problem.law(&Grid::new(SIDE, SIDE, 4, 5).unwrap(), h);
    let fit = problem.sample(BlockAlgorithm::Sgld, h, BlockRun { draws: 8000, burn_in: 500, thin: 8 });
    check_moments(&fit, &means, &sds);
    // The step size is large enough for its bias to be seen.
    let (_, posterior) = problem.law(&Grid::new(SIDE, SIDE, 4, 5).unwrap(), 0.0);
    assert!(sds.iter().zip(&posterior).all(|(sd, posterior)| *sd > 1.02 * posterior));
}

#[test]
fn all_algorithms_give_the_posterior_of_a_conjugate_model() {
    let problem = Conjugate::new();
    let (means, sds) = problem.law(&Grid::new(SIDE, SIDE, 4, 5).unwrap(), 0.0);
    // Steps are short, because the noise of the parts adds a bias of order h.
    for (algorithm, h) in [(BlockAlgorithm::Sgld, 0.002), (PSGLD, 0.002), (HAMCMC, 0.008)] {
        let fit = problem.sample(algorithm, h, BlockRun { draws: 1500, burn_in: 5000, thin: 200 });
        check_moments(&fit, &means, &sds);
    }
}

#[test]
fn runs_resume_with_the_same_draws() {
    let entries = ratings();
    let grid = Arc::new(Grid::new(22, 27, 4, 5).unwrap());
    for (algorithm, size) in [(BlockAlgorithm::Sgld, 2), (PSGLD, 4), (HAMCMC, 2), (HAMCMC_4, 3)] {
        let model = BlockedFactorization::new(2).algorithm(algorithm).step_size(1e-3);
        let stores: Vec<InMemoryCheckpoints> = (0..size).map(|_| InMemoryCheckpoints::default()).collect();
        let run = |draws: usize| {
            let fits = on_threads(size, |ranks| {
                let own: Vec<_> = entries.iter().skip(ranks.rank()).step_by(size).collect();
                let mut sampler = model.sampler(BlockedEntries::distribute(ranks.clone(), grid.clone(), own)?)?;
                let mut store = EpochCheckpoints::new(stores[ranks.rank()].clone(), ranks, &sampler.identity()?);
                let checkpoints = BlockCheckpoints { store: &mut store, every: 3 };
                sampler.sample(&BlockRun { draws, burn_in: 4, thin: 1 }, Some(checkpoints))
            });
            fits.unwrap().swap_remove(0).unwrap()
        };
        let whole = sample(size, &model, &entries, BlockRun { draws: 24, burn_in: 4, thin: 1 });
        run(12);
        assert_eq!(run(24).chains(), whole.chains(), "{algorithm:?}");
    }
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
