//! The page of promises names tests that exist.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_promise_names_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/promises.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| guarantee"));
    let mut count = 0;
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let (mut file, mut named) = (String::new(), 0);
        for name in tests.split('`').skip(1).step_by(2) {
            named += 1;
            if name.contains('/') {
                let path = root.join(name);
                assert!(path.exists(), "there is no {name}: {row}");
                assert!(path.is_file(), "{name} is not a file: {row}");
                file = fs::read_to_string(path).unwrap();
                assert!(file.contains("#[test]"), "there is no test in {name}: {row}");
            } else if !name.starts_with("lab -- ") {
                assert!(file.contains(&format!("fn {name}()")), "there is no test {name}: {row}");
            }
        }
        assert!(named > 0, "{row}");
        count += 1;
    }
    assert!(count > 25, "{count} promises");
}

/// The sources of the published crates, without their tests, except `output`.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// Fault injection reaches every operation on files only if all of them go through one crate. The time of day must not
/// enter a run.
#[test]
fn files_are_changed_by_one_crate_and_the_time_of_day_is_not_used() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for name in fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
        if !["output", "lab", "testkit", "fuzzing"].contains(&name.as_str()) {
            sources(&crates.join(name).join("src"), &mut files);
        }
    }
    assert!(files.len() > 300, "{} files", files.len());
    const CHANGES: [&str; 7] =
        ["fs::write(", "fs::rename(", "fs::copy(", "fs::remove_", "fs::create_dir", "fs::File::create", "OpenOptions"];
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        // Tests of a file are at its end. Examples in comments may write files.
        let code =
            text.split("#[cfg(test)]\nmod ").next().unwrap().lines().filter(|line| !line.trim().starts_with("//"));
        // The time of the creation of a fit is part of its attributes.
        let creation = path.ends_with("storage/src/fits/time.rs");
        for line in code {
            let change = CHANGES.iter().find(|change| line.contains(**change));
            assert_eq!(change, None, "{}: {line}", path.display());
            assert!(creation || !line.contains("SystemTime"), "{}: {line}", path.display());
            assert!(
                !(line.starts_with("use std::fs") && line.contains("File") && text.contains("File::create")),
                "{}: {line}",
                path.display()
            );
        }
    }
}
