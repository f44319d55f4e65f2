//! The inverse Hessian C that quasi-Newton HMC estimates, and the root S of the inverse mass S Sᵀ that is made of it.

use serde::{Deserialize, Serialize};
use sgmcmc_core::{Error, Result};
use sgmcmc_linalg::{Bfgs, Cholesky, Initial, Lbfgs};

use super::covariance::Covariance;
use super::scaling::Scaling;

/// Representation of the inverse Hessian C of [`Qnhmc`](super::Qnhmc).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InverseHessian {
    /// Dense BFGS: a matrix of d² numbers that keeps the information of all pairs.
    Bfgs,
    /// L-BFGS: the most recent pairs.
    Lbfgs {
        /// Number of pairs, at least 1.
        memory: usize,
        /// Scale γ of the matrix γI that the pairs improve. [`Initial::Newest`] suits the curvature of many parameters better than
        /// a fixed γ = 1.
        gamma: Initial,
    },
}

impl InverseHessian {
    pub(super) fn check(self) -> Result<()> {
        let Self::Lbfgs { memory, gamma: Initial::Fixed(gamma) | Initial::Newest(gamma) } = self else {
            return Ok(());
        };
        let refuse = |name, value, expected| Err(Error::Setting { name, value, expected });
        if memory == 0 {
            return refuse("the memory of L-BFGS", "0".into(), "keep at least 1 pair");
        }
        if !(gamma.is_finite() && gamma > 0.0) {
            return refuse("gamma", gamma.to_string(), "it must be a positive number");
        }
        Ok(())
    }
}

/// Mass matrix that [`Qnhmc`](super::Qnhmc) derives from its estimate C of the inverse Hessian.
///
/// With C = I both forms are [`Hmc`](super::Hmc), draw for draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum QuasiNewtonMass {
    /// Inverse mass C, that is S = C^{1/2}. If C is the posterior covariance, the trajectories are those of a standard normal
    /// density.
    #[default]
    Whitening,
    /// Inverse mass C M⁻¹ C of Fu, Luo & Zhang (2016), that is S = C M^{−1/2}. With M = I, as in the paper, the conditioning of the
    /// posterior is mirrored, not removed: see [`Qnhmc`](super::Qnhmc).
    Published {
        /// M⁻¹.
        covariance: Covariance,
    },
}

/// The estimate of C.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Estimate {
    Dense(Box<Dense>),
    Limited(Box<Lbfgs>),
}

/// A dense C, and what its root needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Dense {
    matrix: Bfgs,
    /// The Cholesky factor of `matrix`, if a root was needed. A restored chain computes it again: same matrix, same factor.
    #[serde(skip)]
    factor: Option<Cholesky>,
    /// The matrix before the last update.
    #[serde(skip)]
    previous: Option<Bfgs>,
}

impl Dense {
    /// Updates C by `pairs`, and its factor if there is one.
    ///
    /// An update that leaves C positive definite in exact arithmetic may not do so after rounding. C then has no factor, and the update is undone.
    fn learn<'a>(&mut self, pairs: impl Iterator<Item = (&'a [f64], &'a [f64])>) -> Result<()> {
        let Self { matrix, factor, previous } = self;
        let Some(factor) = factor else {
            pairs.for_each(|(s, y)| _ = matrix.update(s, y));
            return Ok(());
        };
        match previous {
            Some(previous) => previous.clone_from(matrix),
            None => *previous = Some(matrix.clone()),
        }
        let mut changed = false;
        pairs.for_each(|(s, y)| changed |= matrix.update(s, y));
        if !changed || factor.refactor(matrix.matrix()).is_ok() {
            return Ok(());
        }
        if let Some(previous) = previous {
            matrix.clone_from(previous);
        }
        factor.refactor(matrix.matrix()).map_err(|error| no_factor(&error))
    }

    /// The Cholesky factor of C, computed if it has not been.
    fn factor(&mut self) -> Result<&Cholesky> {
        let Self { matrix, factor, .. } = self;
        let found = match factor.take() {
            Some(found) => found,
            None => Cholesky::new(matrix.matrix(), matrix.dim()).map_err(|error| no_factor(&error))?,
        };
        Ok(factor.insert(found))
    }
}

/// The error of a C without a factor. Updates never leave one: it comes from a damaged checkpoint.
fn no_factor(error: &sgmcmc_linalg::Error) -> Error {
    let expected = "the state of the chain is damaged; start it again or from an earlier checkpoint";
    Error::Setting { name: "the inverse Hessian", value: format!("refused ({error})"), expected }
}

