//! Readers: what is written comes back, plain or compressed; what is wrong is named by file, line and column; and damaged files
//! of every format give errors, never panics.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::{Compression, write::GzEncoder};
use npyz::WriterBuilder;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use sgmcmc::data::Values;
use sgmcmc::data::{Precision, Rows};
use sgmcmc::default_device;
use sgmcmc::prelude::*;
use sgmcmc::storage::read;
use sgmcmc::storage::read::{Missing, Separator};
use sgmcmc::storage::{Error, Result};
use tempfile::TempDir;

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A file of these bytes in a directory that lives as long as the test.
fn file(dir: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Runs `check` on the bytes as they are, compressed, and compressed in two members.
fn in_all_forms(bytes: &[u8], check: impl Fn(&Path)) {
    let dir = TempDir::new().unwrap();
    check(&file(&dir, "plain", bytes));
    check(&file(&dir, "compressed", gz(bytes)));
    let (head, tail) = bytes.split_at(bytes.len() / 2);
    check(&file(&dir, "members", [gz(head), gz(tail)].concat()));
}

fn values<'a>(data: &'a Columns, leaf: &str) -> &'a Values {
    data.get(leaf).unwrap().values()
}

fn names(result: Result<impl std::fmt::Debug>, parts: &[&str]) {
    let message = result.unwrap_err().to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is missing in: {message}");
    }
    assert!(!message.contains('\n'), "more than one line: {message}");
}

const PEOPLE: &str = "age,height,color,label,id\n30,1.8,red,1,7\n-41,1.6e0,blue,0,8\n50, 1.7 ,red,1,9\n";

#[test]
fn csv_columns_become_leaves() {
    in_all_forms(PEOPLE.as_bytes(), |path| {
        let table = read::csv(path)
            .float("x", ["height", "age"])
            .codes("color", "color")
            .one_hot("hot", "color")
            .float("y", "label")
            .int("id", 4)
            .read_table()
            .unwrap();
        let data = &table.columns;
        assert_eq!(data.observations(), 3);
        assert_eq!(values(data, "x"), &vec![1.8_f32, 30.0, 1.6, -41.0, 1.7, 50.0].into());
        assert_eq!(values(data, "y"), &vec![1.0_f32, 0.0, 1.0].into());
        assert_eq!(values(data, "id"), &vec![7_i64, 8, 9].into());
        assert_eq!(table.levels("color").unwrap(), ["blue", "red"]);
        assert_eq!(values(data, "color"), &vec![1_i64, 0, 1].into());
        assert_eq!(values(data, "hot"), &vec![0.0_f32, 1.0, 1.0, 0.0, 0.0, 1.0].into());
        assert_eq!((table.levels("x"), table.dropped), (None, 0));
        let levels = ["green", "red", "blue"].map(String::from);
        let again = read::csv(path).codes_of("color", "color", &levels).read().unwrap();
        assert_eq!(values(&again, "color"), &vec![1_i64, 2, 1].into());
        let double = read::csv(path).float("x", "height").precision(Precision::Double).read().unwrap();
        assert_eq!(values(&double, "x"), &vec![1.8, 1.6, 1.7].into());
    });
}

#[test]
fn other_separators_comments_and_no_header() {
    let spaced = "skip me\n# a comment\n\n 1   2.5\t3\n4 5 6 \n";
    in_all_forms(spaced.as_bytes(), |path| {
        let table = read::csv(path).separator(Separator::Whitespace).skip_lines(1).comment(b'#').no_header();
        let data = table.float("x", 0..2).int("k", 2).read().unwrap();
        assert_eq!(values(&data, "x"), &vec![1.0_f32, 2.5, 4.0, 5.0].into());
        assert_eq!(values(&data, "k"), &vec![3_i64, 6].into());
    });
    in_all_forms(b"a\tb\r\n1\t10\r\n2\t9\r\n", |path| {
        let data = read::csv(path).separator(Separator::Byte(b'\t')).codes("b", "b").float("a", "a").read().unwrap();
        // Levels that are numbers are sorted as numbers.
        assert_eq!(values(&data, "b"), &vec![1_i64, 0].into());
        assert_eq!(values(&data, "a"), &vec![1.0_f32, 2.0].into());
    });
}

