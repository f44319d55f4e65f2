//! The time of `describe_all`, for draws of increasing autocorrelation.
//!
//! `tests/python/diagnostics.py speed` prints the time of ArviZ next to it.

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;
use sgmcmc::diagnostics::describe_all;

use crate::Result;

/// The number of chains, of draws of each, and of values of a draw.
const DEFAULT_SIZES: [usize; 3] = [4, 10_000, 1_000];

/// Prints the seconds for each autocorrelation; the arguments are the numbers of chains, draws and values.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let sizes = arguments.iter().map(|argument| argument.parse()).collect::<std::result::Result<Vec<usize>, _>>()?;
    let [chains, draws, width] = match sizes.as_slice() {
        [] => DEFAULT_SIZES,
        [chains, draws, width] => [*chains, *draws, *width],
        _ => return Err("diagnostics-speed takes the numbers of chains, draws and values, or no arguments".into()),
    };
    for rho in [0.0_f64, 0.5, 0.9, 0.99] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let tables: Vec<Vec<f64>> = (0..chains)
            .map(|_| {
                let mut row = vec![0.0; width];
                let mut step = |x: &mut f64| {
                    *x = rho * *x + (1.0 - rho * rho).sqrt() * rng.sample::<f64, _>(StandardNormal);
                    *x
                };
                let mut table = Vec::with_capacity(draws * width);
                (0..draws).for_each(|_| table.extend(row.iter_mut().map(&mut step)));
                table
            })
            .collect();
        let start = Instant::now();
        let found = describe_all(&tables, width, None);
        let seconds = start.elapsed().as_secs_f64();
        let size = found.iter().map(|description| description.ess_bulk).sum::<f64>() / width as f64;
        println!(
            "{chains} x {draws} draws x {width} values, autocorrelation {rho}: {seconds:.2} s (mean ess_bulk {size:.0})"
        );
    }
    Ok(())
}
