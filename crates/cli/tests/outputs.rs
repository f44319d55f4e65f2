//! Tests of the outputs of the binary: no files of the user are lost, and names are escaped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{ChainDraws, Fit};
use sgmcmc_gradient::Layout;
use sgmcmc_storage::fits;

/// Returns a fit of one parameter with this name.
fn fit(name: &str, draws: usize) -> Fit {
    let chain = |chain: usize| {
        let mut all = ChainDraws::new(1, Vec::new());
        for index in 0..draws {
            let value = ((index * 7919 + chain * 104_729) % 1009) as f64;
            let (iteration, values) = (index as u64 + 1, [value]);
            all.push(&Draw { iteration, values: &values, weight: 1.0, log_posterior: -value, stats: &[] }).unwrap();
        }
        all
    };
    Fit::new(Layout::new([(name.to_owned(), vec![1], None)]).unwrap(), vec![chain(0), chain(1)]).unwrap()
}

fn saved(path: &Path) -> PathBuf {
    fits::save(&fit("mu", 200), path).unwrap();
    path.to_owned()
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sgmcmc")).current_dir(folder).args(arguments).output().unwrap()
}

fn assert_error(folder: &Path, arguments: &[&str], reason: &str) {
    let output = run(folder, arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(message.contains(reason), "{arguments:?}: {message}");
}

fn assert_success(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns all files below a directory with their contents.
fn snapshot(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.is_symlink() {
            found.push((path.clone(), Vec::new()));
            found.extend(snapshot(&path));
        } else {
            found.push((path.clone(), fs::read(&path).unwrap_or_default()));
        }
    }
    found
}

#[test]
fn forced_conversion_never_removes_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    saved(&root.join("a.sgmcmc"));
    fs::create_dir_all(root.join("proj/src")).unwrap();
    fs::write(root.join("proj/data.csv"), "a,b\n1,2\n").unwrap();
    fs::write(root.join("proj/thesis.tex"), "thesis").unwrap();
    fs::create_dir(root.join("runs")).unwrap();
    saved(&root.join("runs/fit.sgmcmc"));
    fs::write(root.join("runs/notes.txt"), "notes").unwrap();
    // Fits of this library with an additional file of the user.
    saved(&root.join("mixed.csv"));
    fs::write(root.join("mixed.csv/thesis.tex"), "thesis").unwrap();
    saved(&root.join("mixed.zarr"));
    fs::write(root.join("mixed.zarr/posterior/thesis.tex"), "thesis").unwrap();
    // Output of Stan, and a table with the name of a fit.
    fs::create_dir(root.join("stan.csv")).unwrap();
    fs::write(root.join("stan.csv/chain-1.csv"), "# stan_version_major = 2\nlp__,x\n1,2\n").unwrap();
    fs::create_dir(root.join("tables.csv")).unwrap();
    fs::write(root.join("tables.csv/chain-1.csv"), "a,b\n1,2\n").unwrap();
    let before = snapshot(root);
    assert_error(root, &["convert", "a.sgmcmc", "proj", "--force"], "proj");
    assert_error(root, &["convert", "runs/fit.sgmcmc", "runs", "--force"], "runs");
    assert_error(&root.join("runs"), &["convert", "fit.sgmcmc", ".", "--force"], "stands for no format");
    assert_error(root, &["convert", "a.sgmcmc", "mixed.csv", "--force"], "thesis.tex");
    assert_error(root, &["convert", "a.sgmcmc", "mixed.zarr", "--force"], "thesis.tex");
    assert_error(root, &["convert", "a.sgmcmc", "stan.csv", "--force"], "chain-1.csv");
    assert_error(root, &["convert", "a.sgmcmc", "tables.csv", "--force"], "chain-1.csv");
    assert_error(root, &["convert", "a.sgmcmc", "a.sgmcmc", "--force"], "name another output");
    assert!(snapshot(root) == before, "something was changed");
}

