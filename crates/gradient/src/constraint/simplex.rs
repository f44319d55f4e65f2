//! A simplex by stick breaking: zₖ = σ(yₖ − log(K − k)), xₖ = zₖ Π_{j<k} (1 − zⱼ), x_K = Π (1 − zⱼ).
//!
//! y = 0 corresponds to equal entries. log |∂x/∂y| = Σₖ [log zₖ + log(1 − zₖ) + Σ_{j<k} log(1 − zⱼ)]. All computations
//! are on the log scale, so that tiny entries are accurate.

use std::fmt;

use super::{Groups, OutsideError, Transform, check_simplex, log_sigmoid};

pub(super) struct Simplex;

impl Transform for Simplex {
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("positive and adding up to 1 along the last axis")
    }

    fn groups(&self, shape: &[usize]) -> Result<Groups, &'static str> {
        Groups::along_last_axis(shape, 2, 1).ok_or("a simplex needs at least 2 entries in its last axis")
    }

    fn constrain(&self, y: &[f64], x: &mut [f64]) {
        let mut log_remaining_weight = 0.0;
        for (k, y) in y.iter().enumerate() {
            let t = y - ((x.len() - 1 - k) as f64).ln();
            x[k] = (log_remaining_weight + log_sigmoid(t)).exp();
            log_remaining_weight += log_sigmoid(-t);
        }
        x[y.len()] = log_remaining_weight.exp();
    }

    fn unconstrain(&self, x: &[f64], y: &mut [f64]) -> Result<(), OutsideError> {
        check_simplex(x)?;
        // The loop starts at the end, so that the rest of the stick is a sum of positive numbers and not a difference.
        let mut rest = x[y.len()];
        for k in (0..y.len()).rev() {
            y[k] = (x[k] / rest).ln() + ((x.len() - 1 - k) as f64).ln();
            rest += x[k];
        }
        Ok(())
    }

    // Sorted by k, log |∂x/∂y| = Σₖ [log zₖ + (K − k) log(1 − zₖ)]. The derivative by yₖ is (1 − zₖ) − (K − k) zₖ.
    fn log_jacobian(&self, y: &[f64], factor: f64, gradient: &mut [f64]) -> f64 {
        let free = y.len();
        let mut log_jacobian = 0.0;
        for (k, (y, g)) in y.iter().zip(gradient).enumerate() {
            // This is K − k in the formula, where k starts at one.
            let after = (free - k) as f64;
            let t = y - after.ln();
            let (log_z, log_remaining_weight) = (log_sigmoid(t), log_sigmoid(-t));
            log_jacobian += log_z + after * log_remaining_weight;
            *g += factor * (log_remaining_weight.exp() - after * log_z.exp());
        }
        log_jacobian
    }
}
