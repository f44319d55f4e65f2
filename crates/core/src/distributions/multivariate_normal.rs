//! The multivariate normal distribution, over rows.

use burn_tensor::Tensor;
use rand::{Rng, RngExt};
use rand_distr::StandardNormal;

use super::Normal;
use super::param::{Combine, Param, from_host, host};
use crate::special::HALF_LOG_TWO_PI;

/// The multivariate normal distribution, over rows.
///
/// ```text
/// log p(x) = −½ Σⱼ z[j]² − Σⱼ log L[j, j] − (d/2) log 2π,   L z = x − loc,   covariance L Lᵀ
/// ```
///
/// | parameter | meaning | range |
/// |---|---|---|
/// | `loc` | mean: a number, `[1, d]` or `[n, d]` | any real |
/// | `scale` | [diagonal](MultivariateNormal::diagonal): standard deviations: a number, `[1, d]` or `[n, d]` | positive |
/// | `factor` | [Cholesky](MultivariateNormal::cholesky): the lower triangular L, `[d, d]` | positive diagonal |
///
/// Support: all rows of d reals. What stands above the diagonal of L plays no part.
#[derive(Clone, Debug)]
pub struct MultivariateNormal {
    loc: Param<2>,
    spread: Spread,
}

#[derive(Clone, Debug)]
enum Spread {
    Diagonal(Param<2>),
    Cholesky(Tensor<2>),
}

impl MultivariateNormal {
    /// Independent coordinates with these means and standard deviations: numbers, `[1, d]` or `[n, d]`.
    pub fn diagonal(loc: impl Into<Param<2>>, scale: impl Into<Param<2>>) -> Self {
        let loc = loc.into().finite("MultivariateNormal", "loc");
        Self { loc, spread: Spread::Diagonal(scale.into().positive("MultivariateNormal", "scale")) }
    }

    /// Covariance L Lᵀ, for the lower triangular `factor` L, `[d, d]`.
    pub fn cholesky(loc: impl Into<Param<2>>, factor: Tensor<2>) -> Self {
        let [rows, columns] = factor.dims();
        assert!(rows == columns, "MultivariateNormal: factor must be square, not {rows} × {columns}");
        Self { loc: loc.into().finite("MultivariateNormal", "loc"), spread: Spread::Cholesky(factor) }
    }

    /// The log density of each row of `value`, `[n, d]`.
    pub fn log_prob(&self, value: Tensor<2>) -> Tensor<1> {
        match &self.spread {
            Spread::Diagonal(scale) => {
                let normal = Normal::new(self.loc.clone(), scale.clone());
                normal.log_prob(value).sum_dim(1).squeeze_dim::<1>(1)
            }
            Spread::Cholesky(factor) => {
                let d = factor.dims()[0];
                let (squares, log_diagonal) = solve(value.minus(&self.loc), factor);
                (squares * -0.5 - log_diagonal - d as f64 * HALF_LOG_TWO_PI).squeeze_dim::<1>(1)
            }
        }
    }

    /// Rows: `shape` is `[n, d]`.
    pub fn sample<R: Rng + ?Sized>(&self, shape: [usize; 2], rng: &mut R) -> Tensor<2> {
        match &self.spread {
            Spread::Diagonal(scale) => Normal::new(self.loc.clone(), scale.clone()).sample(shape, rng),
            Spread::Cholesky(factor) => {
                let d = factor.dims()[0];
                assert!(shape[1] == d, "MultivariateNormal: rows have {d} coordinates, not {}", shape[1]);
                let (factor, mut drawn) = (host(factor), self.loc.values(shape));
                for row in drawn.chunks_exact_mut(d.max(1)) {
                    let z: Vec<f64> = (0..d).map(|_| rng.sample(StandardNormal)).collect();
                    for (i, x) in row.iter_mut().enumerate() {
                        *x += (0..=i).map(|j| factor[i * d + j] * z[j]).sum::<f64>();
                    }
                }
                from_host(drawn, shape)
            }
        }
    }
}

/// Σⱼ z[j]², `[n, 1]`, where L z = x for each row x, by forward substitution; and Σⱼ log L[j, j], `[1, 1]`.
fn solve(x: Tensor<2>, factor: &Tensor<2>) -> (Tensor<2>, Tensor<2>) {
    let entry = |i: usize, columns: std::ops::Range<usize>| factor.clone().slice([i..i + 1, columns]);
    let first = entry(0, 0..1);
    let mut solved = x.clone().narrow(1, 0, 1) / first.clone();
    let mut log_diagonal = first.log();
    for i in 1..factor.dims()[0] {
        let diagonal = entry(i, i..i + 1);
        let before = solved.clone().matmul(entry(i, 0..i).transpose());
        let z = (x.clone().narrow(1, i, 1) - before) / diagonal.clone();
        solved = Tensor::cat(vec![solved, z], 1);
        log_diagonal = log_diagonal + diagonal.log();
    }
    (solved.square().sum_dim(1), log_diagonal)
}

rowwise!(MultivariateNormal);
