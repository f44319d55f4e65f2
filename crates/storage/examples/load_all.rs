//! Loads every data set there is and prints its size and the time it took.
//!
//! `cargo run --release -p sgmcmc-storage --example load_all`, with the directory in `SGMCMC_DATA`.

use std::time::Instant;

use sgmcmc_core::{Dataset, TensorTree};
use sgmcmc_storage::datasets::{self, Fold};
use sgmcmc_storage::{Error, Result};

fn main() {
    println!("{:<16}{:>10}{:>10}{:>10}{:>12}", "data set", "rows", "columns", "MB", "seconds");
    let dir = datasets::directory();
    let all: [(&str, Result<()>); 8] = [
        ("covertype", load("covertype", || datasets::covertype(&dir), |loaded| vec![sizes(&loaded.data)])),
        ("a9a", load("a9a", || datasets::a9a(&dir), |loaded| vec![sizes(&loaded.train), sizes(&loaded.test)])),
        ("mnist", load("mnist", || datasets::mnist(&dir), |loaded| vec![sizes(&loaded.train), sizes(&loaded.test)])),
        ("ml_100k", load("ml_100k", || datasets::ml_100k(&dir), |loaded| vec![sizes(&loaded.ratings)])),
        (
            "ml_100k_fold",
            load(
                "ml_100k_fold",
                || datasets::ml_100k_fold(&dir, Fold::U1),
                |(train, test)| vec![sizes(train), sizes(test)],
            ),
        ),
        ("ml_1m", load("ml_1m", || datasets::ml_1m(&dir), |loaded| vec![sizes(&loaded.train), sizes(&loaded.test)])),
        ("msweb", load("msweb", || datasets::msweb(&dir), |loaded| vec![sizes(&loaded.train), sizes(&loaded.test)])),
        ("kos", load("kos", || datasets::kos(&dir), |loaded| vec![sizes(&loaded.documents)])),
    ];
    for (name, result) in all {
        match result {
            Ok(()) => {}
            Err(error @ Error::Absent { .. }) => println!("{name}: skipped, {error}"),
            Err(error) => println!("{name}: {error}"),
        }
    }
}

/// Rows, numbers per row and bytes.
fn sizes<D: TensorTree>(data: &Dataset<D>) -> (usize, usize, usize) {
    let columns = data.columns().iter().map(|column| column.row_shape().iter().product::<usize>()).sum();
    (data.observations(), columns, data.bytes())
}

fn load<T>(
    name: &str,
    read: impl FnOnce() -> Result<T>,
    parts: impl FnOnce(&T) -> Vec<(usize, usize, usize)>,
) -> Result<()> {
    let start = Instant::now();
    let loaded = read()?;
    let seconds = start.elapsed().as_secs_f64();
    for (rows, columns, bytes) in parts(&loaded) {
        println!("{name:<16}{rows:>10}{columns:>10}{:>10.1}{seconds:>12.2}", bytes as f64 / 1e6);
    }
    Ok(())
}
