//! The table as a page in Markdown.

use std::fmt::Write as _;

use super::Section;
use super::agreement::{Agreement, ENOUGH, MEAN_TOLERANCE, SD_TOLERANCE};
use super::cell::{Cell, Verdict};
use super::methods::Limitation;
use super::nuts::AtEqualCompute;
use super::plan::{
    CHAINS, DAMPING, EFFECTIVE_DRAWS, HAMCMC_LAMBDA, HAMCMC_MEMORY, LONGEST_STEP, MOST_ITERATIONS, MOST_ROWS,
    PSGLD_LAMBDA, SGHMC_ALPHA, SGHMC_STEPS, SGNHT_A, TOLERANCE,
};
use crate::posteriors::exact::{ExactCell, FALSE_ALARM};

/// The page; nothing if a column of NUTS is missing.
pub(super) fn page(sections: &[Section], exact: &[ExactCell]) -> Option<String> {
    let mut page = introduction();
    page += &totals(sections, exact);
    for section in sections {
        page += &table(section)?;
    }
    page += &exact_table(exact);
    page += &limitations();
    Some(page)
}

fn introduction() -> String {
    let (mean, sd, tolerance) = (MEAN_TOLERANCE, 100.0 * SD_TOLERANCE, 100.0 * TOLERANCE);
    format!(
        "# Accuracy on reference posteriors

Every stochastic-gradient algorithm of the library on eight posteriors of [posteriordb](https://github.com/stan-dev/posteriordb), \
compared with its reference draws. This page is the output of one command; do not edit it:

```text
cargo run --release -p slow --features nuts -- posteriors
```

The data are looked for in the directory `SGMCMC_DATA`. All randomness has fixed seeds.

## Criteria

| criterion | bound |
|---|---|
| mean of every parameter | at most {mean} reference standard deviations off |
| standard deviation of every parameter | at most {sd:.0} % off |
| effective draws of every parameter | at least {ENOUGH:.0}; with fewer a run is too short to judge, and fails |

A cell that meets them is *pass*. A method may have a documented limitation: a property of the algorithm whose effect on the standard \
deviations is predicted before the run (see [limitations](#limitations)). A cell that misses a bound, but in which each standard \
deviation is within {sd:.0} % of its prediction and each mean within {mean} of its own, names the limitation. (Where the variance is r² times \
that of the posterior, the mean of a skewed parameter moves away from the mode: by r² − 1 times the distance of the posterior mean from the \
mode, to second order.) Everything else is *FAIL*, with the reason.

## How the runs are made

- **Coordinates.** Regressions have condition numbers up to 10¹¹, which no method without a matrix can handle. L-BFGS finds the mode, and \
  central differences the Hessian H there. Methods run in coordinates u with θ = mode + F u, F Fᵀ = H⁻¹, in which the Laplace \
  approximation is the standard normal distribution. Preconditioned SGLD (M = H⁻¹) and SGRLD run in the coordinates of the model. \
  Constrained parameters are moved as their unconstrained transforms; the reference parameters are computed from each draw.
- **Minibatches** are drawn without replacement: a tenth of the observations, at least four. Control variates are centered at the mode. SVRG has a full pass per epoch.
- **Step sizes** follow one rule. Curvature and gradient noise of each estimator are measured in u, at the mode and at 16 draws that \
  importance sampling from a t distribution around the mode gives. On a normal posterior with such noise the algorithms are linear \
  chains, whose stationary variance is known exactly. The step size is the largest h at which that variance is at most δ = {tolerance:.0} % \
  off in every direction, and at which h times the largest curvature is at most {LONGEST_STEP}. For SGLD this is h = 4δ/(V + (1 + δ)A). \
  The row *SGLD, step of the next row* shows plain minibatches at the step size that control variates allow. pSGLD has the step of SGLD \
  over the largest entry of its matrix; SGFS that of SGLD without gradient noise. The noise of SVRG and SAGA is bounded by twice that \
  of control variates. Where the run would take more than {MOST_ROWS:.0e} row gradients or {MOST_ITERATIONS:.0e} iterations, δ is raised until \
  it does not, and the table says so.
- **Settings.** SGHMC α = {SGHMC_ALPHA}, L = {SGHMC_STEPS}; SGNHT a = {SGNHT_A}; BAOAB α = {DAMPING} √h; BADODAB a = {DAMPING} √h; pSGLD \
  λ = {PSGLD_LAMBDA:e}; HAMCMC M = {HAMCMC_MEMORY}, λ = {HAMCMC_LAMBDA}, γ = 1; SGFS dense, B = I. The metric of SGRLD is the inverse of \
  the expected information where it has a closed form (all but the mixture), else H⁻¹.
- **Length.** {CHAINS} chains start at draws of the importance sampling. From the predicted autocorrelation time, runs are planned for \
  {EFFECTIVE_DRAWS:.0} effective draws; one with fewer than {ENOUGH:.0} is repeated once, longer by what is missing and 40 %, at most four \
  times as long. *Row gradients* are gradients of single observations that all chains used, burn-in included; mode and \
  Hessian, which all methods share, are not counted.
- **NUTS** runs in the coordinates u as well, with a warm-up of 300 iterations. Each cell shows its errors after as many row gradients as \
  the method of the row used, warm-up included.

"
    )
}

fn totals(sections: &[Section], exact: &[ExactCell]) -> String {
    let cells: Vec<&Cell> = sections.iter().flat_map(|section| &section.cells).collect();
    let passed = cells.iter().filter(|cell| cell.verdict == Verdict::Pass).count();
    let failed: Vec<String> = (sections.iter())
        .flat_map(|section| section.cells.iter().map(|cell| (section.tuning.problem.name, cell)))
        .filter_map(|(posterior, cell)| match &cell.verdict {
            Verdict::Fail(reason) => {
                Some(format!("- {posterior}: {} ({}): {reason}\n", cell.method.name, cell.method.estimator.name()))
            }
            _ => None,
        })
        .chain(
            exact
                .iter()
                .filter(|cell| !cell.passed())
                .map(|cell| format!("- {}: {}: {}\n", cell.posterior, cell.method, exact_verdict(cell))),
        )
        .collect();
    let limited = cells.len() - passed - cells.iter().filter(|cell| cell.verdict.failed()).count();
    let mut text = format!(
        "## Result\n\n{passed} of {} cells pass, {limited} show a limitation of the predicted size, {} fail.\n\n",
        cells.len(),
        cells.len() - passed - limited
    );
    if !failed.is_empty() {
        text += "Failures, with those of methods that accept or reject:\n\n";
        text += &failed.concat();
        text += "\n";
    }
    text
}

/// The table of one posterior.
fn table(section: &Section) -> Option<String> {
    let tuning = &section.tuning;
    let problem = &tuning.problem;
    let mut text = format!(
        "## {}\n\n{}. N = {}, {} coordinates, minibatches of {}; largest curvature in u: {:.2}.\n\n",
        problem.name,
        problem.model,
        problem.observations,
        tuning.dim(),
        tuning.batch,
        tuning.curvature
    );
    text += "| method | gradient | h | row gradients | worst mean error / sd | sd ratios | predicted | least ESS | verdict | NUTS at equal compute: mean error; sd ratios; ESS |\n";
    text += "|---|---|---|---|---|---|---|---|---|---|\n";
    for (cell, nuts) in section.cells.iter().zip(section.nuts.as_ref()?) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", row(cell, nuts));
    }
    Some(text + "\n")
}

fn row(cell: &Cell, nuts: &AtEqualCompute) -> String {
    let Cell { method, h, rows, agreement, predicted, verdict, tolerance, .. } = cell;
    let raised = if *tolerance > TOLERANCE { format!(" (δ = {:.0} %)", 100.0 * tolerance) } else { String::new() };
    let (low, high) = agreement.ratios();
    let nuts = match nuts {
        AtEqualCompute::Reached(agreement) => agreement.in_short(),
        AtEqualCompute::InWarmUp => "warm-up not over".to_owned(),
    };
    format!(
        "| {} | {} | {h:.2e}{raised} | {rows:.1e} | {} | {low:.3}–{high:.3} | {} | {:.0} | {} | {nuts} |",
        method.name,
        method.estimator.name(),
        mean_error(agreement),
        prediction(*predicted),
        agreement.ess(),
        verdict_in_words(verdict)
    )
}

fn mean_error(agreement: &Agreement) -> String {
    agreement.worst_mean().map_or_else(
        || "no parameter".to_owned(),
        |parameter| format!("{:.3} (`{}`)", parameter.mean_error.abs(), parameter.name),
    )
}

fn prediction((low, high): (f64, f64)) -> String {
    format!("{low:.3}–{high:.3}")
}

fn verdict_in_words(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Pass => "pass".to_owned(),
        Verdict::Limited(limitation) => format!("limitation: {}", limitation.name()),
        Verdict::Fail(reason) => format!("**FAIL**: {reason}"),
    }
}

fn exact_table(exact: &[ExactCell]) -> String {
    let mut text = format!(
        "## Methods that accept or reject\n\nTheir law is the posterior itself, so that besides the criteria above the least p-value of \
         Kolmogorov-Smirnov tests of every parameter against the reference draws must be at least {FALSE_ALARM:e}. Full gradient, coordinates of \
         the model, step size by dual averaging.\n\n\
         | posterior | method | worst mean error / sd | sd ratios | least ESS | least p-value | verdict |\n|---|---|---|---|---|---|---|\n"
    );
    for cell in exact {
        let ExactCell { posterior, method, agreement, p_value } = cell;
        let (low, high) = agreement.ratios();
        let _ = writeln!(
            text,
            "| {posterior} | {method} | {} | {low:.3}–{high:.3} | {:.0} | {p_value:.4} | {} |",
            mean_error(agreement),
            agreement.ess(),
            exact_verdict(cell)
        );
    }
    text + "\n"
}

fn exact_verdict(cell: &ExactCell) -> String {
    let agreement = &cell.agreement;
    match &agreement.failure {
        Some(failure) => format!("**FAIL**: {failure}"),
        None if !agreement.means_agree() => "**FAIL**: a mean is off".to_owned(),
        None if !agreement.ratios_agree() => "**FAIL**: a standard deviation is off".to_owned(),
        None if !cell.passed() => "**FAIL**: the law differs".to_owned(),
        None => "pass".to_owned(),
    }
}

fn limitations() -> String {
    let mut text =
        "## Limitations\n\nA is the curvature, 1 in the coordinates u; V the variance of the gradient noise.\n\n"
            .to_owned();
    for limitation in Limitation::ALL {
        let _ = writeln!(text, "- **{}.** {}", limitation.name(), limitation.explanation());
    }
    text
}
