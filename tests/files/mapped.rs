//! Mapped files: what is written comes back without being read, and damage is named.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use sgmcmc::data::Values;
use sgmcmc::data::{Column, Precision, Rows};
use sgmcmc::prelude::*;
use sgmcmc::storage::Result;
use sgmcmc::storage::mapped::{self, Mapped, MappedWriter};
use sgmcmc::{Engine, default_device};
use tempfile::TempDir;

fn data(rows: i64) -> Dataset<Named> {
    let x: Vec<f32> = (0..rows * 3).map(|value| value as f32 / 8.0).collect();
    let columns = vec![
        Column::new("x", x, [3]).unwrap(),
        Column::new("d", (0..rows).map(|value| value % 3 == 0).collect::<Vec<_>>(), []).unwrap(),
        Column::new("short", (0..rows as i32).collect::<Vec<_>>(), []).unwrap(),
        Column::new("long", (0..rows * 2).map(|value| -value).collect::<Vec<_>>(), [2, 1]).unwrap(),
    ];
    Dataset::from_columns(columns).unwrap()
}

/// The leaves as closures see them.
fn content(data: &Dataset<Named>) -> (Vec<f32>, Vec<bool>, Vec<i64>, Vec<i64>) {
    let rows = data.batch(Rows::range(0..data.observations()), &default_device()).unwrap();
    (
        rows.get::<2>("x").into_data().iter().collect(),
        rows.get_bool::<1>("d").into_data().iter().collect(),
        rows.get_int::<1>("short").into_data().iter().collect(),
        rows.get_int::<3>("long").into_data().iter().collect(),
    )
}

fn names(result: Result<impl std::fmt::Debug>, parts: &[&str]) {
    let message = result.unwrap_err().to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
    assert!(!message.contains('\n'), "more than one line: {message}");
}

#[test]
fn what_is_written_comes_back() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.mapped");
    mapped::create(&path, data(10).columns()).unwrap();
    let mapped = mapped::open(&path).unwrap().into_dataset().unwrap();
    assert_eq!(content(&mapped), content(&data(10)));
    Mapped::open(&path).unwrap().verify().unwrap();
    let types: Vec<_> =
        mapped.columns().iter().map(|column| (column.element_type(), column.row_shape().to_vec())).collect();
    let expected: Vec<_> = data(10).columns().iter().map(|c| (c.element_type(), c.row_shape().to_vec())).collect();
    assert_eq!(types, expected);
    // By reading rows instead of touching pages, too.
    let reading = Mapped::open(&path).unwrap().with_system_calls().columns().into_dataset().unwrap();
    assert_eq!(content(&reading), content(&data(10)));
    let some = |data: &Dataset<Named>| content(&data.take(Rows::list(&[9, 2, 2])).unwrap());
    assert_eq!(some(&reading), some(&data(10)));
    // A mapped file can be copied to another one, and made part of what stays in memory.
    mapped::create(dir.path().join("copy.mapped"), mapped.columns()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), fs::read(dir.path().join("copy.mapped")).unwrap());
    assert_eq!(content(&mapped.take(Rows::range(0..5)).unwrap()), content(&data(5)));
}

#[test]
fn leaves_are_aligned_and_not_copied() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.mapped");
    mapped::create(&path, data(7).columns()).unwrap();
    let mapped = Mapped::open(&path).unwrap();
    let at = |data: &Dataset<Named>| match data.columns()[0].values() {
        Values::F32(values) => values.as_ptr() as usize,
        _ => 0,
    };
    assert_eq!(at(&mapped.columns().into_dataset().unwrap()) % 64, 0);
    // Clones of the data set show the same memory.
    assert_eq!(at(&mapped.columns().into_dataset().unwrap()), at(&mapped.columns().into_dataset().unwrap().clone()));
    let data_of = mapped.columns().into_dataset().unwrap();
    mapped.release();
    drop(mapped);
    // The file stays mapped as long as the data set lives, even when its name is gone.
    fs::remove_file(&path).unwrap();
    assert_eq!(content(&data_of), content(&data(7)));
}

