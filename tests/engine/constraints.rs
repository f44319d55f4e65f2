//! Constraints: inverse of each other, with the right Jacobian, once; and start values outside them refused by name.

use proptest::prelude::*;
use sgmcmc::TreeLayout;
use sgmcmc::data::Rows;
use sgmcmc::default_device;
use sgmcmc::gradient::Evaluator;
use sgmcmc::prelude::*;
use sgmcmc::{Constraint, Layout};
use sgmcmc_testkit::differences::central_differences;
use sgmcmc_testkit::relative_error;

/// A constraint on a parameter of some shape, and the values that determine the rest.
struct Case {
    constraint: Constraint,
    shape: Vec<usize>,
    /// Places of as many independent values as there are coordinates.
    independent: Vec<usize>,
}

fn cases() -> Vec<Case> {
    let each = |constraint, n: usize| Case { constraint, shape: vec![n], independent: (0..n).collect() };
    vec![
        each(Constraint::Positive, 3),
        each(Constraint::Lower(-2.0), 2),
        each(Constraint::Upper(5.0), 2),
        each(Constraint::Interval(-1.0, 3.0), 3),
        each(Constraint::UnitInterval, 2),
        each(Constraint::Mirrored, 3),
        each(Constraint::Ordered, 4),
        each(Constraint::Ordered, 1),
        each(Constraint::PositiveOrdered, 4),
        Case { constraint: Constraint::Simplex, shape: vec![4], independent: vec![0, 1, 2] },
        Case { constraint: Constraint::Simplex, shape: vec![2, 3], independent: vec![0, 1, 3, 4] },
        Case { constraint: Constraint::PositiveOrdered, shape: vec![2, 2], independent: vec![0, 1, 2, 3] },
        Case { constraint: Constraint::CholeskyCorrelation, shape: vec![2, 2], independent: vec![2] },
        Case { constraint: Constraint::CholeskyCorrelation, shape: vec![4, 4], independent: vec![4, 8, 9, 12, 13, 14] },
    ]
}

fn evaluator(case: &Case) -> Box<dyn Evaluator> {
    let flat = Model::density(|p: Named| match p.names().next() {
        Some("vector") => p.get::<1>("vector").sum() * 0.0,
        _ => p.get::<2>("matrix").sum() * 0.0,
    });
    let start = start(case);
    let name = if case.shape.len() == 1 { "vector" } else { "matrix" };
    flat.constrain(name, case.constraint).with(&Dataset::none()).evaluator(&start).unwrap()
}

/// Values inside the constraint.
fn start(case: &Case) -> Named {
    let template = |values: Vec<f64>| match case.shape.as_slice() {
        [n] => Named::new().with("vector", array(values, [*n]).unwrap()),
        [n, m] => Named::new().with("matrix", array(values, [*n, *m]).unwrap()),
        other => panic!("no test of shape {other:?}"),
    };
    let size = case.shape.iter().product();
    let name = if case.shape.len() == 1 { "vector" } else { "matrix" };
    let layout = Layout::from_tree(&template(vec![0.0; size])).unwrap().constrained(name, case.constraint).unwrap();
    template(layout.values(&vec![0.1; layout.dim()]).unwrap())
}

fn log_determinant(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    let mut log = 0.0;
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs())).unwrap();
        a.swap(k, pivot);
        log += a[k][k].abs().ln();
        let top = a[k].clone();
        for row in a.iter_mut().skip(k + 1) {
            let factor = row[k] / top[k];
            row.iter_mut().zip(&top).for_each(|(value, top)| *value -= factor * top);
        }
    }
    log
}