#[test]
fn missing_values_by_policy() {
    let dir = TempDir::new().unwrap();
    let path = file(&dir, "gaps.csv", "a,k,c\n1,2,u\nNA,3,v\n4,,u\n5,6,u\n");
    let table = || read::csv(&path).float("a", "a").int("k", "k").codes("c", "c");
    names(table().read(), &["gaps.csv", "line 3", "column `a`", "missing", "`NA`"]);
    let skipped = table().missing(Missing::SkipRow).read_table().unwrap();
    assert_eq!((skipped.columns.observations(), skipped.dropped), (2, 2));
    assert_eq!(values(&skipped.columns, "a"), &vec![1.0_f32, 5.0].into());
    // A level that only occurred in a row left out is none.
    assert_eq!(skipped.levels("c").unwrap(), ["u"]);
    let filled = table().missing(Missing::Fill(-1.0)).read().unwrap();
    assert_eq!(values(&filled, "a"), &vec![1.0_f32, -1.0, 4.0, 5.0].into());
    assert_eq!(values(&filled, "k"), &vec![2_i64, 3, -1, 6].into());
    names(table().missing(Missing::Fill(0.5)).read(), &["line 4, column `k`", "`0.5` is not an integer"]);
    names(table().missing(Missing::Fill(f64::NAN)).read(), &["line 3, column `a`", "NaN", "allow_non_finite"]);
    names(table().missing_is(["-"]).read(), &["line 3", "column `a`", "`NA` is not a number"]);
}

#[test]
fn mistakes_in_text_are_named() {
    let dir = TempDir::new().unwrap();
    let read = |content: &str| {
        let path = file(&dir, "bad.csv", content);
        read::csv(path).comment(b'#').float("x", ["a", "b"]).read()
    };
    names(read(""), &["bad.csv", "no observation"]);
    names(read("a,b\n"), &["bad.csv", "no observation"]);
    names(read("a,b\n1,2\n\n# note\n3\n"), &["bad.csv, line 5", "1 fields where the first row has 2"]);
    names(read("a,b\r\n1,2\r\n\r\n3,four\r\n"), &["bad.csv, line 4, column `b`", "`four` is not a number"]);
    names(read("a,b\n\"1\",2\n\"x\ny\",2\n"), &["line 3, column `a`", "not a number"]);
    names(read("a,b\n1,nan\n"), &["line 2, column `b`", "nan", "allow_non_finite"]);
    names(read("a,b\n1,2\n3,-inf\n"), &["line 3, column `b`", "-inf"]);
    names(read("a,b\n1e99,2\n"), &["line 2, column `a`", "1e99"]);
    names(read("a,c\n1,2\n"), &["bad.csv, line 1", "no column `b`", "`a`, `c`"]);
    names(read("a,b,b\n1,2,3\n"), &["two columns are called `b`"]);
    let good = file(&dir, "good.csv", PEOPLE);
    names(read::csv(&good).float("x", 5).read(), &["good.csv", "no column `5`"]);
    names(read::csv(&good).no_header().float("x", 5..6).read(), &["no column `5`", "0 to 4"]);
    names(read::csv(&good).int("x", "height").read(), &["line 2, column `height`", "`1.8` is not an integer"]);
    names(read::csv(&good).codes_of("c", "color", &["red".into()]).read(), &["line 3", "`blue` is none", "red"]);
    names(read::csv(&good).codes("c", ["age", "color"]).read(), &["categories come from one column", "`c`"]);
    names(read::csv(&good).read(), &["good.csv", "no leaf"]);
    names(read::csv(dir.path().join("absent.csv")).float("x", 0).read(), &["absent.csv", "No such file"]);
    let non_finite = file(&dir, "nan.csv", "a\nNaN\n");
    assert!(read::csv(non_finite).float("a", "a").allow_non_finite().read().is_ok());
}