#[test]
fn rows_are_appended_and_the_name_appears_at_the_end() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.mapped");
    let mut writer = MappedWriter::create(&path).unwrap();
    for start in [0, 4, 8] {
        writer.append(data(12).take(Rows::range(start..start + 4)).unwrap().columns()).unwrap();
        assert!(!path.exists());
    }
    writer.finish().unwrap();
    assert_eq!(content(&mapped::open(&path).unwrap().into_dataset().unwrap()), content(&data(12)));
    // A writer that is dropped leaves nothing behind, and the old file as it was.
    let before = fs::read(&path).unwrap();
    let mut dropped = MappedWriter::create(&path).unwrap();
    dropped.append(data(3).columns()).unwrap();
    drop(dropped);
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    // A file in use can be replaced.
    let old = mapped::open(&path).unwrap().into_dataset().unwrap();
    mapped::create(&path, data(2).columns()).unwrap();
    assert_eq!((old.observations(), mapped::open(&path).unwrap().into_dataset().unwrap().observations()), (12, 2));
    assert_eq!(content(&old), content(&data(12)));
}

#[test]
fn a_typed_data_set_in_a_mapped_file() {
    #[derive(TensorTree)]
    struct Observations {
        x: Tensor<2>,
        y: Tensor<1>,
    }
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.mapped");
    let tree = Observations {
        x: array(vec![1.0_f32, 2.0, 3.0, 4.0], [2, 2]).unwrap(),
        y: array(vec![5.0_f32, 6.0], [2]).unwrap(),
    };
    mapped::create(&path, Dataset::new(tree).unwrap().columns()).unwrap();
    let template = Observations { x: zeros([1, 2]), y: zeros([1]) };
    let data = mapped::open(&path).unwrap().into_dataset().unwrap().typed(&template).unwrap();
    let rows = data.batch(Rows::list(&[1]), &default_device()).unwrap();
    assert_eq!(rows.x.into_data().iter::<f32>().collect::<Vec<_>>(), [3.0, 4.0]);
    assert_eq!(rows.y.into_data().iter::<f32>().collect::<Vec<_>>(), [6.0]);
}

#[test]
fn mistakes_while_writing_are_named() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.mapped");
    names(MappedWriter::create(&path).unwrap().finish(), &["rows.mapped", "no observation"]);
    let mut writer = MappedWriter::create(&path).unwrap();
    writer.append(data(4).columns()).unwrap();
    let other = Columns::new().leaf("x", vec![1.0_f32], [1]).unwrap().into_dataset().unwrap();
    names(writer.append(other.columns()), &["rows.mapped, row 4", "1 leaves instead of 4"]);
    let double = data(2).with_precision(Precision::Double);
    names(writer.append(double.columns()), &["row 4, column `x`", "F64", "F32"]);
    names(MappedWriter::create(dir.path().join("no/such/rows.mapped")), &["no/such/rows.mapped", "No such file"]);
}

fn refused(path: &Path, change: impl FnOnce(&mut Vec<u8>), parts: &[&str]) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    let changed = path.with_file_name("changed.mapped");
    fs::write(&changed, bytes).unwrap();
    names(Mapped::open(&changed), parts);
}

/// Makes the header's own checksum right again.
fn seal(bytes: &mut [u8]) {
    if let Some(length) = bytes.get(16..20) {
        let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
        if let Some(header) = bytes.get_mut(..length)
            && let Some((content, checksum)) = header.split_last_chunk_mut::<4>()
        {
            *checksum = crc32fast::hash(content).to_le_bytes();
        }
    }
}

#[test]
fn damaged_files_are_named() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.mapped");
    mapped::create(&path, data(100).columns()).unwrap();
    let file = "changed.mapped";
    refused(&path, |bytes| bytes.truncate(bytes.len() - 1), &[file, "`long`", "truncated"]);
    refused(&path, |bytes| bytes.truncate(20), &[file, "truncated"]);
    refused(&path, Vec::clear, &[file, "truncated"]);
    refused(&path, |bytes| bytes[1] = b'X', &[file, "SGMCMC"]);
    refused(&path, |bytes| bytes[8] = 9, &[file, "version is 9"]);
    refused(&path, |bytes| bytes[24] ^= 1, &[file, "checksum of the header"]);
    refused(&path, |bytes| bytes[12] = 2, &[file, "checksum of the header"]);
    let reversed = |bytes: &mut Vec<u8>| {
        bytes[12] = 3 - bytes[12];
        seal(bytes);
    };
    refused(&path, reversed, &[file, "other byte order"]);
    let absurd = |bytes: &mut Vec<u8>| {
        bytes[24..32].copy_from_slice(&(1_u64 << 60).to_le_bytes());
        seal(bytes);
    };
    refused(&path, absurd, &[file, "`x`", "1152921504606846976 rows"]);
    let long = |bytes: &mut Vec<u8>| bytes[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
    refused(&path, long, &[file, "header cannot have 4294967295 bytes"]);
    names(Mapped::open(dir.path().join("none.mapped")), &["none.mapped", "No such file"]);

    // Damaged numbers are not seen when opening, but when verifying.
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 5;
    bytes[last] ^= 4;
    fs::write(&path, bytes).unwrap();
    names(Mapped::open(&path).unwrap().verify(), &["rows.mapped", "column `long`", "checksum"]);
}