/// log |∂x/∂y| by central differences of the values.
fn log_jacobian_by_differences(layout: &Layout, independent: &[usize], y: &[f64]) -> f64 {
    let h = 1e-5;
    let columns: Vec<Vec<f64>> = (0..y.len())
        .map(|k| {
            let shifted = |h: f64| {
                let mut y = y.to_vec();
                y[k] += h;
                layout.values(&y).unwrap()
            };
            let (above, below) = (shifted(h), shifted(-h));
            independent.iter().map(|i| (above[*i] - below[*i]) / (2.0 * h)).collect()
        })
        .collect();
    log_determinant(columns)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn jacobians_agree_with_differences(free in prop::collection::vec(-2.5..2.5_f64, 6)) {
        for case in cases() {
            let mut evaluator = evaluator(&case);
            let layout = evaluator.layout().clone();
            let y = &free[..layout.dim()];
            let expected = log_jacobian_by_differences(&layout, &case.independent, y);
            let found = evaluator.log_density(y, Rows::range(0..0)).unwrap();
            prop_assert!((found - expected).abs() < 1e-7, "{}: {found} against {expected}", case.constraint);
            let mut gradient = vec![0.0; y.len()];
            evaluator.posterior(y, Rows::range(0..0), &mut gradient).unwrap();
            let differences = central_differences(evaluator.as_mut(), y, Rows::range(0..0)).unwrap();
            let off = gradient.iter().zip(&differences).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            prop_assert!(off < 1e-8, "{}: gradient {gradient:?} against {differences:?}", case.constraint);
        }
    }

    #[test]
    fn coordinates_and_values_are_inverse(free in prop::collection::vec(-12.0..12.0_f64, 6)) {
        for case in cases() {
            let layout = evaluator(&case).layout().clone();
            let y = &free[..layout.dim()];
            let x = layout.values(y).unwrap();
            // At twelve, one minus a probability has lost six digits; what is left must agree.
            let back = layout.values(&layout.coordinates(&x).unwrap()).unwrap();
            prop_assert!(relative_error(&back, &x) < 1e-12, "{}: {x:?} became {back:?}", case.constraint);
        }
    }

    #[test]
    fn nothing_breaks_far_out(free in prop::collection::vec(prop_oneof![Just(-300.0), Just(300.0), -40.0..40.0_f64], 6)) {
        for case in cases() {
            let mut evaluator = evaluator(&case);
            let y = &free[..evaluator.dim()];
            let mut gradient = vec![0.0; y.len()];
            let value = evaluator.posterior(y, Rows::range(0..0), &mut gradient).unwrap();
            prop_assert!(value.is_finite() && gradient.iter().all(|g| g.is_finite()), "{}: {value} {gradient:?}", case.constraint);
            prop_assert!(evaluator.layout().values(y).unwrap().iter().all(|x| x.is_finite()));
        }
    }
}

/// Closures, draws and summaries show the same values.
#[test]
fn closures_see_the_values_of_the_layout() {
    for case in cases() {
        let weights: Vec<f64> = (0..case.shape.iter().product()).map(|i| 1.0 + f64::from(i as u32)).collect();
        let shape = case.shape.clone();
        let held = weights.clone();
        let model = Model::density(move |p: Named| match shape.as_slice() {
            [n] => (p.get::<1>("vector") * array(held.clone(), [*n]).unwrap()).sum(),
            [n, m] => (p.get::<2>("matrix") * array(held.clone(), [*n, *m]).unwrap()).sum(),
            _ => unreachable!("checked by `start`"),
        });
        let name = if case.shape.len() == 1 { "vector" } else { "matrix" };
        let model = model.constrain(name, case.constraint);
        let mut evaluator = model.with(&Dataset::none()).evaluator(&start(&case)).unwrap();
        let mut jacobian = self::evaluator(&case);
        let y: Vec<f64> = (0..evaluator.dim()).map(|i| 0.7 - 0.4 * i as f64).collect();
        let x = evaluator.layout().values(&y).unwrap();
        let expected = x.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>();
        let rows = Rows::range(0..0);
        let found = evaluator.log_density(&y, rows).unwrap() - jacobian.log_density(&y, rows).unwrap();
        assert!((found - expected).abs() < 1e-12 * expected.abs().max(1.0), "{}: {found}, {expected}", case.constraint);
    }
}

