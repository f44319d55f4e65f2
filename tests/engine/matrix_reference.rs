//! Functions of matrices and kernels against values computed with 60 digits (`tests/reference`), in both engines, and for
//! random matrices.

use std::collections::BTreeSet;

use proptest::prelude::*;
use sgmcmc::data::{Precision, Rows};
use sgmcmc::kernels::*;
use sgmcmc::matrix::*;
use sgmcmc::prelude::*;
use sgmcmc_testkit::closures::compare::Engines;
use sgmcmc_testkit::models::normals;

/// A function of a matrix and of a right-hand side, which some functions ignore.
type Function = fn(Tensor<2>, Tensor<2>) -> Tensor<2>;

/// Every public function of matrices. A new function is a row here and, if it is not a copy of elements, one in
/// `tests/reference/generate.py`.
const FUNCTIONS: [(&str, Function); 11] = [
    ("cholesky", |a, _| cholesky(a)),
    ("log_determinant", |a, _| log_determinant(a)),
    ("solve_lower", solve_lower),
    ("solve_lower_transposed", solve_lower_transposed),
    ("solve_upper", |a, b| solve_upper(a.transpose(), b)),
    ("solve_upper_transposed", |a, b| solve_upper_transposed(a.transpose(), b)),
    ("solve_factored", solve_factored),
    ("solve_positive_definite", solve_positive_definite),
    ("diagonal", |a, _| diagonal(a)),
    ("lower_triangle", |a, _| lower_triangle(a)),
    ("add_diagonal", |a, _| add_diagonal(a, 0.5)),
];

/// The functions that copy elements, or add a number to them.
const COPIES: [&str; 3] = ["diagonal", "lower_triangle", "add_diagonal"];

fn host<const D: usize>(tensor: &Tensor<D>) -> Vec<f64> {
    tensor.to_data().iter::<f64>().collect()
}

/// A row of the reference table.
struct Reference {
    function: &'static str,
    arguments: Vec<Vec<f64>>,
    values: Vec<f64>,
}

fn references() -> Vec<Reference> {
    let numbers = |text: &str| text.split_whitespace().map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.split('|').collect();
        Reference {
            function: cells[0],
            arguments: cells[1].split(';').map(numbers).collect(),
            values: numbers(cells[2]),
        }
    };
    include_str!("../reference/matrices.csv").lines().skip(1).map(row).collect()
}

/// Checks the values of a row to 1e-10.
fn assert_near(row: &Reference, computed: &[f64]) {
    assert_eq!(computed.len(), row.values.len(), "{}", row.function);
    for (computed, exact) in computed.iter().zip(&row.values) {
        let error = (computed - exact).abs();
        assert!(error <= 1e-10 * exact.abs().max(1.0), "{}: {computed} for {exact}", row.function);
    }
}

#[test]
fn functions_agree_with_the_reference() {
    let references = references();
    for (name, function) in FUNCTIONS.iter().filter(|(name, _)| !COPIES.contains(name)) {
        let rows: Vec<&Reference> = references.iter().filter(|row| row.function == *name).collect();
        assert_eq!(rows.len(), 5, "{name}");
        for row in rows {
            let a = &row.arguments[0];
            let size = a.len().isqrt();
            let b = row.arguments.get(1).cloned().unwrap_or_else(|| vec![0.0; size]);
            let columns = b.len() / size;
            let (a, b) = (array(a.clone(), [size, size]).unwrap(), array(b, [size, columns]).unwrap());
            assert_near(row, &host(&function(a, b)));
        }
    }
}

#[test]
fn kernels_agree_with_the_reference() {
    let mut names = BTreeSet::new();
    for row in references() {
        let [p, x] = &row.arguments[..] else { continue };
        if FUNCTIONS.iter().any(|(name, _)| *name == row.function) {
            continue;
        }
        let x = array(x.clone(), [x.len() / 2, 2]).unwrap();
        let covariance = match row.function {
            "SquaredExponential" => SquaredExponential::new(p[0], p[1]).covariance(x, 0.0),
            "Matern.half" => Matern::half(p[0], p[1]).covariance(x, 0.0),
            "Matern.three_halves" => Matern::three_halves(p[0], p[1]).covariance(x, 0.0),
            "Matern.five_halves" => Matern::five_halves(p[0], p[1]).covariance(x, 0.0),
            "Periodic" => Periodic::new(p[0], p[1], p[2]).covariance(x, 0.0),
            "Linear" => Linear::new(p[0], p[1]).covariance(x, 0.0),
            other => panic!("{other} is not a function or a kernel"),
        };
        assert_near(&row, &host(&covariance));
        names.insert(row.function);
    }
    assert_eq!(names.len(), 6);
}

