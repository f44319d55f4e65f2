//! The table of distributions under test. A new distribution is one row here and one in `tests/reference/generate.py`.

use sgmcmc::burn::Tensor;
use sgmcmc::distributions::*;

use crate::distributions::rows::{Categories, Column, Entries, Matrices, Ordinals};
use crate::distributions::support::Support::{self, *};

/// Every distribution as one over rows `[n, d]`.
pub type Rows = Box<dyn Distribution<2, 1>>;

/// A distribution under test.
pub struct Case {
    pub name: &'static str,
    /// Made from tensors `[1, k]`.
    pub tensors: fn(&[Tensor<2>]) -> Rows,
    /// Made from numbers, where all parameters may be.
    pub numbers: Option<fn(&[f64]) -> Rows>,
    pub support: Support,
    /// Ordinary parameters, for integrals, gradients and draws; each a list of rows.
    pub ordinary: &'static [&'static [&'static [f64]]],
    /// Extreme parameters, where nothing may be NaN.
    pub extreme: &'static [&'static [&'static [f64]]],
}

fn flat(row: &Tensor<2>) -> Tensor<1> {
    row.clone().squeeze_dim(0)
}

/// A column of parameters, one for each row of the tensor.
fn column(rows: &Tensor<2>) -> Tensor<1> {
    rows.clone().squeeze_dim(1)
}

fn entry(row: &Tensor<2>, index: usize) -> Tensor<1> {
    flat(row).narrow(0, index, 1)
}

macro_rules! each {
    ($name:ident($($i:tt),+), $support:expr, [$([$($p:expr),+]),+], extreme [$([$($e:expr),+]),*]) => {
        Case {
            name: stringify!($name),
            tensors: |p| Box::new(Column($name::new($(flat(&p[$i])),+))),
            numbers: Some(|p| Box::new(Column($name::new($(p[$i]),+)))),
            support: $support,
            ordinary: &[$(&[$(&[$p]),+]),+],
            extreme: &[$(&[$(&[$e]),+]),*],
        }
    };
}

/// Square matrices from rows of their entries.
fn square(rows: &Tensor<2>) -> Tensor<3> {
    let [n, size] = rows.dims();
    rows.clone().reshape([n, size.isqrt(), size.isqrt()])
}

fn matrices(distribution: impl Distribution<3, 1> + 'static, entries: Entries) -> Rows {
    Box::new(Matrices { distribution, entries })
}

fn matrix_normal(p: &[Tensor<2>]) -> Rows {
    let (rows, columns) = (square(&p[1]), square(&p[2]));
    let [r, c] = [rows.dims()[1], columns.dims()[1]];
    matrices(MatrixNormal::new(p[0].clone().reshape([1, r, c]), rows, columns), Entries::All(r))
}

/// The distribution with the parameters in the first columns, truncated to the interval of the last two.
fn truncated(distribution: impl Cumulative<1> + 'static, p: &[Tensor<2>]) -> Rows {
    Box::new(Column(Truncated::new(distribution).above(column(&p[p.len() - 2])).below(column(&p[p.len() - 1]))))
}

/// The same, censored.
fn censored(distribution: impl Cumulative<1> + 'static, p: &[Tensor<2>]) -> Rows {
    Box::new(Column(Censored::new(distribution).left(column(&p[p.len() - 2])).right(column(&p[p.len() - 1]))))
}

fn cholesky(p: &[Tensor<2>]) -> Rows {
    let d = p[0].dims()[1];
    Box::new(MultivariateNormal::cholesky(p[0].clone(), p[1].clone().reshape([d, d])))
}

fn mixture(p: &[Tensor<2>]) -> Rows {
    let normal = Normal::new(entry(&p[1], 0), entry(&p[1], 1));
    let student = StudentT::new(entry(&p[2], 0), entry(&p[2], 1), entry(&p[2], 2));
    Box::new(Column(Mixture::logits(p[0].clone()).with(normal).with(student)))
}

macro_rules! rows {
    ($name:literal, $tensors:expr, $support:expr, [$([$([$($p:expr),+]),+]),+],
        extreme [$([$([$($e:expr),+]),+]),*]) => {
        Case {
            name: $name,
            tensors: $tensors,
            numbers: None,
            support: $support,
            ordinary: &[$(&[$(&[$($p),+]),+]),+],
            extreme: &[$(&[$(&[$($e),+]),+]),*],
        }
    };
}

/// All of them.
pub fn all() -> Vec<Case> {
    vec![
        each!(Normal(0, 1), Line, [[0.3, 1.7]], extreme [[1e6, 1e-3], [-1.0, 1e6]]),
        each!(Laplace(0, 1), Line, [[0.3, 1.7]], extreme [[1e6, 1e-3], [-1.0, 1e6]]),
        each!(Cauchy(0, 1), Line, [[0.3, 1.7]], extreme [[1e6, 1e-3], [-1.0, 1e6]]),
        each!(Logistic(0, 1), Line, [[0.3, 0.8]], extreme [[1e6, 1e-3], [-1.0, 1e6]]),
        each!(StudentT(0, 1, 2), Line, [[3.5, 0.3, 1.7], [50.0, -1.0, 0.6]],
            extreme [[1e-3, 1.0, 1.0], [1e8, 0.0, 1.0]]),
        each!(HalfNormal(0), Positive, [[1.7]], extreme [[1e-3], [1e6]]),
        each!(HalfCauchy(0), Positive, [[1.7]], extreme [[1e-3], [1e6]]),
        each!(LogNormal(0, 1), Positive, [[0.3, 0.8]], extreme [[20.0, 0.01], [-20.0, 10.0]]),
        each!(Gamma(0, 1), Positive, [[2.5, 1.3], [0.4, 0.7]], extreme [[1.0, 1.0], [1e-3, 1.0], [1e4, 1e4]]),
        each!(InverseGamma(0, 1), Positive, [[2.5, 1.3], [0.9, 0.7]], extreme [[1e-3, 1e-3], [1e3, 1e3]]),
        each!(GeneralizedGamma(0, 1, 2), Positive, [[2.5, 1.3, 0.7], [0.6, 0.8, 2.0]],
            extreme [[1.0, 1.0, 1.0], [0.5, 2.0, 1.0]]),
        each!(Exponential(0), Positive, [[1.3]], extreme [[1e-6], [1e6]]),
        each!(Weibull(0, 1), Positive, [[2.5, 1.3], [0.7, 2.0]], extreme [[1.0, 1.0], [0.01, 1.0]]),
        each!(Beta(0, 1), Interval(0.0, 1.0), [[2.0, 3.5], [0.6, 1.5]], extreme [[1.0, 1.0], [1e-3, 1e3], [1e5, 1e5]]),
        each!(Uniform(0, 1), Interval(-1.5, 2.0), [[-1.5, 2.0]], extreme []),
        each!(Bernoulli(0), Counts(1), [[0.3]], extreme [[0.0], [1.0], [1e-30]]),
        each!(BernoulliLogits(0), Counts(1), [[-0.8]], extreme [[-100.0], [100.0], [1e6]]),
        each!(BinomialLogits(0, 1), Counts(12), [[12.0, -0.8]], extreme [[12.0, -100.0], [12.0, 100.0], [0.0, 0.0]]),
        each!(BetaBinomial(0, 1, 2), Counts(12), [[12.0, 0.8, 2.5]], extreme [[12.0, 1e-3, 1e3], [12.0, 1e6, 1e6], [0.0, 1.0, 1.0]]),
        each!(SkewNormal(0, 1, 2), Line, [[0.3, 1.7, 2.5], [-0.5, 0.6, -1.2]],
            extreme [[1e6, 1e-3, 1.0], [-1.0, 1e6, -100.0], [0.0, 1.0, 0.0]]),
        each!(VonMises(0, 1), Circle, [[0.3, 1.7], [-2.0, 12.0]], extreme [[1e3, 1e-3], [0.0, 1e6], [0.0, 8.0]]),
        each!(Poisson(0), Counts(60), [[7.3], [0.2]], extreme [[0.0], [1e-30], [1e6]]),
        each!(PoissonLogRate(0), Counts(60), [[2.0]], extreme [[-100.0], [100.0]]),
        each!(NegativeBinomial(0, 1), Counts(400), [[7.3, 2.5], [3.0, 0.8]], extreme [[1e-6, 1e6], [1e6, 1e-6]]),
        rows!(
            "MultivariateNormal.diagonal",
            |p| Box::new(MultivariateNormal::diagonal(p[0].clone(), p[1].clone())),
            Plane,
            [[[0.3, -1.0], [0.7, 1.4]]],
            extreme[[[1e6, 0.0], [1e-3, 1e6]]]
        ),
        rows!(
            "MultivariateNormal.cholesky",
            cholesky,
            Plane,
            [[[0.3, -1.0], [0.7, 0.0, -0.9, 1.1]]],
            extreme[[[1e6, 0.0], [1e-3, 0.0, 1e3, 1e6]]]
        ),
        rows!(
            "MultivariateNormal.covariance",
            |p| Box::new(MultivariateNormal::covariance(p[0].clone(), square(&p[1]))),
            Plane,
            [[[0.3, -1.0], [0.7, 0.0, -0.4, 1.1]]],
            extreme[[[1e6, 0.0], [1e-3, 0.0, 1.0, 1e6]]]
        ),
        rows!(
            "MultivariateNormal.precision",
            |p| Box::new(MultivariateNormal::precision(p[0].clone(), square(&p[1]))),
            Plane,
            [[[0.3, -1.0], [1.7, 0.0, -0.4, 1.1]]],
            extreme[[[1e6, 0.0], [1e-3, 0.0, 1.0, 1e6]]]
        ),
        rows!(
            "MultivariateStudentT",
            |p| Box::new(MultivariateStudentT::new(column(&p[0]), p[1].clone(), square(&p[2]))),
            Plane,
            [[[60.0], [0.3, -1.0], [0.6, 0.0, -0.3, 0.5]]],
            extreme[[[0.5], [1e6, 0.0], [1e-3, 0.0, 1.0, 1e6]], [[1e8], [0.0, 0.0], [1.0, 0.0, 0.0, 1.0]]]
        ),
        rows!(
            "Wishart",
            |p| matrices(Wishart::new(column(&p[0]), square(&p[1])), Entries::Symmetric),
            Definite,
            [[[5.5], [0.6, 0.0, -0.3, 0.5]]],
            extreme[[[1e3], [1e-3, 0.0, 1.0, 1e6]]]
        ),
        rows!(
            "InverseWishart",
            |p| matrices(InverseWishart::new(column(&p[0]), square(&p[1])), Entries::Symmetric),
            Definite,
            [[[5.5], [0.6, 0.0, -0.3, 0.5]]],
            extreme[[[1e3], [1e-3, 0.0, 1.0, 1e6]]]
        ),
        rows!(
            "Lkj",
            |p| matrices(Lkj::new(column(&p[0])), Entries::Correlations),
            Correlations,
            [[[2.5]], [[1.25]]],
            extreme[[[1e-3]], [[1.0]], [[1e4]]]
        ),
        rows!(
            "LkjCholesky",
            |p| matrices(LkjCholesky::new(column(&p[0])), Entries::Factor),
            Factors,
            [[[2.5]], [[1.25]]],
            extreme[[[1e-3]], [[1.0]], [[1e4]]]
        ),
        rows!(
            "MatrixNormal",
            matrix_normal,
            Plane,
            [[[0.3, -1.0], [0.7, 0.0, -0.4, 1.1], [0.8]]],
            extreme[[[1e6, 0.0], [1e-3, 0.0, 1.0, 1e6], [1e-3]]]
        ),
        rows!(
            "Truncated",
            |p| truncated(Normal::new(column(&p[0]), column(&p[1])), p),
            Interval(-1.0, 2.5),
            [[[0.3], [1.7], [-1.0], [2.5]], [[6.0], [0.8], [-1.0], [2.5]]],
            extreme[[[50.0], [1.0], [-1.0], [2.5]], [[-1e3], [1.0], [-1.0], [2.5]], [[0.0], [1e3], [-1.0], [2.5]]]
        ),
        rows!(
            "Truncated.exponential",
            |p| truncated(Exponential::new(column(&p[0])), p),
            Interval(0.5, 2.5),
            [[[1.3], [0.5], [2.5]]],
            extreme[[[1e3], [0.5], [2.5]], [[1e-3], [0.5], [2.5]]]
        ),
        rows!(
            "Truncated.weibull",
            |p| truncated(Weibull::new(column(&p[0]), column(&p[1])), p),
            Interval(0.5, 2.5),
            [[[1.7], [1.3], [0.5], [2.5]]],
            extreme[[[0.3], [100.0], [0.5], [2.5]], [[5.0], [0.3], [0.5], [2.5]]]
        ),
        rows!(
            "Truncated.log_normal",
            |p| truncated(LogNormal::new(column(&p[0]), column(&p[1])), p),
            Interval(0.5, 2.5),
            [[[0.3], [0.8], [0.5], [2.5]]],
            extreme[[[20.0], [0.5], [0.5], [2.5]], [[-20.0], [0.5], [0.5], [2.5]]]
        ),
        rows!(
            "Truncated.logistic",
            |p| truncated(Logistic::new(column(&p[0]), column(&p[1])), p),
            Interval(0.5, 2.5),
            [[[0.3], [0.8], [0.5], [2.5]], [[-3.0], [0.4], [0.5], [2.5]]],
            extreme[[[50.0], [0.5], [0.5], [2.5]], [[-50.0], [0.5], [0.5], [2.5]]]
        ),
        rows!(
            "Censored",
            |p| censored(Normal::new(column(&p[0]), column(&p[1])), p),
            Recorded(-1.0, 2.5),
            [[[0.3], [1.7], [-1.0], [2.5]]],
            extreme[[[50.0], [1.0], [-1.0], [2.5]], [[-1e3], [1.0], [-1.0], [2.5]]]
        ),
        rows!(
            "Censored.exponential",
            |p| censored(Exponential::new(column(&p[0])), p),
            Recorded(0.5, 2.5),
            [[[0.8], [0.5], [2.5]]],
            extreme[[[1e3], [0.5], [2.5]], [[1e-3], [0.5], [2.5]]]
        ),
        rows!(
            "Censored.weibull",
            |p| censored(Weibull::new(column(&p[0]), column(&p[1])), p),
            Recorded(0.5, 2.5),
            [[[1.7], [1.3], [0.5], [2.5]]],
            extreme[[[0.3], [100.0], [0.5], [2.5]]]
        ),
        rows!(
            "Censored.log_normal",
            |p| censored(LogNormal::new(column(&p[0]), column(&p[1])), p),
            Recorded(0.5, 2.5),
            [[[0.3], [0.8], [0.5], [2.5]]],
            extreme[[[20.0], [0.5], [0.5], [2.5]]]
        ),
        rows!(
            "Censored.logistic",
            |p| censored(Logistic::new(column(&p[0]), column(&p[1])), p),
            Recorded(0.5, 2.5),
            [[[0.3], [0.8], [0.5], [2.5]]],
            extreme[[[50.0], [0.5], [0.5], [2.5]]]
        ),
        rows!("Dirichlet", |p| Box::new(Dirichlet::new(p[0].clone())), Simplex, [[[2.0, 3.5, 1.2]]],
            extreme [[[1.0, 1.0, 1.0]], [[1e-3, 1e3, 1.0]]]),
        rows!(
            "Multinomial",
            |p| Box::new(Multinomial::new(p[0].clone()).total(5)),
            Cells(5),
            [[[0.2, 0.5, 0.3]]],
            extreme[[[0.0, 1.0, 0.0]]]
        ),
        rows!(
            "Multinomial.from_logits",
            |p| Box::new(Multinomial::from_logits(p[0].clone()).total(5)),
            Cells(5),
            [[[0.2, -0.5, 0.3]]],
            extreme[[[-100.0, 100.0, 0.0]]]
        ),
        rows!(
            "CategoricalLogits",
            |p| Box::new(Categories(CategoricalLogits::new(p[0].clone()))),
            Counts(2),
            [[[0.2, -0.5, 1.3]]],
            extreme[[[-100.0, 100.0, 0.0]]]
        ),
        rows!(
            "OrderedLogistic",
            |p| Box::new(Ordinals(OrderedLogistic::new(column(&p[0]), p[1].clone()))),
            Counts(3),
            [[[0.4], [-1.0, 0.3, 2.0]]],
            extreme [[[100.0], [-1.0, 0.3, 2.0]], [[-100.0], [-1.0, 0.3, 2.0]], [[0.0], [-1e3, 0.0, 1e3]]]
        ),
        rows!(
            "ZeroInflated",
            |p| Box::new(Column(ZeroInflated::new(column(&p[0]), Poisson::new(column(&p[1]))))),
            Counts(60),
            [[[-0.8], [4.0]]],
            extreme [[[-100.0], [4.0]], [[100.0], [4.0]], [[0.0], [1e-30]]]
        ),
        rows!(
            "Mixture",
            mixture,
            Line,
            [[[0.5, -0.5], [-2.0, 0.6], [3.5, 1.0, 1.7]]],
            extreme[[[100.0, -100.0], [-2.0, 0.1], [3.0, 1.0, 10.0]]]
        ),
        rows!(
            "Truncated.laplace",
            |p| truncated(Laplace::new(column(&p[0]), column(&p[1])), p),
            Interval(0.5, 2.5),
            [[[0.3], [0.8], [0.5], [2.5]], [[4.0], [0.7], [0.5], [2.5]]],
            extreme[[[50.0], [0.5], [0.5], [2.5]], [[-50.0], [0.5], [0.5], [2.5]]]
        ),
        rows!(
            "Truncated.cauchy",
            |p| truncated(Cauchy::new(column(&p[0]), column(&p[1])), p),
            Interval(0.5, 2.5),
            [[[0.3], [0.8], [0.5], [2.5]], [[4.0], [0.4], [0.5], [2.5]]],
            extreme[[[1e3], [0.5], [0.5], [2.5]], [[-1e3], [0.5], [0.5], [2.5]]]
        ),
        rows!(
            "Censored.laplace",
            |p| censored(Laplace::new(column(&p[0]), column(&p[1])), p),
            Recorded(0.5, 2.5),
            [[[0.3], [0.8], [0.5], [2.5]]],
            extreme[[[50.0], [0.5], [0.5], [2.5]]]
        ),
        rows!(
            "Censored.cauchy",
            |p| censored(Cauchy::new(column(&p[0]), column(&p[1])), p),
            Recorded(0.5, 2.5),
            [[[0.3], [0.8], [0.5], [2.5]]],
            extreme[[[1e3], [0.5], [0.5], [2.5]]]
        ),
    ]
}
