//! Timing two ways of doing the same, in turns.

use std::time::Instant;

use sgmcmc::Result;

/// Microseconds per call of each, the best of `rounds` rounds of `calls` calls, the two taking turns.
pub(crate) fn side_by_side(rounds: u32, calls: u32, a: &mut dyn FnMut(), b: &mut dyn FnMut()) -> (f64, f64) {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        best.0 = best.0.min(microseconds(calls, a));
        best.1 = best.1.min(microseconds(calls, b));
    }
    best
}

fn microseconds(calls: u32, call: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        call();
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}

/// Rounds of which the fastest counts.
pub(crate) const ROUNDS: usize = 5;

/// Microseconds per call in the fastest round.
pub(crate) fn fastest(calls: usize, mut piece: impl FnMut(usize) -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for call in 0..calls {
            piece(call)?;
        }
        best = best.min(began.elapsed().as_secs_f64() * 1e6 / calls as f64);
    }
    Ok(best)
}
