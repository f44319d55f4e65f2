//! Damaged, truncated, foreign and empty files are errors that name file and location, without panics or large
//! allocations.

use std::fs;
use std::sync::LazyLock;

use proptest::prelude::*;
use sgmcmc_fit::ChainOutcome;
use sgmcmc_storage::fits;
use tempfile::TempDir;

use crate::common::{files, fit};
use crate::formats::ENDINGS;

#[test]
fn messages_name_file_and_location() {
    let directory = tempfile::tempdir().unwrap();
    let message = |name: &str, content: &[u8]| {
        let path = directory.path().join(name);
        fs::write(&path, content).unwrap();
        let message = fits::open(&path).unwrap_err().to_string();
        assert!(message.starts_with(&path.display().to_string()), "{message}");
        message[path.display().to_string().len()..].to_owned()
    };
    assert!(message("empty.sgmcmc", b"").contains("there is no draw in it"));
    assert!(message("foreign.sgmcmc", b"GIF89a").contains("this is not a fit"));
    assert!(message("cut.sgmcmc", b"\x89sgm").contains(", byte 4: the file is truncated"));
    assert!(message("version.sgmcmc", b"\x89sgmcmc\n\x07\0\0\0").contains(", byte 8"));
    assert!(message("cut.json", b"{\"posterior\": {\n\"a\": [[1,\n").contains(", line 3: the file is truncated"));
    assert!(message("flat.json", b"{\"posterior\": {\"a\": [1, 2]}}").contains("column `a`"));
    assert!(message("ragged.json", b"{\"posterior\": {\"a\": [[1, 2],\n[3]]}}").contains(", line 2"));
    assert!(message("none.json", b"{\"posterior\": {}}").contains("there is no draw"));
    assert!(
        message("number.csv", b"# a\nlp__,x\n1,2\n1,two\n").contains(", line 4, column `x`: `two` is not a number")
    );
    assert!(message("ragged.csv", b"lp__,x\n1,2,3\n").contains(", line 2: 3 fields where the first row has 2"));
    assert!(message("head.csv", b"lp__,x\n").contains("there is no draw"));
    assert!(message("other.csv", b"# comment\na,b\n1,2\n").contains("lp__"));

    let path = directory.path().join("fit.sgmcmc");
    fits::save(&fit(&[30]), &path).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    assert!(message("damaged.sgmcmc", &bytes).contains("the checksum of this record is wrong"));
    assert!(fits::open(directory.path().join("nothing")).unwrap_err().to_string().contains("nothing"));
    let unknown = fits::save(&fit(&[3]), directory.path().join("fit.xyz")).unwrap_err();
    assert!(unknown.to_string().contains("let it end in .sgmcmc, .json"), "{unknown}");
    let used = fits::save(&fit(&[3]), directory.path().join("../").join(directory.path()).with_extension("csv"));
    assert!(used.is_ok());
    fs::remove_dir_all(directory.path().with_extension("csv")).unwrap();
}

#[test]
fn a_truncated_native_file_has_its_whole_blocks() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fit.sgmcmc");
    fits::save(&fit(&[1500]), &path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for cut in (0..bytes.len()).step_by(4999).chain(bytes.len() - 20..bytes.len()) {
        fs::write(&path, &bytes[..cut]).unwrap();
        if let Ok(fit) = fits::open(&path) {
            seen.insert(fit.chains()[0].len());
            assert_eq!(fit.outcomes(), [ChainOutcome::Stopped], "{cut} of {} bytes", bytes.len());
        } else {
            assert!(seen.is_empty(), "a longer file cannot be worse");
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1000, 1500]);
}

#[test]
fn a_truncated_file_of_two_chains_is_not_complete() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fit.sgmcmc");
    fits::save(&fit(&[5, 5]), &path).unwrap();
    let bytes = fs::read(&path).unwrap();
    for cut in 0..bytes.len() {
        fs::write(&path, &bytes[..cut]).unwrap();
        if let Ok(fit) = fits::open(&path) {
            assert_eq!(
                fit.outcomes(),
                [ChainOutcome::Stopped, ChainOutcome::Stopped],
                "{cut} of {} bytes",
                bytes.len()
            );
        }
    }
}