#[test]
fn libsvm_dense_and_sparse() {
    in_all_forms(b"+1 1:0.5 3:2 # note\n\n-1 2:1e0\n-1\n", |path| {
        let table = read::libsvm(path).read_table().unwrap();
        assert_eq!((table.features, table.sparse), (3, false));
        assert_eq!(values(&table.columns, "x"), &vec![0.5_f32, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0].into());
        assert_eq!(values(&table.columns, "y"), &vec![1.0_f32, -1.0, -1.0].into());
        let sparse = read::libsvm(path).columns(5).sparse().precision(Precision::Double).read_table().unwrap();
        assert_eq!((sparse.features, sparse.sparse), (5, true));
        assert_eq!(values(&sparse.columns, "index"), &vec![0_i64, 2, 1, 0, 0, 0].into());
        assert_eq!(values(&sparse.columns, "value"), &vec![0.5, 2.0, 1.0, 0.0, 0.0, 0.0].into());
        // Kept sparse where the dense rows would not fit.
        assert!(read::libsvm(path).columns(1_000_000).memory_limit(1_000_000).read_table().unwrap().sparse);
        names(read::libsvm(path).columns(usize::MAX).dense().read(), &["memory_limit", "sparse"]);
    });
}

#[test]
fn sparse_rows_give_the_same_predictor_as_dense_ones() {
    let dir = TempDir::new().unwrap();
    let path = file(&dir, "rows", "1 1:0.5 3:2\n0 2:1\n1 1:-1 2:3 3:0.25\n");
    let beta = array(vec![0.3_f32, -0.7, 1.1], [3]).unwrap();
    let batch = |data: &Dataset<Named>| data.batch(Rows::range(0..3), &default_device()).unwrap();
    let dense = batch(&read::libsvm(&path).read().unwrap().into_dataset().unwrap()).get::<2>("x");
    let dense = dense.matmul(beta.clone().unsqueeze_dim(1)).squeeze_dim::<1>(1);
    let rows = batch(&read::libsvm(&path).sparse().read().unwrap().into_dataset().unwrap());
    let (index, value) = (rows.get_int::<2>("index"), rows.get::<2>("value"));
    let picked = beta.select(0, index.clone().flatten::<1>(0, 1)).reshape(index.dims());
    let sparse = (picked * value).sum_dim(1).squeeze_dim::<1>(1);
    let difference = (dense - sparse).abs().max().into_data().iter::<f64>().next().unwrap();
    assert!(difference < 1e-6, "{difference}");
}

#[test]
fn mistakes_in_libsvm_are_named() {
    let dir = TempDir::new().unwrap();
    let read = |content: &str| read::libsvm(file(&dir, "bad.svm", content)).columns(4).read();
    names(read("\n# nothing\n"), &["bad.svm", "no observation"]);
    names(read("1 1:1\nx 2:1\n"), &["bad.svm, line 2, column `label`", "`x` is not a number"]);
    names(read("1 1:1\n\n1 2:z\n"), &["line 3, column `2`", "`z`"]);
    names(read("1 2:nan\n"), &["line 1, column `2`", "nan"]);
    names(read("1 0:1\n"), &["line 1, column `0`", "count from 1"]);
    names(read("1 5:1\n"), &["line 1, column `5`", "index 5 is out of range", "columns is 4"]);
    names(read("1 3:1 2:1\n"), &["line 1, column `2`", "increase"]);
    names(read("1 31\n"), &["line 1", "`31` is not a pair"]);
    names(read("1 -3:1\n"), &["line 1", "`-3` is not an index"]);
    names(read::libsvm(dir.path().join("none")).read(), &["none", "No such file"]);
}

