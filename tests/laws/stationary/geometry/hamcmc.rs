//! HAMCMC: one step from a known history, and the limit as h → 0.

use rand::SeedableRng;
use sgmcmc::rng::StreamRng;
use sgmcmc_testkit::linear::multiply;

use super::*;

/// One step from a known history: mean θₜ₋ₘ + h/2 H g, covariance hTH, with H the dense BFGS matrix of the right pairs.
#[test]
fn one_step_of_hamcmc_has_the_right_drift_and_diffusion() {
    let (d, h, gamma) = (3, 0.2, 0.03);
    let p = Problem::new(d, 0.0);
    // Of the size of the curvature, or it would not be seen.
    let lambda = 0.5 * p.a[0];
    let center = p.model.posterior_mean();
    for memory in 2..=4 {
        let dynamics = Hamcmc { memory, lambda, gamma: InitialScale::Fixed(gamma) };
        let recipe = recipe(dynamics, FullGradient, h, TEMPERATURE);
        let mut chain = p.chain(&recipe, &add(&center, &[0.3, -0.2, 0.1], 1.0), 3);
        let mut path = Vec::new();
        for _ in 0..9 {
            chain.step().unwrap();
            path.push(add(chain.position(), &center, -1.0));
        }
        let mut big_h = isotropic(gamma, d);
        for tau in 10 - memory..9 {
            let s = add(&path[tau], &path[tau - memory], -1.0);
            let y = add(&apply(&p.a, &s), &s, lambda);
            let sy: f64 = s.iter().zip(&y).map(|(s, y)| s * y).sum();
            let left: Vec<f64> =
                (0..d * d).map(|k| f64::from(u8::from(k / d == k % d)) - s[k / d] * y[k % d] / sy).collect();
            let right = sgmcmc_testkit::linear::transpose(&left, d);
            let kept = multiply(&multiply(&left, &big_h, d), &right, d);
            big_h = (0..d * d).map(|k| kept[k] + s[k / d] * s[k % d] / sy).collect();
        }
        let from = &path[9 - memory];
        let mean = add(from, &apply(&big_h, &p.g(from, &[0.0; 3])), 0.5 * h);
        let saved = chain.save().unwrap();
        let mut rows = Vec::new();
        for seed in 0..6000 {
            chain.restore(&saved).unwrap();
            *chain.noise() = StreamRng::seed_from_u64(seed);
            chain.step().unwrap();
            rows.extend(add(chain.position(), &center, -1.0));
        }
        let covariance = scaled(&big_h, h * TEMPERATURE);
        let (mean, covariance) = distance_in_standard_errors(&rows, &mean, &covariance, 60);
        assert!(mean < 5.0 && covariance < 5.0, "M = {memory}: off by {mean} and {covariance} standard errors");
    }
}

/// Means and second moments about `center`, with their standard errors by batch means.
fn moments(rows: &[f64], center: &[f64], batches: usize) -> Vec<(f64, f64)> {
    let d = center.len();
    let features = |row: &[f64]| {
        let off: Vec<f64> = row.iter().zip(center).map(|(x, c)| x - c).collect();
        let squares = (0..d * d).map(|k| off[k / d] * off[k % d]);
        off.iter().copied().chain(squares).collect::<Vec<f64>>()
    };
    let length = rows.len() / d / batches;
    let means: Vec<Vec<f64>> = rows
        .chunks_exact(length * d)
        .map(|batch| {
            let mut sum = vec![0.0; d + d * d];
            batch.chunks_exact(d).for_each(|row| sum.iter_mut().zip(features(row)).for_each(|(s, f)| *s += f));
            sum.iter().map(|sum| sum / length as f64).collect()
        })
        .collect();
    let count = means.len() as f64;
    (0..d + d * d)
        .map(|k| {
            let mean = means.iter().map(|means| means[k]).sum::<f64>() / count;
            let spread = means.iter().map(|means| (means[k] - mean).powi(2)).sum::<f64>() / (count - 1.0);
            (mean, (spread / count).sqrt())
        })
        .collect()
}

/// Extrapolated from h, h/2 and h/4, mean and covariance are those of the posterior within 3 standard errors.
#[test]
fn hamcmc_samples_the_posterior_as_the_step_goes_to_zero() {
    let d = 3;
    let p = Problem::new(d, minibatch_factor());
    let mean = p.model.posterior_mean();
    let dynamics = Hamcmc { memory: 3, lambda: 1.0, gamma: InitialScale::Fixed(0.02) };
    let at = |h: f64, draws: usize, seed| {
        let recipe = recipe(dynamics, batches(), h, 1.0);
        let mut chain = p.chain(&recipe, &mean, seed);
        moments(&self::draws(&mut chain, draws), &mean, 50)
    };
    let (first, second, third) = (at(0.2, 200_000, 1), at(0.1, 400_000, 2), at(0.05, 800_000, 3));
    let exact: Vec<f64> = vec![0.0; d].into_iter().chain(inverse(&p.a, d)).collect();
    let mut farthest = 0.0_f64;
    let mut coarse = 0.0_f64;
    for (k, exact) in exact.iter().enumerate() {
        let limit = (first[k].0 - 6.0 * second[k].0 + 8.0 * third[k].0) / 3.0;
        let error = (first[k].1.powi(2) + 36.0 * second[k].1.powi(2) + 64.0 * third[k].1.powi(2)).sqrt() / 3.0;
        farthest = farthest.max((limit - exact).abs() / error);
        coarse = coarse.max((first[k].0 - exact).abs() / first[k].1);
    }
    assert!(farthest < 3.0, "{farthest} standard errors off in the limit");
    assert!(coarse > 5.0, "no bias to extrapolate from at the largest step: {coarse} standard errors");
}
