//! Operations that change gradients but not values, such as `detach`, at the start or later in a run.

use sgmcmc::algorithms::Sgld;
use sgmcmc::burn::activation::relu;
use sgmcmc::data::Rows;
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::{Error, Evaluator, FullGradient};
use sgmcmc::prelude::*;
use sgmcmc::{Builder, Engine};

const N: usize = 2000;

/// Normal observations, and an indicator that is one in 20 of them.
fn data() -> Dataset<(Tensor<1>, Tensor<1>)> {
    let x: Vec<f64> = (0..N).map(|i| (i as f64 * 0.37).sin()).collect();
    let rare: Vec<f64> = (0..N).map(|i| f64::from(u8::from(i % 100 == 57))).collect();
    Dataset::new((array(x, [N]).unwrap(), array(rare, [N]).unwrap())).unwrap()
}

fn gradient(evaluator: &mut dyn Evaluator, m: f64) -> sgmcmc::gradient::Result<f64> {
    let mut gradient = [0.0];
    let rows = evaluator.all_rows();
    evaluator.posterior(&[m], rows, &mut gradient).map(|_| gradient[0])
}

/// The closure is not compiled, and automatic choice gives the gradient of the eager engine at `m`.
fn runs_eagerly(
    m: f64,
    closure: impl Fn(Tensor<1>, (Tensor<1>, Tensor<1>)) -> Tensor<1> + Clone + Send + Sync + 'static,
) {
    let posterior = Model::new(closure).with(&data());
    let refused = posterior.clone().engine(Engine::Compiled).evaluator(&zeros([1])).unwrap_err().to_string();
    assert!(refused.contains("gradient of"), "{refused}");
    let mut eager = posterior.clone().engine(Engine::Eager).evaluator(&zeros([1])).unwrap();
    let mut auto = posterior.evaluator(&zeros([1])).unwrap();
    assert_eq!(gradient(auto.as_mut(), m), gradient(eager.as_mut(), m));
}

fn squares(m: Tensor<1>, x: Tensor<1>) -> Tensor<1> {
    (x - m).square() * -0.5
}

#[test]
fn detached_far_from_the_start() {
    runs_eagerly(7.0, |m, (x, _)| squares(m.clone(), x) - relu(m - 5.0).detach().square() * 0.1);
    runs_eagerly(-7.0, |m, (x, _)| squares(m.clone(), x) - relu(m.neg() - 5.0).detach().square() * 0.1);
}

#[test]
fn detached_in_rare_rows() {
    runs_eagerly(0.2, |m, (x, rare)| squares(m.clone(), x) + m.detach() * rare * 1000.0);
}

#[test]
fn other_ways_to_stop_gradients() {
    runs_eagerly(0.2, |m, (x, rare)| squares(m.clone(), x) + m.set_require_grad(false) * rare * 1000.0);
    runs_eagerly(0.2, |m, (x, rare)| squares(m.clone(), x) + m.without_autodiff() * rare * 1000.0);
    runs_eagerly(0.2, |m, (x, rare)| squares(m.clone(), x) + (m.inner() * 2.0) * rare * 1000.0);
}

#[test]
fn a_chain_that_comes_to_a_difference_ends() {
    let posterior = Model::new(|m: Tensor<1>, (x, _): (Tensor<1>, Tensor<1>)| {
        squares(m.clone(), x) - relu(m - 1e5).detach().square() * 0.1
    })
    .with(&data());
    let mut evaluator = posterior.engine(Engine::Compiled).evaluator(&zeros([1])).unwrap();
    let rows = [5, 17, 1999];
    let mut step = |m: f64| evaluator.posterior(&[m], Rows::list(&rows), &mut [0.0]);
    // Nothing differs where the comparison at the start was made, however often it is looked at.
    assert!((0..200_000).all(|i| step(f64::from(i % 7)).is_ok()));
    let error = (0..200_000).find_map(|_| step(2e5).err()).expect("it is found").to_string();
    for part in ["the compiled gradient of", "where the eager one is", "detach", "Engine::Eager"] {
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
}

/// The first comparisons of a run are early, so that short runs are compared too.
#[test]
fn a_run_that_comes_to_a_difference_ends_with_its_draws() {
    let closure = |m: Tensor<1>, x: Tensor<1>| squares(m.clone(), x) - relu(m - 1e5).detach().square() * 0.1;
    let far: Vec<f64> = (0..20).map(|i| 2e5 + f64::from(i)).collect();
    let posterior = Model::new(closure).with(&Dataset::new(array(far, [20]).unwrap()).unwrap());
    let run = Builder::new(posterior.engine(Engine::Compiled), Sgld, FullGradient, 1e-2).seed(1);
    let fit = run.sample(&zeros([1]), 2000).unwrap();
    let ChainOutcome::Failed(Error::EnginesDisagree { .. }) = &fit.outcomes()[0] else {
        panic!("{:?}", fit.outcomes());
    };
    assert!((1..200).contains(&fit.chains()[0].len()), "{} draws", fit.chains()[0].len());
}
