//! The constraint `mirrored`.

use sgmcmc::data::Rows;
use sgmcmc::prelude::*;

/// Mirrored coordinates have a symmetric density, and their absolute values the law of the model, whichever sign they have.
#[test]
fn mirrored_parameters_have_a_symmetric_density_and_can_reach_zero() {
    let posterior = exponential().with(&Dataset::none());
    let mut evaluator = posterior.evaluator(&full([1], 1.0)).unwrap();
    let (mut left, mut right) = ([0.0], [0.0]);
    let values = [
        evaluator.posterior(&[-0.7], Rows::range(0..0), &mut left).unwrap(),
        evaluator.posterior(&[0.7], Rows::range(0..0), &mut right).unwrap(),
    ];
    assert_eq!((values, left, right), ([-0.7, -0.7], [1.0], [-1.0]));
    // MALA on an exponential distribution: mean and second moment of |y|, 1 and 2.
    let fit = sgmcmc::presets::mala(&exponential(), &Dataset::none(), 1.5).seed(3).sample(&full([1], 1.0), 100_000);
    let draws = fit.unwrap().element("theta").unwrap().remove(0);
    assert!(draws.iter().all(|x| *x >= 0.0) && draws.iter().any(|x| *x < 1e-3));
    for (power, exact) in [(1, 1.0), (2, 2.0)] {
        let means: Vec<f64> =
            draws.chunks_exact(2000).map(|batch| batch.iter().map(|x| x.powi(power)).sum::<f64>() / 2000.0).collect();
        let mean = means.iter().sum::<f64>() / 50.0;
        let error = (means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (49.0 * 50.0)).sqrt();
        assert!((mean - exact).abs() < 4.0 * error && error < 0.05, "{mean} ± {error} against {exact}");
    }
}

fn exponential() -> Model<Tensor<1>> {
    Model::density(|p: Tensor<1>| p.neg().sum()).constrain("theta", Constraint::Mirrored)
}