impl Estimate {
    /// C before there is a pair.
    pub(super) fn new(kind: InverseHessian, dim: usize) -> Self {
        match kind {
            InverseHessian::Bfgs => {
                Self::Dense(Box::new(Dense { matrix: Bfgs::new(dim, 1.0), factor: None, previous: None }))
            }
            InverseHessian::Lbfgs { memory, gamma } => Self::Limited(Box::new(Lbfgs::new(dim, memory, gamma))),
        }
    }

    /// Updates C by pairs (s, y), the oldest first.
    pub(super) fn learn<'a>(&mut self, pairs: impl Iterator<Item = (&'a [f64], &'a [f64])>) -> Result<()> {
        match self {
            Self::Dense(dense) => dense.learn(pairs),
            Self::Limited(lbfgs) => {
                pairs.for_each(|(s, y)| _ = lbfgs.push(s, y));
                Ok(())
            }
        }
    }

    /// The root S of the inverse mass. `work` is work space of the published form.
    pub(super) fn root<'a>(&'a mut self, mass: &'a QuasiNewtonMass, work: &'a mut Vec<f64>) -> Result<Root<'a>> {
        Ok(match (mass, self) {
            (QuasiNewtonMass::Whitening, Self::Dense(dense)) => Root::Factor(dense.factor()?),
            (QuasiNewtonMass::Whitening, Self::Limited(lbfgs)) => Root::Lbfgs(lbfgs),
            (QuasiNewtonMass::Published { covariance }, estimate) => Root::Published { estimate, covariance, work },
        })
    }

    /// `out` = C v.
    fn product(&mut self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Dense(dense) => dense.matrix.product(v, out),
            Self::Limited(lbfgs) => {
                out.copy_from_slice(v);
                lbfgs.inverse_product(out);
            }
        }
    }
}

