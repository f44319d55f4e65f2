//! The density of the factors of a Bayesian matrix factorization given the hyperparameters.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{Layout, Result};
use sgmcmc_numerics::vector::{add_scaled, dot};

use super::super::entries::{Entries, Entry};
use super::super::evaluator::EntryModel;
use super::super::hyperprior::FactorPrior;

/// The numbers of rows, columns and factors. The coordinates are U, V and, with biases, a and b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) rank: usize,
    pub(super) biases: bool,
}

/// The factors and biases in a vector of coordinates.
#[derive(Clone, Copy)]
pub(super) struct Factors<'a> {
    pub(super) u: &'a [f64],
    pub(super) v: &'a [f64],
    pub(super) a: &'a [f64],
    pub(super) b: &'a [f64],
}

/// The factors and biases in a vector of coordinates, for modification.
pub(super) struct FactorsMut<'a> {
    pub(super) u: &'a mut [f64],
    pub(super) v: &'a mut [f64],
    pub(super) a: &'a mut [f64],
    pub(super) b: &'a mut [f64],
}

impl Shape {
    /// Returns the number of coordinates.
    pub(super) fn dim(&self) -> usize {
        (self.rows + self.columns) * (self.rank + usize::from(self.biases))
    }

    /// Returns the names and shapes of the coordinates.
    pub(super) fn leaves(&self) -> Vec<(String, Vec<usize>)> {
        let mut leaves =
            vec![("U".to_owned(), vec![self.rows, self.rank]), ("V".to_owned(), vec![self.columns, self.rank])];
        if self.biases {
            leaves.extend([("a".to_owned(), vec![self.rows]), ("b".to_owned(), vec![self.columns])]);
        }
        leaves
    }

    /// Returns the layout of the coordinates.
    pub(super) fn layout(&self) -> Result<Layout> {
        Layout::new(self.leaves().into_iter().map(|(name, shape)| (name, shape, None)))
    }

    /// Splits the first coordinates of `theta` into factors and biases. The biases are empty without biases.
    pub(super) fn split<'a>(&self, theta: &'a [f64]) -> Factors<'a> {
        let (u, rest) = theta.split_at(self.rows * self.rank);
        let (v, rest) = rest.split_at(self.columns * self.rank);
        let [rows, columns] = self.bias_counts();
        let (a, rest) = rest.split_at(rows);
        Factors { u, v, a, b: &rest[..columns] }
    }

    /// Splits the coordinates for modification, see [`split`](Self::split).
    pub(super) fn split_mut<'a>(&self, theta: &'a mut [f64]) -> FactorsMut<'a> {
        let (u, rest) = theta.split_at_mut(self.rows * self.rank);
        let (v, rest) = rest.split_at_mut(self.columns * self.rank);
        let [rows, columns] = self.bias_counts();
        let (a, rest) = rest.split_at_mut(rows);
        FactorsMut { u, v, a, b: &mut rest[..columns] }
    }

    /// Returns the numbers of biases of rows and columns.
    fn bias_counts(&self) -> [usize; 2] {
        if self.biases { [self.rows, self.columns] } else { [0, 0] }
    }
}

impl Factors<'_> {
    /// Returns aᵢ + bⱼ + Uᵢ·Vⱼ.
    #[inline]
    pub(super) fn score(&self, row: usize, column: usize, rank: usize) -> f64 {
        let product = dot(&self.u[row * rank..][..rank], &self.v[column * rank..][..rank]);
        let bias = |bias: &[f64], index: usize| bias.get(index).copied().unwrap_or(0.0);
        product + bias(self.a, row) + bias(self.b, column)
    }
}

/// The variables that Gibbs updates draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Hyperparameters {
    /// The prior of the rows of U.
    pub(super) rows: FactorPrior,
    /// The prior of the rows of V.
    pub(super) columns: FactorPrior,
    /// The precision of the biases of rows.
    pub(super) row_bias: f64,
    /// The precision of the biases of columns.
    pub(super) column_bias: f64,
    /// The precision τ of the noise.
    pub(super) noise: f64,
}

/// The model xᵢⱼ ~ N(m + aᵢ + bⱼ + Uᵢ·Vⱼ, 1/τ) given its hyperparameters.
#[derive(Clone, Debug)]
pub(super) struct FactorModel {
    pub(super) entries: Arc<Entries>,
    pub(super) shape: Shape,
    /// The constant m.
    pub(super) offset: f64,
    pub(super) hyper: Hyperparameters,
}

impl FactorModel {
    /// Returns the difference of an entry from its expectation.
    #[inline]
    pub(super) fn residual(&self, factors: Factors<'_>, entry: Entry) -> f64 {
        entry.value - self.offset - factors.score(entry.row, entry.column, self.shape.rank)
    }

    /// Returns the sum of the squared residuals.
    pub(super) fn squares(&self, theta: &[f64]) -> f64 {
        let factors = self.shape.split(theta);
        self.entries.iter().map(|entry| self.residual(factors, entry).powi(2)).sum()
    }
}

impl EntryModel for FactorModel {
    fn observations(&self) -> usize {
        self.entries.len()
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        let (factors, grad) = (self.shape.split(theta), self.shape.split_mut(grad));
        let biases = |x: &[f64], grad: &mut [f64], precision: f64| {
            add_scaled(grad, -precision, x);
            -0.5 * precision * dot(x, x)
        };
        self.hyper.rows.log_density(factors.u, grad.u)
            + self.hyper.columns.log_density(factors.v, grad.v)
            + biases(factors.a, grad.a, self.hyper.row_bias)
            + biases(factors.b, grad.b, self.hyper.column_bias)
    }

    #[inline]
    fn entry(&self, theta: &[f64], index: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let (entry, rank, tau) = (self.entries.entry(index), self.shape.rank, self.hyper.noise);
        let factors = self.shape.split(theta);
        let residual = self.residual(factors, entry);
        let slope = weight * tau * residual;
        let grad = self.shape.split_mut(grad);
        let (row, column) = (entry.row * rank, entry.column * rank);
        add_scaled(&mut grad.u[row..row + rank], slope, &factors.v[column..column + rank]);
        add_scaled(&mut grad.v[column..column + rank], slope, &factors.u[row..row + rank]);
        if self.shape.biases {
            grad.a[entry.row] += slope;
            grad.b[entry.column] += slope;
        }
        0.5 * (tau / std::f64::consts::TAU).ln() - 0.5 * tau * residual * residual
    }
}
