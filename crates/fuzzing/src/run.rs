//! Many damaged files, one after another.

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

/// The memory limit that readers are given, in bytes.
const READ_LIMIT: u64 = 16 << 20;
/// The memory that a case may take in all: copies, summaries and plots of messages included.
const CASE_LIMIT: usize = 512 << 20;
/// A case that takes longer counts as hung.
const SLOW: Duration = Duration::from_secs(5);
/// A case that takes longer ends the process.
const HUNG: Duration = Duration::from_secs(60);

/// What became of the files of one format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Files that were read.
    pub read: u64,
    /// Files that were refused.
    pub refused: u64,
    /// Files whose reader panicked.
    pub panicked: u64,
    /// Files that took longer than five seconds.
    pub slow: u64,
}

/// Reads `count` damaged files and returns what became of them, by the name of the file of the corpus.
///
/// The same `seed` makes the same files. A reader that takes too much memory under the [`Guard`](crate::Guard), or longer than a
/// minute, ends the process, with the number of the case on standard error.
///
/// # Errors
///
/// If the corpus cannot be written.
pub fn run(count: u64, seed: u64) -> Result<BTreeMap<String, Count>, Box<dyn Error>> {
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
    let seeds = corpus::write(directory.path())?;
    sgmcmc_storage::set_memory_limit(READ_LIMIT);
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let all: Vec<Vec<u8>> = seeds.iter().flat_map(|seed| &seed.files).filter_map(|file| fs::read(file).ok()).collect();
    let watch = Watch::start(seed);
    for case in 0..count {
        watch.at(case);
        let mut rng = SmallRng::seed_from_u64(seed ^ case.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let Seed { reader, path, files } = &seeds[case as usize % seeds.len()];
        let file = &files[rng.random_range(0..files.len())];
        let original = fs::read(file)?;
        let wrapping = if rng.random_bool(0.75) { Wrapping::of(&original) } else { Wrapping::None };
        let other = &all[rng.random_range(0..all.len())];
        fs::write(file, wrapping.wrap(mutate(&wrapping.unwrap(&original), other, &mut rng)))?;
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

/// Ends the process when a case hangs.
struct Watch {
    case: &'static AtomicU64,
}

impl Watch {
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

    fn at(&self, case: u64) {
        self.case.store(case, Ordering::Relaxed);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.case.store(u64::MAX, Ordering::Relaxed);
    }
}
