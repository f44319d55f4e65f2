//! Figure 5.2.1: the fifth component of the sparse posterior, which was never observed, with minibatches of 10.
//!
//! The table has the quantiles of log₁₀ ω₅ of 1000 draws, which the boxplots of the figure show, for the first seed.
//!
//! | criterion | bound |
//! |---|---|
//! | mean over the quantiles of the distance from those of exact draws: SCIR | below a half of that of SGRLD |

use sgmcmc::diagnostics::quantiles;

use super::{Algorithm, SPARSE, Sampled};
use crate::Result;
use crate::suites::Outcome;

const MINIBATCH: usize = 10;
const COMPONENT: usize = 4;
const LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];
const SEED: u64 = 0;

/// Runs both algorithms and draws an exact sample.
pub(in crate::suites) fn run() -> Result<Outcome> {
    let exact = summary("exact", &SPARSE.exact(SEED)?);
    let scir = summary("SCIR", &SPARSE.best(Algorithm::Scir, MINIBATCH, SEED)?);
    let sgrld = summary("SGRLD", &SPARSE.best(Algorithm::Sgrld, MINIBATCH, SEED)?);
    let distance = |of: &[f64]| of.iter().zip(&exact).map(|(x, exact)| (x - exact).abs()).sum::<f64>() / 5.0;
    let (scir, sgrld) = (distance(&scir), distance(&sgrld));
    let holds = scir < 0.5 * sgrld;
    println!("mean distance: SCIR {scir:.2}, SGRLD {sgrld:.2}  {}", if holds { "pass" } else { "FAIL" });
    Ok(Outcome::from_failures(usize::from(!holds)))
}

/// Prints and returns the quantiles of log₁₀ ω₅.
fn summary(name: &str, sampled: &Sampled) -> Vec<f64> {
    let component = sampled.draws.iter().skip(COMPONENT).step_by(10);
    let logs: Vec<f64> = component.map(|omega| omega.max(f64::MIN_POSITIVE).log10()).collect();
    let quantiles = quantiles(&logs, &vec![1.0; logs.len()], &LEVELS);
    let text: Vec<String> = quantiles.iter().map(|q| format!("{q:8.2}")).collect();
    println!("{name:6} h = {:6} quantiles of log10 omega[4]: {}", sampled.step_size, text.join(" "));
    quantiles
}
