//! The step all preconditioned Langevin algorithms share, and its work space:
//! θ += H^{1/2} F (½ Fᵀ H^{1/2} ĝ + √T z), M = F Fᵀ, H the diagonal matrix of the step sizes. One product with F makes drift and noise.

use sgmcmc_core::rng::StreamRng;

use crate::dynamics::{fill_normals, with_normals};
use crate::step_size::Tick;

/// The gradient and two vectors to work in.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub(super) g: Vec<f64>,
    from: Vec<f64>,
    to: Vec<f64>,
}

impl Scratch {
    /// Room for a gradient of length `dim`.
    pub(super) fn gradient(&mut self, dim: usize) -> &mut [f64] {
        self.g.resize(dim, 0.0);
        &mut self.g
    }

    /// One step with M diagonal: θ += h/2 m ĝ + √(hTm) z.
    pub(super) fn diagonal_step(&self, theta: &mut [f64], m: &[f64], tick: Tick<'_>, rng: &mut StreamRng) {
        for piece in tick.pieces {
            let (half_h, sd) = (0.5 * piece.h, (piece.h * tick.temperature).sqrt());
            with_normals(rng, piece.range.clone(), |range, z| {
                let moved = theta[range.clone()].iter_mut().zip(&self.g[range.clone()]).zip(&m[range]).zip(z);
                moved.for_each(|(((theta, g), m), z)| *theta += half_h * m * g + sd * m.sqrt() * z);
            });
        }
    }

    /// One step with M = F Fᵀ, where `product(from, to, transpose)` makes `to` = F `from`, or Fᵀ `from`.
    pub(super) fn factored_step(
        &mut self,
        theta: &mut [f64],
        tick: Tick<'_>,
        rng: &mut StreamRng,
        mut product: impl FnMut(&[f64], &mut [f64], bool),
    ) {
        let Self { g, from, to } = self;
        from.clone_from(g);
        to.resize(g.len(), 0.0);
        scale_by_root_steps(from, tick);
        product(from, to, true);
        fill_normals(rng, from);
        let heat = tick.temperature.sqrt();
        from.iter_mut().zip(&*to).for_each(|(z, drift)| *z = 0.5 * drift + heat * *z);
        product(from, to, false);
        scale_by_root_steps(to, tick);
        theta.iter_mut().zip(&*to).for_each(|(theta, moved)| *theta += moved);
    }
}

fn scale_by_root_steps(v: &mut [f64], tick: Tick<'_>) {
    for piece in tick.pieces {
        let root = piece.h.sqrt();
        v[piece.range.clone()].iter_mut().for_each(|v| *v *= root);
    }
}
