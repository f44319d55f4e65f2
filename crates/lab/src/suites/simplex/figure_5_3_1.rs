//! Figure 5.3.1: Kolmogorov-Smirnov distances of SGRLD and SCIR for minibatches of 0.1 % to 50 % of the data.
//!
//! | criterion | bound |
//! |---|---|
//! | sparse posterior, every minibatch size: mean distance of SCIR over the seeds | below that of SGRLD |
//! | dense posterior, every minibatch size: ratio of the two | between 1/2 and 2 |

use super::{Algorithm, DENSE, Posterior, SEEDS, SPARSE, Sampled};
use crate::Result;
use crate::suites::Outcome;

const MINIBATCHES: [usize; 6] = [1, 5, 10, 50, 100, 500];
const SIMILAR: f64 = 2.0;

/// Runs all minibatch sizes on both posteriors.
pub(in crate::suites) fn run() -> Result<Outcome> {
    println!("mean (smallest, largest) KS distance over {SEEDS} seeds, [step sizes chosen]");
    let mut failures = 0;
    for posterior in [SPARSE, DENSE] {
        let exact: Vec<Sampled> = (0..SEEDS).map(|seed| posterior.exact(seed)).collect::<Result<_>>()?;
        println!("{}: exact draws {}", posterior.name, summary(&exact));
        for minibatch in MINIBATCHES {
            failures += usize::from(!compare(&posterior, minibatch)?);
        }
    }
    Ok(Outcome::from_failures(failures))
}

/// Compares the algorithms at one minibatch size. Returns whether the criterion holds.
fn compare(posterior: &Posterior, minibatch: usize) -> Result<bool> {
    let all = |algorithm| -> Result<Vec<Sampled>> {
        (0..SEEDS).map(|seed| posterior.best(algorithm, minibatch, seed)).collect()
    };
    let (scir, sgrld) = (all(Algorithm::Scir)?, all(Algorithm::Sgrld)?);
    let ratio = mean(&scir) / mean(&sgrld);
    let holds = if posterior.name == SPARSE.name { ratio < 1.0 } else { (1.0 / SIMILAR..=SIMILAR).contains(&ratio) };
    let verdict = if holds { "pass" } else { "FAIL" };
    let (scir, sgrld) = (summary(&scir), summary(&sgrld));
    println!("{:6} n = {minibatch:3}: SCIR {scir}, SGRLD {sgrld}, ratio {ratio:.2}  {verdict}", posterior.name);
    Ok(holds)
}

fn mean(sampled: &[Sampled]) -> f64 {
    sampled.iter().map(|sampled| sampled.distance).sum::<f64>() / sampled.len() as f64
}

fn summary(sampled: &[Sampled]) -> String {
    let distances = || sampled.iter().map(|sampled| sampled.distance);
    let (smallest, largest) = (distances().fold(f64::INFINITY, f64::min), distances().fold(0.0, f64::max));
    let mut steps: Vec<f64> = sampled.iter().map(|sampled| sampled.step_size).filter(|h| h.is_finite()).collect();
    steps.sort_by(f64::total_cmp);
    steps.dedup();
    format!("{:.4} ({smallest:.4}, {largest:.4}) {steps:?}", mean(sampled))
}
