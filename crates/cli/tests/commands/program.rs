//! Errors, help, pipes, completions and manual pages.

use std::process::{Command, Stdio};

use crate::{saved, sgmcmc, stderr, stdout, text};

#[test]
fn completions_and_manual_pages_are_made() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(stdout(&sgmcmc(&["completions", shell])).contains("summary"), "{shell}");
    }
    let output = sgmcmc(&["man", text(folder.path())]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = std::fs::read_to_string(folder.path().join("sgmcmc-summary.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("quantiles"), "{page}");
    assert!(folder.path().join("sgmcmc.1").exists());
    let again = sgmcmc(&["man", text(folder.path())]);
    assert!(again.status.code() == Some(2) && stderr(&again).contains("--force"));
    assert_eq!(sgmcmc(&["man", text(folder.path()), "--force"]).status.code(), Some(0));
}

#[test]
fn errors_name_the_file_and_exit_with_code_two() {
    let folder = tempfile::tempdir().unwrap();
    let (empty, foreign) = (folder.path().join("empty.sgmcmc"), folder.path().join("foreign.sgmcmc"));
    std::fs::write(&empty, "").unwrap();
    std::fs::write(&foreign, "not a fit at all").unwrap();
    for path in [&folder.path().join("absent.sgmcmc"), &empty, &foreign] {
        for command in ["summary", "check", "report", "info"] {
            let output = sgmcmc(&[command, text(path)]);
            assert_eq!(output.status.code(), Some(2), "{command} {}", path.display());
            let message = stderr(&output);
            assert!(message.contains(text(path)), "{command}: {message}");
            assert!(!message.contains("panicked"), "{command}: {message}");
        }
    }
    let path = saved(folder.path(), "fit.sgmcmc", 0.0);
    let unknown = sgmcmc(&["summary", text(&path), "gamma"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("gamma") && stderr(&unknown).contains("fit.sgmcmc"), "{}", stderr(&unknown));
    let ending = sgmcmc(&["convert", text(&path), text(&folder.path().join("fit.xyz"))]);
    assert_eq!(ending.status.code(), Some(2));
    assert!(stderr(&ending).contains("fit.xyz"));
    let nowhere = sgmcmc(&["report", text(&path), "-o", "/nonexistent/report.html"]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(stderr(&nowhere).contains("/nonexistent/report.html"));
    assert_eq!(sgmcmc(&["frobnicate"]).status.code(), Some(2));
}

#[test]
fn help_has_examples_for_every_command() {
    let help = sgmcmc(&["--help"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(stdout(&help).contains("Examples:") && stdout(&help).contains("Exit codes:"));
    let commands = [
        "summary",
        "check",
        "report",
        "convert",
        "info",
        "plot",
        "watch",
        "compare",
        "diff",
        "predict",
        "completions",
        "man",
    ];
    for command in commands {
        let help = stdout(&sgmcmc(&[command, "--help"]));
        let (one, several) = (format!("Example: sgmcmc {command}"), format!("Examples:\n  sgmcmc {command}"));
        assert!(help.contains(&one) != help.contains(&several), "{command}: {help}");
    }
}

#[test]
fn closed_pipes_are_errors_for_csv_and_json_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(folder.path(), "bad.sgmcmc", 5.0);
    let cases: [(&[&str], i32); 5] = [
        (&["summary"], 0),
        (&["info"], 0),
        (&["check"], 1),
        // A truncated table must not pass as a complete one.
        (&["summary", "--format", "csv"], 141),
        (&["summary", "--format", "json"], 141),
    ];
    for (command, code) in cases {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sgmcmc"))
            .args(command)
            .arg(&path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(code), ""), "{command:?}");
    }
}