#[test]
fn an_output_that_contains_the_input_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("runs.zarr")).unwrap();
    saved(&root.join("runs.zarr/fit.sgmcmc"));
    saved(&root.join("fit.csv"));
    let before = snapshot(root);
    assert_error(root, &["convert", "runs.zarr/fit.sgmcmc", "runs.zarr", "--force"], "name another output");
    assert_error(&root.join("runs.zarr"), &["convert", "fit.sgmcmc", "../runs.zarr", "--force"], "name another output");
    assert_error(root, &["convert", "fit.csv/chain-1.csv", "fit.csv", "--force"], "name another output");
    assert_error(root, &["convert", "fit.csv", "./fit.csv/../fit.csv", "--force"], "name another output");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(root.join("runs.zarr"), root.join("link.zarr")).unwrap();
        assert_error(root, &["convert", "runs.zarr/fit.sgmcmc", "link.zarr", "--force"], "name another output");
        assert_error(root, &["convert", "link.zarr/fit.sgmcmc", "runs.zarr", "--force"], "name another output");
        fs::remove_file(root.join("link.zarr")).unwrap();
    }
    assert!(snapshot(root) == before, "something was changed");
}

#[test]
fn a_fit_is_replaced_only_with_force() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fits::save(&fit("tau", 300), root.join("new.sgmcmc")).unwrap();
    for ending in ["sgmcmc", "json", "csv", "parquet", "zarr"] {
        let name = format!("fit.{ending}");
        saved(&root.join(&name));
        assert_error(root, &["convert", "new.sgmcmc", &name], "--force");
        assert_eq!(fits::open(root.join(&name)).unwrap().layout().blocks()[0].name, "mu");
        assert_success(root, &["convert", "new.sgmcmc", &name, "--force"]);
        let read = fits::open(root.join(&name)).unwrap();
        assert_eq!((read.layout().blocks()[0].name.as_str(), read.chains()[1].len()), ("tau", 300), "{name}");
    }
    let hidden = fs::read_dir(root)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
    assert_eq!(hidden.count(), 0, "something was left beside the fits");
}

#[test]
fn a_report_replaces_files_only_with_force() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let path = saved(&root.join("fit.sgmcmc"));
    let fit_bytes = fs::read(&path).unwrap();
    assert_success(root, &["report", "fit.sgmcmc"]);
    assert_error(root, &["report", "fit.sgmcmc"], "--force");
    assert_success(root, &["report", "fit.sgmcmc", "--force"]);
    fs::write(root.join("thesis.tex"), "thesis").unwrap();
    assert_error(root, &["report", "fit.sgmcmc", "-o", "thesis.tex"], "thesis.tex");
    assert_error(root, &["report", "fit.sgmcmc", "-o", "fit.sgmcmc"], "fit.sgmcmc");
    assert_error(root, &["report", "fit.sgmcmc", "-o", "fit.sgmcmc", "--force"], "name another output");
    assert_error(root, &["report", "fit.sgmcmc", "-o", ".", "--force"], "name another output");
    assert_eq!(fs::read_to_string(root.join("thesis.tex")).unwrap(), "thesis");
    assert_eq!(fs::read(path).unwrap(), fit_bytes);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_never_replaced() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    saved(&root.join("fit.sgmcmc"));
    symlink("nowhere.json", root.join("dangling.json")).unwrap();
    symlink("nowhere.html", root.join("dangling.html")).unwrap();
    for force in [&[][..], &["--force"]] {
        assert_error(root, &[&["convert", "fit.sgmcmc", "dangling.json"], force].concat(), "symbolic link to nothing");
        assert_error(
            root,
            &[&["report", "fit.sgmcmc", "-o", "dangling.html"], force].concat(),
            "symbolic link to nothing",
        );
    }
    assert!(root.join("dangling.json").is_symlink() && !root.join("nowhere.json").exists());
    saved(&root.join("target.json"));
    symlink("target.json", root.join("link.json")).unwrap();
    assert_error(root, &["convert", "fit.sgmcmc", "link.json"], "--force");
    assert_success(root, &["convert", "fit.sgmcmc", "link.json", "--force"]);
    assert!(root.join("link.json").is_symlink() && !root.join("target.json").is_symlink());
}

