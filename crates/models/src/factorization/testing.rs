//! Comparisons of averages with expectations.

use sgmcmc_diagnostics::mcse_mean;

/// The largest accepted difference in Monte Carlo standard errors. With the hundreds of comparisons of a test, four
/// would fail by chance in one of twenty runs with another seed.
const ERRORS: f64 = 4.5;

/// Returns the mean and its standard error for independent draws.
fn mean_and_error(draws: &[f64]) -> [f64; 2] {
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / n;
    let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    [mean, (variance / n).sqrt()]
}

/// Asserts that the mean of independent draws is `expected` within 4.5 standard errors.
pub(crate) fn assert_mean(draws: &[f64], expected: f64, what: &str) {
    let [mean, error] = mean_and_error(draws);
    let tolerance = ERRORS * error + 1e-12;
    assert!((mean - expected).abs() <= tolerance, "{what}: {mean} instead of {expected} ± {error}");
}

/// Asserts that the draws of a chain and independent draws have the same mean, within 4.5 standard errors.
pub(crate) fn assert_same_mean(chain: &[f64], independent: &[f64], what: &str) {
    let [mean, error] = mean_and_error(independent);
    let found = chain.iter().sum::<f64>() / chain.len() as f64;
    let both = error.hypot(mcse_mean(&[chain]));
    let z = (found - mean) / both;
    assert!(z.abs() < ERRORS, "{what}: {found} instead of {mean}, {z:.1} standard errors");
}

/// Compares a gradient with central differences of `density`, relative to the size of the gradient.
pub(crate) fn assert_gradient(theta: &[f64], gradient: &[f64], mut density: impl FnMut(&[f64]) -> f64) {
    let mut point = theta.to_vec();
    for (index, gradient) in gradient.iter().enumerate() {
        let step = 1e-6 * theta[index].abs().max(1e-2);
        point[index] = theta[index] + step;
        let above = density(&point);
        point[index] = theta[index] - step;
        let below = density(&point);
        point[index] = theta[index];
        let difference = (above - below) / (2.0 * step);
        assert!((difference - gradient).abs() < 1e-5 * (1.0 + gradient.abs()), "{index}: {gradient} and {difference}");
    }
}

/// Asserts that a chain continues bit for bit from a saved state: `make` creates it with a seed.
pub(crate) fn assert_resumes<C: sgmcmc_samplers::chain::Chain>(make: impl Fn(u64) -> C, what: &str) {
    let mut first = make(1);
    (0..7).for_each(|_| first.step().unwrap());
    let saved = first.save().unwrap();
    let mut second = make(2);
    second.step().unwrap();
    second.restore(&saved).unwrap();
    assert_eq!(first.position(), second.position(), "{what}");
    for step in 0..9 {
        first.step().unwrap();
        second.step().unwrap();
        let bits = |chain: &C| chain.position().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&first), bits(&second), "{what}, step {step}");
        assert_eq!(first.info().iterations, second.info().iterations);
    }
    assert_eq!(first.save().unwrap(), second.save().unwrap(), "{what}");
    assert!(second.restore(&saved[..saved.len() / 2]).is_err(), "{what}");
}

/// Asserts that the draws of a run do not depend on the number of threads, and that a run that is resumed from a
/// checkpoint gives the draws of a run without interruption.
pub(crate) fn assert_run_conforms(run: &sgmcmc_samplers::run::ChainRun, what: &str) {
    use sgmcmc_samplers::run::{CheckpointInterval, InMemoryCheckpoints};
    let run = run.clone().chains(3).burn_in(2);
    let in_pool = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run.sample(12)).unwrap()
    };
    let whole = in_pool(1);
    assert!(
        whole.outcomes().iter().all(|outcome| matches!(outcome, sgmcmc_fit::ChainOutcome::Complete)),
        "{what}: {:?}",
        whole.outcomes()
    );
    assert_eq!(whole.chains(), in_pool(3).chains(), "{what}");
    assert_ne!(whole.chains()[0].values(), whole.chains().last().unwrap().values(), "{what}");
    let store = InMemoryCheckpoints::default();
    let saved = run.clone().checkpoint(store.clone(), CheckpointInterval::Steps(3));
    saved.sample(6).unwrap();
    assert_eq!(saved.sample(12).unwrap().chains(), whole.chains(), "{what}");
}