#[test]
fn values_are_what_they_are_declared_to_be() {
    for case in cases() {
        let layout = evaluator(&case).layout().clone();
        let x = layout.values(&vec![0.3; layout.dim()]).unwrap();
        let last = *case.shape.last().unwrap();
        let holds = match case.constraint {
            Constraint::Positive => x.iter().all(|x| *x > 0.0),
            Constraint::Mirrored => x.iter().all(|x| *x >= 0.0),
            Constraint::Lower(a) => x.iter().all(|x| *x > a),
            Constraint::Upper(b) => x.iter().all(|x| *x < b),
            Constraint::Interval(a, b) => x.iter().all(|x| a < *x && *x < b),
            Constraint::UnitInterval => x.iter().all(|x| 0.0 < *x && *x < 1.0),
            Constraint::Simplex => x.chunks(last).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-14),
            Constraint::Ordered => x.chunks(last).all(|row| row.is_sorted()),
            Constraint::PositiveOrdered => x.chunks(last).all(|row| row[0] > 0.0 && row.is_sorted()),
            Constraint::CholeskyCorrelation => {
                x.chunks(last).all(|row| (row.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-14)
            }
            other => panic!("no test of {other}"),
        };
        assert!(holds, "{}: {x:?}", case.constraint);
    }
}

/// Stan's convention: the free vector is standard normal under a uniform direction.
#[test]
fn a_unit_vector_has_a_normal_free_vector() {
    let model = Model::density(|p: Tensor<1>| p.sum() * 0.0).constrain("theta", Constraint::UnitVector);
    let mut evaluator = model.with(&Dataset::none()).evaluator(&array(vec![0.6, 0.8], [2]).unwrap()).unwrap();
    let mut gradient = [0.0; 2];
    let value = evaluator.posterior(&[3.0, -4.0], Rows::range(0..0), &mut gradient).unwrap();
    assert!((value + 12.5).abs() < 1e-12);
    assert!(relative_error(&gradient, &[-3.0, 4.0]) < 1e-12);
    assert_eq!(evaluator.layout().values(&[3.0, -4.0]).unwrap(), [0.6, -0.8]);
}

/// The eʸ are standard exponential variates under a uniform simplex.
#[test]
fn a_softmax_has_exponential_free_values() {
    let model = Model::density(|p: Tensor<1>| p.sum() * 0.0).constrain("theta", Constraint::Softmax);
    let mut evaluator = model.with(&Dataset::none()).evaluator(&array(vec![0.25, 0.75], [2]).unwrap()).unwrap();
    let (y, mut gradient) = ([2.0_f64.ln(), 6.0_f64.ln()], [0.0; 2]);
    let value = evaluator.posterior(&y, Rows::range(0..0), &mut gradient).unwrap();
    assert!((value - (12.0_f64.ln() - 8.0)).abs() < 1e-12);
    assert!(relative_error(&gradient, &[-1.0, -5.0]) < 1e-12);
    assert!(relative_error(&evaluator.layout().values(&y).unwrap(), &[0.25, 0.75]) < 1e-14);
    // Coordinates beyond the range of the exponential function.
    let values = evaluator.layout().values(&[-1e6, 1e6]).unwrap();
    assert_eq!(values, [0.0, 1.0]);
}

#[derive(TensorTree)]
struct Mixture {
    #[tree(positive)]
    sigma: Tensor<1>,
    #[tree(simplex)]
    weights: Tensor<1>,
    #[tree(ordered)]
    centers: Tensor<1>,
}

/// log Σₖ wₖ N(x; cₖ, σ²) without constants, and a prior of all three.
fn mixture() -> (Model<Mixture, Tensor<1>>, Mixture) {
    let model = Model::new(|p: Mixture, x: Tensor<1>| {
        let scaled = (x.unsqueeze_dim::<2>(1) - p.centers.unsqueeze_dim(0)) / p.sigma.clone().unsqueeze_dim(0);
        let terms = scaled.square() * -0.5 + p.weights.log().unsqueeze_dim(0);
        terms.exp().sum_dim(1).squeeze_dim::<1>(1).log() - p.sigma.log()
    })
    .prior(|p: Mixture| p.sigma.log() * -2.0 + p.centers.square().sum() * -0.05 + p.weights.log().sum());
    let start = Mixture {
        sigma: full([1], 0.5),
        weights: array(vec![0.25, 0.75], [2]).unwrap(),
        centers: array(vec![-1.0, 2.0], [2]).unwrap(),
    };
    (model, start)
}

