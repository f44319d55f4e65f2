//! The groups of arrays that a described model adds to its fit.

use sgmcmc::distributions::*;
use sgmcmc::prelude::*;

use super::{fit_of, layout};

#[derive(TensorTree)]
struct Mean {
    #[tree(prior = Normal::new(1.0, 2.0))]
    theta: Tensor<1>,
}

#[derive(TensorTree)]
struct Rows {
    x: Tensor<1>,
    y: Tensor<2>,
    count: Tensor<1>,
}

const X: [f64; 3] = [0.0, 1.0, 2.0];

fn data() -> Dataset<Rows> {
    let x = array(X.to_vec(), [3]).unwrap();
    let y = array(vec![0.5, 1.5, 2.5, 3.5, 4.5, 5.5], [3, 2]).unwrap();
    Dataset::new(Rows { x, y, count: array(vec![3.0, 1.0, 4.0], [3]).unwrap() }).unwrap()
}

fn start() -> Mean {
    Mean { theta: ones([1]) }
}

/// A fit of two chains of 400 and 500 draws, θ = 3 in all.
fn fit() -> Fit {
    let chain = |draws: usize| vec![vec![3.0]; draws];
    fit_of(layout(&[("theta", &[1])]), &[chain(400), chain(500)])
}

#[test]
fn all_groups_of_several_observed_leaves_are_added() {
    let model = Model::observe(
        |p: Mean, r: Rows| {
            let means = (p.theta.clone() + r.x.clone()).unsqueeze_dim::<2>(1).repeat_dim(1, 2);
            (Normal::new(means, 0.5), Poisson::new(p.theta + r.x))
        },
        |r: Rows| (r.y, r.count),
    );
    let posterior = model.with(&data());
    let full = posterior.with_groups(fit(), &start(), 1).unwrap();
    let variable = |group: &str, name: &str| full.group(group).unwrap().variable(name).unwrap();

    assert_eq!(variable("observed_data", "y").shape, [3, 2]);
    assert_eq!(variable("observed_data", "y").values, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
    assert_eq!(variable("observed_data", "count").values, [3.0, 1.0, 4.0]);
    let pointwise = fit().pointwise_log_likelihood(&posterior, &start()).unwrap();
    assert_eq!(variable("log_likelihood", "observations").shape, [2, 500, 3]);
    assert!(full.log_likelihood().unwrap().rows().eq(pointwise.rows()));

    // Means of the replications: θ + x with standard deviations 0.5, and √(θ + x) of the counts.
    assert_eq!(variable("posterior_predictive", "y").shape, [2, 500, 3, 2]);
    assert_eq!(variable("posterior_predictive", "count").shape, [2, 500, 3]);
    for (name, width, sd) in [("y", 6, [0.5; 3]), ("count", 3, X.map(|x| (3.0 + x).sqrt()))] {
        let drawn = variable("posterior_predictive", name);
        let rows = || (0..2).flat_map(|chain| (0..[400, 500][chain]).map(move |draw| drawn.row(chain, draw)));
        for index in 0..width {
            let row = index * 3 / width;
            let mean = rows().map(|row| row[index]).sum::<f64>() / 900.0;
            let error = sd[row] / 30.0;
            assert!((mean - 3.0 - X[row]).abs() < 4.5 * error, "{name}[{index}]: {mean} ± {error}");
            let variance = rows().map(|row| (row[index] - mean).powi(2)).sum::<f64>() / 899.0;
            assert!((variance / sd[row].powi(2) - 1.0).abs() < 0.25, "{name}[{index}]: variance {variance}");
        }
        // The shorter chain is padded.
        assert!(drawn.row(0, 450).iter().all(|value| value.is_nan()));
    }

    let prior = variable("prior", "theta");
    assert_eq!(prior.shape, [1, 1000]);
    let mean = prior.values.iter().sum::<f64>() / 1000.0;
    let variance = prior.values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 999.0;
    assert!((mean - 1.0).abs() < 0.3 && (variance / 4.0 - 1.0).abs() < 0.25, "{mean} {variance}");

    let again = posterior.with_groups(fit(), &start(), 1).unwrap();
    let other = posterior.with_groups(fit(), &start(), 2).unwrap();
    let bits = |fit: &Fit| -> Vec<u64> {
        fit.group("posterior_predictive").unwrap().variables[0].values.iter().map(|x| x.to_bits()).collect()
    };
    assert!(bits(&full) == bits(&again) && bits(&full) != bits(&other));
}

#[test]
fn models_without_priors_have_no_prior_group() {
    let model = Model::observe(|theta: Tensor<1>, _: Tensor<1>| Normal::new(theta, 1.0), |y: Tensor<1>| y);
    let data = Dataset::new(array(vec![0.5, 1.5], [2]).unwrap()).unwrap();
    let fit = fit_of(layout(&[("theta", &[1])]), &[vec![vec![0.5]; 20]]);
    let full = model.with(&data).with_groups(fit.clone(), &zeros([1]), 1).unwrap();
    assert!(full.group("prior").is_none() && full.group("posterior_predictive").is_some());
    let density = Model::new(|theta: Tensor<1>, x: Tensor<1>| (x - theta).square() * -0.5);
    let error = density.with(&data).with_groups(fit, &zeros([1]), 1).unwrap_err().to_string();
    assert!(error.contains("Model::observe"), "{error}");
}
