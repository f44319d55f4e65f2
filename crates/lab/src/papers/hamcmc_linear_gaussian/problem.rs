//! The linear Gaussian model with its exact posterior, and runs of the methods on it.

use std::fmt::Debug;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::Sampler;
use sgmcmc::algorithms::Dynamics;
use sgmcmc::algorithms::{Hamcmc, InitialScale, Metric};
use sgmcmc::gradient::MinibatchGradient;
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::numerics::{Cholesky, vector};
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;
use sgmcmc::schedule::Polynomial;

use crate::Result;

/// The variance of the observations.
const NOISE: f64 = 10.0;
/// The number of evaluations of the error along a run.
pub const EVALUATIONS: usize = 100;

/// The distribution of the vectors aₙ: normal entries with a common correlation.
#[derive(Clone, Copy)]
pub struct Design {
    /// The standard deviation of an entry.
    pub sd: f64,
    /// The correlation of two entries.
    pub correlation: f64,
}

/// A problem with its exact posterior.
pub struct Problem {
    data: Dataset<Observations>,
    pub mean: Vec<f64>,
    pub precision: Vec<f64>,
    n: usize,
    pub d: usize,
}

#[derive(TensorTree)]
pub struct Observations {
    pub a: Tensor<2>,
    pub x: Tensor<1>,
}

/// Returns the model as closures.
pub fn model() -> Model<Tensor<1>, Observations> {
    Model::new(|theta: Tensor<1>, r: Observations| {
        let fitted = r.a.matmul(theta.unsqueeze_dim(1)).squeeze_dim::<1>(1);
        (r.x - fitted).powi_scalar(2) * (-0.5 / NOISE)
    })
    .prior(|theta: Tensor<1>| theta.powi_scalar(2).sum() * -0.5)
}

/// Returns `count` standard normal numbers.
pub fn normals(count: usize, rng: &mut StreamRng) -> Vec<f64> {
    (0..count).map(|_| rng.sample(StandardNormal)).collect()
}

impl Problem {
    /// Simulates θ, `n` vectors aₙ of `d` entries, and xₙ.
    pub fn simulate(n: usize, d: usize, Design { sd, correlation: rho }: Design, seed: u64) -> Result<Self> {
        let mut rng = StreamRng::seed_from_u64(seed);
        let truth = normals(d, &mut rng);
        let mut a = normals(n * d, &mut rng);
        let mut x = Vec::with_capacity(n);
        for row in a.chunks_exact_mut(d) {
            let (common, noise): (f64, f64) = (rng.sample(StandardNormal), rng.sample(StandardNormal));
            row.iter_mut().for_each(|entry| *entry = sd * (rho.sqrt() * common + (1.0 - rho).sqrt() * *entry));
            x.push(vector::dot(row, &truth) + NOISE.sqrt() * noise);
        }
        let (mut precision, mut mean) = (vec![0.0; d * d], vec![0.0; d]);
        for i in 0..d {
            precision[i * d + i] = 1.0;
        }
        for (row, x) in a.chunks_exact(d).zip(&x) {
            for i in 0..d {
                mean[i] += row[i] * x / NOISE;
                vector::add_scaled(&mut precision[i * d..(i + 1) * d], row[i] / NOISE, row);
            }
        }
        Cholesky::new(&precision, d)?.solve(&mut mean);
        let data = Dataset::new(Observations { a: array(a, [n, d])?, x: array(x, [n])? })?;
        Ok(Self { data, mean, precision, n, d })
    }

    /// Returns a chain with the steps h = c t^−0.51.
    pub fn sampler<A>(&self, dynamics: A, c: f64, seed: u64) -> Result<Sampler<Tensor<1>>>
    where
        A: Dynamics<MinibatchGradient> + Clone + Debug + 'static,
    {
        let steps = Polynomial { a: c, b: 1.0, gamma: 0.51 };
        let gradient = MinibatchGradient::new(WithoutReplacement::new((self.n / 100).max(2)));
        Ok(Builder::new(model().with(&self.data), dynamics, gradient, steps).seed(seed).start(&zeros([self.d]))?)
    }

