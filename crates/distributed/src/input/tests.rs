//! Tests of the parts of data that ranks read.

use std::fs;

use sgmcmc_storage::{mapped, read};

use super::*;
use crate::collective::on_threads;

#[test]
fn shards_of_another_shape_and_damaged_shards_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = |rank: usize| directory.path().join(format!("shard-{rank}.mapped"));
    let write = |rank: usize, width: usize| {
        let values: Vec<f64> = (0..4 * width).map(|k| (k + rank) as f64).collect();
        mapped::create(path(rank), Columns::new().leaf("x", values, [4, width]).unwrap().as_slice()).unwrap();
    };
    let open = || on_threads(3, |ranks| Ok(mapped_shard(&*ranks, path)?.observations()));
    (0..3).for_each(|rank| write(rank, 2));
    assert_eq!(open().unwrap(), [4; 3]);
    write(2, 3);
    let error = open().unwrap_err().to_string();
    assert!(error.contains("shard-2.mapped of rank 2 has `x`") && error.contains("[3]"), "{error}");
    write(2, 2);
    let mut bytes = fs::read(path(1)).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(path(1), bytes).unwrap();
    let error = open().unwrap_err().to_string();
    assert!(error.contains("rank 1 of 3") && error.contains("shard-1.mapped") && error.contains("checksum"), "{error}");
    write(1, 2);
    fs::remove_file(path(0)).unwrap();
    let error = open().unwrap_err().to_string();
    assert!(error.contains("rank 0 of 3") && error.contains("shard-0.mapped"), "{error}");
}

#[test]
fn ranges_of_bytes_cover_a_table() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("table.csv");
    for ending in ["\n", "\r\n"] {
        let lines: Vec<String> = (0..57).map(|k| format!("{k},{}", "9".repeat(k % 13 + 1))).collect();
        fs::write(&file, format!("# comment{ending}a,b{ending}{}{ending}", lines.join(ending))).unwrap();
        let table = || read::csv(&file).comment(b'#').int("a", "a").float("b", "b");
        let whole = table().read().unwrap();
        for count in [1, 2, 4, 7] {
            let mut all = Vec::new();
            for index in 0..count {
                let part = table().part(index, count).read().unwrap();
                let sgmcmc_gradient::data::Values::I64(values) = part.as_slice()[0].values() else { panic!() };
                all.extend(values.to_vec());
            }
            assert_eq!(all, (0..57).collect::<Vec<i64>>());
        }
        assert_eq!(whole.observations(), 57);
    }
    // Errors in a part have the line of the file.
    fs::write(&file, "a\n1\n2\n3\n4\n5\nsix\n7\n").unwrap();
    let error = read::csv(&file).int("a", "a").part(1, 2).read().unwrap_err().to_string();
    assert!(error.contains("line 7"), "{error}");
    let error = read::csv(&file).codes("a", "a").part(0, 2).read().unwrap_err().to_string();
    assert!(error.contains("codes_with_levels"), "{error}");
    assert!(read::csv(&file).int("a", "a").part(2, 2).read().is_err());
}