#[test]
fn a_mixture_has_the_right_gradient_in_its_free_coordinates() {
    let (model, start) = mixture();
    let x = sgmcmc_testkit::models::normals(20, 3);
    let data = Dataset::new(array(x.clone(), [20]).unwrap()).unwrap();
    let mut evaluator = model.with(&data).evaluator(&start).unwrap();
    let layout = evaluator.layout().clone();
    assert_eq!(layout.flatten(&start).unwrap().len(), 4);
    let names: Vec<_> = (0..4).map(|i| layout.coordinate_name(i)).collect();
    assert_eq!(names, ["sigma", "weights~0", "centers[0]", "centers[1]"]);
    assert_eq!(layout.value_names(), ["sigma", "weights[0]", "weights[1]", "centers[0]", "centers[1]"]);

    let y = [-0.4_f64, 0.8, -0.7, 0.3];
    let (sigma, w) = (y[0].exp(), 1.0 / (1.0 + (-y[1]).exp()));
    let (a, b) = (y[2], y[2] + y[3].exp());
    let component = |x: f64, center: f64| (-0.5 * ((x - center) / sigma).powi(2)).exp();
    let likelihood: f64 = x.iter().map(|x| (w * component(*x, a) + (1.0 - w) * component(*x, b)).ln() - y[0]).sum();
    let prior = -2.0 * y[0] - 0.05 * (a * a + b * b) + (w * (1.0 - w)).ln();
    // One Jacobian each: σ gives y₀, the weights log w(1 − w), the centers y₃.
    let expected = likelihood + prior + y[0] + (w * (1.0 - w)).ln() + y[3];
    let mut gradient = [0.0; 4];
    let found = evaluator.posterior(&y, Rows::range(0..20), &mut gradient).unwrap();
    assert!((found - expected).abs() < 1e-10 * expected.abs(), "{found} against {expected}");
    let differences = central_differences(evaluator.as_mut(), &y, Rows::range(0..20)).unwrap();
    assert!(relative_error(&gradient, &differences) < 1e-7);

    // In parts, in chunks and tempered, the Jacobian still enters exactly once and at full strength.
    let (mut parts, rows) = ([0.0; 4], Rows::range(0..20));
    let value = evaluator.prior(&y, &mut parts).unwrap() + evaluator.likelihood(&y, rows, &mut parts).unwrap();
    assert!((value - expected).abs() < 1e-10 * expected.abs() && relative_error(&parts, &gradient) < 1e-12);
    let mut chunked = model.with(&data).chunk_rows(6).evaluator(&start).unwrap();
    let mut other = [0.0; 4];
    chunked.posterior(&y, rows, &mut other).unwrap();
    assert!(relative_error(&other, &gradient) < 1e-12);
    let hot = model.temperature(2.0).unwrap().with(&data).evaluator(&start).unwrap().log_density(&y, rows).unwrap();
    let jacobian = y[0] + (w * (1.0 - w)).ln() + y[3];
    assert!((hot - (0.5 * (likelihood + prior) + jacobian)).abs() < 1e-10 * expected.abs());
}

#[test]
fn constraints_can_be_declared_at_run_time() {
    let (model, start) = mixture();
    let data = Dataset::new(array(vec![0.5, 1.0], [2]).unwrap()).unwrap();
    let narrower = model.clone().constrain("sigma", Constraint::Interval(0.0, 1.0));
    let evaluator = narrower.with(&data).evaluator(&start).unwrap();
    assert_eq!(evaluator.layout().block("sigma").unwrap().constraint, Some(Constraint::Interval(0.0, 1.0)));
    let unknown = model.constrain("tau", Constraint::Positive).with(&data).evaluator(&start).unwrap_err();
    assert!(unknown.to_string().contains("no parameter `tau`"), "{unknown}");
}

