//! Hand-written SGLD without any library: one loop in single precision per model, as a baseline.
//!
//! Each step draws n observations, adds their gradients, updates θ += h/2 ĝ + √h z and stores θ. The loop is compiled
//! for the instruction set of the processor. Sums use 16 lanes explicitly, because the compiler must not reorder
//! floating-point additions.

use std::time::Instant;

use pulp::{Arch, NullaryFnOnce};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::bench::data;
use crate::bench::workloads::{STEP_SIZE, Size, covariates};

const LANES: usize = 16;

/// Returns the seconds of all steps of the workload, without the simulation of the data.
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

/// Returns the seconds of the loop.
fn timed<G: Gradient>(sgld: Sgld<G>) -> f64 {
    let began = Instant::now();
    let draws = Arch::new().dispatch(sgld);
    let seconds = began.elapsed().as_secs_f64();
    std::hint::black_box(draws);
    seconds
}

/// The gradient of a model.
trait Gradient {
    /// Adds ∇ log p(x_row|θ) to `sum`.
    fn add(&self, theta: &[f32], row: usize, sum: &mut [f32]);

    /// Returns d log p(θ)/dθⱼ.
    fn prior(&self, theta: f32) -> f32;
}

/// The loop as a function that `pulp` compiles for the processor.
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
        let residual = self.y[row] - 1.0 / (1.0 + (-z).exp());
        sum[..d].iter_mut().zip(x).for_each(|(sum, x)| *sum += residual * x);
        sum[d] += residual;
    }

    #[inline(always)]
    fn prior(&self, theta: f32) -> f32 {
        -f32::from(i8::from(theta > 0.0) - i8::from(theta < 0.0))
    }
}

/// Returns the inner product.
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