/// A matrix S with S Sᵀ the inverse mass.
pub(super) enum Root<'a> {
    /// The Cholesky factor of C.
    Factor(&'a Cholesky),
    /// The root of C that the pairs make.
    Lbfgs(&'a mut Lbfgs),
    /// C M^{−1/2}.
    Published { estimate: &'a mut Estimate, covariance: &'a Covariance, work: &'a mut Vec<f64> },
}

impl Scaling for Root<'_> {
    fn multiply(&mut self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Factor(factor) => factor.product(v, out),
            Self::Lbfgs(lbfgs) => {
                out.copy_from_slice(v);
                lbfgs.root_product(out);
            }
            Self::Published { estimate, covariance, work } => {
                work.resize(v.len(), 0.0);
                covariance.multiply(v, work);
                estimate.product(work, out);
            }
        }
    }

    fn multiply_transposed(&mut self, v: &[f64], out: &mut [f64]) {
        match self {
            Self::Factor(factor) => factor.transpose_product(v, out),
            Self::Lbfgs(lbfgs) => {
                out.copy_from_slice(v);
                lbfgs.root_transpose_product(out);
            }
            Self::Published { estimate, covariance, work } => {
                work.resize(v.len(), 0.0);
                estimate.product(v, work);
                covariance.multiply_transposed(work, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIM: usize = 3;

    /// The covariance A⁻¹ that the pairs are of; A is its inverse.
    const SIGMA: [f64; 9] = [4.0, 1.5, 0.3, 1.5, 2.0, -0.4, 0.3, -0.4, 1.0];

    const LIMITED: InverseHessian = InverseHessian::Lbfgs { memory: 4, gamma: Initial::Fixed(0.5) };

    fn published() -> QuasiNewtonMass {
        let covariance = Covariance::dense(&[1.0, 0.2, 0.0, 0.2, 2.0, 0.1, 0.0, 0.1, 0.5]).unwrap();
        QuasiNewtonMass::Published { covariance }
    }

    fn times(a: &[f64], v: &[f64]) -> Vec<f64> {
        a.chunks_exact(DIM).map(|row| row.iter().zip(v).map(|(a, v)| a * v).sum()).collect()
    }

    /// `a` b, both row by row.
    fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
        let entry = |k: usize| (0..DIM).map(|j| a[k / DIM * DIM + j] * b[j * DIM + k % DIM]).sum();
        (0..DIM * DIM).map(entry).collect()
    }

    fn transposed(a: &[f64]) -> Vec<f64> {
        (0..DIM * DIM).map(|k| a[k % DIM * DIM + k / DIM]).collect()
    }

    /// Pairs (A⁻¹ y, y).
    fn pairs(count: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
        let y = |k: usize| (0..DIM).map(|i| (1.0 + 0.7 * k as f64 + 2.1 * i as f64).sin()).collect::<Vec<_>>();
        (0..count).map(|k| (times(&SIGMA, &y(k)), y(k))).collect()
    }

    fn learn(estimate: &mut Estimate, pairs: &[(Vec<f64>, Vec<f64>)]) {
        estimate.learn(pairs.iter().map(|(s, y)| (&**s, &**y))).unwrap();
    }

    fn estimate(kind: InverseHessian, count: usize) -> Estimate {
        let mut estimate = Estimate::new(kind, DIM);
        learn(&mut estimate, &pairs(count));
        estimate
    }

    /// The matrix of a linear map.
    fn matrix(mut map: impl FnMut(&[f64], &mut [f64])) -> Vec<f64> {
        let mut columns = vec![0.0; DIM * DIM];
        for (k, column) in columns.chunks_exact_mut(DIM).enumerate() {
            let unit: Vec<f64> = (0..DIM).map(|i| f64::from(u8::from(i == k))).collect();
            map(&unit, column);
        }
        transposed(&columns)
    }

    /// S, by its own product and by that of its transpose.
    fn roots(estimate: &mut Estimate, mass: &QuasiNewtonMass) -> [Vec<f64>; 2] {
        let mut work = Vec::new();
        let mut root = estimate.root(mass, &mut work).unwrap();
        [matrix(|v, out| root.multiply(v, out)), transposed(&matrix(|v, out| root.multiply_transposed(v, out)))]
    }

    fn assert_close(a: &[f64], b: &[f64]) {
        let off = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(a.len() == b.len() && off < 1e-12, "{a:?} and {b:?}");
    }

    /// S Sᵀ is C in the whitening form and C M⁻¹ C in the published one, and Sᵀ is the transpose of S.
    #[test]
    fn roots_make_the_inverse_mass() {
        for kind in [InverseHessian::Bfgs, LIMITED] {
            let mut estimate = estimate(kind, 3);
            let c = matrix(|v, out| estimate.product(v, out));
            let [root, turned] = roots(&mut estimate, &QuasiNewtonMass::Whitening);
            assert_close(&root, &turned);
            assert_close(&product(&root, &transposed(&root)), &c);

            let mass = published();
            let QuasiNewtonMass::Published { covariance } = &mass else { unreachable!() };
            let half = matrix(|v, out| (&*covariance).multiply(v, out));
            let [root, turned] = roots(&mut estimate, &mass);
            assert_close(&root, &turned);
            assert_close(&root, &product(&c, &half));
        }
    }

    /// The root is that of the newest C, though it was needed before.
    #[test]
    fn roots_follow_updates() {
        for kind in [InverseHessian::Bfgs, LIMITED] {
            let mut estimate = estimate(kind, 1);
            let [before, _] = roots(&mut estimate, &QuasiNewtonMass::Whitening);
            learn(&mut estimate, &pairs(3)[1..]);
            let c = matrix(|v, out| estimate.product(v, out));
            let [after, _] = roots(&mut estimate, &QuasiNewtonMass::Whitening);
            assert!(before.iter().zip(&after).any(|(a, b)| (a - b).abs() > 0.01));
            assert_close(&product(&after, &transposed(&after)), &c);
        }
    }

    /// Pairs of 10³⁰ times the variance along (1, 1, 1) leave nothing but that direction after rounding.
    #[test]
    fn updates_that_rounding_makes_singular_are_undone() {
        let mut estimate = estimate(InverseHessian::Bfgs, 3);
        let before = roots(&mut estimate, &QuasiNewtonMass::Whitening);
        let c = matrix(|v, out| estimate.product(v, out));
        learn(&mut estimate, &[(vec![1.0; DIM], vec![1e-30; DIM])]);
        assert_eq!(matrix(|v, out| estimate.product(v, out)), c);
        assert_eq!(roots(&mut estimate, &QuasiNewtonMass::Whitening), before);
        // And learning goes on.
        learn(&mut estimate, &pairs(5)[3..]);
        assert_ne!(matrix(|v, out| estimate.product(v, out)), c);
    }

    #[test]
    fn a_damaged_estimate_is_refused() {
        let mut text = serde_json::to_value(Estimate::new(InverseHessian::Bfgs, 2)).unwrap();
        text["Dense"]["matrix"]["matrix"] = serde_json::json!([1.0, 2.0, 2.0, 1.0]);
        let mut estimate: Estimate = serde_json::from_value(text).unwrap();
        let mut work = Vec::new();
        let error = estimate.root(&QuasiNewtonMass::Whitening, &mut work).err().unwrap().to_string();
        assert!(error.contains("inverse Hessian") && error.contains("not positive definite"), "{error}");
    }
}
