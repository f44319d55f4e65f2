//! Runs of updates alone, their order, and their view of the chain.

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc::algorithms::{UpdateContext, UpdatesOnly};
use sgmcmc::data::Rows;
use sgmcmc::gradient::MinibatchGradient;
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::presets::updates_only;

use super::*;

fn start() -> Params {
    Params { theta: full([1], 1.0), tau: full([1], 1.0) }
}

/// θ | τ, x is normal.
fn draw_theta(x: Vec<f64>) -> impl FnMut(&mut UpdateContext<'_>) -> Result<(), Error> + Send + Clone {
    move |context| {
        let tau = context.get("tau")?[0];
        let precision = tau * x.len() as f64 + 0.01;
        let z: f64 = context.rng().sample(StandardNormal);
        context.set("theta", &[tau * x.iter().sum::<f64>() / precision + z / precision.sqrt()])
    }
}

#[test]
fn a_gibbs_sampler_finds_the_posterior() {
    let (x, data) = data();
    let (first, second) = (x.clone(), x.clone());
    let run = updates_only(&model(), &data)
        .update(move |_| draw_theta(first.clone()))
        .gibbs(move |_| update(second.clone()))
        .chains(2)
        .seed(4);
    let fit = run.sample(&start(), 10_000).unwrap();
    let (theta, tau) = exact(&x);
    for (name, expected) in [("theta", theta), ("tau", tau)] {
        let row = *fit.summary().row(name).unwrap();
        let error = row.sd / row.ess_bulk.sqrt();
        assert!((row.mean - expected).abs() < 4.0 * error, "{name}: {} ± {error} against {expected}", row.mean);
        assert!(error < 0.01 * expected, "{name}: the error {error} would hide a wrong update");
    }
    assert!(matches!(fit.info().bias, sgmcmc::fit::Bias::Exact));
}

#[test]
fn updates_run_in_the_order_given() {
    let double = |context: &mut UpdateContext<'_>| {
        let theta = context.get("theta")?[0];
        context.set("theta", &[2.0 * theta])
    };
    let increase = |values: &mut Values<'_>, _: &mut StreamRng| {
        let theta = values.get("theta")?[0];
        values.set("theta", &[theta + 1.0])
    };
    let (_, data) = data();
    let run = || updates_only(&model(), &data);
    let theta = |run: Builder<Posterior<Params, Tensor<1>>, UpdatesOnly, FullGradient>| {
        run.sample(&start(), 3).unwrap().element("theta").unwrap().remove(0)
    };
    assert_eq!(theta(run().update(move |_| double).gibbs(move |_| increase)), [3.0, 7.0, 15.0]);
    assert_eq!(theta(run().gibbs(move |_| increase).update(move |_| double)), [4.0, 10.0, 22.0]);
}

/// The densities in the context of an update are those of the values, at the values that it sets.
#[test]
fn an_update_sees_the_densities_the_minibatch_and_the_iteration() {
    let (x, data) = data();
    let normal =
        |x: f64, theta: f64, tau: f64| 0.5 * (tau / std::f64::consts::TAU).ln() - 0.5 * tau * (x - theta).powi(2);
    let (theta, tau) = (0.4_f64, 2.5_f64);
    let prior = normal(theta, 0.0, 0.01) + A * B.ln() - 2.0_f64.ln() + (A - 1.0) * tau.ln() - B * tau;
    let likelihood = |row: usize| normal(x[row], theta, tau);
    let whole = prior + (0..N).map(likelihood).sum::<f64>();
    let expected: Vec<f64> = (0..N).map(likelihood).collect();
    let check = move |context: &mut UpdateContext<'_>| {
        context.set("theta", &[theta])?;
        context.set("tau", &[tau])?;
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} against {b}");
        close(context.log_density()?, whole);
        close(context.log_prior()?, prior);
        close(context.log_jacobian()?, tau.ln());
        close(context.log_likelihood(Rows::range(3..5))?, expected[3] + expected[4]);
        let batch = context.minibatch()?;
        assert_eq!((batch.len(), context.observations()), (8, N));
        let mut each = [0.0; 8];
        context.log_likelihood_per_observation(batch, &mut each)?;
        let mut sum = 0.0;
        for ((row, weight), found) in batch.iter().zip(each) {
            close(found, expected[row]);
            close(weight, 5.0);
            sum += weight * found;
        }
        close(context.log_likelihood(batch)?, sum);
        assert_eq!(context.coordinates("tau")?, [tau.ln()]);
        assert!(context.iteration() == 1 || context.iteration() == 2);
        Ok::<(), Error>(())
    };
    let gradient = MinibatchGradient::new(WithoutReplacement::new(8));
    let run = Builder::new(model().with(&data), UpdatesOnly, gradient, 1.0).update(move |_| check.clone());
    let mut sampler = run.start(&start()).unwrap();
    sampler.step().unwrap();
    sampler.step().unwrap();
}