    /// Returns the squared error of the estimated posterior mean along a run, and the seconds of all steps. Each
    /// estimate is the weighted mean over the second half of the run up to that point.
    fn run<A>(&self, dynamics: A, c: f64, steps: usize, seed: u64) -> Result<(Vec<f64>, f64)>
    where
        A: Dynamics<MinibatchGradient> + Clone + Debug + 'static,
    {
        let mut sampler = self.sampler(dynamics, c, seed)?;
        let mut sums = vec![(vec![0.0; self.d], 0.0)];
        let mut seconds = 0.0;
        for _ in 0..EVALUATIONS {
            let (mut sum, mut weight) = sums[sums.len() - 1].clone();
            let began = Instant::now();
            for _ in 0..steps / EVALUATIONS {
                if sampler.step().is_err() {
                    return Ok((vec![f64::INFINITY; EVALUATIONS], f64::NAN));
                }
                let h = sampler.info().step_size;
                sum.iter_mut().zip(sampler.coordinates()).for_each(|(sum, theta)| *sum += h * theta);
                weight += h;
            }
            seconds += began.elapsed().as_secs_f64();
            sums.push((sum, weight));
        }
        let error = |evaluation: usize| {
            let ((late, all), (early, half)) = (&sums[evaluation], &sums[evaluation / 2]);
            let difference = |i: usize| (late[i] - early[i]) / (all - half) - self.mean[i];
            let error: f64 = (0..self.d).map(|i| difference(i).powi(2)).sum();
            if error.is_finite() { error } else { f64::INFINITY }
        };
        Ok(((1..=EVALUATIONS).map(error).collect(), seconds))
    }

    /// Returns the c of the grid with the smallest mean final error, the mean error along its runs, and the seconds of
    /// the fastest run.
    pub fn best<A>(&self, dynamics: A, steps: usize, runs: u64) -> Result<Best>
    where
        A: Dynamics<MinibatchGradient> + Clone + Debug + 'static,
    {
        let mut best: Option<Best> = None;
        // Start with the largest c. It diverges early, so few values run to the end.
        for c in grid().rev() {
            let mut found = Best { c, errors: vec![0.0; EVALUATIONS], seconds: f64::INFINITY };
            for seed in 0..runs {
                let (errors, seconds) = self.run(dynamics.clone(), c, steps, 1 + seed)?;
                found.errors.iter_mut().zip(errors).for_each(|(mean, error)| *mean += error / runs as f64);
                found.seconds = found.seconds.min(seconds);
                // Further runs can only increase the mean.
                if !found.last().is_finite() || best.as_ref().is_some_and(|best| found.last() >= best.last()) {
                    break;
                }
            }
            if best.as_ref().is_none_or(|best| found.last() < best.last()) {
                best = Some(found);
            }
        }
        best.ok_or_else(|| "the grid is empty".into())
    }
}

/// Returns the grid of c: factors of √10 from 10⁻⁸ to 100.
pub fn grid() -> impl DoubleEndedIterator<Item = f64> {
    (0..=20).map(|k| 10.0_f64.powf(0.5 * f64::from(k) - 8.0))
}

/// The results of a method with its best step size.
pub struct Best {
    pub c: f64,
    pub errors: Vec<f64>,
    pub seconds: f64,
}

impl Best {
    /// Returns the final error.
    pub fn last(&self) -> f64 {
        self.errors[EVALUATIONS - 1]
    }

    /// Returns the seconds after which the error stays below `error`.
    pub fn reached(&self, error: f64) -> Option<f64> {
        let after = self.errors.iter().rposition(|e| *e > error).map_or(0, |last| last + 1);
        (after < EVALUATIONS).then(|| (after + 1) as f64 / EVALUATIONS as f64 * self.seconds)
    }
}

/// Returns HAMCMC with an initial scale that suits the problem.
pub fn hamcmc(memory: usize, problem: &Problem) -> Hamcmc {
    // A tenth of the inverse mean curvature, which was the best of several powers of ten.
    let curvature = problem.precision.iter().step_by(problem.d + 1).sum::<f64>() / problem.d as f64;
    Hamcmc { memory, lambda: 1.0, gamma: InitialScale::Fixed(0.1 / curvature) }
}

/// Returns the inverse Fisher information, inverted at each call as for a model in which it depends on θ.
pub fn fisher(problem: &Problem) -> Metric {
    let (precision, d) = (problem.precision.clone(), problem.d);
    Metric::dense(move |_, m| match Cholesky::new(&precision, d) {
        Ok(factor) => factor.inverse(m),
        Err(_) => m.fill(f64::NAN),
    })
    .with_gamma(|_, gamma| gamma.fill(0.0))
}
