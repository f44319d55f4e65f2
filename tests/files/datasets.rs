//! Well-known data sets: those that are there have the published sizes, and synthetic ones the same columns.
//!
//! The large ones are loaded by `cargo run --release -p sgmcmc-storage --example load_all`.

use std::path::PathBuf;

use sgmcmc::data::Values;
use sgmcmc::datasets::{self, Fold};
use sgmcmc::prelude::*;
use sgmcmc::storage::{Error, Result};

/// The directory of the data, which is relative to the repository.
fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(datasets::directory().unwrap_or_else(|| "data".into()))
}

/// Returns the loaded data set, or prints a message and returns `None` if its file is missing.
fn there<T>(loaded: Result<T>) -> Option<T> {
    match loaded {
        Ok(loaded) => Some(loaded),
        Err(error @ Error::Absent { .. }) => {
            println!("only the synthetic data set is checked: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn floats<D: TensorTree>(data: &Dataset<D>, leaf: usize) -> Vec<f32> {
    match data.columns()[leaf].values() {
        Values::F32(values) => values.to_vec(),
        other => panic!("{:?} where f32 is expected", other.element_type()),
    }
}

fn ints<D: TensorTree>(data: &Dataset<D>, leaf: usize) -> Vec<i64> {
    match data.columns()[leaf].values() {
        Values::I64(values) => values.to_vec(),
        other => panic!("{:?} where i64 is expected", other.element_type()),
    }
}

/// Names and shapes of rows.
fn structure<D: TensorTree>(data: &Dataset<D>) -> Vec<(String, Vec<usize>)> {
    data.columns().iter().map(|column| (column.name().to_owned(), column.row_shape().to_vec())).collect()
}

fn ones(values: &[f32]) -> usize {
    values.iter().filter(|value| **value > 0.5).count()
}

fn binary(values: &[f32]) -> bool {
    values.iter().all(|value| value.to_bits() == 0 || value.to_bits() == 1.0_f32.to_bits())
}

#[test]
fn a9a() {
    let like = datasets::a9a_like(400, 1).unwrap();
    assert_eq!((like.train.observations(), like.test.observations()), (400, 200));
    let (x, y) = (floats(&like.train, 0), floats(&like.train, 1));
    assert!(binary(&x) && binary(&y));
    assert_eq!(ones(&x), 400 * 14);
    assert!((40..300).contains(&ones(&y)), "{}", ones(&y));
    if let Some(real) = there(datasets::a9a(directory())) {
        assert_eq!((real.train.observations(), real.test.observations()), (32_561, 16_281));
        assert_eq!((ones(&floats(&real.train, 1)), ones(&floats(&real.test, 1))), (7841, 3846));
        assert_eq!((ones(&floats(&real.train, 0)), ones(&floats(&real.test, 0))), (451_592, 225_731));
        assert_eq!(structure(&real.train), structure(&like.train));
    }
}

#[test]
fn kos() {
    let like = datasets::kos_like(30, 1).unwrap();
    assert_eq!((like.documents.observations(), like.vocabulary.len()), (30, 6906));
    let (words, counts) = (ints(&like.documents, 0), floats(&like.documents, 1));
    assert!(words.iter().all(|word| (0..6906).contains(word)));
    let length = counts.iter().sum::<f32>() / 30.0;
    // The mean of 30 draws from Poisson(136) is within five standard errors.
    assert!((length - 136.0).abs() < 5.0 * (136.0_f32 / 30.0).sqrt(), "{length}");
    if let Some(real) = there(datasets::kos(directory())) {
        assert_eq!((real.documents.observations(), real.vocabulary.len()), (3430, 6906));
        let counts = floats(&real.documents, 1);
        assert_eq!(ones(&counts), 353_160);
        assert_eq!(counts.iter().map(|count| *count as u64).sum::<u64>(), 467_714);
        assert_eq!((real.vocabulary[0].as_str(), ints(&real.documents, 0)[0]), ("aarp", 60));
    }
}

#[test]
fn msweb() {
    let like = datasets::msweb_like(200, 1).unwrap();
    assert_eq!((like.train.observations(), like.test.observations(), like.areas.len()), (200, 34, 294));
    let visited = floats(&like.train, 0);
    assert!(binary(&visited) && visited.chunks(294).all(|row| ones(row) > 0));
    if let Some(real) = there(datasets::msweb(directory())) {
        assert_eq!((real.train.observations(), real.test.observations(), real.areas.len()), (32_711, 5000, 294));
        let visited = floats(&real.train, 0);
        assert_eq!((ones(&visited), ones(&floats(&real.test, 0))), (98_654, 15_191));
        let areas = (0..294).filter(|area| visited.iter().skip(*area).step_by(294).any(|value| *value > 0.0));
        assert_eq!(areas.count(), 285);
        assert_eq!(structure(&real.train), structure(&like.train));
    }
}

#[test]
fn ml_100k() {
    let like = datasets::ml_100k_like(2000, 1).unwrap();
    let pairs: std::collections::HashSet<_> = ints(&like.ratings, 0).into_iter().zip(ints(&like.ratings, 1)).collect();
    assert_eq!(pairs.len(), 2000);
    assert!(pairs.iter().all(|(user, item)| (0..943).contains(user) && (0..1682).contains(item)));
    let ratings = floats(&like.ratings, 2);
    assert!((1..=5).all(|stars| ratings.contains(&(stars as f32))));
    assert!(ratings.iter().all(|rating| (1.0..=5.0).contains(rating)));
    if let Some(real) = there(datasets::ml_100k(directory())) {
        assert_eq!((real.ratings.observations(), real.users, real.items), (100_000, 943, 1682));
        assert_eq!(structure(&real.ratings), structure(&like.ratings));
        let mut counts = [0; 5];
        floats(&real.ratings, 2).iter().for_each(|rating| counts[*rating as usize - 1] += 1);
        assert_eq!(counts, [6110, 11_370, 27_145, 34_174, 21_201]);
        assert_eq!((ints(&real.ratings, 0)[0], ints(&real.ratings, 1)[0]), (195, 241));
    }
    if let Some((train, test)) = there(datasets::ml_100k_fold(directory(), Fold::Ua)) {
        assert_eq!((train.observations(), test.observations()), (90_570, 9430));
    }
}

#[test]
fn large_ones_have_synthetic_versions() {
    let forest = datasets::covertype_like(500, 1).unwrap();
    assert_eq!(structure(&forest.data), [("x".to_owned(), vec![54]), ("class".to_owned(), vec![])]);
    let x = floats(&forest.data, 0);
    assert!(
        x.chunks(54).all(|row| (1859.0..=3858.0).contains(&row[0]) && ones(&row[10..14]) == 1 && ones(&row[14..]) == 1)
    );
    let classes = ints(&forest.data, 1);
    assert!(classes.iter().all(|class| (0..7).contains(class)));
    let pines = classes.iter().filter(|class| **class == 1).count();
    assert_eq!(ones(&floats(&forest.binary().unwrap(), 1)), pines);
    assert!((25..475).contains(&pines), "{pines}");

    let digits = datasets::mnist_like(60, 1).unwrap();
    assert_eq!((digits.train.observations(), digits.test.observations()), (60, 10));
    assert_eq!(structure(&digits.train), [("x".to_owned(), vec![784]), ("class".to_owned(), vec![])]);
    let pixels = floats(&digits.train, 0);
    assert!(pixels.iter().all(|pixel| (0.0..=1.0).contains(pixel)));
    assert!(pixels.chunks(784).all(|image| (20..700).contains(&ones(image))));

    let films = datasets::ml_1m_like(1000, 1).unwrap();
    assert_eq!((films.train.observations(), films.test.observations()), (900, 100));
    assert_eq!((films.users, films.items), (6040, 3952));
}

#[test]
fn a_synthetic_data_set_is_a_function_of_its_seed() {
    let rows = |seed| floats(&datasets::a9a_like(50, seed).unwrap().train, 0);
    assert_eq!(rows(3), rows(3));
    assert_ne!(rows(3), rows(4));
}

#[test]
fn what_is_absent_is_explained() {
    let nowhere = tempfile::tempdir().unwrap();
    let dir = nowhere.path();
    let messages = [
        (
            datasets::covertype(dir).unwrap_err(),
            "covtype.data.gz",
            "UCI Machine Learning Repository, “Covertype”",
            "covertype_like",
        ),
        (datasets::a9a(dir).unwrap_err(), "a9a.gz", "LIBSVM", "a9a_like"),
        (datasets::mnist(dir).unwrap_err(), "train-images-idx3-ubyte.gz", "LeCun", "mnist_like"),
        (datasets::ml_100k(dir).unwrap_err(), "u.data.gz", "GroupLens", "ml_100k_like"),
        (datasets::ml_100k_fold(dir, Fold::U1).unwrap_err(), ".tar.gz", "GroupLens", "ml_100k_like"),
        (datasets::ml_1m(dir).unwrap_err(), "ratings_notime.csv.gz", "GroupLens", "ml_1m_like"),
        (datasets::msweb(dir).unwrap_err(), "anonymous-msweb.data.gz", "Anonymous Microsoft Web Data", "msweb_like"),
        (datasets::kos(dir).unwrap_err(), "vocab.kos.txt.gz", "Bag of Words", "kos_like"),
    ];
    for (error, file, from, synthetic) in messages {
        let message = error.to_string();
        for part in [file, from, synthetic, &dir.display().to_string()] {
            assert!(message.contains(part), "`{part}` is missing in: {message}");
        }
    }
    assert!(datasets::kos_like(0, 1).unwrap_err().to_string().contains("at least 1"));
    assert!(datasets::ml_100k_like(1_000_000, 1).unwrap_err().to_string().contains("a quarter of all pairs"));
}

#[test]
fn damaged_data_sets_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    let message = |parts: &[&str], error: Error| {
        let message = error.to_string();
        parts.iter().for_each(|part| assert!(message.contains(part), "`{part}` is missing in: {message}"));
    };
    write("ml-100k/u.data", b"1\t2\t3\t4\n1\t1683\t3\t4\n");
    message(&["u.data, line 2, column `item`", "1683"], datasets::ml_100k(dir.path()).unwrap_err());
    write("ml-1m/ratings_notime.csv", b"user,movie,rating,probe\n1,1,5,0\n1,1,6,1\n");
    message(&["ratings_notime.csv, row 1, column `rating`", "6"], datasets::ml_1m(dir.path()).unwrap_err());
    write("bow-kos/vocab.kos.txt", b"a\nb\n");
    write("bow-kos/docword.kos.txt", b"2\n2\n2\n1 1 1\n1 3 1\n");
    message(&["docword.kos.txt, line 5, column `word`", "3"], datasets::kos(dir.path()).unwrap_err());
    write("bow-kos/docword.kos.txt", b"2\n2\n2\n1 1 1\n");
    message(&["docword.kos.txt", "truncated", "2 pairs announced"], datasets::kos(dir.path()).unwrap_err());
    write("msweb/anonymous-msweb.data", b"A,1000,1,\"x\",\"/x\"\nC,\"1\",1\nV,1001,1\n");
    message(&["anonymous-msweb.data, line 3, column `area`", "1001"], datasets::msweb(dir.path()).unwrap_err());
    write("a9a/a9a", b"+1 1:1\n2 3:1\n");
    message(&["a9a, row 1, column `label`", "2"], datasets::a9a(dir.path()).unwrap_err());
    write("covtype/covtype.data", [&["1"; 54].join(",").into_bytes()[..], b",8\n"].concat().as_slice());
    message(&["covtype.data, row 0, column `54`", "8"], datasets::covertype(dir.path()).unwrap_err());
}
