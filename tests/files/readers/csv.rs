//! Tables of text: columns, separators, missing values, and mistakes.

use sgmcmc::data::Precision;
use sgmcmc::storage::read::{self, Missing, Separator};
use tempfile::TempDir;

use super::{PEOPLE, file, in_all_forms, names, values};

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
        let again = read::csv(path).codes_with_levels("color", "color", &levels).read().unwrap();
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
    names(table().missing_values(["-"]).read(), &["line 3", "column `a`", "`NA` is not a number"]);
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
    names(
        read::csv(&good).codes_with_levels("c", "color", &["red".into()]).read(),
        &["line 3", "`blue` is none", "red"],
    );
    names(read::csv(&good).codes("c", ["age", "color"]).read(), &["categories come from one column", "`c`"]);
    names(read::csv(&good).read(), &["good.csv", "no leaf"]);
    names(read::csv(dir.path().join("absent.csv")).float("x", 0).read(), &["absent.csv", "No such file"]);
    let non_finite = file(&dir, "nan.csv", "a\nNaN\n");
    assert!(read::csv(non_finite).float("a", "a").allow_non_finite().read().is_ok());
}
