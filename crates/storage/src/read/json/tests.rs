//! Tests of the reader of JSON data.

use super::*;

fn read(text: &str) -> Result<JsonData> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    json(file.path())
}

fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn shapes_and_types_are_those_of_the_file() {
    let data = read(r#"{"N": 2, "x": [[1, 2, 3], [4, 5, 6]], "y": [0.5, 1e3], "g": [1, 2], "z": []}"#).unwrap();
    assert_eq!(data.names().collect::<Vec<_>>(), ["N", "x", "y", "g", "z"]);
    assert_eq!((data.shape("x").unwrap(), data.number("N").unwrap()), (&[2, 3][..], 2.0));
    assert_eq!(data.values("x").unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let columns = data.columns(&["x", "y", "g"]).unwrap();
    assert_eq!(columns.get("x").unwrap().row_shape(), [3]);
    assert_eq!(columns.get("g").unwrap().values(), &vec![1_i64, 2].into());
    assert_eq!(columns.get("y").unwrap().values(), &vec![0.5, 1000.0].into());
    assert!(read(r#"{"y": ["Inf", "-Inf", "NaN"]}"#).unwrap().values("y").unwrap()[0].is_infinite());
}

#[test]
fn mistakes_name_the_member_and_the_remedy() {
    let parts = |message: &str, parts: &[&str]| {
        parts.iter().for_each(|part| assert!(message.contains(part), "`{part}` is missing in: {message}"));
    };
    parts(&refused(r#"{"x": [[1, 2], [3]]}"#), &["column `x`", "a row of length 1 where the first one has 2"]);
    parts(&refused(r#"{"x": [1, [2]]}"#), &["an array among numbers"]);
    parts(&refused(r#"{"x": [[1], 2]}"#), &["a number among arrays"]);
    parts(&refused(r#"{"x": [[], [1]]}"#), &["a row of length 1 where the first one has 0"]);
    parts(&refused("{\n\"x\": \"blue\"}"), &["line 2", "blue", "a number or an array"]);
    parts(&refused(r#"{"x": [1, 2"#), &["truncated"]);
    parts(&refused("[1, 2]"), &["an object of numbers and arrays"]);
    parts(&refused(r#"{"x": 1, "x": 2}"#), &["two members `x`"]);
    parts(&refused(r#"{"x": 9007199254740993}"#), &["larger than 2^53"]);
    let data = read(r#"{"N": 2, "g": [0, 1], "y": ["NaN", 1], "z": [1, 2, 3]}"#).unwrap();
    let message = |result: Result<Columns>| result.unwrap_err().to_string();
    parts(&message(data.columns(&["w"])), &["no column `w`", "`N`, `g`"]);
    parts(&message(data.columns(&["N"])), &["a number", "see `number`"]);
    parts(&message(data.columns(&["y"])), &["`y` holds NaN"]);
    parts(&message(data.columns(&["g", "z"])), &["3 rows"]);
    parts(&data.number("g").unwrap_err().to_string(), &["an array", "`columns`"]);
    parts(&data.to_zero_based(&["g"]).unwrap_err().to_string(), &["row 0", "whole numbers from 1"]);
}

#[test]
fn the_memory_limit_holds() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let numbers = vec!["1"; 10_000].join(",");
    std::fs::write(file.path(), format!("{{\"x\": [{numbers}]}}")).unwrap();
    assert!(json_within(file.path(), 1 << 20).is_ok());
    assert!(json_within(file.path(), 1 << 10).unwrap_err().to_string().contains("memory limit"));
}
