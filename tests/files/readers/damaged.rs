//! Damaged files, and files that announce more values than memory holds.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use sgmcmc::prelude::*;
use sgmcmc::storage::read::{self, Separator};
use sgmcmc::storage::{Error, Result};
use tempfile::TempDir;

use super::{PEOPLE, file, gz, idx, names, npy, npz};

#[test]
fn damaged_compression_is_named() {
    let dir = TempDir::new().unwrap();
    let rows: String = (0..500).map(|row| format!("{row},{}\n", row * 7919 % 1000)).collect();
    let whole = gz(format!("a,b\n{rows}").as_bytes());
    let read = |name, bytes: &[u8]| read::csv(file(&dir, name, bytes)).float("x", ["a", "b"]).read();
    assert_eq!(read("good.gz", &whole).unwrap().observations(), 500);
    names(read("short.gz", &whole[..whole.len() / 2]), &["short.gz, line", "truncated"]);
    names(read("tail.gz", &whole[..whole.len() - 4]), &["tail.gz", "truncated"]);
    let mut damaged = whole.clone();
    let checksum = damaged.len() - 6;
    damaged[checksum] ^= 0xff;
    names(read("checksum.gz", &damaged), &["checksum.gz", "corrupt"]);
    let images = gz(&idx(8, &[10, 10], &[7; 100]));
    names(read::idx(file(&dir, "images", &images[..images.len() - 9]), "x"), &["images", "truncated"]);
}

#[test]
fn absurd_sizes_are_refused_without_memory() {
    let dir = TempDir::new().unwrap();
    let huge = idx(14, &[u32::MAX, 1 << 28], &[0; 8]);
    names(read::idx(file(&dir, "huge.idx", &huge), "x"), &["huge.idx", "truncated"]);
    let overflow = idx(8, &[u32::MAX; 3], &[0; 8]);
    names(read::idx(file(&dir, "overflow.idx", &overflow), "x"), &["overflow.idx", "more numbers than any memory"]);
    let header = |shape: &str| {
        let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
        [b"\x93NUMPY\x01\x00", &(text.len() as u16).to_le_bytes()[..], text.as_bytes()].concat()
    };
    let read = |bytes: Vec<u8>| read::npy(file(&dir, "huge.npy", bytes), "x");
    names(read(header("(1152921504606846976,)")), &["huge.npy", "more numbers than any memory"]);
    names(read(header("(1099511627776, 64)")), &["huge.npy", "truncated"]);
    names(read(header("(4294967296, 4294967296, 4294967296)")), &["huge.npy", "more numbers than any memory"]);
    let long = [b"\x93NUMPY\x02\x00", &u32::MAX.to_le_bytes()[..]].concat();
    names(read(long), &["huge.npy", "header of 4294967295 bytes"]);
    let nested = format!("{{'descr': {}", "(".repeat(60_000));
    let nested = [b"\x93NUMPY\x01\x00", &(nested.len() as u16).to_le_bytes()[..], nested.as_bytes()].concat();
    names(read(nested), &["huge.npy", "structured"]);
    let index = file(&dir, "huge.svm", "1 1:1\n1 9223372036854775807:1\n");
    assert!(read::libsvm(&index).read_table().unwrap().sparse);
    names(read::libsvm(&index).dense().read(), &["huge.svm", "memory_limit"]);
}

/// Changes to a file: bytes replaced, put in, or cut off at the end.
fn damage() -> impl Strategy<Value = Vec<(u8, prop::sample::Index, u8)>> {
    prop::collection::vec((0_u8..4, any::<prop::sample::Index>(), any::<u8>()), 1..6)
}

fn damaged(whole: &[u8], changes: &[(u8, prop::sample::Index, u8)]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for (kind, place, byte) in changes {
        let at = place.index(bytes.len() + 1);
        match kind {
            0 if at < bytes.len() => bytes[at] = *byte,
            1 if at < bytes.len() => bytes[at] ^= 1 << (byte % 8),
            2 => bytes.insert(at, *byte),
            _ => bytes.truncate(at.max(bytes.len() / 2)),
        }
    }
    bytes
}

/// Reads damaged versions of a file. A panic fails the test; an error must name the file, and must sometimes occur.
fn survives<T>(whole: Vec<u8>, read: impl Fn(&Path) -> Result<T>) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("damaged");
    fs::write(&path, &whole).unwrap();
    assert!(read(&path).is_ok(), "the undamaged file is good");
    let config = ProptestConfig {
        cases: 300,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(13),
        ..ProptestConfig::default()
    };
    let refused = std::cell::Cell::new(0);
    let result = TestRunner::new(config).run(&damage(), |changes| {
        fs::write(&path, damaged(&whole, &changes)).unwrap();
        match read(&path) {
            Ok(_) => {}
            Err(error @ (Error::File(_) | Error::Content { .. })) => {
                prop_assert!(error.to_string().contains("damaged"), "{error}");
                refused.set(refused.get() + 1);
            }
            Err(error) => prop_assert!(false, "no file is named: {error}"),
        }
        Ok(())
    });
    assert!(result.is_ok(), "{result:?}");
    assert!(refused.get() > 30, "only {} of 300 were refused", refused.get());
}

fn table(path: &Path) -> Result<Columns> {
    read::csv(path).float("x", ["height", "age"]).codes("color", "color").one_hot("h", "color").int("id", "id").read()
}

#[test]
fn damaged_csv() {
    survives(PEOPLE.into(), table);
    survives(gz(PEOPLE.as_bytes()), table);
    survives(b"1 2 3\n4 5 6\n7 8 9\n".to_vec(), |path| {
        read::csv(path).separator(Separator::Whitespace).no_header().float("x", 0..3).read()
    });
}

#[test]
fn damaged_libsvm() {
    let rows: String = (1..20).map(|row| format!("{} {}:0.5 {}:2\n", row % 2, row, row + 3)).collect();
    let read = |path: &Path| read::libsvm(path).memory_limit(1 << 20).read();
    survives(rows.clone().into_bytes(), read);
    survives(gz(rows.as_bytes()), read);
    survives(rows.into_bytes(), |path| read::libsvm(path).memory_limit(1 << 20).sparse().read());
}

#[test]
fn damaged_arrays() {
    let floats = npy(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2], npyz::Order::Fortran);
    survives(floats.clone(), |path| read::npy(path, "x"));
    survives(idx(8, &[3, 2], &[1, 2, 3, 4, 5, 6]), |path| read::idx(path, "x"));
    survives(gz(&idx(8, &[3, 2], &[1, 2, 3, 4, 5, 6])), |path| read::idx(path, "x"));
    let members = [("x.npy", floats), ("k.npy", npy(&[7_i64, 8, 9], &[3], npyz::Order::C))];
    survives(npz(&members, zip::CompressionMethod::Deflated), |path| read::npz(path));
    survives(npz(&members, zip::CompressionMethod::Stored), |path| read::npz(path));
}
