//! Joint distribution tests, see the tests of Bayesian factorization. The independent draws have entries from the
//! stable distribution itself, without latent variables, so that the augmented models are tested too.

use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_samplers::chain::Chain;
use sgmcmc_samplers::metropolis::Mala;

use super::*;
use crate::factorization::entries::Entry;
use crate::factorization::testing::assert_same_mean;

const ALPHA: f64 = 1.3;

/// Returns data of a matrix with two rows and three columns, of which one entry is missing.
fn data(components: usize) -> StableData {
    let places = [[0, 0], [0, 1], [1, 0], [1, 2], [0, 2]];
    let entries = Entries::new(2, 3, places.map(|[row, column]| Entry { row, column, value: 1.0 })).unwrap();
    let real = StableData::real(&entries).unwrap();
    if components == 1 { real } else { real.into_complex() }
}

/// Returns logarithms of W, H and the squared entries, and of products that only a correct likelihood has.
fn functions(values: &[f64], powers: &[f64], shape: &Shape, data: &StableData) -> Vec<f64> {
    let mut out: Vec<f64> = values.iter().flat_map(|x| [x.ln(), (x.ln() - 0.3).powi(2).min(9.0)]).collect();
    for (entry, power) in data.powers().iter().zip(powers) {
        let log = power.ln().max(-12.0);
        let lambda = shape.dispersion(values, entry.row, entry.column).ln();
        out.extend([log.tanh(), log, (lambda * log).tanh(), (0.5 * log - lambda / ALPHA).tanh()]);
    }
    out
}

/// Returns independent draws of the functions.
fn independent(settings: &StableFactorization, components: usize, draws: usize) -> Vec<Vec<f64>> {
    let data = data(components);
    let shape = settings.shape(data.powers()).unwrap();
    let priors = settings.priors().unwrap();
    let stable = SymmetricStable::new(ALPHA).unwrap();
    let mut rng = StreamRng::seed_from_u64(23);
    let mut draw = || {
        let mut values: Vec<f64> = (0..shape.w_len()).map(|_| priors[0].draw(&mut rng).unwrap()).collect();
        values.extend((shape.w_len()..shape.dim()).map(|_| priors[1].draw(&mut rng).unwrap()));
        let powers: Vec<f64> = data
            .powers()
            .iter()
            .map(|entry| {
                let scale = shape.dispersion(&values, entry.row, entry.column).powf(2.0 / ALPHA);
                let x = stable.sample_complex(&mut rng);
                scale * if components == 1 { stable.sample(&mut rng).powi(2) } else { x.power() }
            })
            .collect();
        functions(&values, &powers, &shape, &data)
    };
    (0..draws).map(|_| draw()).collect()
}

/// Draws the squared absolute value of an entry whose components have this variance.
fn draw_power<R: Rng + ?Sized>(variance: f64, components: usize, rng: &mut R) -> f64 {
    (0..components).map(|_| variance * rng.sample::<f64, _>(StandardNormal).powi(2)).sum()
}

fn compare(successive: &[Vec<f64>], independent: &[Vec<f64>]) {
    for index in 0..independent[0].len() {
        let column = |table: &[Vec<f64>]| table.iter().map(|row| row[index]).collect::<Vec<_>>();
        assert_same_mean(&column(successive), &column(independent), &format!("function {index}"));
    }
}

/// The composite of a kernel for W and H and a Metropolis step for Φ.
fn assert_composite(settings: &StableFactorization, components: usize, steps: usize) {
    let data = data(components);
    let mut sampler = settings.sampler(&data).unwrap();
    let shape = sampler.shape().clone();
    let mut rng = StreamRng::seed_from_u64(29);
    let mut successive = Vec::new();
    for _ in 0..steps {
        sampler.step().unwrap();
        let (values, phi) = (sampler.position().to_vec(), sampler.phi().to_vec());
        let mut draw = |(entry, phi): (Entry, &f64)| {
            let scale = shape.dispersion(&values, entry.row, entry.column).powf(2.0 / ALPHA);
            draw_power(phi * scale, components, &mut rng)
        };
        let powers: Vec<f64> = data.powers().iter().zip(&phi).map(&mut draw).collect();
        sampler.set_state(&values, &phi, &powers);
        successive.push(functions(&values, &powers, &shape, &data));
    }
    compare(&successive, &independent(settings, components, 20_000));
}

#[test]
fn a_kernel_with_mirroring_and_latents_has_the_joint_distribution() {
    // Near zero the density is steep: proposals of larger steps are rejected there for ever.
    let kernel = Kernel::full(Mala::default(), 0.01);
    assert_composite(&model(ALPHA, 2).kernel(kernel), 2, 200_000);
}

#[test]
fn a_kernel_of_logarithms_and_latents_has_the_joint_distribution() {
    let kernel = Kernel::full(Mala::default(), 0.3);
    assert_composite(&model(ALPHA, 2).kernel(kernel).support(FactorCoordinates::Log).latents_per_step(3), 1, 80_000);
}

#[test]
fn collapsed_gibbs_has_the_joint_distribution() {
    for components in [1, 2] {
        let (settings, data) = (model(ALPHA, 2), data(components));
        let mut sampler = settings.sampler(&data).unwrap();
        let shape = sampler.shape().clone();
        let mut rng = StreamRng::seed_from_u64(31);
        let mut successive = Vec::new();
        for _ in 0..30_000 {
            sampler.step().unwrap();
            let values = sampler.position().to_vec();
            let [w, h] = shape.split(&values);
            let mut draw = |(entry, phi): (Entry, &[f64])| {
                let scale = |k: usize| (w[2 * entry.row + k] * h[2 * entry.column + k]).powf(2.0 / ALPHA);
                draw_power(phi[0] * scale(0) + phi[1] * scale(1), components, &mut rng)
            };
            let powers: Vec<f64> = data.powers().iter().zip(sampler.phi().chunks_exact(2)).map(&mut draw).collect();
            let values = values.clone();
            sampler.set_state(&values, &[], &powers);
            successive.push(functions(&values, &powers, &shape, &data));
        }
        compare(&successive, &independent(&settings, components, 20_000));
    }
}
