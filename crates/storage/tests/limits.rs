//! Small files that announce or decompress to huge content are errors that name the limit. They allocate no memory.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sgmcmc_storage::{fits, read};

#[global_allocator]
static GUARD: sgmcmc_fuzzing::Guard = sgmcmc_fuzzing::Guard;

/// The memory limit of the readers in bytes.
const LIMIT: u64 = 1 << 20;
/// The memory that readers may allocate with all copies, in bytes.
const ALLOWED: usize = 8 << 20;

/// Runs one test at a time, because the allocations of another test would be counted.
fn exclusive() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `act` and aborts the process if it exceeds the memory limit.
fn guarded<T>(act: impl FnOnce() -> T) -> T {
    sgmcmc_fuzzing::allow(ALLOWED);
    let result = act();
    sgmcmc_fuzzing::allow(usize::MAX / 2);
    result
}

/// Checks that reading is an error whose message has the file and `part`.
fn refused<T>(read: impl FnOnce() -> sgmcmc_storage::Result<T>, file: &str, part: &str) {
    let message = guarded(|| read().err().map(|error| error.to_string()));
    let message = message.unwrap_or_else(|| panic!("{file} was read"));
    assert!(message.contains(file) && message.contains(part), "{file}: {message}");
}

/// Writes a compressed file of `head` and `count` bytes that repeat `block`.
fn gzip(path: &Path, head: &[u8], block: &[u8], count: usize) {
    let mut encoder = flate2::write::GzEncoder::new(fs::File::create(path).unwrap(), flate2::Compression::fast());
    encoder.write_all(head).unwrap();
    (0..count / block.len()).for_each(|_| encoder.write_all(block).unwrap());
    encoder.finish().unwrap();
}

const UNPACKED: usize = 16 << 20;
/// The message of the limit.
const MESSAGE: &str = "memory limit of 1048576 bytes: raise the limit with `memory_limit`";

#[test]
fn compressed_bombs_are_refused() {
    let _guard = exclusive();
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| -> PathBuf { directory.path().join(name) };
    let zeros = vec![0; 1 << 16];

    let head = [&[0, 0, 8, 1][..], &(UNPACKED as u32).to_be_bytes()].concat();
    gzip(&at("a.idx.gz"), &head, &zeros, UNPACKED);
    refused(|| read::idx_within(at("a.idx.gz"), "x", LIMIT), "a.idx.gz", MESSAGE);

    // A long line, many lines, and many categories.
    gzip(&at("line.csv.gz"), b"a,b\n1,", &vec![b'1'; 1 << 16], UNPACKED);
    let csv = |name: &str| read::csv(at(name)).memory_limit(LIMIT).float("x", "a").codes("b", "b").read();
    refused(|| csv("line.csv.gz"), "line.csv.gz", MESSAGE);
    gzip(&at("rows.csv.gz"), b"a,b\n", &b"1,2\n".repeat(1 << 14), UNPACKED);
    refused(|| csv("rows.csv.gz"), "rows.csv.gz", MESSAGE);
    gzip(&at("line.txt.gz"), b"1 ", &vec![b'1'; 1 << 16], UNPACKED);
    let spaced = || {
        let table = read::csv(at("line.txt.gz")).no_header().separator(read::Separator::Whitespace);
        table.memory_limit(LIMIT).float("x", 0).read()
    };
    refused(spaced, "line.txt.gz", MESSAGE);
    let skipped = || read::csv(at("line.csv.gz")).skip_lines(2).memory_limit(LIMIT).float("x", "a").read();
    refused(skipped, "line.csv.gz", MESSAGE);
    let categories: String = (0..100_000).map(|number| format!("1,level{number}\n")).collect();
    gzip(&at("levels.csv.gz"), b"a,b\n", categories.as_bytes(), categories.len());
    refused(|| csv("levels.csv.gz"), "levels.csv.gz", MESSAGE);

    gzip(&at("line.libsvm.gz"), b"1 1:", &vec![b'1'; 1 << 16], UNPACKED);
    let libsvm = |name: &str| read::libsvm(at(name)).memory_limit(LIMIT as usize).sparse().read();
    refused(|| libsvm("line.libsvm.gz"), "line.libsvm.gz", MESSAGE);
    gzip(&at("rows.libsvm.gz"), b"", &b"1 1:1 2:2\n".repeat(1 << 12), UNPACKED);
    refused(|| libsvm("rows.libsvm.gz"), "rows.libsvm.gz", MESSAGE);
}

#[test]
fn json_bombs_are_refused() {
    let _guard = exclusive();
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| -> PathBuf { directory.path().join(name) };
    // A long name, a long text, white space, many numbers, and many members.
    let ones = vec![b'1'; 1 << 16];
    for (name, head, block) in [
        ("name.json.gz", &b"{\"a"[..], &ones[..]),
        ("text.json.gz", b"{\"a\": \"", &ones),
        ("digits.json.gz", b"{\"a\": ", &ones),
        ("space.json.gz", b"{\"a\": ", &vec![b' '; 1 << 16]),
        ("numbers.json.gz", b"{\"a\": [1", &b",1".repeat(1 << 15)),
        ("arrays.json.gz", b"{\"a\": [[1]", &b",[1]".repeat(1 << 14)),
    ] {
        gzip(&at(name), head, block, UNPACKED);
        refused(|| read::json_within(at(name), LIMIT), name, MESSAGE);
    }
    let members: String = (0..20_000).map(|number| format!(",\"m{number}\":1")).collect();
    fs::write(at("members.json"), format!("{{\"a\":1{members}}}")).unwrap();
    refused(|| read::json_within(at("members.json"), LIMIT), "members.json", MESSAGE);
    // The time is linear in the number of members: a search among all of them would take minutes.
    let members: String = (0..1_000_000).map(|number| format!(",\"m{number}\":1")).collect();
    fs::write(at("many.json"), format!("{{\"a\":1{members}}}")).unwrap();
    let began = std::time::Instant::now();
    assert_eq!(read::json(at("many.json")).unwrap().names().count(), 1_000_001);
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}