/// The names of the public functions of `sgmcmc::matrix`, from its source.
#[test]
fn the_list_of_functions_is_complete() {
    let sources = [
        include_str!("../../crates/core/src/matrix/diagonal.rs"),
        include_str!("../../crates/core/src/matrix/factor.rs"),
        include_str!("../../crates/core/src/matrix/solve.rs"),
    ];
    let names = sources.iter().flat_map(|source| source.split("\npub fn ").skip(1));
    let public: BTreeSet<&str> = names.map(|rest| rest.split('<').next().unwrap()).collect();
    assert_eq!(public, FUNCTIONS.iter().map(|(name, _)| *name).collect());
}

/// Parameters of which a positive definite matrix and a right-hand side are computed.
#[derive(TensorTree)]
struct Arguments {
    root: Tensor<2>,
    rhs: Tensor<2>,
}

/// The density is a weighted sum of the elements of the function.
fn weighted(function: Function, size: usize) -> Model<Arguments, ()> {
    Model::density(move |p: Arguments| {
        let a = add_diagonal(p.root.clone().matmul(p.root.transpose()), 1.0);
        let y = function(a, p.rhs);
        let [rows, columns] = y.dims();
        let weights = normals(size * size, 9).iter().map(|x| f64::from(*x as f32)).take(rows * columns).collect();
        let place = (&y.device(), y.dtype());
        let weights = Tensor::<2>::from_data(sgmcmc::burn::TensorData::new(weights, [rows, columns]), place);
        (y * weights).sum()
    })
}

#[test]
fn every_function_agrees_in_both_engines() {
    for size in [1, 2, 5] {
        for (name, function) in FUNCTIONS {
            for precision in [Precision::Single, Precision::Double] {
                let start = |precision| Arguments {
                    root: zeros([size, size]).cast(sgmcmc::dtype(precision)),
                    rhs: zeros([size, size]).cast(sgmcmc::dtype(precision)),
                };
                let mut engines = Engines::new(&weighted(function, size), &Dataset::none(), start, precision).unwrap();
                for seed in 0..3 {
                    let theta = normals(2 * size * size, seed).iter().map(|x| f64::from(*x as f32)).collect::<Vec<_>>();
                    engines.assert_agree(&format!("{name}, {size} rows"), &theta, Rows::range(0..0));
                }
            }
        }
    }
}

/// A matrix, `root rootᵀ + ½`, and a right-hand side.
#[derive(Debug)]
struct Random {
    size: usize,
    columns: usize,
    root: Vec<f64>,
    rhs: Vec<f64>,
}

fn random() -> impl Strategy<Value = Random> {
    (1_usize..7, 1_usize..4).prop_flat_map(|(size, columns)| {
        let numbers = |count| prop::collection::vec(-3.0_f64..3.0, count);
        (numbers(size * size), numbers(size * columns)).prop_map(move |(root, rhs)| Random { size, columns, root, rhs })
    })
}

fn close(a: &Tensor<2>, b: &Tensor<2>, tolerance: f64) -> bool {
    let (a, b) = (host(a), host(b));
    let scale = b.iter().fold(1.0_f64, |scale, x| scale.max(x.abs()));
    a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= tolerance * scale)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_matrices_satisfy_the_definitions(Random { size, columns, root, rhs } in random()) {
        let root = array(root, [size, size]).unwrap();
        let a = add_diagonal(root.clone().matmul(root.transpose()), 0.5);
        let b = array(rhs, [size, columns]).unwrap();
        let factor = cholesky(a.clone());
        prop_assert!(close(&factor.clone().matmul(factor.clone().transpose()), &a, 1e-12));
        prop_assert!(host(&diagonal(factor.clone())).iter().all(|pivot| *pivot > 0.0));
        prop_assert_eq!(host(&lower_triangle(factor.clone())), host(&factor));

        // A solution in two steps is the solution in one, and the matrix times it is the right-hand side.
        let x = solve_positive_definite(a.clone(), b.clone());
        prop_assert!(close(&a.clone().matmul(x.clone()), &b, 1e-10));
        let steps = solve_lower_transposed(factor.clone(), solve_lower(factor.clone(), b.clone()));
        prop_assert!(close(&steps, &x, 1e-10));
        prop_assert!(close(&solve_factored(factor.clone(), b.clone()), &x, 1e-10));
        let upper = factor.clone().transpose();
        let steps = solve_upper(upper.clone(), solve_upper_transposed(upper, b));
        prop_assert!(close(&steps, &x, 1e-10));

        // The determinant of a multiple.
        let doubled = log_determinant(cholesky(a * 2.0)) - log_determinant(factor);
        prop_assert!((host(&doubled)[0] - size as f64 * 2.0_f64.ln()).abs() < 1e-10);
    }
}
