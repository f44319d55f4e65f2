//! The step of all preconditioned Langevin algorithms and its buffers.
//!
//! θ += H^{1/2} F (½ Fᵀ H^{1/2} ĝ + √T z), where M = F Fᵀ and H is the diagonal matrix of the step sizes. Drift and
//! noise share one product with F.

use sgmcmc_gradient::rng::StreamRng;

use crate::dynamics::{fill_normals, with_normals};
use crate::step_size::StepContext;

/// The gradient and two work vectors.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub(super) g: Vec<f64>,
    from: Vec<f64>,
    to: Vec<f64>,
}

impl Scratch {
    /// Returns the gradient buffer, resized to `dim`.
    pub(super) fn gradient(&mut self, dim: usize) -> &mut [f64] {
        self.g.resize(dim, 0.0);
        &mut self.g
    }

    /// Performs a step with diagonal M: θ += h/2 m ĝ + √(hTm) z.
    pub(super) fn diagonal_step(&self, theta: &mut [f64], m: &[f64], context: StepContext<'_>, rng: &mut StreamRng) {
        for block in context.blocks {
            let (half_h, sd) = (0.5 * block.h, (block.h * context.temperature).sqrt());
            with_normals(rng, block.range.clone(), |range, z| {
                let moved = theta[range.clone()].iter_mut().zip(&self.g[range.clone()]).zip(&m[range]).zip(z);
                moved.for_each(|(((theta, g), m), z)| *theta += half_h * m * g + sd * m.sqrt() * z);
            });
        }
    }

    /// Performs a step with M = F Fᵀ, where `product(from, to, transpose)` writes F `from` or Fᵀ `from` into `to`.
    pub(super) fn factored_step(
        &mut self,
        theta: &mut [f64],
        context: StepContext<'_>,
        rng: &mut StreamRng,
        mut product: impl FnMut(&[f64], &mut [f64], bool),
    ) {
        let Self { g, from, to } = self;
        from.clone_from(g);
        to.resize(g.len(), 0.0);
        scale_by_root_steps(from, context);
        product(from, to, true);
        fill_normals(rng, from);
        let heat = context.temperature.sqrt();
        from.iter_mut().zip(&*to).for_each(|(z, drift)| *z = 0.5 * drift + heat * *z);
        product(from, to, false);
        scale_by_root_steps(to, context);
        theta.iter_mut().zip(&*to).for_each(|(theta, moved)| *theta += moved);
    }
}

/// Multiplies every coordinate by the square root of its step size.
fn scale_by_root_steps(v: &mut [f64], context: StepContext<'_>) {
    for block in context.blocks {
        let root = block.h.sqrt();
        v[block.range.clone()].iter_mut().for_each(|v| *v *= root);
    }
}