/// The groups beside the draws are read without a copy of every number as a tree.
#[test]
fn groups_of_json_fits_take_the_memory_of_their_numbers() {
    let _guard = exclusive();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fit.json");
    let numbers = vec!["1"; 100_000].join(",");
    let draws = "{\"posterior\": {\"a\": [[1, 2, 3, 4]]}, \"observed_data\": {\"y\": [";
    fs::write(&path, format!("{draws}{numbers}]}}}}")).unwrap();
    sgmcmc_fuzzing::allow(3 << 20);
    let fit = fits::open_within(&path, 1_500_000);
    sgmcmc_fuzzing::allow(usize::MAX / 2);
    assert_eq!(fit.unwrap().groups()[0].variables[0].values.len(), 100_000);
}

#[test]
fn checkpoints_larger_than_the_limit_are_refused() {
    let _guard = exclusive();
    let directory = tempfile::tempdir().unwrap();
    let seeds = sgmcmc_fuzzing::corpus::write(directory.path()).unwrap();
    let checkpoints = seeds.iter().find(|seed| seed.path.ends_with("checkpoints")).unwrap();
    let bytes: u64 = checkpoints.files.iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert_eq!(fits::open_within(&checkpoints.path, bytes).unwrap().chains()[0].len(), 6);
    refused(|| fits::open_within(&checkpoints.path, bytes - 1), "chain-0", "memory limit");
}

#[test]
fn arrays_larger_than_the_limit_are_refused() {
    let _guard = exclusive();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.npz");
    let array = |count: usize| {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({count},), }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.resize(bytes.len() + 8 * count, 0);
        bytes
    };
    let archive = |counts: &[usize]| {
        let mut archive = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        for (number, count) in counts.iter().enumerate() {
            let name = format!("a{number}.npy");
            archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(&array(*count)).unwrap();
        }
        archive.finish().unwrap();
    };
    archive(&[UNPACKED / 8]);
    refused(|| read::npz_within(&path, LIMIT), "a.npz", MESSAGE);
    // Each array is within the limit, but both together are not.
    archive(&[100_000, 100_000]);
    refused(|| read::npz_within(&path, LIMIT), "a.npz", MESSAGE);
    archive(&[100_000]);
    guarded(|| read::npz_within(&path, LIMIT)).unwrap();
    let path = directory.path().join("a.npy");
    fs::write(&path, array(200_000)).unwrap();
    refused(|| read::npy_within(&path, "x", LIMIT), "a.npy", MESSAGE);
    guarded(|| read::npy_within(&path, "x", 8 << 20)).unwrap();
}

/// Reads fits whose schema has more values than the file has bytes.
#[test]
fn layouts_larger_than_the_file_are_refused() {
    let _guard = exclusive();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bomb.sgmcmc");
    for size in [1_u64 << 40, 30_000_000] {
        let layout = serde_json::json!({"blocks": [{"name": "a", "shape": [size], "constraint": null}]});
        let schema = serde_json::json!({"layout": layout, "draws": 10, "chain": 0, "stats": []});
        let mut payload = Vec::new();
        ciborium::into_writer(&schema, &mut payload).unwrap();
        let mut prefix = b"head".to_vec();
        prefix.extend((payload.len() as u32).to_le_bytes());
        let checksum = crc32fast::hash(&[&prefix[..], &payload].concat());
        let bytes = [&b"\x89sgmcmc\n\x01\0\0\0"[..], &prefix, &checksum.to_le_bytes(), &payload].concat();
        fs::write(&path, bytes).unwrap();
        refused(|| fits::open(&path), "bomb.sgmcmc", "there is no draw in it");
    }
    let path = directory.path().join("bomb.csv");
    let own =
        r##"# sgmcmc = {"layout":{"blocks":[{"name":"a","shape":[9999999999991],"constraint":null}]},"stats":[]}"##;
    fs::write(&path, format!("{own}\nlp__,stepsize__,iteration__,a.1\n-1,1,1,2\n-1,1,2,3\n")).unwrap();
    // The columns are used, and the comment that does not match them is ignored.
    let fit = guarded(|| fits::open(&path)).unwrap();
    assert_eq!((fit.layout().value_count(), fit.chains()[0].len()), (1, 2));
}

#[test]
fn fits_larger_than_the_limit_are_refused() {
    let _guard = exclusive();
    let directory = tempfile::tempdir().unwrap();
    let seeds = sgmcmc_fuzzing::corpus::write(directory.path()).unwrap();
    let fits: Vec<_> = seeds.iter().filter(|seed| seed.reader == sgmcmc_fuzzing::targets::Reader::Fit).collect();
    assert!(fits.len() >= 7);
    for seed in fits {
        let name = seed.path.file_name().unwrap().to_str().unwrap();
        refused(|| fits::open_within(&seed.path, 40), name, "memory limit of 40 bytes");
        guarded(|| fits::open_within(&seed.path, LIMIT)).unwrap();
    }
}