fn npy<T: npyz::AutoSerialize + npyz::Serialize + Copy>(values: &[T], shape: &[u64], order: npyz::Order) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = npyz::WriteOptions::new().default_dtype().shape(shape).order(order);
    let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
    writer.extend(values.iter().copied()).unwrap();
    writer.finish().unwrap();
    bytes
}

fn npz(members: &[(&str, Vec<u8>)], method: zip::CompressionMethod) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn npy_of_every_type_and_order() {
    use npyz::Order::{C, Fortran};
    let dir = TempDir::new().unwrap();
    let read = |bytes: Vec<u8>| read::npy(file(&dir, "a.npy", bytes), "x").unwrap();
    let c = read(npy(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2], C));
    let fortran = read(npy(&[1.0_f32, 3.0, 5.0, 2.0, 4.0, 6.0], &[3, 2], Fortran));
    assert_eq!(c, fortran);
    assert_eq!((c.observations(), c.row_shape()), (3, &[2][..]));
    let c = read(npy(&(0..24).collect::<Vec<i64>>(), &[2, 3, 4], C));
    let order: Vec<i64> = (0..24).map(|place| place % 2 * 12 + place / 2 % 3 * 4 + place / 6).collect();
    assert_eq!(c, read(npy(&order, &[2, 3, 4], Fortran)));
    assert_eq!(read(npy(&[0.5_f64, 1.5], &[2], C)).values(), &vec![0.5, 1.5].into());
    assert_eq!(read(npy(&[-1_i32, 2], &[2], C)).values(), &vec![-1_i32, 2].into());
    assert_eq!(read(npy(&[0_u8, 255], &[2], C)).values(), &vec![0_i32, 255].into());
    assert_eq!(read(npy(&[true, false], &[2], C)).values(), &vec![true, false].into());
    let mut big_endian = npy(&[1.0_f32, 2.0], &[2], C);
    let place = big_endian.windows(3).position(|bytes| bytes == b"<f4").unwrap();
    big_endian[place] = b'>';
    let length = big_endian.len();
    big_endian[length - 8..].copy_from_slice(&[1.5_f32.to_be_bytes(), (-2.0_f32).to_be_bytes()].concat());
    assert_eq!(read(big_endian).values(), &vec![1.5_f32, -2.0].into());
}

#[test]
fn npz_members_are_leaves() {
    let dir = TempDir::new().unwrap();
    let members = [
        ("x.npy", npy(&[1.0_f32, 2.0, 3.0, 4.0], &[2, 2], npyz::Order::C)),
        ("k.npy", npy(&[7_i64, 8], &[2], npyz::Order::C)),
    ];
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        let data = read::npz(file(&dir, "a.npz", npz(&members, method))).unwrap();
        assert_eq!(values(&data, "x"), &vec![1.0_f32, 2.0, 3.0, 4.0].into());
        assert_eq!(values(&data, "k"), &vec![7_i64, 8].into());
    }
    let ragged = [("x.npy", npy(&[1.0_f32], &[1], npyz::Order::C)), members[1].clone()];
    let ragged = read::npz(file(&dir, "b.npz", npz(&ragged, zip::CompressionMethod::Stored)));
    names(ragged, &["b.npz", "`k` has 2 rows but `x` has 1"]);
    let broken = [("x.npy", members[0].1[..90].to_vec())];
    names(read::npz(file(&dir, "c.npz", npz(&broken, zip::CompressionMethod::Stored))), &["c.npz", "`x`", "truncated"]);
    names(read::npz(file(&dir, "d.npz", b"PK not a zip")), &["d.npz", "corrupt"]);
    names(read::npz(file(&dir, "e.npz", npz(&[], zip::CompressionMethod::Stored))), &["e.npz", "no observation"]);
}

