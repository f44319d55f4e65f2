//! The report of a simulated fit: 60 parameters and 4 chains of 2 000 draws, some of which have not converged.
//! `tests/browser` checks the page.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::fit::{ChainDraws, ChainOutcome, Group, RunInfo, Variable};
use sgmcmc::report::plot::Prior;
use sgmcmc::report::{Report, comparison};
use sgmcmc::rng::StreamRng;
use sgmcmc::sink::Draw;
use sgmcmc::{Constraint, Fit, FitFiles, Layout};

use crate::Result;

const CHAINS: usize = 4;
const DRAWS: usize = 2_000;
const DEFAULT_PARAMETERS: usize = 60;

/// Writes the report to `path`.
///
/// # Errors
///
/// Returns an error if `parameters` is not a number of at least 14 or the file cannot be written.
pub(super) fn run(path: &str, parameters: Option<&str>) -> Result<()> {
    let parameters = parameters.map_or(Ok(DEFAULT_PARAMETERS), str::parse)?;
    let fit = simulate(parameters)?;
    let mut rng = StreamRng::seed_from_u64(7);
    let mut data =
        |shift: f64| -> Vec<f64> { (0..300).map(|_| shift + rng.sample::<f64, _>(StandardNormal)).collect() };
    let observed = data(0.2);
    let replicated = (0..60).map(|i| data(0.2 + 0.005 * f64::from(i - 30))).collect();
    Report::new(&fit)
        .title("Simulated draws")
        .prior("bias", Prior::density(|x| (-x.abs()).exp() / 2.0))
        .prior("sigma", Prior::Draws(data(0.0).iter().map(|x| x.exp()).collect()))
        .predictive("residuals", observed, replicated)
        .write(path)?;
    println!("wrote {path}: {parameters} parameters, {CHAINS} chains, {DRAWS} draws");
    Ok(())
}

/// Writes the pages that `tests/browser` looks at to a directory: `report.html`, `comparison.html`, and `under-way.sgmcmc`, a
/// fit whose chains are not complete.
///
/// # Errors
///
/// Returns an error if a file cannot be written.
pub(super) fn pages(directory: &Path) -> Result<()> {
    run(&directory.join("report.html").to_string_lossy(), None)?;
    let fit = simulate(DEFAULT_PARAMETERS)?;
    fit.clone().with_outcomes(vec![ChainOutcome::Stopped; CHAINS])?.save(directory.join("under-way.sgmcmc"))?;
    let (one, other) = (with_log_likelihood(fit.clone(), 0.0)?, with_log_likelihood(fit, 1.0)?);
    Ok(comparison(&[("linear", &one), ("spline", &other)])?.write(directory.join("comparison.html"))?)
}

/// Adds normal log-likelihoods of 40 observations around the bias plus `shift`.
fn with_log_likelihood(fit: Fit, shift: f64) -> Result<Fit> {
    let draws = fit.element("bias")?;
    let observations: Vec<f64> = (0..40).map(|i| (f64::from(i) * 0.37).sin()).collect();
    let terms = |bias: &f64| {
        let bias = *bias;
        observations.iter().map(move |y| -0.5 * (y - bias - shift).powi(2)).collect::<Vec<f64>>()
    };
    let values = draws.iter().flatten().flat_map(terms).collect();
    let dimensions = ["chain", "draw", "y_dim_0"].map(str::to_owned).to_vec();
    let variable = Variable { name: "y".into(), dimensions, shape: vec![CHAINS, DRAWS, observations.len()], values };
    Ok(fit.with_group(Group { name: "log_likelihood".into(), variables: vec![variable] })?)
}

/// Simulates autoregressive chains. One chain of `beta[0]` has another mean, `beta[1]` mixes slowly, and `W[0,0]` and
/// `W[0,1]` are correlated.
fn simulate(parameters: usize) -> Result<Fit> {
    let rest = parameters.checked_sub(2 + 2 * 5 + 2).ok_or("at least 14 parameters")?;
    let layout = Layout::new([
        ("bias".to_owned(), vec![1], None),
        ("sigma".to_owned(), vec![1], Some(Constraint::Positive)),
        ("W".to_owned(), vec![2, 5], None),
        ("beta".to_owned(), vec![rest + 2], None),
    ])?;
    let chains = (0..CHAINS).map(|chain| simulate_chain(&layout, chain)).collect::<Result<_>>()?;
    Ok(Fit::new(layout, chains)?.with_info(RunInfo {
        algorithm: "SGLD".to_owned(),
        gradient: "control variates around the mode".to_owned(),
        step_size: "1e-4, decreasing".to_owned(),
        observations: 100_000,
        minibatch: Some(500.0),
        seed: 13,
        burn_in: 1_000,
        thin: 5,
        iterations: vec![11_000; CHAINS],
        gradients: vec![11_000; CHAINS],
        seconds: vec![2.9, 3.1, 3.0, 3.2],
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..RunInfo::default()
    }))
}

/// Simulates one chain.
fn simulate_chain(layout: &Layout, chain: usize) -> Result<ChainDraws> {
    let mut rng = StreamRng::seed_from_u64(chain as u64);
    let width = layout.value_count();
    let (first, slow, tied) = (layout.index("beta[0]")?, layout.index("beta[1]")?, layout.index("W[0,1]")?);
    let sigma = layout.index("sigma")?;
    let mut draws = ChainDraws::new(width, vec!["alpha".to_owned()]);
    let mut state = vec![0.0; width];
    let mut values = vec![0.0; width];
    for t in 0..DRAWS {
        for (i, x) in state.iter_mut().enumerate() {
            let autocorrelation: f64 = if i == slow { 0.995 } else { 0.3 + 0.5 * (i % 10) as f64 / 10.0 };
            *x = autocorrelation * *x
                + (1.0 - autocorrelation * autocorrelation).sqrt() * rng.sample::<f64, _>(StandardNormal);
        }
        for (i, value) in values.iter_mut().enumerate() {
            *value = (i as f64 * 0.7).sin() + (0.1 + 0.05 * (i % 7) as f64) * state[i];
        }
        values[first] += if chain == 2 { 0.8 } else { 0.0 };
        values[tied] = 0.9 * values[tied - 1] + 0.05 * state[tied];
        values[sigma] = (0.2 * state[sigma]).exp();
        let log_posterior = -120.0 - 0.5 * state.iter().map(|x| x * x).sum::<f64>();
        let weight = 1e-4 * (1.0 + t as f64 / 500.0).powf(-0.33);
        let alpha = 0.02 + 0.01 * rng.random::<f64>();
        let iteration = 1_000 + 5 * (t as u64 + 1);
        draws.push(&Draw { iteration, values: &values, weight, log_posterior, stats: &[alpha] })?;
    }
    Ok(draws)
}
