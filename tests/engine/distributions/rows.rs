//! Distributions of single values, integers and matrices, as distributions over rows.

use rand::Rng;
use sgmcmc::burn::Tensor;
use sgmcmc::distributions::*;

/// A distribution of single values, as one over rows of one column.
#[derive(Debug)]
pub struct Column<T>(pub T);

impl<T: Distribution<1>> Distribution<2, 1> for Column<T> {
    fn log_prob(&self, value: Tensor<2>) -> Tensor<1> {
        self.0.log_prob(value.squeeze_dim(1))
    }

    fn sample(&self, shape: [usize; 2], rng: &mut dyn Rng) -> Tensor<2> {
        self.0.sample([shape[0]], rng).unsqueeze_dim(1)
    }
}

/// The categorical distribution with its integers as floats.
#[derive(Debug)]
pub struct Categories(pub CategoricalLogits);

impl Distribution<2, 1> for Categories {
    fn log_prob(&self, value: Tensor<2>) -> Tensor<1> {
        self.0.log_prob(value.squeeze_dim::<1>(1).int())
    }

    fn sample(&self, shape: [usize; 2], rng: &mut dyn Rng) -> Tensor<2> {
        let drawn: Vec<f64> = self.0.sample(shape[0], rng).to_data().iter::<f64>().collect();
        sgmcmc::array(drawn, shape).expect("one category per row")
    }
}

/// The ordered logistic distribution with its integers as floats.
#[derive(Debug)]
pub struct Ordinals(pub OrderedLogistic);

impl Distribution<2, 1> for Ordinals {
    fn log_prob(&self, value: Tensor<2>) -> Tensor<1> {
        self.0.log_prob(value.squeeze_dim::<1>(1).int())
    }

    fn sample(&self, shape: [usize; 2], rng: &mut dyn Rng) -> Tensor<2> {
        let drawn: Vec<f64> = self.0.sample(shape[0], rng).to_data().iter::<f64>().collect();
        sgmcmc::array(drawn, shape).expect("one category per row")
    }
}

/// A distribution of matrices, as one over rows of their free entries.
#[derive(Debug)]
pub struct Matrices<T> {
    pub distribution: T,
    pub entries: Entries,
}

/// The free entries of a matrix, row by row.
#[derive(Clone, Copy, Debug)]
pub enum Entries {
    /// Those of the lower triangle with the diagonal.
    Symmetric,
    /// Those below the diagonal of a correlation matrix.
    Correlations,
    /// Those below the diagonal of the factor of a correlation matrix.
    Factor,
    /// All entries of a matrix with this number of rows.
    All(usize),
}

impl Entries {
    /// The numbers of rows and columns of the matrix with `width` free entries.
    fn size(self, width: usize) -> [usize; 2] {
        let root = (1 + 8 * width).isqrt();
        match self {
            Self::Symmetric => [(root - 1) / 2; 2],
            Self::Correlations | Self::Factor => [root.div_ceil(2); 2],
            Self::All(rows) => [rows, width / rows],
        }
    }

    /// True if an entry is free.
    fn is_free(self, i: usize, j: usize) -> bool {
        match self {
            Self::Symmetric => i >= j,
            Self::Correlations | Self::Factor => i > j,
            Self::All(_) => true,
        }
    }

    /// The matrices with these free entries.
    fn matrices(self, rows: Tensor<2>) -> Tensor<3> {
        let [n, width] = rows.dims();
        let [r, c] = self.size(width);
        let index = |i: usize, j: usize| (0..i * c + j).filter(|at| self.is_free(at / c, at % c)).count();
        let free = |i: usize, j: usize| rows.clone().narrow(1, index(i, j), 1);
        let one = rows.ones_like().narrow(1, 0, 1);
        let entry = |i: usize, j: usize| match self {
            _ if self.is_free(i, j) => free(i, j),
            Self::Factor if i < j => one.zeros_like(),
            Self::Factor => {
                let squares = (0..i).map(|k| free(i, k).square());
                squares.fold(one.clone(), |rest, square| rest - square).clamp_min(0.0).sqrt()
            }
            _ if i == j => one.clone(),
            _ => free(j, i),
        };
        let entries = (0..r * c).map(|at| entry(at / c, at % c)).collect();
        Tensor::cat(entries, 1).reshape([n, r, c])
    }
}

impl<T: Distribution<3, 1>> Distribution<2, 1> for Matrices<T> {
    fn log_prob(&self, value: Tensor<2>) -> Tensor<1> {
        self.distribution.log_prob(self.entries.matrices(value))
    }

    fn sample(&self, shape: [usize; 2], rng: &mut dyn Rng) -> Tensor<2> {
        let [r, c] = self.entries.size(shape[1]);
        let drawn: Vec<f64> = self.distribution.sample([shape[0], r, c], rng).to_data().iter::<f64>().collect();
        let free = drawn.chunks(r * c).flat_map(|matrix| {
            let free = (0..r * c).filter(|at| self.entries.is_free(at / c, at % c));
            free.map(|at| matrix[at]).collect::<Vec<f64>>()
        });
        sgmcmc::array(free.collect(), shape).expect("the free entries of each matrix")
    }
}