#[derive(TensorTree)]
struct Bounds {
    #[tree(lower(1))]
    above: Tensor<1>,
    #[tree(upper(2.0))]
    below: Tensor<1>,
    #[tree(interval(0, 2.5), rename = "mid")]
    between: Tensor<1>,
    #[tree(unit_interval)]
    share: Tensor<1>,
    #[tree(mirrored)]
    size: Tensor<1>,
    #[tree(positive_ordered)]
    steps: Tensor<1>,
    #[tree(unit_vector)]
    direction: Tensor<1>,
    #[tree(cholesky_correlation)]
    factor: Tensor<2>,
    #[tree(softmax)]
    probabilities: Tensor<1>,
}

fn bounds() -> Bounds {
    Bounds {
        above: full([1], 1.5),
        below: full([1], 1.5),
        between: full([1], 1.5),
        share: full([2], 0.5),
        size: full([2], 0.5),
        steps: array(vec![1.0, 2.0], [2]).unwrap(),
        direction: array(vec![0.0, 1.0], [2]).unwrap(),
        factor: array(vec![1.0, 0.0, 0.6, 0.8], [2, 2]).unwrap(),
        probabilities: array(vec![0.25, 0.75], [2]).unwrap(),
    }
}

#[test]
fn every_constraint_can_be_declared_on_a_field() {
    let layout = Layout::from_tree(&bounds()).unwrap();
    let declared: Vec<_> = layout.blocks().iter().map(|block| block.constraint.unwrap()).collect();
    let expected = [
        Constraint::Lower(1.0),
        Constraint::Upper(2.0),
        Constraint::Interval(0.0, 2.5),
        Constraint::UnitInterval,
        Constraint::Mirrored,
        Constraint::PositiveOrdered,
        Constraint::UnitVector,
        Constraint::CholeskyCorrelation,
        Constraint::Softmax,
    ];
    assert_eq!(declared, expected);
    let theta = layout.flatten(&bounds()).unwrap();
    let back = layout.unflatten(&bounds(), &theta, &default_device()).unwrap();
    assert!(relative_error(&layout.flatten(&back).unwrap(), &theta) < 1e-14);
}

#[test]
fn start_values_outside_the_support_are_refused_by_name() {
    let refused = |params: Bounds| Layout::from_tree(&bounds()).unwrap().flatten(&params).unwrap_err().to_string();
    let check = |message: String, element: &str, bound: &str| {
        assert!(message.contains(&format!("start value of `{element}`")), "{message}");
        assert!(message.contains(bound), "{message}");
    };
    check(refused(Bounds { above: full([1], 1.0), ..bounds() }), "above", "is 1: `above` must be greater than 1");
    check(refused(Bounds { below: full([1], 3.0), ..bounds() }), "below", "must be less than 2");
    check(refused(Bounds { between: full([1], -0.5), ..bounds() }), "mid", "must be between 0 and 2.5");
    let share = array(vec![0.5, 1.5], [2]).unwrap();
    check(refused(Bounds { share, ..bounds() }), "share[1]", "is 1.5: `share` must be between 0 and 1");
    let steps = array(vec![2.0, 1.0], [2]).unwrap();
    check(refused(Bounds { steps, ..bounds() }), "steps[1]", "increasing");
    check(refused(Bounds { direction: full([2], 1.0), ..bounds() }), "direction[0]", "norm 1");
    check(refused(Bounds { factor: full([2, 2], 0.7), ..bounds() }), "factor[0,1]", "Cholesky");
    let simplex = Layout::from_tree(&zeros([2])).unwrap().constrained("theta", Constraint::Simplex).unwrap();
    let error = simplex.flatten(&array(vec![0.4, 0.7], [2]).unwrap()).unwrap_err().to_string();
    check(error, "theta[1]", "adding up to 1");
}

#[test]
fn impossible_constraints_are_explained() {
    let refused =
        |constraint| Layout::from_tree(&zeros([1])).unwrap().constrained("theta", constraint).unwrap_err().to_string();
    let interval = refused(Constraint::Interval(2.0, 1.0));
    assert!(interval.contains("`theta`") && interval.contains("below the upper"), "{interval}");
    assert!(refused(Constraint::Simplex).contains("at least 2 entries"));
    assert!(refused(Constraint::CholeskyCorrelation).contains("square"));
    assert!(refused(Constraint::Lower(f64::NAN)).contains("finite"));
}
