//! L-BFGS: an approximation H = S Sᵀ of the inverse of A, and B = H⁻¹, from the last pairs (s, y) with y ≈ A s, of cost linear in
//! the dimension.
//!
//! From H⁰ = γI, for each pair from the oldest: H ← (I − s yᵀ/sᵀy) H (I − y sᵀ/sᵀy) + s sᵀ/sᵀy, and with b = B s
//!
//! - B ← B − b bᵀ/sᵀb + y yᵀ/sᵀy,
//! - S ← (I − p qᵀ) S, p = s/(sᵀy), q = y − √(sᵀy / sᵀb) b, from S⁰ = √γ I.
//!
//! Sources: Nocedal & Wright (2006), algorithm 7.4, for H v; Şimşekli et al. (2016), eq. (11), for S, where q is misprinted (its root
//! has sᵀBy for sᵀBs). Cost for M pairs: H v 4Md; S v, Sᵀv 2Md; what they need is renewed once per change of the pairs, M²d.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::curvature;
use crate::vector::{add_scaled, dot, scale};

/// The γ of H⁰ = γI.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Initial {
    /// A number.
    Fixed(f64),
    /// sᵀy/yᵀy of the newest pair, and the given number while there is none.
    Newest(f64),
}

/// The last pairs (s, y), and products with the matrices they make. Vectors are as long as the pairs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lbfgs {
    dim: usize,
    initial: Initial,
    s: Vec<f64>,
    y: Vec<f64>,
    /// Where the pairs are in `s` and `y`, the oldest first; `None` for one that was left out.
    order: VecDeque<Option<usize>>,
    memory: usize,
    /// sᵀy, by place.
    sy: Vec<f64>,
    #[serde(skip)]
    root: Root,
}

/// What products with S and B need, by place, and work space.
#[derive(Clone, Debug, Default)]
struct Root {
    fresh: bool,
    q: Vec<f64>,
    b: Vec<f64>,
    sb: Vec<f64>,
    work: Vec<f64>,
    along: Vec<f64>,
}

impl Lbfgs {
    /// Room for `memory` pairs, at least one, of length `dim`.
    pub fn new(dim: usize, memory: usize, initial: Initial) -> Self {
        let memory = memory.max(1);
        let room = vec![0.0; memory * dim];
        let order = VecDeque::with_capacity(memory);
        Self { dim, initial, s: room.clone(), y: room, order, memory, sy: vec![0.0; memory], root: Root::default() }
    }

    /// The length of the pairs.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.order.iter().flatten().count()
    }

    /// Whether there is no pair, and so H = γI.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all pairs.
    pub fn clear(&mut self) {
        self.order.clear();
        self.root.fresh = false;
    }

    /// Takes in a pair in place of the oldest; returns whether it did. A pair with sᵀy ≤
    /// [`LEAST_CURVATURE`](crate::LEAST_CURVATURE) |s| |y| is passed over, because H would not stay positive definite.
    pub fn push(&mut self, s: &[f64], y: &[f64]) -> bool {
        let Some(sy) = curvature(s, y) else { return false };
        let place = self.vacate();
        let range = place * self.dim..(place + 1) * self.dim;
        self.s[range.clone()].copy_from_slice(s);
        self.y[range].copy_from_slice(y);
        self.sy[place] = sy;
        self.order.push_back(Some(place));
        true
    }

    /// As [`push`](Self::push), but a pair that is passed over takes its turn: the oldest goes all the same. For samplers whose H
    /// must not depend on anything older than it should.
    pub fn push_in_turn(&mut self, s: &[f64], y: &[f64]) -> bool {
        let taken = self.push(s, y);
        if !taken {
            self.vacate();
            self.order.push_back(None);
        }
        taken
    }

    /// Lets the oldest go if there is no room, and returns a free place.
    fn vacate(&mut self) -> usize {
        self.root.fresh = false;
        if self.order.len() == self.memory {
            self.order.pop_front();
        }
        (0..self.memory).find(|place| !self.order.contains(&Some(*place))).unwrap_or(0)
    }

    /// γ.
    pub fn gamma(&self) -> f64 {
        match (self.initial, self.order.iter().flatten().next_back()) {
            (Initial::Newest(_), Some(place)) => {
                let y = part(&self.y, *place, self.dim);
                self.sy[*place] / dot(y, y)
            }
            (Initial::Fixed(gamma) | Initial::Newest(gamma), _) => gamma,
        }
    }

    /// v ← H v, by the two-loop recursion.
    pub fn inverse_product(&mut self, v: &mut [f64]) {
        let gamma = self.gamma();
        let Self { dim, s, y, order, memory, sy, root: Root { along, .. }, .. } = self;
        along.resize(*memory, 0.0);
        for place in order.iter().flatten().rev() {
            along[*place] = dot(part(s, *place, *dim), v) / sy[*place];
            add_scaled(v, -along[*place], part(y, *place, *dim));
        }
        scale(v, gamma);
        for place in order.iter().flatten() {
            let across = dot(part(y, *place, *dim), v) / sy[*place];
            add_scaled(v, along[*place] - across, part(s, *place, *dim));
        }
    }

    /// v ← B v.
    pub fn direct_product(&mut self, v: &mut [f64]) {
        self.renew();
        let gamma = self.gamma();
        let Self { dim, y, order, sy, root: Root { b, sb, work, .. }, .. } = self;
        work.copy_from_slice(v);
        scale(v, 1.0 / gamma);
        for place in order.iter().flatten() {
            let (b, y) = (part(b, *place, *dim), part(y, *place, *dim));
            add_scaled(v, -dot(b, work) / sb[*place], b);
            add_scaled(v, dot(y, work) / sy[*place], y);
        }
    }

    /// v ← S v.
    pub fn root_product(&mut self, v: &mut [f64]) {
        self.renew();
        scale(v, self.gamma().sqrt());
        for place in self.order.iter().flatten() {
            let along = dot(part(&self.root.q, *place, self.dim), v) / self.sy[*place];
            add_scaled(v, -along, part(&self.s, *place, self.dim));
        }
    }

    /// v ← Sᵀ v.
    pub fn root_transpose_product(&mut self, v: &mut [f64]) {
        self.renew();
        for place in self.order.iter().flatten().rev() {
            let along = dot(part(&self.s, *place, self.dim), v) / self.sy[*place];
            add_scaled(v, -along, part(&self.root.q, *place, self.dim));
        }
        scale(v, self.gamma().sqrt());
    }

    /// b and q of every pair.
    fn renew(&mut self) {
        if self.root.fresh {
            return;
        }
        let gamma = self.gamma();
        let Self { dim, s, y, order, memory, sy, root: Root { fresh, q, b, sb, work, .. }, .. } = self;
        let dim = *dim;
        q.resize(*memory * dim, 0.0);
        b.resize(*memory * dim, 0.0);
        sb.resize(*memory, 0.0);
        work.resize(dim, 0.0);
        for (count, place) in order.iter().flatten().enumerate() {
            let (s, newest) = (part(s, *place, dim), *place * dim..(*place + 1) * dim);
            work.iter_mut().zip(s).for_each(|(work, s)| *work = s / gamma);
            for earlier in order.iter().flatten().take(count) {
                let (b, y) = (part(b, *earlier, dim), part(y, *earlier, dim));
                let (along_b, along_y) = (dot(b, s) / sb[*earlier], dot(y, s) / sy[*earlier]);
                for ((work, b), y) in work.iter_mut().zip(b).zip(y) {
                    *work += along_y * y - along_b * b;
                }
            }
            sb[*place] = dot(s, work);
            let ratio = (sy[*place] / sb[*place]).sqrt();
            for ((q, y), b) in q[newest.clone()].iter_mut().zip(&y[newest.clone()]).zip(&*work) {
                *q = y - ratio * b;
            }
            b[newest].copy_from_slice(work);
        }
        *fresh = true;
    }
}