#[test]
fn a_truncated_file_of_cmdstan_is_not_complete() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stan.csv");
    let outcomes = |samples: usize, thin: usize| {
        let text = format!("#     num_samples = {samples}\n#     thin = {thin} (Default)\nlp__,x\n1,2\n3,4\n");
        fs::write(&path, text).unwrap();
        fits::open(&path).unwrap().outcomes().to_vec()
    };
    assert_eq!(outcomes(2, 1), [ChainOutcome::Complete]);
    assert_eq!(outcomes(3, 2), [ChainOutcome::Complete]);
    assert_eq!(outcomes(3, 1), [ChainOutcome::Stopped]);
}

#[test]
fn a_truncated_stan_file_has_its_whole_lines() {
    let directory = tempfile::tempdir().unwrap();
    let saved = directory.path().join("fit.csv");
    fits::save(&fit(&[20]), &saved).unwrap();
    let bytes = fs::read(saved.join("chain-0.csv")).unwrap();
    let path = directory.path().join("cut.csv");
    let mut last = 0;
    for cut in (0..bytes.len()).step_by(53).chain([bytes.len()]) {
        fs::write(&path, &bytes[..cut]).unwrap();
        let read = fits::open(&path);
        let draws = read.as_ref().map_or(0, |fit| fit.chains()[0].len());
        let expected = if draws < 20 { ChainOutcome::Stopped } else { ChainOutcome::Complete };
        assert!(read.is_err() || read.is_ok_and(|fit| fit.outcomes() == [expected]), "{cut} of {} bytes", bytes.len());
        assert!(draws == last || draws == last + 1, "{draws} after {last}");
        last = draws;
    }
    assert_eq!(last, 20);
}

/// A fit in every format, written once.
static WRITTEN: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    ENDINGS.iter().for_each(|e| fits::save(&fit(&[8, 5]), directory.path().join(format!("fit.{e}"))).unwrap());
    directory
});

/// Changes one byte of a file of a fit, or truncates the file, and checks that reading returns an error or a fit.
fn mutate(ending: &str, which: usize, position: usize, byte: Option<u8>) {
    let path = WRITTEN.path().join(format!("fit.{ending}"));
    let files = files(&path);
    let file = &files[which % files.len()];
    let original = fs::read(file).unwrap();
    let mut bytes = original.clone();
    let position = position % bytes.len();
    match byte {
        Some(byte) => bytes[position] = byte,
        None => bytes.truncate(position),
    }
    fs::write(file, bytes).unwrap();
    let read = fits::open(&path);
    fs::write(file, original).unwrap();
    match read {
        Ok(fit) => assert!(fit.chains().iter().all(|chain| chain.len() <= 10_000)),
        Err(error) => assert!(error.to_string().contains("fit."), "{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_make_errors_or_fits(which: usize, position: usize, byte: Option<u8>, format in 0..ENDINGS.len()) {
        mutate(ENDINGS[format], which, position, byte);
    }

    #[test]
    fn arbitrary_bytes_make_errors_or_fits(bytes: Vec<u8>, start in 0..6_usize) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fit");
        let starts: [&[u8]; 6] =
            [b"", b"\x89sgmcmc\n\x01\0\0\0head", b"PAR1", b"{", b"#\nlp__,a\n", b"iteration,weight,a\n"];
        fs::write(&path, [starts[start], &bytes].concat()).unwrap();
        if let Err(error) = fits::open(&path) {
            prop_assert!(error.to_string().contains("fit"), "{}", error);
        }
    }

    #[test]
    fn plausible_texts_make_errors_or_fits(text in "(\\{|\\[|\\]|\\}|,|:|\"posterior\"|\"a\"|NaN|-Infinity|1e9|1|\n| ){0,60}") {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("fit.json");
        fs::write(&path, format!("{{\"posterior\": {{\"a\": {text}")).unwrap();
        let _ = fits::open(&path);
        let path = directory.path().join("fit.csv");
        fs::write(&path, format!("lp__,a.1,a.2,b.99999999999999999999,b.1.1.1.1\n{text}\n1,2,3,4,5\n")).unwrap();
        let _ = fits::open(&path);
    }
}