#[test]
fn names_are_escaped_in_all_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let name = "=a\u{1b}]0;title\u{7}\u{1b}[2J\u{202e}b\nc";
    fits::save(&fit(name, 300), root.join("fit.sgmcmc")).unwrap();
    let bad = ['\u{1b}', '\u{7}', '\u{202e}'];
    for arguments in [
        &["summary"][..],
        &["info"],
        &["summary", "--format", "csv"],
        &["summary", "--format", "json"],
        &["summary", "--format", "markdown"],
    ] {
        let shown = assert_success(root, &[arguments, &["fit.sgmcmc"]].concat());
        assert!(!shown.contains(bad), "{arguments:?}: {shown:?}");
        assert!(shown.contains("202e"), "{arguments:?}: {shown:?}");
    }
    let csv = assert_success(root, &["summary", "--format", "csv", "fit.sgmcmc"]);
    assert!(csv.lines().nth(1).unwrap().starts_with("'=a"), "{csv}");
    let json: serde_json::Value =
        serde_json::from_str(&assert_success(root, &["summary", "--format", "json", "fit.sgmcmc"])).unwrap();
    assert_eq!(json[0]["name"], name);
    let checked = run(root, &["check", "fit.sgmcmc"]);
    assert!(!String::from_utf8(checked.stdout).unwrap().contains(bad));
    let unknown = run(root, &["summary", "fit.sgmcmc", "\u{1b}[2J"]);
    assert!(!String::from_utf8(unknown.stderr).unwrap().contains(bad));
    let absent = run(root, &["summary", "no\u{1b}[2Jfile.sgmcmc"]);
    assert!(!String::from_utf8(absent.stderr).unwrap().contains(bad));
}

#[test]
fn a_fit_that_cannot_be_judged_fails_the_check() {
    let folder = tempfile::tempdir().unwrap();
    for draws in [1, 2, 3] {
        fits::save(&fit("mu", draws), folder.path().join("short.sgmcmc")).unwrap();
        let output = run(folder.path(), &["check", "short.sgmcmc"]);
        assert_eq!(output.status.code(), Some(1), "{draws}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("cannot be judged"));
    }
}

#[test]
fn the_memory_limit_is_named() {
    let folder = tempfile::tempdir().unwrap();
    saved(&folder.path().join("fit.json"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_sgmcmc"));
    let output = command.current_dir(&folder).env("SGMCMC_MEMORY_LIMIT", "1000").args(["info", "fit.json"]).output();
    let message = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(message.contains("1000 bytes") && message.contains("SGMCMC_MEMORY_LIMIT"), "{message}");
}

/// `>&-` in a shell. Output to `/dev/null` is not an error.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_output_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    saved(&folder.path().join("fit.sgmcmc"));
    let with = |redirection: &str, arguments: &str| {
        let script = format!("exec \"$0\" {arguments} {redirection}");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_sgmcmc")]).current_dir(&folder).output().unwrap()
    };
    for arguments in ["summary fit.sgmcmc", "summary --format csv fit.sgmcmc", "watch --once fit.sgmcmc"] {
        let output = with(">&-", arguments);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.contains("cannot write to standard output: it is closed"), "{arguments}: {message}");
        assert_eq!(with("> /dev/null", arguments).status.code(), Some(0), "{arguments}");
        assert_eq!(with("<> /dev/null 1>&0", arguments).status.code(), Some(0), "{arguments}");
        assert_eq!(with("> /dev/full", arguments).status.code(), Some(2), "{arguments}");
    }
}
