//! SGLD without any library: one loop in single precision for one model. What a careful person would write in an afternoon.
//!
//! Per step: draw n rows, add up their gradients, θ += h/2 ĝ + √h z, keep θ. The whole loop is compiled for the instructions the
//! processor has; sums run in sixteen lanes, because a compiler may not reorder floating-point additions by itself.

use std::time::Instant;

use pulp::{Arch, NullaryFnOnce};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data;
use crate::workloads::{STEP_SIZE, Size, covariates};

const LANES: usize = 16;

/// Seconds that all steps of the workload take; making the data does not count.
pub(crate) fn seconds(name: &str, size: Size) -> f64 {
    if name == "gauss2" {
        let x = data::normals(2 * size.observations, &mut data::generator());
        timed(Sgld { gradient: Gauss2 { x: &x }, dim: 2, size })
    } else {
        let covariates = covariates(name);
        let (x, y) = data::logistic(size.observations, covariates);
        timed(Sgld { gradient: Logistic { x: &x, y: &y, covariates }, dim: covariates + 1, size })
    }
}

fn timed<G: Gradient>(sgld: Sgld<G>) -> f64 {
    let began = Instant::now();
    let draws = Arch::new().dispatch(sgld);
    let seconds = began.elapsed().as_secs_f64();
    std::hint::black_box(draws);
    seconds
}

trait Gradient {
    /// Adds ∇ log p(x_row|θ) to `sum`.
    fn add(&self, theta: &[f32], row: usize, sum: &mut [f32]);

    /// d log p(θ)/dθⱼ.
    fn prior(&self, theta: f32) -> f32;
}

struct Sgld<G> {
    gradient: G,
    dim: usize,
    size: Size,
}

impl<G: Gradient> NullaryFnOnce for Sgld<G> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn call(self) -> Vec<f32> {
        let Self { gradient, dim, size } = self;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut draws = Vec::with_capacity(size.iterations * dim);
        let (mut theta, mut sum) = (vec![0.0_f32; dim], vec![0.0_f32; dim]);
        let (half_h, sd) = ((0.5 * STEP_SIZE) as f32, STEP_SIZE.sqrt() as f32);
        let scale = size.observations as f32 / size.minibatch as f32;
        for _ in 0..size.iterations {
            sum.fill(0.0);
            for _ in 0..size.minibatch {
                let row = rng.random_range(0..size.observations as u32);
                gradient.add(&theta, row as usize, &mut sum);
            }
            for (theta, sum) in theta.iter_mut().zip(&sum) {
                let z: f32 = rng.sample(StandardNormal);
                *theta += half_h * (scale * sum + gradient.prior(*theta)) + sd * z;
            }
            draws.extend_from_slice(&theta);
        }
        draws
    }
}

struct Gauss2<'a> {
    x: &'a [f32],
}

impl Gradient for Gauss2<'_> {
    #[inline(always)]
    fn add(&self, theta: &[f32], row: usize, sum: &mut [f32]) {
        let x = &self.x[2 * row..2 * row + 2];
        sum[0] += x[0] - theta[0];
        sum[1] += x[1] - theta[1];
    }

    #[inline(always)]
    fn prior(&self, theta: f32) -> f32 {
        theta * -0.01
    }
}

struct Logistic<'a> {
    x: &'a [f32],
    y: &'a [f32],
    covariates: usize,
}

impl Gradient for Logistic<'_> {
    #[inline(always)]
    fn add(&self, theta: &[f32], row: usize, sum: &mut [f32]) {
        let d = self.covariates;
        let x = &self.x[row * d..(row + 1) * d];
        let z = theta[d] + dot(x, &theta[..d]);
        let pull = self.y[row] - 1.0 / (1.0 + (-z).exp());
        sum[..d].iter_mut().zip(x).for_each(|(sum, x)| *sum += pull * x);
        sum[d] += pull;
    }

    #[inline(always)]
    fn prior(&self, theta: f32) -> f32 {
        -f32::from(i8::from(theta > 0.0) - i8::from(theta < 0.0))
    }
}

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