/// The part of `vectors` at `place`.
fn part(vectors: &[f64], place: usize, dim: usize) -> &[f64] {
    &vectors[place * dim..(place + 1) * dim]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bfgs;
    use crate::testing::{distance, matrix_of, pairs};

    const DIM: usize = 11;

    fn filled(memory: usize, count: usize, initial: Initial, seed: u64) -> Lbfgs {
        let mut lbfgs = Lbfgs::new(DIM, memory, initial);
        pairs(DIM, count, seed).iter().for_each(|(s, y)| assert!(lbfgs.push(s, y)));
        lbfgs
    }

    /// H by the two loops, S Sᵀ and the dense BFGS matrix are one; B is its inverse; S Sᵀ y = s.
    #[test]
    fn the_square_root_times_its_transpose_is_the_bfgs_matrix() {
        for memory in 1..=6 {
            for (seed, count) in [(1, memory), (2, memory + 3), (3, memory - 1)] {
                for initial in [Initial::Fixed(0.6), Initial::Newest(0.6)] {
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
    fn root_and_transpose_are_of_one_matrix() {
        let mut lbfgs = filled(4, 6, Initial::Newest(1.0), 5);
        let (root, transpose) =
            (matrix_of(DIM, |v| lbfgs.root_product(v)), matrix_of(DIM, |v| lbfgs.root_transpose_product(v)));
        let turned: Vec<f64> = (0..DIM * DIM).map(|k| transpose[k % DIM * DIM + k / DIM]).collect();
        assert!(distance(&turned, &root) < 1e-13);
    }

    #[test]
    fn pairs_without_curvature_are_passed_over_or_take_their_turn() {
        let given = pairs(DIM, 3, 9);
        let flat = (given[0].0.clone(), given[0].1.iter().map(|y| -y).collect::<Vec<_>>());
        let product_of = |lbfgs: &mut Lbfgs| matrix_of(DIM, |v| lbfgs.root_product(v));
        let mut kept = filled(3, 3, Initial::Fixed(0.6), 9);
        let before = product_of(&mut kept);
        assert!(!kept.push(&flat.0, &flat.1));
        assert_eq!(product_of(&mut kept), before);

        let mut in_turn = filled(3, 3, Initial::Fixed(0.6), 9);
        assert!(!in_turn.push_in_turn(&flat.0, &flat.1));
        let mut two = Lbfgs::new(DIM, 3, Initial::Fixed(0.6));
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
    fn what_is_read_back_is_what_was_written() {
        let mut lbfgs = filled(3, 5, Initial::Newest(1.0), 2);
        let matrix = matrix_of(DIM, |v| lbfgs.root_product(v));
        let mut back: Lbfgs = serde_json::from_str(&serde_json::to_string(&lbfgs).unwrap()).unwrap();
        assert_eq!(matrix_of(DIM, |v| back.root_product(v)), matrix);
    }
}
