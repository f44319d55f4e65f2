//! The limited-memory BFGS matrix.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::curvature;
use crate::vector::{add_scaled, dot, scale};

/// The scale γ of the initial matrix H⁰ = γI.
///
/// # Examples
///
/// ```
/// use sgmcmc::{algorithms::InitialScale, numerics::Lbfgs};
///
/// let mut lbfgs = Lbfgs::new(2, 5, InitialScale::Newest(1.0));
/// assert_eq!(lbfgs.gamma(), 1.0);
/// lbfgs.push(&[1.0, 0.0], &[2.0, 0.0]);
/// assert_eq!(lbfgs.gamma(), 0.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum InitialScale {
    /// A fixed number.
    Fixed(f64),
    /// sᵀy/yᵀy of the newest pair, or the given number if there are no pairs.
    Newest(f64),
}

/// The limited-memory BFGS matrix H, its inverse B and its square root S, in time linear in the dimension.
///
/// From the last M pairs (s, y) with y ≈ A s, H = S Sᵀ approximates the inverse of A and B = H⁻¹ approximates A. The
/// initial matrices are H⁰ = γI and S⁰ = √γ I. For each pair, the oldest first, with b = B s:
///
/// ```text
/// H ← (I − s yᵀ/sᵀy) H (I − y sᵀ/sᵀy) + s sᵀ/sᵀy
/// B ← B − b bᵀ/sᵀb + y yᵀ/sᵀy
/// S ← (I − p qᵀ) S,   p = s/(sᵀy),   q = y − √(sᵀy / sᵀb) b
/// ```
///
/// Sources: Nocedal & Wright (2006), algorithm 7.4, for H v; Şimşekli et al. (2016), eq. (11), for S. The root in q is
/// misprinted there: it has sᵀBy in place of sᵀBs.
///
/// A product H v costs 4Md, and products S v and Sᵀv cost 2Md. The vectors b and q are recomputed once after each
/// change of the pairs, which costs M²d. Vectors passed to the methods must have the length of the pairs.
///
/// # Examples
///
/// ```
/// use sgmcmc::{algorithms::InitialScale, numerics::Lbfgs};
///
/// // A = diag(2, 4): with a pair for each axis, H = diag(1/2, 1/4).
/// let mut lbfgs = Lbfgs::new(2, 5, InitialScale::Fixed(1.0));
/// assert!(lbfgs.push(&[1.0, 0.0], &[2.0, 0.0]));
/// assert!(lbfgs.push(&[0.0, 1.0], &[0.0, 4.0]));
/// let mut v = [1.0, 1.0];
/// lbfgs.inverse_product(&mut v);
/// assert_eq!(v, [0.5, 0.25]);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lbfgs {
    dim: usize,
    initial: InitialScale,
    /// The vectors s, by slot.
    s: Vec<f64>,
    /// The vectors y, by slot.
    y: Vec<f64>,
    /// The slots of the pairs in `s` and `y`, the oldest first. `None` is a pair that was skipped.
    order: VecDeque<Option<usize>>,
    /// The number of slots.
    memory: usize,
    /// The products sᵀy, by slot.
    sy: Vec<f64>,
    #[serde(skip)]
    root: Root,
}

/// The vectors of the products with S and B, by slot, and work buffers.
#[derive(Clone, Debug, Default)]
struct Root {
    /// True if `q`, `b` and `sb` belong to the current pairs.
    is_current: bool,
    q: Vec<f64>,
    b: Vec<f64>,
    /// The products sᵀb.
    sb: Vec<f64>,
    work: Vec<f64>,
    /// The coefficients of the first loop of the two-loop recursion.
    alpha: Vec<f64>,
}

impl Lbfgs {
    /// Creates a matrix without pairs, with capacity for `memory` pairs (at least one) of length `dim`.
    pub fn new(dim: usize, memory: usize, initial: InitialScale) -> Self {
        let memory = memory.max(1);
        let empty = vec![0.0; memory * dim];
        let order = VecDeque::with_capacity(memory);
        Self { dim, initial, s: empty.clone(), y: empty, order, memory, sy: vec![0.0; memory], root: Root::default() }
    }

