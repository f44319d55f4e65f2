//! Tests of the binary with saved fits, one module per command.

mod check;
mod combine;
mod compare;
mod convert;
mod info;
mod plot;
mod program;
mod report;
mod summary;
mod watch;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{ChainDraws, Fit};
use sgmcmc_gradient::Layout;
use sgmcmc_storage::fits;

/// Saves a fit of two chains with 1,000 draws of `mu` and `beta[0..3]`. `apart` shifts the second chain.
fn saved(folder: &Path, name: &str, apart: f64) -> PathBuf {
    let layout = Layout::new([("mu".to_owned(), vec![1], None), ("beta".to_owned(), vec![3], None)]).unwrap();
    let chain = |chain: u64| {
        let mut draws = ChainDraws::new(4, vec!["alpha".to_owned()]);
        let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(chain + 1);
        let mut uniform = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for iteration in 1..=1000 {
            let values: Vec<f64> = (0..4).map(|_| uniform() + apart * chain as f64).collect();
            let draw = Draw { iteration, values: &values, weight: 1.0, log_posterior: -values[0], stats: &[0.01] };
            draws.push(&draw).unwrap();
        }
        draws
    };
    let fit = Fit::new(layout, vec![chain(0), chain(1)]).unwrap();
    let path = folder.join(name);
    fits::save(&fit, &path).unwrap();
    path
}

fn sgmcmc(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sgmcmc")).args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
