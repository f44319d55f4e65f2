//! A benchmark of mapped files: creates a data set of ten million observations in the temporary directory, draws
//! minibatches from it, and prints times and resident memory.
//!
//! Run it with `cargo run --release -p sgmcmc-storage --example mapped`. The argument `pages` also draws through the
//! mapped pages, which is faster but makes the whole file resident. It runs on Linux only, where `/proc/self/status`
//! has the memory: VmRSS is the resident memory, RssAnon its anonymous part, RssFile the pages of mapped files, which
//! the operating system can evict at any time, and VmHWM the peak of VmRSS.

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use sgmcmc_gradient::data::Column;
use sgmcmc_gradient::minibatch::{Minibatch, Scheme};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Columns, WithoutReplacement};
use sgmcmc_storage::Result;
use sgmcmc_storage::mapped::{Mapped, MappedWriter};

const ROWS: usize = 10_000_000;
const FEATURES: usize = 8;
const CHUNK: usize = 100_000;
const MINIBATCH: usize = 500;
const MINIBATCHES: usize = 10_000;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("rows.mapped");
    report("start", None);

    let start = Instant::now();
    let mut rng = StreamRng::seed_from_u64(13);
    let mut writer = MappedWriter::create(&file)?;
    for _ in 0..ROWS / CHUNK {
        writer.append(chunk(&mut rng)?.as_slice())?;
    }
    writer.finish()?;
    report("created", Some(start));
    println!("the file has {:.1} MB", std::fs::metadata(&file)?.len() as f64 / 1e6);

    let start = Instant::now();
    let reading = Mapped::open(&file)?.with_system_calls();
    report("opened", Some(start));
    let start = Instant::now();
    let (largest, sum) = sample(&reading.columns())?;
    report(&format!("{MINIBATCHES} minibatches of {MINIBATCH}, reading rows"), Some(start));
    println!("  the largest VmRSS after a minibatch was {:.1} MB; mean of x {:.4}", largest as f64 / 1e3, sum);
    let start = Instant::now();
    reading.verify()?;
    report("verified", Some(start));
    if std::env::args().nth(1).is_some_and(|argument| argument == "pages") {
        let start = Instant::now();
        let (largest, _) = sample(&Mapped::open(&file)?.columns())?;
        report("the same minibatches through the mapped pages, which become resident", Some(start));
        println!("  the largest VmRSS after a minibatch was {:.1} MB", largest as f64 / 1e3);
    }
    Ok(())
}

/// Simulates a chunk of observations.
fn chunk(rng: &mut StreamRng) -> Result<Columns> {
    let x: Vec<f32> = (0..CHUNK * FEATURES).map(|_| rng.random()).collect();
    let y: Vec<f32> = x.chunks_exact(FEATURES).map(|row| if row[0] > row[1] { 1.0 } else { 0.0 }).collect();
    Ok(vec![Column::new("x", x, [FEATURES])?, Column::new("y", y, [])?].into())
}

/// Draws the minibatches, and returns the largest VmRSS in kB and the mean of all drawn x.
fn sample(data: &Columns) -> Result<(u64, f64)> {
    let scheme = WithoutReplacement::new(MINIBATCH);
    let mut state = scheme.init(data.observations())?;
    let mut rng = StreamRng::seed_from_u64(1);
    let mut minibatch = Minibatch::default();
    let (mut largest, mut sum) = (0, 0.0);
    for draw in 0..MINIBATCHES {
        scheme.draw(&mut state, &mut rng, &mut minibatch);
        sum += data.get("x")?.take(minibatch.as_rows()?).numbers().sum::<f64>();
        if draw % 10 == 0 {
            largest = largest.max(memory("VmRSS"));
        }
    }
    Ok((largest, sum / (MINIBATCHES * MINIBATCH * FEATURES) as f64))
}

/// Prints the memory, and the time since `start`.
fn report(what: &str, start: Option<Instant>) {
    let seconds = start.map_or(String::new(), |start| format!(" in {:.2} s", start.elapsed().as_secs_f64()));
    let parts =
        ["VmRSS", "RssAnon", "RssFile", "VmHWM"].map(|name| format!("{name} {:.1} MB", memory(name) as f64 / 1e3));
    println!("{what}{seconds}: {}", parts.join(", "));
}

/// Returns an entry of `/proc/self/status` in kB.
fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}