    /// Returns the length of the pairs.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.order.iter().flatten().count()
    }

    /// Returns whether there are no pairs, so that H = γI.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all pairs.
    pub fn clear(&mut self) {
        self.order.clear();
        self.root.is_current = false;
    }

    /// Adds a pair, and removes the oldest if the memory is full. Returns whether the pair was used.
    ///
    /// A pair with sᵀy ≤ [`LEAST_CURVATURE`](crate::LEAST_CURVATURE) |s| |y| is skipped, because H would not stay
    /// positive definite.
    pub fn push(&mut self, s: &[f64], y: &[f64]) -> bool {
        let Some(sy) = curvature(s, y) else { return false };
        let slot = self.free_slot();
        let range = slot * self.dim..(slot + 1) * self.dim;
        self.s[range.clone()].copy_from_slice(s);
        self.y[range].copy_from_slice(y);
        self.sy[slot] = sy;
        self.order.push_back(Some(slot));
        true
    }

    /// Adds a pair like [`push`](Self::push), but removes the oldest pair even if the new one is skipped. Returns
    /// whether the pair was used.
    ///
    /// This is for samplers whose H may depend only on the last M steps.
    pub fn push_in_turn(&mut self, s: &[f64], y: &[f64]) -> bool {
        let used = self.push(s, y);
        if !used {
            self.free_slot();
            self.order.push_back(None);
        }
        used
    }

    /// Removes the oldest pair if the memory is full. Returns a free slot.
    fn free_slot(&mut self) -> usize {
        self.root.is_current = false;
        if self.order.len() == self.memory {
            self.order.pop_front();
        }
        (0..self.memory).find(|slot| !self.order.contains(&Some(*slot))).unwrap_or(0)
    }

    /// Returns γ.
    pub fn gamma(&self) -> f64 {
        match (self.initial, self.order.iter().flatten().next_back()) {
            (InitialScale::Newest(_), Some(slot)) => {
                let y = vector_at(&self.y, *slot, self.dim);
                self.sy[*slot] / dot(y, y)
            }
            (InitialScale::Fixed(gamma) | InitialScale::Newest(gamma), _) => gamma,
        }
    }

    /// Replaces v by H v, by the two-loop recursion.
    pub fn inverse_product(&mut self, v: &mut [f64]) {
        let gamma = self.gamma();
        let Self { dim, s, y, order, memory, sy, root: Root { alpha, .. }, .. } = self;
        alpha.resize(*memory, 0.0);
        for slot in order.iter().flatten().rev() {
            alpha[*slot] = dot(vector_at(s, *slot, *dim), v) / sy[*slot];
            add_scaled(v, -alpha[*slot], vector_at(y, *slot, *dim));
        }
        scale(v, gamma);
        for slot in order.iter().flatten() {
            let beta = dot(vector_at(y, *slot, *dim), v) / sy[*slot];
            add_scaled(v, alpha[*slot] - beta, vector_at(s, *slot, *dim));
        }
    }

    /// Replaces v by B v.
    pub fn direct_product(&mut self, v: &mut [f64]) {
        self.update_root();
        let gamma = self.gamma();
        let Self { dim, y, order, sy, root: Root { b, sb, work, .. }, .. } = self;
        work.copy_from_slice(v);
        scale(v, 1.0 / gamma);
        for slot in order.iter().flatten() {
            let (b, y) = (vector_at(b, *slot, *dim), vector_at(y, *slot, *dim));
            add_scaled(v, -dot(b, work) / sb[*slot], b);
            add_scaled(v, dot(y, work) / sy[*slot], y);
        }
    }

    /// Replaces v by S v.
    pub fn root_product(&mut self, v: &mut [f64]) {
        self.update_root();
        scale(v, self.gamma().sqrt());
        for slot in self.order.iter().flatten() {
            let along = dot(vector_at(&self.root.q, *slot, self.dim), v) / self.sy[*slot];
            add_scaled(v, -along, vector_at(&self.s, *slot, self.dim));
        }
    }

    /// Replaces v by Sᵀ v.
    pub fn root_transpose_product(&mut self, v: &mut [f64]) {
        self.update_root();
        for slot in self.order.iter().flatten().rev() {
            let along = dot(vector_at(&self.s, *slot, self.dim), v) / self.sy[*slot];
            add_scaled(v, -along, vector_at(&self.root.q, *slot, self.dim));
        }
        scale(v, self.gamma().sqrt());
    }

    /// Computes b and q of every pair, if the pairs have changed.
    fn update_root(&mut self) {
        if self.root.is_current {
            return;
        }
        let gamma = self.gamma();
        let Self { dim, s, y, order, memory, sy, root: Root { is_current, q, b, sb, work, .. }, .. } = self;
        let dim = *dim;
        q.resize(*memory * dim, 0.0);
        b.resize(*memory * dim, 0.0);
        sb.resize(*memory, 0.0);
        work.resize(dim, 0.0);
        for (count, slot) in order.iter().flatten().enumerate() {
            let (s, newest) = (vector_at(s, *slot, dim), *slot * dim..(*slot + 1) * dim);
            work.iter_mut().zip(s).for_each(|(work, s)| *work = s / gamma);
            for earlier in order.iter().flatten().take(count) {
                let (b, y) = (vector_at(b, *earlier, dim), vector_at(y, *earlier, dim));
                let (along_b, along_y) = (dot(b, s) / sb[*earlier], dot(y, s) / sy[*earlier]);
                for ((work, b), y) in work.iter_mut().zip(b).zip(y) {
                    *work += along_y * y - along_b * b;
                }
            }
            sb[*slot] = dot(s, work);
            let ratio = (sy[*slot] / sb[*slot]).sqrt();
            for ((q, y), b) in q[newest.clone()].iter_mut().zip(&y[newest.clone()]).zip(&*work) {
                *q = y - ratio * b;
            }
            b[newest].copy_from_slice(work);
        }
        *is_current = true;
    }
}

