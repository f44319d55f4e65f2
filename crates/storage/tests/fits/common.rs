//! Fits to write, and every format with its sink.

use std::path::{Path, PathBuf};

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use sgmcmc_core::{Constraint, Layout};
use sgmcmc_samplers::run::{ChainDraws, Ending, Fit, RunInfo};
use sgmcmc_samplers::sink::{Draw, Schema};

/// Values of [`layout`].
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
    Schema { layout: layout(), draws, chain, stats: vec!["alpha".into(), "lp".into()] }
}

/// Draw number `place` of a chain: always the same, some numbers not finite.
pub fn with_draw<T>(chain: usize, place: usize, take: impl FnOnce(&Draw<'_>) -> T) -> T {
    let mut rng = SmallRng::seed_from_u64((chain * 1_000_003 + place) as u64);
    let mut values: Vec<f64> = (0..VALUES).map(|_| rng.random_range(-3.0..3.0)).collect();
    match place % 7 {
        1 => values[2] = f64::NAN,
        2 => (values[3], values[4]) = (f64::INFINITY, f64::NEG_INFINITY),
        3 => (values[5], values[6]) = (1e-300 * values[5], 1e300 * values[6]),
        4 => values[7] = -0.0,
        _ => {}
    }
    take(&Draw {
        iteration: 10 + 5 * place as u64,
        values: &values,
        weight: 1e-3 / (place as f64 + 1.0),
        log_posterior: -100.0 * rng.random::<f64>(),
        stats: &[rng.random(), place as f64],
    })
}

pub fn chain(number: usize, draws: usize) -> ChainDraws {
    let Schema { layout, stats, .. } = schema(number, draws);
    let mut chain = ChainDraws::new(layout.value_count(), stats);
    (0..draws).for_each(|place| with_draw(number, place, |draw| chain.push(draw)).unwrap());
    chain
}

/// A fit of chains of these lengths.
pub fn fit(lengths: &[usize]) -> Fit {
    let chains: Vec<ChainDraws> = lengths.iter().enumerate().map(|(number, draws)| chain(number, *draws)).collect();
    let longest = lengths.iter().max().unwrap();
    let ending = |draws| if draws == longest { Ending::Complete } else { Ending::Stopped };
    let info = RunInfo {
        algorithm: "SGLD".into(),
        observations: 100,
        seed: 7,
        interleaved: 2,
        seconds: lengths.iter().map(|draws| *draws as f64).collect(),
        ..RunInfo::default()
    };
    let fit = Fit::new(layout(), chains).unwrap().with_info(info);
    fit.with_endings(lengths.iter().map(ending).collect()).unwrap()
}

/// The bits of every number of a chain; NaN is NaN.
pub fn bits(chain: &ChainDraws) -> Vec<u64> {
    let stats = chain.stats().flat_map(|(_, column)| column);
    let numbers = chain.rows().flatten().chain(chain.weights()).chain(chain.log_posterior()).chain(stats);
    let bits = numbers.map(|number| if number.is_nan() { f64::NAN.to_bits() } else { number.to_bits() });
    bits.chain(chain.iterations().iter().copied()).collect()
}

/// Whether two fits have the same chains, bit for bit.
pub fn assert_same_draws(found: &Fit, expected: &Fit) {
    assert_eq!(found.chains().len(), expected.chains().len());
    for (found, expected) in found.chains().iter().zip(expected.chains()) {
        assert_eq!(found.len(), expected.len());
        assert!(bits(found) == bits(expected), "the numbers differ");
    }
}

/// All files of a file or directory.
pub fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_path_buf()];
    }
    let mut entries: Vec<PathBuf> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries.iter().flat_map(|entry| files(entry)).collect()
}
