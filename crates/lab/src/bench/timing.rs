//! Timing of repeated calls.

use std::time::Instant;

use sgmcmc::gradient::Result;

/// Returns the microseconds per call of two functions, the best of `rounds` alternating rounds of `calls` calls.
pub(crate) fn side_by_side(rounds: u32, calls: u32, a: &mut dyn FnMut(), b: &mut dyn FnMut()) -> (f64, f64) {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        best.0 = best.0.min(microseconds(calls, a));
        best.1 = best.1.min(microseconds(calls, b));
    }
    best
}

/// Returns the microseconds per call.
fn microseconds(calls: u32, call: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        call();
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}

/// The number of rounds of [`fastest`].
pub(crate) const ROUNDS: usize = 5;

/// Returns the microseconds per call in the fastest round; `function` receives the index of the call.
pub(crate) fn fastest(calls: usize, mut function: impl FnMut(usize) -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for call in 0..calls {
            function(call)?;
        }
        best = best.min(began.elapsed().as_secs_f64() * 1e6 / calls as f64);
    }
    Ok(best)
}