/// Returns the vector in a slot.
fn vector_at(vectors: &[f64], slot: usize, dim: usize) -> &[f64] {
    &vectors[slot * dim..(slot + 1) * dim]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bfgs;
    use crate::testing::{distance, matrix_of, pairs};

    const DIM: usize = 11;

    fn filled(memory: usize, count: usize, initial: InitialScale, seed: u64) -> Lbfgs {
        let mut lbfgs = Lbfgs::new(DIM, memory, initial);
        pairs(DIM, count, seed).iter().for_each(|(s, y)| assert!(lbfgs.push(s, y)));
        lbfgs
    }

    /// H by the two-loop recursion and S Sᵀ equal the dense BFGS matrix, B is its inverse, and S Sᵀ y = s.
    #[test]
    fn the_square_root_times_its_transpose_is_the_bfgs_matrix() {
        for memory in 1..=6 {
            for (seed, count) in [(1, memory), (2, memory + 3), (3, memory - 1)] {
                for initial in [InitialScale::Fixed(0.6), InitialScale::Newest(0.6)] {
                    let mut lbfgs = filled(memory, count, initial, seed);
                    let all = pairs(DIM, count, seed);
                    let kept = &all[count.saturating_sub(memory)..];
                    let mut dense = Bfgs::new(DIM, lbfgs.gamma());
                    kept.iter().for_each(|(s, y)| assert!(dense.update(s, y)));
                    assert_eq!(lbfgs.len(), kept.len());
                    let squared = matrix_of(DIM, |v| {
                        lbfgs.root_transpose_product(v);
                        lbfgs.root_product(v);
                    });
                    assert!(distance(&squared, dense.matrix()) < 1e-12, "M = {memory}");
                    assert!(distance(&matrix_of(DIM, |v| lbfgs.inverse_product(v)), dense.matrix()) < 1e-12);
                    let identity = matrix_of(DIM, |v| {
                        lbfgs.direct_product(v);
                        lbfgs.inverse_product(v);
                    });
                    assert!(distance(&identity, &matrix_of(DIM, |_| ())) < 1e-11, "M = {memory}");
                    let Some((s, y)) = kept.last() else { continue };
                    let mut back = y.clone();
                    lbfgs.root_transpose_product(&mut back);
                    lbfgs.root_product(&mut back);
                    assert!(distance(&back, s) < 1e-12, "M = {memory}");
                    let mut forth = s.clone();
                    lbfgs.direct_product(&mut forth);
                    assert!(distance(&forth, y) < 1e-11, "M = {memory}");
                }
            }
        }
    }

    #[test]
    fn the_transposed_root_is_the_transpose_of_the_root() {
        let mut lbfgs = filled(4, 6, InitialScale::Newest(1.0), 5);
        let (root, transpose) =
            (matrix_of(DIM, |v| lbfgs.root_product(v)), matrix_of(DIM, |v| lbfgs.root_transpose_product(v)));
        let transposed: Vec<f64> = (0..DIM * DIM).map(|k| transpose[k % DIM * DIM + k / DIM]).collect();
        assert!(distance(&transposed, &root) < 1e-13);
    }

    #[test]
    fn pairs_without_curvature_are_skipped_or_replace_the_oldest() {
        let given = pairs(DIM, 3, 9);
        let flat = (given[0].0.clone(), given[0].1.iter().map(|y| -y).collect::<Vec<_>>());
        let product_of = |lbfgs: &mut Lbfgs| matrix_of(DIM, |v| lbfgs.root_product(v));
        let mut kept = filled(3, 3, InitialScale::Fixed(0.6), 9);
        let before = product_of(&mut kept);
        assert!(!kept.push(&flat.0, &flat.1));
        assert_eq!(product_of(&mut kept), before);

        let mut in_turn = filled(3, 3, InitialScale::Fixed(0.6), 9);
        assert!(!in_turn.push_in_turn(&flat.0, &flat.1));
        let mut two = Lbfgs::new(DIM, 3, InitialScale::Fixed(0.6));
        given[1..].iter().for_each(|(s, y)| assert!(two.push_in_turn(s, y)));
        assert_eq!(product_of(&mut in_turn), product_of(&mut two));
        (0..3).for_each(|_| assert!(!in_turn.push_in_turn(&flat.0, &flat.1)));
        assert!(in_turn.is_empty());
        assert!(in_turn.push(&given[0].0, &given[0].1));
        in_turn.clear();
        let mut v = given[0].0.clone();
        in_turn.inverse_product(&mut v);
        assert!(v.iter().zip(&given[0].0).all(|(v, s)| (v - 0.6 * s).abs() < 1e-16));
    }

    #[test]
    fn deserialization_restores_the_matrix() {
        let mut lbfgs = filled(3, 5, InitialScale::Newest(1.0), 2);
        let matrix = matrix_of(DIM, |v| lbfgs.root_product(v));
        let mut back: Lbfgs = serde_json::from_str(&serde_json::to_string(&lbfgs).unwrap()).unwrap();
        assert_eq!(matrix_of(DIM, |v| back.root_product(v)), matrix);
    }
}
