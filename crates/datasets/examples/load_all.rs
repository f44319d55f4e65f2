//! Loads every data set that is available and prints its size and the loading time.
//!
//! `cargo run --release -p sgmcmc-datasets --example load_all`, with the directory in `SGMCMC_DATA`.

use std::time::Instant;

use sgmcmc::datasets::{self, Fold};
use sgmcmc::prelude::*;
use sgmcmc::storage::{Error, Result};

fn main() {
    println!("{:<16}{:>14}{:>10}{:>10}{:>12}", "data set", "observations", "columns", "MB", "seconds");
    let dir = datasets::directory().unwrap_or_else(|| "data".into());
    let results = [
        load("covertype", || datasets::covertype(&dir), |loaded| vec![size(&loaded.data)]),
        load("a9a", || datasets::a9a(&dir), |loaded| vec![size(&loaded.train), size(&loaded.test)]),
        load("mnist", || datasets::mnist(&dir), |loaded| vec![size(&loaded.train), size(&loaded.test)]),
        load("ml_100k", || datasets::ml_100k(&dir), |loaded| vec![size(&loaded.ratings)]),
        load("ml_100k_fold", || datasets::ml_100k_fold(&dir, Fold::U1), |(train, test)| vec![size(train), size(test)]),
        load("ml_1m", || datasets::ml_1m(&dir), |loaded| vec![size(&loaded.train), size(&loaded.test)]),
        load("msweb", || datasets::msweb(&dir), |loaded| vec![size(&loaded.train), size(&loaded.test)]),
        load("kos", || datasets::kos(&dir), |loaded| vec![size(&loaded.documents)]),
    ];
    for error in results.into_iter().filter_map(Result::err) {
        match error {
            Error::Absent { .. } => println!("skipped: {error}"),
            _ => println!("{error}"),
        }
    }
}

/// The size of a data set.
struct Size {
    observations: usize,
    /// The number of numbers per observation.
    columns: usize,
    bytes: usize,
}

/// Returns the size of a data set.
fn size<D: TensorTree>(data: &Dataset<D>) -> Size {
    let columns = data.columns().iter().map(|column| column.row_shape().iter().product::<usize>()).sum();
    Size { observations: data.observations(), columns, bytes: data.bytes() }
}

/// Loads a data set and prints the size of each part.
fn load<T>(name: &str, read: impl FnOnce() -> Result<T>, sizes: impl FnOnce(&T) -> Vec<Size>) -> Result<()> {
    let start = Instant::now();
    let loaded = read()?;
    let seconds = start.elapsed().as_secs_f64();
    for Size { observations, columns, bytes } in sizes(&loaded) {
        println!("{name:<16}{observations:>14}{columns:>10}{:>10.1}{seconds:>12.2}", bytes as f64 / 1e6);
    }
    Ok(())
}
