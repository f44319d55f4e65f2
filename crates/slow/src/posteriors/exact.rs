//! Methods that accept or reject, whose law is the posterior itself: besides means and standard deviations their thinned draws are compared
//! with the reference draws by Kolmogorov-Smirnov tests. Draws count by their effective size; with a few dozen parameters in all a correct
//! sampler fails for one seed in some hundred.

use std::fmt::Debug;
use std::time::Instant;

use sgmcmc::Dynamics;
use sgmcmc::diagnostics::distance::{ks_p_value, ks_two_sample};
use sgmcmc::diagnostics::ess_bulk;
use sgmcmc::prelude::*;

use super::coordinates::Coordinates;
use crate::Result;
use crate::accuracy::agreement::Agreement;
use crate::accuracy::plan::CHAINS;
use crate::accuracy::tuning::Tuning;
use crate::posteriordb::Reference;

pub(crate) const FALSE_ALARM: f64 = 1e-4;

const WARM_UP: u64 = 2000;
const DRAWS: usize = 2500;

/// How QNHMC keeps the inverse Hessian, and how long it learns it.
struct Curvature {
    inverse_hessian: InverseHessian,
    learning: Learning,
}

impl Curvature {
    /// All pairs of half the warm-up where the curvature is about the same everywhere. Elsewhere three pairs of the first iterations: a
    /// dense matrix, which remembers all pairs, ends up too large for all but tiny steps.
    fn for_posterior(name: &str) -> Self {
        if name.starts_with("eight_schools") {
            let inverse_hessian = InverseHessian::Lbfgs { memory: 3, gamma: Initial::Fixed(1.0) };
            return Self { inverse_hessian, learning: Learning::First(100) };
        }
        Self { inverse_hessian: InverseHessian::Bfgs, learning: Learning::First(WARM_UP / 2) }
    }
}

/// A method on a posterior.
#[derive(Clone, Debug)]
pub(crate) struct ExactCell {
    pub(crate) posterior: &'static str,
    pub(crate) method: &'static str,
    pub(crate) agreement: Agreement,
    /// The least p-value of all parameters, and how many parameters there are.
    pub(crate) p_value: f64,
}

impl ExactCell {
    /// Whether all criteria hold.
    pub(crate) fn passed(&self) -> bool {
        let agreement = &self.agreement;
        let complete = agreement.failure.is_none();
        complete && agreement.means_agree() && agreement.ratios_agree() && self.p_value >= FALSE_ALARM
    }
}

/// Samples by MALA, HMC, QNHMC and HMC-BFGS from the mode, in the coordinates of the model, and compares.
pub(crate) fn cells(tuning: &Tuning, reference: &[Reference]) -> Result<Vec<ExactCell>> {
    let Curvature { inverse_hessian, learning } = Curvature::for_posterior(tuning.problem.name);
    let adapt = |acceptance| Some(DualAveraging { iterations: WARM_UP, acceptance });
    let mala = Mala { adapt: adapt(0.6), ..Mala::default() };
    let hmc = Hmc { steps: 10, jitter: 0.5, adapt: adapt(0.8), ..Hmc::default() };
    let qnhmc = Qnhmc { steps: 10, jitter: 0.5, inverse_hessian, learning, adapt: adapt(0.8), ..Qnhmc::default() };
    let ensemble = HmcBfgs { steps: 10, jitter: 0.5, adapt: adapt(0.8), ..HmcBfgs::default() };
    Ok(vec![
        cell("MALA", mala, 60, tuning, reference)?,
        cell("HMC", hmc, 10, tuning, reference)?,
        cell("QNHMC", qnhmc, 10, tuning, reference)?,
        cell("HMC-BFGS", ensemble, 20, tuning, reference)?,
    ])
}

fn cell<A>(method: &'static str, dynamics: A, thin: u64, tuning: &Tuning, reference: &[Reference]) -> Result<ExactCell>
where
    A: Dynamics<FullGradient> + Clone + Debug + 'static,
{
    let begin = Instant::now();
    let target = Coordinates::of_model(&tuning.problem);
    let run = Builder::new(target.clone(), dynamics, FullGradient, 1e-3).seed(3).chains(CHAINS).jitter(1.0).thin(thin);
    let fit = run.sample(&Coordinates::start(&tuning.mode.theta)?, DRAWS)?;
    let fit = tuning.problem.reported(&fit, |position| target.to_model(position))?;
    let agreement = Agreement::of(&fit, reference)?;
    let p_value = least_p_value(&fit, reference)?;
    let cell = ExactCell { posterior: tuning.problem.name, method, agreement, p_value };
    println!(
        "  {method:<27} {:<26} least p-value {p_value:.4}  {:>5.1} s  {}",
        cell.agreement.in_short(),
        begin.elapsed().as_secs_f64(),
        if cell.passed() { "pass" } else { "FAIL" }
    );
    Ok(cell)
}

/// The least p-value of the parameters.
fn least_p_value(fit: &Fit, reference: &[Reference]) -> Result<f64> {
    let mut least = 1.0;
    for (index, name) in fit.layout().elements().iter().enumerate() {
        let reference = reference.iter().find(|reference| reference.parameter == *name);
        let draws = &reference.ok_or_else(|| format!("there are no reference draws of `{name}`"))?.draws;
        let chains: Vec<Vec<f64>> = fit.chains().iter().map(|chain| chain.element(index)).collect();
        let all = chains.concat();
        // The reference draws of posteriordb are thinned until they are independent.
        let (ours, theirs) = (ess_bulk(&chains).min(all.len() as f64), draws.len() as f64);
        let p_value = ks_p_value(ks_two_sample(&all, draws).statistic, ours * theirs / (ours + theirs));
        // NaN stays.
        least = if p_value < least || p_value.is_nan() { p_value } else { least };
    }
    Ok(least)
}
