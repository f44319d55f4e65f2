//! Arrays in the formats npy, npz and IDX.

use sgmcmc::storage::read;
use tempfile::TempDir;

use super::{file, idx, in_all_forms, names, npy, npz, values};

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
