//! The Gibbs update of the factors of a Bayesian matrix factorization.

use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use rayon::prelude::*;
use sgmcmc_gradient::Result;
use sgmcmc_numerics::vector::add_scaled;

use super::super::entries::Incidence;
use super::super::hyperprior::FactorPrior;
use super::super::wishart::cholesky;
use super::model::FactorModel;

/// Draws the factors from their conditional distributions: all rows of U with the biases a, then all rows of V with b.
///
/// Rows are independent given the other side, and a row is drawn together with its bias. Source: Salakhutdinov & Mnih
/// (2008), algorithm of section 3.3.
#[derive(Clone, Debug)]
pub(super) struct GibbsFactors {
    by_row: Incidence,
    by_column: Incidence,
    /// The standard normal variates of one side. They are drawn before the rows are solved, so that the draws do not
    /// depend on the number of threads.
    normals: Vec<f64>,
    parallel: bool,
}

/// The side that stays fixed: its factors, its biases and the index of its rows in an entry.
struct Other<'a> {
    factors: &'a [f64],
    biases: &'a [f64],
    of: fn(&super::super::entries::Entry) -> usize,
}

/// The side that is drawn.
struct Side<'a> {
    factors: &'a mut [f64],
    biases: &'a mut [f64],
    incidence: &'a Incidence,
    prior: &'a FactorPrior,
    bias_precision: f64,
}

/// The buffers for one row.
#[derive(Default)]
struct Work {
    precision: Vec<f64>,
    linear: Vec<f64>,
    covariate: Vec<f64>,
}

impl GibbsFactors {
    /// Creates the update of the factors of `model`.
    pub(super) fn new(model: &FactorModel, parallel: bool) -> Self {
        let (by_row, by_column) = (model.entries.by_row(), model.entries.by_column());
        Self { by_row, by_column, normals: Vec::new(), parallel }
    }

    /// Draws all factors and biases in `theta`.
    pub(super) fn update<R: Rng + ?Sized>(
        &mut self,
        model: &FactorModel,
        theta: &mut [f64],
        rng: &mut R,
    ) -> Result<()> {
        let factors = model.shape.split_mut(theta);
        let hyper = &model.hyper;
        let side = Side {
            factors: factors.u,
            biases: factors.a,
            incidence: &self.by_row,
            prior: &hyper.rows,
            bias_precision: hyper.row_bias,
        };
        let other = Other { factors: factors.v, biases: factors.b, of: |entry| entry.column };
        side.draw(&other, model, &mut self.normals, self.parallel, rng)?;
        let factors = model.shape.split_mut(theta);
        let side = Side {
            factors: factors.v,
            biases: factors.b,
            incidence: &self.by_column,
            prior: &hyper.columns,
            bias_precision: hyper.column_bias,
        };
        let other = Other { factors: factors.u, biases: factors.a, of: |entry| entry.row };
        side.draw(&other, model, &mut self.normals, self.parallel, rng)
    }
}

impl Side<'_> {
    fn draw<R: Rng + ?Sized>(
        self,
        other: &Other<'_>,
        model: &FactorModel,
        normals: &mut Vec<f64>,
        parallel: bool,
        rng: &mut R,
    ) -> Result<()> {
        let Self { factors, biases, incidence, prior, bias_precision } = self;
        let rank = model.shape.rank;
        let (count, dim) = (factors.len() / rank, rank + usize::from(model.shape.biases));
        normals.clear();
        normals.extend((0..count * dim).map(|_| rng.sample::<f64, _>(StandardNormal)));
        // Without biases, the bias of a row is a place in this vector that is not used.
        let mut unused = vec![0.0; if model.shape.biases { 0 } else { count }];
        let biases = if model.shape.biases { biases } else { &mut unused };
        let row = |work: &mut Work, line: usize, factor: &mut [f64], bias: &mut f64, z: &[f64]| -> Result<()> {
            let Work { precision, linear, covariate } = work;
            precision.clear();
            precision.resize(dim * dim, 0.0);
            linear.clear();
            linear.resize(dim, 0.0);
            covariate.clear();
            covariate.resize(dim, 1.0);
            prior.add_to(precision, linear, dim);
            if dim > rank {
                precision[dim * dim - 1] += bias_precision;
            }
            let tau = model.hyper.noise;
            for index in incidence.of(line) {
                let entry = model.entries.entry(*index as usize);
                let fixed = (other.of)(&entry);
                covariate[..rank].copy_from_slice(&other.factors[fixed * rank..][..rank]);
                let target = entry.value - model.offset - other.biases.get(fixed).copied().unwrap_or(0.0);
                // The factorization reads only the lower triangle.
                for (k, line) in precision.chunks_exact_mut(dim).enumerate() {
                    add_scaled(&mut line[..=k], tau * covariate[k], &covariate[..=k]);
                }
                add_scaled(linear, tau * target, covariate);
            }
            let root = cholesky(precision, dim)?;
            root.solve_lower(linear);
            add_scaled(linear, 1.0, z);
            root.solve_upper(linear);
            factor.copy_from_slice(&linear[..rank]);
            if dim > rank {
                *bias = linear[rank];
            }
            Ok(())
        };
        let z = normals.as_slice();
        if parallel {
            let rows = factors.par_chunks_exact_mut(rank).zip(biases.par_iter_mut()).zip(z.par_chunks_exact(dim));
            rows.enumerate()
                .try_for_each_init(Work::default, |work, (line, ((factor, bias), z))| row(work, line, factor, bias, z))
        } else {
            let mut work = Work::default();
            let mut rows = factors.chunks_exact_mut(rank).zip(biases.iter_mut()).zip(z.chunks_exact(dim)).enumerate();
            rows.try_for_each(|(line, ((factor, bias), z))| row(&mut work, line, factor, bias, z))
        }
    }
}
