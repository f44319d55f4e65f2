//! A run over many damaged files.

use std::collections::BTreeMap;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::corpus::{self, Seed};
use crate::mutate;
use crate::repair::Wrapping;

/// The memory limit of the readers in bytes.
const READ_LIMIT: u64 = 16 << 20;
/// The memory limit of a case in bytes, which includes copies, summaries and messages.
const CASE_LIMIT: usize = 512 << 20;
/// The duration above which a case counts as slow.
const SLOW: Duration = Duration::from_secs(5);
/// The duration above which a case ends the process.
const HUNG: Duration = Duration::from_secs(60);

/// The results for one file of the corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The number of files that were read.
    pub read: u64,
    /// The number of files that were rejected with an error.
    pub refused: u64,
    /// The number of panics.
    pub panicked: u64,
    /// The number of files that took more than five seconds.
    pub slow: u64,
}

/// Reads `count` damaged files and returns the results by the name of the file of the corpus.
///
/// The same `seed` gives the same files. The process ends if a reader exceeds the memory limit under the
/// [`Guard`](crate::Guard) or takes more than a minute. The number of the case is then on standard error.
///
/// # Errors
///
/// Returns an error if the corpus cannot be written.
pub fn run(count: u64, seed: u64) -> Result<BTreeMap<String, Count>, Box<dyn Error>> {
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
    let seeds = corpus::write(directory.path())?;
    sgmcmc_storage::set_memory_limit(READ_LIMIT);
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let all: Vec<Vec<u8>> = seeds.iter().flat_map(|seed| &seed.files).filter_map(|file| fs::read(file).ok()).collect();
    let watchdog = Watchdog::start(seed);
    for case in 0..count {
        watchdog.set_case(case);
        let mut rng = SmallRng::seed_from_u64(seed ^ case.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let Seed { reader, path, files } = &seeds[case as usize % seeds.len()];
        let file = &files[rng.random_range(0..files.len())];
        let original = fs::read(file)?;
        let wrapping = if rng.random_bool(0.75) { Wrapping::detect(&original) } else { Wrapping::None };
        let other = &all[rng.random_range(0..all.len())];
        fs::write(file, wrapping.encode(mutate(&wrapping.decode(&original), other, &mut rng)))?;
        crate::allow(CASE_LIMIT);
        let begin = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| reader.read(path)));
        crate::allow(usize::MAX / 2);
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let tally = counts.entry(name.clone()).or_default();
        match outcome {
            Ok(true) => tally.read += 1,
            Ok(false) => tally.refused += 1,
            Err(_) => tally.panicked += 1,
        }
        if begin.elapsed() > SLOW {
            tally.slow += 1;
        }
        if tally.panicked + tally.slow > 0 && (outcome.is_err() || begin.elapsed() > SLOW) {
            eprintln!("case {case} of seed {seed}: {name} panicked or took {:?}", begin.elapsed());
        }
        fs::write(file, original)?;
    }
    Ok(counts)
}

/// A thread that ends the process if a case hangs.
struct Watchdog {
    case: &'static AtomicU64,
}

impl Watchdog {
    fn start(seed: u64) -> Self {
        static CASE: AtomicU64 = AtomicU64::new(u64::MAX);
        CASE.store(u64::MAX, Ordering::Relaxed);
        thread::spawn(move || {
            let mut last = (u64::MAX, Instant::now());
            loop {
                thread::sleep(Duration::from_secs(1));
                let case = CASE.load(Ordering::Relaxed);
                if case != last.0 {
                    last = (case, Instant::now());
                } else if case != u64::MAX && last.1.elapsed() > HUNG {
                    eprintln!("case {case} of seed {seed} hangs");
                    std::process::exit(3);
                }
            }
        });
        Self { case: &CASE }
    }

    /// Sets the number of the current case.
    fn set_case(&self, case: u64) {
        self.case.store(case, Ordering::Relaxed);
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.case.store(u64::MAX, Ordering::Relaxed);
    }
}