#[test]
fn mistakes_in_npy_are_named() {
    let dir = TempDir::new().unwrap();
    let good = npy(&[1.0_f32, 2.0, 3.0, f32::NAN], &[2, 2], npyz::Order::C);
    let read = |bytes: &[u8]| read::npy(file(&dir, "bad.npy", bytes), "x");
    names(read(&good), &["bad.npy", "`x` holds NaN at row 1, column 1"]);
    names(read(&good[..good.len() - 1]), &["bad.npy", "truncated", "4 numbers announced, 3 found"]);
    names(read(&[&good[..], &[0]].concat()), &["bad.npy", "more bytes"]);
    names(read(&good[..5]), &["bad.npy", "truncated"]);
    names(read(b"not numpy at all"), &["bad.npy", "NUMPY"]);
    names(read(b""), &["bad.npy", "truncated"]);
    let with = |from: &str, to: &str| {
        let text = good.iter().map(|byte| char::from(*byte)).collect::<String>().replacen(from, to, 1);
        text.chars().map(|letter| letter as u8).collect::<Vec<u8>>()
    };
    names(read(&with("<f4", "<c8")), &["bad.npy", "element type is c8"]);
    names(read(&with("(2, 2", "(2, -")), &["bad.npy", "not understood"]);
    names(read(&with("(2, 2", "(0, 2")), &["bad.npy", "no observation"]);
    names(read::npy(dir.path().join("none.npy"), "x"), &["none.npy", "No such file"]);
    names(read(&npy::<f32>(&[1.0; 2], &[2, 1, 1, 1, 1, 1, 1], npyz::Order::C)), &["bad.npy", "`x` has rank 7"]);
}

fn idx(kind: u8, sizes: &[u32], content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, kind, sizes.len() as u8];
    sizes.iter().for_each(|size| bytes.extend(size.to_be_bytes()));
    bytes.extend(content);
    bytes
}

#[test]
fn idx_of_every_type() {
    in_all_forms(&idx(8, &[2, 1, 2], &[0, 1, 128, 255]), |path| {
        let column = read::idx(path, "x").unwrap();
        assert_eq!((column.row_shape(), column.values()), (&[1, 2][..], &vec![0_i32, 1, 128, 255].into()));
    });
    let dir = TempDir::new().unwrap();
    let read = |bytes: Vec<u8>| read::idx(file(&dir, "a.idx", bytes), "x");
    assert_eq!(read(idx(9, &[1], &[255])).unwrap().values(), &vec![-1_i32].into());
    assert_eq!(read(idx(11, &[1], &[1, 2])).unwrap().values(), &vec![258_i32].into());
    assert_eq!(read(idx(12, &[1], &(-7_i32).to_be_bytes())).unwrap().values(), &vec![-7_i32].into());
    assert_eq!(read(idx(13, &[1], &1.5_f32.to_be_bytes())).unwrap().values(), &vec![1.5_f32].into());
    assert_eq!(read(idx(14, &[1], &1.5_f64.to_be_bytes())).unwrap().values(), &vec![1.5].into());
    names(read(idx(10, &[1], &[1])), &["a.idx", "element type is 0x0a"]);
    names(read(idx(8, &[2, 3], &[0; 5])), &["a.idx", "truncated", "6 numbers announced, 5 found"]);
    names(read(idx(8, &[2], &[0; 3])), &["a.idx", "more bytes"]);
    names(read(idx(8, &[0, 3], &[])), &["a.idx", "no observation"]);
    names(read(idx(8, &[2, 0], &[])), &["a.idx", "`x`"]);
    names(read(idx(14, &[1], &f64::INFINITY.to_be_bytes())), &["a.idx", "`x` holds inf at row 0"]);
    names(read(vec![1, 2, 3, 4]), &["a.idx", "two zero bytes"]);
    names(read(vec![]), &["a.idx", "truncated"]);
}

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