#[test]
fn damaged_headers_never_panic() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.mapped");
    mapped::create(&path, data(20).columns()).unwrap();
    let whole = fs::read(&path).unwrap();
    let header = u32::from_le_bytes(whole[16..20].try_into().unwrap()) as usize;
    let change = (any::<bool>(), prop::sample::select(vec![0, header, whole.len()]), any::<u64>(), any::<u8>());
    let changes = (any::<bool>(), prop::collection::vec(change, 1..6));
    let config = ProptestConfig {
        cases: 500,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    };
    let (opened, refused) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let result = TestRunner::new(config).run(&changes, |(sealed, changes)| {
        let mut bytes = whole.clone();
        for (replace, within, place, byte) in changes {
            match (replace, within) {
                // Once in a while the file is cut.
                (false, 0) => bytes.truncate((place % (bytes.len() as u64 + 1)) as usize),
                (_, 0) => bytes.insert((place % (bytes.len() as u64 + 1)) as usize, byte),
                (_, within) => {
                    let within = within.min(bytes.len()).max(1) as u64;
                    if let Some(target) = bytes.get_mut((place % within) as usize) {
                        *target = if replace { byte } else { *target ^ (1 << (byte % 8)) };
                    }
                }
            }
        }
        if sealed {
            seal(&mut bytes);
        }
        // A file that is mapped must not be changed: each one is a new file.
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        match Mapped::open(&path) {
            Ok(mapped) => {
                opened.set(opened.get() + 1);
                let data = mapped.columns().into_dataset().unwrap();
                data.batch(Rows::list(&[0, data.observations() - 1]), &default_device()).unwrap();
                let _ = mapped.verify();
            }
            Err(error) => {
                prop_assert!(error.to_string().contains("rows.mapped"), "{error}");
                refused.set(refused.get() + 1);
            }
        }
        Ok(())
    });
    assert!(result.is_ok(), "{result:?}");
    assert!(opened.get() > 20 && refused.get() > 100, "{} opened, {} refused", opened.get(), refused.get());
}

/// A file that is cut while it is mapped is an error for both engines, by pages and by rows.
#[cfg(unix)]
#[test]
fn a_file_that_is_cut_is_an_error() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("rows.mapped");
    for reading in [false, true] {
        let y: Vec<f64> = (0..100_000).map(|value| f64::from(value % 7)).collect();
        mapped::create(&path, Columns::new().leaf("y", y, [100_000]).unwrap().as_slice()).unwrap();
        let mapped = Mapped::open(&path).unwrap();
        let mapped = if reading { mapped.with_system_calls() } else { mapped };
        let model = Model::new(|theta: Tensor<1>, rows: Named| (rows.get::<1>("y") - theta).powi_scalar(2).neg());
        let start = array(vec![0.5], [1]).unwrap();
        let posterior = model.with(&mapped.columns().into_dataset().unwrap());
        let mut evaluators: Vec<_> = [Engine::Eager, Engine::Compiled]
            .into_iter()
            .map(|engine| posterior.clone().engine(engine).evaluator(&start).unwrap())
            .collect();
        let mut gradient = [0.0];
        for evaluator in &mut evaluators {
            evaluator.likelihood(&[0.5], Rows::range(90_000..90_100), &mut gradient).unwrap();
        }
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();
        for evaluator in &mut evaluators {
            for rows in [Rows::range(90_000..90_100), Rows::list(&[1, 99_999])] {
                let error = evaluator.likelihood(&[0.5], rows, &mut gradient).unwrap_err().to_string();
                assert!(error.contains("`y`") && error.contains("cut to 4096 bytes"), "{error}");
            }
        }
        names(mapped.verify(), &["cut to 4096 bytes"]);
        fs::remove_file(&path).unwrap();
    }
}
