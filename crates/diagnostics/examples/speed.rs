//! How long it takes to describe 1,000 values of 4 chains of 10,000 draws.
//!
//! `cargo run --release -p sgmcmc-diagnostics --example speed [-- CHAINS DRAWS VALUES]`; `tests/python/diagnostics.py speed` prints ArviZ's time on the
//! same beside it.

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;
use sgmcmc_diagnostics::describe_all;

fn main() {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [chains, draws, width] = asked.try_into().unwrap_or([4, 10_000, 1_000]);
    for rho in [0.0_f64, 0.5, 0.9, 0.99] {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let tables: Vec<Vec<f64>> = (0..chains)
            .map(|_| {
                let mut row = vec![0.0; width];
                let step = |x: &mut f64| {
                    *x = rho * *x + (1.0 - rho * rho).sqrt() * rng.sample::<f64, _>(StandardNormal);
                    *x
                };
                let mut table = Vec::with_capacity(draws * width);
                let mut step = step;
                (0..draws).for_each(|_| table.extend(row.iter_mut().map(&mut step)));
                table
            })
            .collect();
        let start = Instant::now();
        let found = describe_all(&tables, width, None);
        let seconds = start.elapsed().as_secs_f64();
        let size = found.iter().map(|line| line.ess_bulk).sum::<f64>() / width as f64;
        println!(
            "{chains} x {draws} draws x {width} values, autocorrelation {rho}: {seconds:.2} s (mean ess_bulk {size:.0})"
        );
    }
}
