//! Methods that accept or reject, whose law is the posterior itself: besides means and standard deviations their thinned draws are held against
//! the reference draws by Kolmogorov-Smirnov tests. Chains remember, so that draws count by their effective size; with a few dozen
//! parameters in all a right sampler fails for one seed in some hundred.

use std::time::Instant;

use sgmcmc::diagnostics::distance::{ks_p_value, ks_two_sample};
use sgmcmc::diagnostics::ess_bulk;
use sgmcmc::prelude::*;
use sgmcmc::{Dynamics, Fit};

use super::{CHAINS, compare};
use crate::Result;
use crate::posteriordb::Reference;

const FALSE_ALARM: f64 = 1e-4;

const WARM_UP: u64 = 2000;

/// How QNHMC keeps the inverse Hessian, and how long it learns it.
pub(super) type Curvature = (InverseHessian, Learning);

/// All pairs of half the warm-up: for posteriors of about the same curvature everywhere.
pub(super) const EVEN: Curvature = (InverseHessian::Bfgs, Learning::First(WARM_UP / 2));

/// Three pairs of the first iterations: where the curvature is not the same everywhere a dense matrix, which remembers all pairs, ends up too large
/// for all but tiny steps.
pub(super) const UNEVEN: Curvature =
    (InverseHessian::Lbfgs { memory: 3, gamma: Initial::Fixed(1.0) }, Learning::First(100));

/// Samples by MALA, HMC, QNHMC and HMC-BFGS from `start` and compares; how many criteria fail.
pub(super) fn check<P: TensorTree, D: TensorTree>(
    name: &str,
    posterior: &Posterior<P, D>,
    start: &P,
    reference: &[Reference],
    parameters: &[String],
    report: impl Fn(&[f64]) -> Vec<f64>,
    (inverse_hessian, learning): Curvature,
) -> Result<usize> {
    let adapt = |acceptance| Some(DualAveraging { iterations: WARM_UP, acceptance });
    let mala = Mala { adapt: adapt(0.6), ..Mala::default() };
    let hmc = Hmc { steps: 10, jitter: 0.5, adapt: adapt(0.8), ..Hmc::default() };
    let qnhmc = Qnhmc { steps: 10, jitter: 0.5, inverse_hessian, learning, adapt: adapt(0.8), ..Qnhmc::default() };
    let ensemble = HmcBfgs { steps: 10, jitter: 0.5, adapt: adapt(0.8), ..HmcBfgs::default() };
    let report = &report;
    let judge = |method: &str, fit: Fit, seconds: f64| -> Result<usize> {
        let title = format!("{name}, {method}, {seconds:.1} s");
        let failures = compare(&title, reference, &fit, parameters, report)?;
        Ok(failures + compare_laws(&title, reference, &fit, parameters, report)?)
    };
    macro_rules! run {
        ($method:literal, $dynamics:expr, $thin:expr) => {{
            let begin = Instant::now();
            let fit = sample(posterior, $dynamics, start, $thin)?;
            judge($method, fit, begin.elapsed().as_secs_f64())?
        }};
    }
    Ok(run!("MALA", mala, 100) + run!("HMC", hmc, 10) + run!("QNHMC", qnhmc, 10) + run!("HMC-BFGS", ensemble, 50))
}

fn sample<P, D, A>(posterior: &Posterior<P, D>, dynamics: A, start: &P, thin: u64) -> Result<Fit>
where
    P: TensorTree,
    D: TensorTree,
    A: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static,
{
    let run =
        Builder::new(posterior.clone(), dynamics, FullGradient, 1e-3).seed(3).chains(CHAINS).jitter(1.0).thin(thin);
    Ok(run.sample(start, 2500)?)
}

/// Prints the p-value of every parameter, and says how many are too small.
fn compare_laws(
    title: &str,
    reference: &[Reference],
    fit: &Fit,
    parameters: &[String],
    report: &impl Fn(&[f64]) -> Vec<f64>,
) -> Result<usize> {
    let mut failures = 0;
    for Reference { parameter, draws, .. } in reference {
        let Some(index) = parameters.iter().position(|name| name == parameter) else {
            return Err(format!("{title} does not report `{parameter}`").into());
        };
        let series = |chain: &sgmcmc::ChainDraws| chain.rows().map(|row| report(row)[index]).collect::<Vec<f64>>();
        let chains: Vec<Vec<f64>> = fit.chains().iter().map(series).collect();
        let all = chains.concat();
        // The reference draws of posteriordb are thinned until they are independent.
        let (ours, theirs) = (ess_bulk(&chains).min(all.len() as f64), draws.len() as f64);
        let statistic = ks_two_sample(&all, draws).statistic;
        let p_value = ks_p_value(statistic, ours * theirs / (ours + theirs));
        let passed = p_value >= FALSE_ALARM;
        failures += usize::from(!passed);
        let verdict = if passed { "pass" } else { "FAIL" };
        println!(
            "  {parameter:<10} Kolmogorov-Smirnov distance {statistic:.4}, effective draws {ours:.0}, p-value {p_value:.4}  {verdict}"
        );
    }
    println!();
    Ok(failures)
}
