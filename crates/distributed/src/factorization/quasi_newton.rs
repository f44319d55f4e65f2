//! L-BFGS on vectors whose elements are divided among ranks.
//!
//! A step of HAMCMC is a combination of the pairs (s, y), the gradient g and the noise z. Its coefficients follow from the dot
//! products of these vectors, so that a step needs a single sum over all ranks.

use sgmcmc_numerics::{InitialScale, LEAST_CURVATURE};

/// The vectors of a step, by their numbers: s and y of pair k are 2k and 2k + 1, the oldest pair first; then g and z.
#[derive(Clone, Copy, Debug)]
pub(super) struct Basis {
    /// The number of pairs.
    pub(super) pairs: usize,
}

impl Basis {
    fn s(pair: usize) -> usize {
        2 * pair
    }

    fn y(pair: usize) -> usize {
        2 * pair + 1
    }

    fn gradient(self) -> usize {
        2 * self.pairs
    }

    fn noise(self) -> usize {
        2 * self.pairs + 1
    }

    /// Returns the number of vectors.
    pub(super) fn len(self) -> usize {
        2 * self.pairs + 2
    }

    /// Calls `each` with every pair of vectors whose dot product is needed: all but those of g and z with each other.
    ///
    /// With one pair these are sᵀs, sᵀy, sᵀg, sᵀz, yᵀy, yᵀg and yᵀz. The six of the paper have qᵀz in place of sᵀz and yᵀz, where q
    /// depends on the others, which would take a second sum over all ranks.
    pub(super) fn products(self) -> impl Iterator<Item = (usize, usize)> {
        let len = self.len();
        (0..2 * self.pairs).flat_map(move |a| (a..len).map(move |b| (a, b)))
    }

    /// Returns the number of dot products.
    pub(super) fn product_count(self) -> usize {
        self.products().count()
    }
}

/// The dot products of the vectors of a step.
struct Products {
    basis: Basis,
    values: Vec<f64>,
}

impl Products {
    fn new(basis: Basis, values: &[f64]) -> Self {
        let len = basis.len();
        let mut all = vec![0.0; len * len];
        for ((a, b), value) in basis.products().zip(values) {
            all[a * len + b] = *value;
            all[b * len + a] = *value;
        }
        Self { basis, values: all }
    }

    fn of(&self, a: usize, b: usize) -> f64 {
        self.values[a * self.basis.len() + b]
    }

    /// Returns the dot product of two combinations. The first has no share of g and z.
    fn of_combinations(&self, a: &[f64], b: &[f64]) -> f64 {
        let len = self.basis.len();
        let row = |k: usize| -> f64 { (0..len).map(|j| self.values[k * len + j] * b[j]).sum() };
        (0..2 * self.basis.pairs).map(|k| if a[k] == 0.0 { 0.0 } else { a[k] * row(k) }).sum()
    }
}

/// A pair that is in use, with q as a combination of the vectors.
struct Used {
    pair: usize,
    sy: f64,
    q: Vec<f64>,
}

/// Returns the coefficients of h/2 H g + √h S z, where H = S Sᵀ is the L-BFGS matrix of the pairs.
///
/// `products` are the dot products in the order of [`Basis::products`]. The recursions are those of
/// [`Lbfgs`](sgmcmc_numerics::Lbfgs). A pair without positive curvature is skipped.
pub(super) fn step_coefficients(basis: Basis, products: &[f64], gamma: InitialScale, h: f64) -> Vec<f64> {
    let products = Products::new(basis, products);
    let valid: Vec<usize> = (0..basis.pairs).filter(|pair| has_curvature(&products, *pair)).collect();
    let gamma = match (gamma, valid.last()) {
        (InitialScale::Newest(_), Some(pair)) => {
            let (s, y) = (Basis::s(*pair), Basis::y(*pair));
            products.of(s, y) / products.of(y, y)
        }
        (InitialScale::Fixed(gamma) | InitialScale::Newest(gamma), _) => gamma,
    };
    let used = roots(&products, &valid, gamma);
    // v = Sᵀ g.
    let mut v = vec![0.0; basis.len()];
    v[basis.gradient()] = 1.0;
    for Used { pair, sy, q } in used.iter().rev() {
        let s = unit(basis, Basis::s(*pair));
        let along = products.of_combinations(&s, &v) / sy;
        add(&mut v, -along, q);
    }
    // v = √h/2 Sᵀ g + z, in which √γ of Sᵀ is included.
    v.iter_mut().for_each(|v| *v *= 0.5 * h.sqrt() * gamma.sqrt());
    v[basis.noise()] += 1.0;
    // v = √h S v.
    v.iter_mut().for_each(|v| *v *= gamma.sqrt());
    for Used { pair, sy, q } in &used {
        let along = products.of_combinations(q, &v) / sy;
        v[Basis::s(*pair)] -= along;
    }
    v.iter_mut().for_each(|v| *v *= h.sqrt());
    v
}

fn has_curvature(products: &Products, pair: usize) -> bool {
    let (s, y) = (Basis::s(pair), Basis::y(pair));
    let (sy, scale) = (products.of(s, y), (products.of(s, s) * products.of(y, y)).sqrt());
    sy.is_finite() && scale.is_finite() && sy > LEAST_CURVATURE * scale
}

/// Returns q = y − √(sᵀy / sᵀb) b with b = B s for each pair, where B is the direct matrix of the pairs before it.
fn roots(products: &Products, valid: &[usize], gamma: f64) -> Vec<Used> {
    let basis = products.basis;
    let mut b: Vec<(Vec<f64>, f64)> = Vec::new();
    let mut used: Vec<Used> = Vec::new();
    for pair in valid {
        let s = unit(basis, Basis::s(*pair));
        let mut newest = vec![0.0; basis.len()];
        newest[Basis::s(*pair)] = 1.0 / gamma;
        for ((earlier, sb), Used { pair: other, sy, .. }) in b.iter().zip(&used) {
            add(&mut newest, -products.of_combinations(&s, earlier) / sb, earlier);
            newest[Basis::y(*other)] += products.of(Basis::y(*other), Basis::s(*pair)) / sy;
        }
        let sb = products.of_combinations(&s, &newest);
        let sy = products.of(Basis::s(*pair), Basis::y(*pair));
        let mut q = unit(basis, Basis::y(*pair));
        add(&mut q, -(sy / sb).sqrt(), &newest);
        b.push((newest, sb));
        used.push(Used { pair: *pair, sy, q });
    }
    used
}

/// Returns the coefficients of one vector.
fn unit(basis: Basis, vector: usize) -> Vec<f64> {
    let mut unit = vec![0.0; basis.len()];
    unit[vector] = 1.0;
    unit
}

/// Adds `scale` times `more` to `v`.
fn add(v: &mut [f64], scale: f64, more: &[f64]) {
    v.iter_mut().zip(more).for_each(|(v, more)| *v += scale * more);
}
