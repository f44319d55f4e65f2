//! `sgmcmc summary`, and fits of several files.

use std::process::Command;

use crate::{saved, sgmcmc, stderr, stdout, text};

#[test]
fn summaries_have_four_formats() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(folder.path(), "fit.sgmcmc", 0.0);
    let run = |arguments: &[&str]| {
        let output = sgmcmc(&[&["summary", text(&path)], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let table = run(&[]);
    assert!(["mean", "eti89_lb", "r_hat", "mu", "beta[2]"].iter().all(|part| table.contains(part)), "{table}");
    let csv = run(&["--format", "csv"]);
    assert_eq!(csv.lines().count(), 5, "{csv}");
    assert!(csv.starts_with(",mean,sd,"), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&run(&["-f", "json"])).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 4);
    assert!((json[0]["mean"].as_f64().unwrap() - 0.5).abs() < 0.05, "{json}");
    assert!(run(&["--format", "markdown"]).starts_with('|'));
    let one = run(&["mu", "--format", "csv"]);
    assert!(one.contains("mu") && !one.contains("beta"), "{one}");
}

#[test]
fn summaries_have_columns_orders_and_selections() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(folder.path(), "fit.sgmcmc", 0.0);
    let run = |arguments: &[&str]| {
        let output = sgmcmc(&[&["summary", text(&path)], arguments, &["-f", "csv"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let rows = |csv: &str| csv.lines().skip(1).map(|row| row.split(',').next().unwrap().to_owned()).collect::<Vec<_>>();
    let table = run(&["--median", "--quantiles", "0.05,0.975", "--interval", "hdi", "--width", "0.5"]);
    assert!(table.starts_with(",mean,sd,median,q5,q97.5,hdi50_lb,hdi50_ub,ess_bulk,ess_tail,r_hat,"), "{table}");
    // The draws are uniform on [0, 1].
    let numbers: Vec<f64> =
        table.lines().nth(1).unwrap().split(',').skip(1).map(|cell| cell.parse().unwrap()).collect();
    for (found, expected) in
        [(numbers[2], 0.5), (numbers[3], 0.05), (numbers[4], 0.975), (numbers[6] - numbers[5], 0.5)]
    {
        assert!((found - expected).abs() < 0.05, "{found} {expected}");
    }
    assert_eq!(rows(&run(&["beta[2]", "m*"])), ["beta[2]", "mu"]);
    assert_eq!(rows(&run(&["~beta[1]", "~mu"])), ["beta[0]", "beta[2]"]);
    let sorted = run(&["--sort", "ess_bulk", "--top", "2"]);
    let sizes: Vec<f64> = sorted.lines().skip(1).map(|row| row.split(',').nth(5).unwrap().parse().unwrap()).collect();
    assert!(sizes.len() == 2 && sizes[0] <= sizes[1], "{sorted}");
    let table = stdout(&sgmcmc(&["summary", text(&path), "--top", "2", "--digits", "6"]));
    assert!(table.ends_with("2 of 4 values; 2000 draws of 2 chains\n"), "{table}");
    let short = stdout(&sgmcmc(&["summary", text(&path), "--chains", "1", "--skip", "100", "--thin", "3"]));
    assert!(short.ends_with("300 draws of 1 chain\n"), "{short}");
    for (arguments, part) in [
        (&["--chains", "7"][..], "counted from 0"),
        (&["--width", "1.5"], "between 0 and 1"),
        (&["--quantiles", "2"], "from 0 to 1"),
        (&["--rate"], "run times are not recorded"),
        (&["gamma*"], "gamma*"),
        (&["~mu", "~beta"], "leaves no value"),
    ] {
        let output = sgmcmc(&[&["summary", text(&path)], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn several_files_are_chains_of_one_fit() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (saved(folder.path(), "one.sgmcmc", 0.0), saved(folder.path(), "other.sgmcmc", 0.0));
    let output = sgmcmc(&["summary", text(&one), text(&other), "mu"]);
    assert!(stdout(&output).ends_with("4000 draws of 4 chains\n"), "{}{}", stdout(&output), stderr(&output));
    // A file that is called like a parameter needs a path.
    saved(folder.path(), "fit.sgmcmc", 0.0);
    std::fs::write(folder.path().join("mu"), "").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sgmcmc"));
    let output = command.current_dir(folder.path()).args(["summary", "fit.sgmcmc", "mu"]).output().unwrap();
    assert!(stderr(&output).contains("both a file and a parameter"), "{}", stderr(&output));
}
