//! All constraints, compiled: values, Jacobians and gradients.

use sgmcmc::Layout;
use sgmcmc::TreeLayout;
use sgmcmc::data::{Precision, Rows};
use sgmcmc::prelude::*;
use sgmcmc_testkit::models::normals;

use sgmcmc_testkit::closures::compare::Engines;

const SHAPES: [(Constraint, [usize; 2]); 13] = [
    (Constraint::Positive, [1, 3]),
    (Constraint::Lower(-2.0), [2, 2]),
    (Constraint::Upper(5.0), [1, 2]),
    (Constraint::Interval(-1.0, 3.0), [3, 1]),
    (Constraint::UnitInterval, [1, 2]),
    (Constraint::Mirrored, [2, 2]),
    (Constraint::Simplex, [1, 4]),
    (Constraint::Simplex, [3, 2]),
    (Constraint::Ordered, [2, 4]),
    (Constraint::PositiveOrdered, [1, 3]),
    (Constraint::UnitVector, [2, 3]),
    (Constraint::CholeskyCorrelation, [4, 4]),
    (Constraint::Softmax, [2, 3]),
];

/// A value inside the constraint.
fn start(constraint: Constraint, shape: [usize; 2], precision: Precision) -> Tensor<2> {
    let zero = array(vec![0.0; shape[0] * shape[1]], shape).unwrap();
    let layout = Layout::from_tree(&zero).unwrap();
    let name = layout.blocks()[0].name.clone();
    let layout = layout.constrained(&name, constraint).unwrap();
    let values = layout.values(&vec![0.125; layout.dim()]).unwrap();
    array(values, shape).unwrap().cast(sgmcmc::dtype(precision))
}

#[test]
fn as_densities_agree() {
    for ((constraint, shape), precision) in
        SHAPES.iter().flat_map(|s| [Precision::Single, Precision::Double].map(|p| (*s, p)))
    {
        let model = Model::density(|x: Tensor<2>| (x.clone().square() * -0.5 + x.sin()).sum());
        let name = Layout::from_tree(&start(constraint, shape, precision)).unwrap().blocks()[0].name.clone();
        let model = model.constrain(name, constraint).prior_power(0.25).unwrap().temperature(2.0).unwrap();
        let mut engines = Engines::new(&model, &Dataset::none(), |p| start(constraint, shape, p), precision).unwrap();
        for seed in 0..5 {
            let theta: Vec<f64> = normals(engines.compiled.dim(), seed).iter().map(|x| f64::from(*x as f32)).collect();
            engines.assert_agree(&constraint.to_string(), &theta, Rows::range(0..0));
        }
    }
}

#[test]
fn with_a_likelihood_agree() {
    let y: Vec<f64> = normals(50, 4).iter().map(|x| f64::from(*x as f32)).collect();
    let data = Dataset::new(array(y, [50]).unwrap()).unwrap();
    for ((constraint, shape), precision) in
        SHAPES.iter().flat_map(|s| [Precision::Single, Precision::Double].map(|p| (*s, p)))
    {
        let model = Model::new(|x: Tensor<2>, y: Tensor<1>| {
            let weights = (x.clone() * 1.5).tanh().sum_dim(1).sum_dim(0).squeeze_dim::<1>(1);
            (y - weights).square() * -0.5 + x.sin().sum()
        });
        let name = Layout::from_tree(&start(constraint, shape, precision)).unwrap().blocks()[0].name.clone();
        let model = model.constrain(name, constraint).temperature(4.0).unwrap();
        let mut engines = Engines::new(&model, &data, |p| start(constraint, shape, p), precision).unwrap();
        for seed in 0..2 {
            let theta: Vec<f64> = normals(engines.compiled.dim(), seed).iter().map(|x| f64::from(*x as f32)).collect();
            engines.assert_agree(&constraint.to_string(), &theta, Rows::range(7..19));
        }
    }
}
