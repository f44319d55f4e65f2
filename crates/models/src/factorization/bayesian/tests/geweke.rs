//! Joint distribution tests: successive-conditional against marginal-conditional simulation.
//!
//! A chain that alternates a step of the sampler with a draw of the data given all variables has the joint distribution
//! of the model as its stationary distribution, if the sampler is correct. Source: Geweke (2004), "Getting it right".

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_numerics::Cholesky;
use sgmcmc_samplers::chain::Chain;
use sgmcmc_samplers::metropolis::Mala;

use super::super::model::{Hyperparameters, Shape};
use super::super::sampler::FactorizationSampler;
use super::super::*;
use super::{GAMMA, WISHART};
use crate::factorization::entries::Entry;
use crate::factorization::hyperprior::FactorPrior;
use crate::factorization::testing::assert_same_mean;

const OFFSET: f64 = 0.4;
const PRIOR: GammaPrior = GammaPrior { shape: 4.0, rate: 3.0 };

/// Returns the places of the observed entries: five of a matrix of three rows and two columns, one of them twice.
fn entries() -> Entries {
    let places = [[0, 0], [0, 1], [1, 0], [2, 1], [2, 1]];
    Entries::new(3, 2, places.map(|[row, column]| Entry { row, column, value: 0.0 })).unwrap()
}

fn settings(hyperprior: Hyperprior) -> BayesianFactorization {
    let model = BayesianFactorization::new(2).hyperprior(hyperprior).bias_prior(PRIOR);
    model.offset(OFFSET).noise(NoisePrecision::Gamma(PRIOR)).seed(3)
}

/// Draws rows from the prior.
fn draw_rows(prior: &FactorPrior, rows: usize, rng: &mut StreamRng) -> Vec<f64> {
    let mut draws = Vec::new();
    for _ in 0..rows {
        match prior {
            FactorPrior::Diagonal { precision } => {
                draws.extend(precision.iter().map(|p| rng.sample::<f64, _>(StandardNormal) / p.sqrt()));
            }
            FactorPrior::Full { mean, precision } => {
                let root = Cholesky::new(precision, mean.len()).unwrap();
                let mut z: Vec<f64> = mean.iter().map(|_| rng.sample(StandardNormal)).collect();
                root.solve_upper(&mut z);
                draws.extend(z.iter().zip(mean).map(|(z, mean)| z + mean));
            }
        }
    }
    draws
}

/// A draw of all variables from the prior.
struct PriorDraw {
    theta: Vec<f64>,
    hyper: Hyperparameters,
}

fn prior_draw(settings: &BayesianFactorization, shape: Shape, rng: &mut StreamRng) -> PriorDraw {
    let rows = settings.hyperprior.draw(&[], shape.rank, rng).unwrap();
    let columns = settings.hyperprior.draw(&[], shape.rank, rng).unwrap();
    let [row_bias, column_bias, noise] = [0; 3].map(|_| PRIOR.draw_given(0, 0.0, rng).unwrap());
    let mut theta = draw_rows(&rows, shape.rows, rng);
    theta.extend(draw_rows(&columns, shape.columns, rng));
    for (count, precision) in [(shape.rows, row_bias), (shape.columns, column_bias)] {
        theta.extend((0..count).map(|_| rng.sample::<f64, _>(StandardNormal) / precision.sqrt()));
    }
    PriorDraw { theta, hyper: Hyperparameters { rows, columns, row_bias, column_bias, noise } }
}

/// Draws the entries given all variables, and tells the sampler.
fn draw_data(sampler: &mut FactorizationSampler, rng: &mut StreamRng) {
    let shape = sampler.model().read().shape;
    let theta = sampler.position()[..shape.dim()].to_vec();
    let hyper = {
        let mut model = sampler.model().write();
        let factors = shape.split(&theta);
        let sd = 1.0 / model.hyper.noise.sqrt();
        let values: Vec<f64> = model
            .entries
            .iter()
            .map(|entry| {
                OFFSET + factors.score(entry.row, entry.column, shape.rank) + sd * rng.sample::<f64, _>(StandardNormal)
            })
            .collect();
        Arc::make_mut(&mut model.entries).set_values(&values);
        model.hyper.clone()
    };
    sampler.set_state(&theta, &hyper);
}

/// Returns bounded or logarithmic functions of all variables, and of the products that only a correct likelihood has.
fn functions(sampler: &FactorizationSampler) -> Vec<f64> {
    let model = sampler.model().read();
    let position = sampler.position();
    let mut out: Vec<f64> = position.iter().flat_map(|x| [x.tanh(), x.abs().max(1e-300).ln().max(-6.0)]).collect();
    let factors = model.shape.split(position);
    for entry in model.entries.iter() {
        let residual = model.residual(factors, entry);
        out.push(entry.value.tanh());
        out.push((entry.value * factors.score(entry.row, entry.column, 2)).tanh());
        out.push((residual * factors.a[entry.row]).tanh());
        out.push(residual.abs().ln().max(-6.0));
    }
    out
}

fn assert_joint_distribution(settings: &BayesianFactorization, steps: usize, draws: usize) {
    let entries = entries();
    let mut sampler = settings.sampler(&entries).unwrap();
    let shape = settings.shape(&entries);
    let mut rng = StreamRng::seed_from_u64(17);
    let mut independent = Vec::new();
    for _ in 0..draws {
        let PriorDraw { theta, hyper } = prior_draw(settings, shape, &mut rng);
        sampler.set_state(&theta, &hyper);
        draw_data(&mut sampler, &mut rng);
        independent.push(functions(&sampler));
    }
    let mut successive = Vec::new();
    for _ in 0..steps {
        sampler.step().unwrap();
        draw_data(&mut sampler, &mut rng);
        successive.push(functions(&sampler));
    }
    for index in 0..independent[0].len() {
        let column = |table: &[Vec<f64>]| table.iter().map(|row| row[index]).collect::<Vec<_>>();
        assert_same_mean(&column(&successive), &column(&independent), &format!("function {index}"));
    }
}

#[test]
fn gibbs_with_the_gaussian_wishart_prior_has_the_joint_distribution() {
    assert_joint_distribution(&settings(WISHART), 30_000, 20_000);
}

#[test]
fn gibbs_with_the_gamma_prior_has_the_joint_distribution() {
    assert_joint_distribution(&settings(GAMMA), 30_000, 20_000);
}

#[test]
fn a_kernel_with_an_acceptance_step_has_the_joint_distribution() {
    let kernel = Kernel::full(Mala::default(), 0.15);
    assert_joint_distribution(&settings(GAMMA).kernel(kernel), 80_000, 20_000);
}
