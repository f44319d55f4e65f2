//! Fits to write, and comparisons.

use std::path::{Path, PathBuf};

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use sgmcmc_fit::sink::{Draw, Schema};
use sgmcmc_fit::{ChainDraws, ChainOutcome, Fit, RunInfo};
use sgmcmc_gradient::{Constraint, Layout};
use sgmcmc_storage::fits::Format;

/// The number of values of [`layout`].
const VALUES: usize = 16;

pub fn layout() -> Layout {
    let shapes: [(&str, &[usize]); 6] = [
        ("mu", &[1]),
        ("layer.weight", &[2, 3]),
        ("odd, name[1]", &[3]),
        ("cube", &[2, 1, 2]),
        ("weight", &[1]),
        ("draw", &[1, 1]),
    ];
    let leaves = shapes.map(|(name, shape)| (name.to_owned(), shape.to_vec(), None));
    Layout::new(leaves).unwrap().constrained("mu", Constraint::Positive).unwrap()
}

pub fn schema(chain: usize, draws: usize) -> Schema {
    Schema { layout: layout(), draws, chain, chains: 0, stats: vec!["alpha".into(), "lp".into()] }
}

/// Calls `take` with draw number `index` of a chain, which is deterministic. Some numbers are not finite.
pub fn with_draw<T>(chain: usize, index: usize, take: impl FnOnce(&Draw<'_>) -> T) -> T {
    let mut rng = SmallRng::seed_from_u64((chain * 1_000_003 + index) as u64);
    let mut values: Vec<f64> = (0..VALUES).map(|_| rng.random_range(-3.0..3.0)).collect();
    match index % 7 {
        1 => values[2] = f64::NAN,
        2 => (values[3], values[4]) = (f64::INFINITY, f64::NEG_INFINITY),
        3 => (values[5], values[6]) = (1e-300 * values[5], 1e300 * values[6]),
        4 => values[7] = -0.0,
        _ => {}
    }
    take(&Draw {
        iteration: 10 + 5 * index as u64,
        values: &values,
        weight: 1e-3 / (index as f64 + 1.0),
        log_posterior: -100.0 * rng.random::<f64>(),
        stats: &[rng.random(), index as f64],
    })
}

pub fn chain(number: usize, draws: usize) -> ChainDraws {
    let Schema { layout, stats, .. } = schema(number, draws);
    let mut chain = ChainDraws::new(layout.value_count(), stats);
    (0..draws).for_each(|index| with_draw(number, index, |draw| chain.push(draw)).unwrap());
    chain
}

/// Returns a fit of chains of these lengths.
pub fn fit(lengths: &[usize]) -> Fit {
    let chains: Vec<ChainDraws> = lengths.iter().enumerate().map(|(number, draws)| chain(number, *draws)).collect();
    let longest = lengths.iter().max().unwrap();
    let outcome = |draws| if draws == longest { ChainOutcome::Complete } else { ChainOutcome::Stopped };
    let info = RunInfo {
        algorithm: "SGLD".into(),
        observations: 100,
        seed: 7,
        interleaved: 2,
        seconds: lengths.iter().map(|draws| *draws as f64).collect(),
        ..RunInfo::default()
    };
    let fit = Fit::new(layout(), chains).unwrap().with_info(info);
    fit.with_outcomes(lengths.iter().map(outcome).collect()).unwrap()
}

/// Returns the bits of every number of a chain. All NaN have the same bits.
pub fn bits(chain: &ChainDraws) -> Vec<u64> {
    let stats = chain.stats().flat_map(|(_, column)| column);
    let numbers = chain.rows().flatten().chain(chain.weights()).chain(chain.log_posterior()).chain(stats);
    let bits = numbers.map(|number| if number.is_nan() { f64::NAN.to_bits() } else { number.to_bits() });
    bits.chain(chain.iterations().iter().copied()).collect()
}

/// Checks that two fits have the same chains, bit for bit.
pub fn assert_same_draws(found: &Fit, expected: &Fit) {
    assert_same_draws_in(Format::Native, found, expected);
}

/// Checks that a fit that was read from a format has the chains of `expected`, bit for bit.
pub fn assert_same_draws_in(format: Format, found: &Fit, expected: &Fit) {
    assert_eq!(found.chains().len(), expected.chains().len(), "{format:?}");
    for (found, expected) in found.chains().iter().zip(expected.chains()) {
        assert_eq!(found.len(), expected.len(), "{format:?}");
        assert!(bits(found) == bits(&as_read(format, expected)), "{format:?}: the numbers differ");
    }
}

/// Returns a chain as the reader of a format returns it. Draws CSV does not tell statistics from values.
pub fn as_read(format: Format, chain: &ChainDraws) -> ChainDraws {
    if format != Format::DrawsCsv {
        return chain.clone();
    }
    let columns: Vec<&[f64]> = chain.stats().map(|(_, column)| column).collect();
    let mut read = ChainDraws::new(columns.len() + chain.width(), Vec::new());
    for (index, row) in chain.rows().enumerate() {
        let values: Vec<f64> = columns.iter().map(|column| column[index]).chain(row.iter().copied()).collect();
        let draw = Draw {
            iteration: chain.iterations()[index],
            values: &values,
            weight: chain.weights()[index],
            log_posterior: chain.log_posterior()[index],
            stats: &[],
        };
        read.push(&draw).unwrap();
    }
    read
}

/// Returns all files below a directory, or the file itself.
pub fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_path_buf()];
    }
    let mut entries: Vec<PathBuf> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.iter().flat_map(|entry| files(entry)).collect()
}
