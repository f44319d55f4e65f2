//! Methods with a Metropolis step, whose stationary distribution is the posterior.
//!
//! In addition to means and standard deviations, Kolmogorov-Smirnov tests compare the draws with the reference draws.
//! The tests use the effective sample size. With a few dozen parameters, a correct sampler fails for about one seed in
//! several hundred.

use std::fmt::Debug;
use std::time::Instant;

use sgmcmc::algorithms::Dynamics;
use sgmcmc::algorithms::{Adaptation, DualAveraging, Hmc, HmcBfgs, InitialScale, InverseHessian, Mala, Qnhmc};
use sgmcmc::diagnostics::distance::{ks_p_value, ks_two_sample};
use sgmcmc::diagnostics::ess_bulk;
use sgmcmc::gradient::FullGradient;
use sgmcmc::prelude::*;

use super::coordinates::Coordinates;
use crate::Result;
use crate::suites::algorithms::agreement::Agreement;
use crate::suites::algorithms::plan::CHAINS;
use crate::suites::algorithms::tuning::Tuning;
use crate::suites::posteriordb::Reference;

/// The smallest p-value that passes.
pub(crate) const FALSE_ALARM: f64 = 1e-4;

const WARM_UP: u64 = 2000;
const DRAWS: usize = 2500;

/// The inverse Hessian of QNHMC and the iterations that learn it.
struct CurvatureSettings {
    inverse_hessian: InverseHessian,
    adaptation: Adaptation,
}

impl CurvatureSettings {
    /// Returns the settings for a posterior. If the curvature is nearly constant, the matrix uses all pairs of the
    /// first half of the warm-up. Otherwise it uses three pairs of the first iterations, because a dense matrix of all
    /// pairs would allow tiny steps only.
    fn for_posterior(name: &str) -> Self {
        if name.starts_with("eight_schools") {
            let inverse_hessian = InverseHessian::Lbfgs { memory: 3, gamma: InitialScale::Fixed(1.0) };
            return Self { inverse_hessian, adaptation: Adaptation::First(100) };
        }
        Self { inverse_hessian: InverseHessian::Bfgs, adaptation: Adaptation::First(WARM_UP / 2) }
    }
}

/// The results of a method on a posterior.
#[derive(Clone, Debug)]
pub(crate) struct ExactCell {
    pub(crate) posterior: &'static str,
    pub(crate) method: &'static str,
    pub(crate) agreement: Agreement,
    /// The smallest p-value of all parameters.
    pub(crate) p_value: f64,
}

impl ExactCell {
    /// Returns whether all criteria hold.
    pub(crate) fn passed(&self) -> bool {
        let agreement = &self.agreement;
        let complete = agreement.failure.is_none();
        complete && agreement.means_agree() && agreement.ratios_agree() && self.p_value >= FALSE_ALARM
    }
}

/// Runs MALA, HMC, QNHMC and HMC-BFGS from the mode, in the coordinates of the model, and compares the draws with the
/// reference.
pub(crate) fn cells(tuning: &Tuning, reference: &[Reference]) -> Result<Vec<ExactCell>> {
    let CurvatureSettings { inverse_hessian, adaptation } = CurvatureSettings::for_posterior(tuning.problem.name);
    let adapt = |acceptance| Some(DualAveraging { iterations: WARM_UP, acceptance });
    let mala = Mala { adapt: adapt(0.6), ..Mala::default() };
    let hmc = Hmc { steps: 10, jitter: 0.5, adapt: adapt(0.8), ..Hmc::default() };
    let qnhmc = Qnhmc { steps: 10, jitter: 0.5, inverse_hessian, adaptation, adapt: adapt(0.8), ..Qnhmc::default() };
    let ensemble = HmcBfgs { steps: 10, jitter: 0.5, adapt: adapt(0.8), ..HmcBfgs::default() };
    Ok(vec![
        cell("MALA", mala, 60, tuning, reference)?,
        cell("HMC", hmc, 10, tuning, reference)?,
        cell("QNHMC", qnhmc, 10, tuning, reference)?,
        cell("HMC-BFGS", ensemble, 20, tuning, reference)?,
    ])
}

/// Runs a method and prints its row.
fn cell<A>(method: &'static str, dynamics: A, thin: u64, tuning: &Tuning, reference: &[Reference]) -> Result<ExactCell>
where
    A: Dynamics<FullGradient> + Clone + Debug + 'static,
{
    let begin = Instant::now();
    let target = Coordinates::model(&tuning.problem);
    let run = Builder::new(target.clone(), dynamics, FullGradient, 1e-3).seed(3).chains(CHAINS).jitter(1.0).thin(thin);
    let fit = run.sample(&Coordinates::start(&tuning.mode.theta)?, DRAWS)?;
    let fit = tuning.problem.to_reference(&fit, |position| target.to_model(position))?;
    let agreement = Agreement::new(&fit, reference)?;
    let p_value = smallest_p_value(&fit, reference)?;
    let cell = ExactCell { posterior: tuning.problem.name, method, agreement, p_value };
    println!(
        "  {method:<27} {:<26} smallest p-value {p_value:.4}  {:>5.1} s  {}",
        cell.agreement.short_text(),
        begin.elapsed().as_secs_f64(),
        if cell.passed() { "pass" } else { "FAIL" }
    );
    Ok(cell)
}

/// Returns the smallest p-value of the parameters.
fn smallest_p_value(fit: &Fit, reference: &[Reference]) -> Result<f64> {
    let mut smallest = 1.0;
    for (index, name) in fit.layout().value_names().iter().enumerate() {
        let reference = reference.iter().find(|reference| reference.parameter == *name);
        let draws = &reference.ok_or_else(|| format!("there are no reference draws of `{name}`"))?.draws;
        let chains: Vec<Vec<f64>> = fit.chains().iter().map(|chain| chain.element(index)).collect();
        let all = chains.concat();
        // The reference draws of posteriordb are thinned until they are independent.
        let (n, m) = (ess_bulk(&chains).min(all.len() as f64), draws.len() as f64);
        let p_value = ks_p_value(ks_two_sample(&all, draws).statistic, n * m / (n + m));
        // Keep NaN.
        smallest = if p_value < smallest || p_value.is_nan() { p_value } else { smallest };
    }
    Ok(smallest)
}
